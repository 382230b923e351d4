//! What the handles and the driver share: the machine, and what has come of it.
//!
//! Nobody holds the mutex while reading, writing, waking a task or calling back.

use super::{CallError, ExitReport, StartError, queue::Queue, settings::millis};
use crate::{lock, outbox::Outbox};
use barewire::{
    CallId, Client as Machine, ClientEvent, End, Fault, Millis, Output,
    owned::{Gathered, OwnedProgress, ServerInfo, StderrLog},
};
use core::{mem::take, task::Waker, time::Duration};
use std::{
    collections::{HashMap, VecDeque},
    process::ExitStatus,
    sync::{Arc, Mutex},
};

/// How much of a line that is not MCP is kept for the error message.
const SHOWN: usize = 200;
/// Progress that is kept for a task which does not look; the oldest is dropped beyond it.
const PROGRESS: usize = 64;

pub(crate) struct Shared(pub(crate) Mutex<State>);

pub(crate) struct State {
    pub(super) machine: Machine<'static>,
    pub(super) waiting: HashMap<CallId, Waiting>,
    pub(super) queue: Queue,
    pub(crate) session: Session,
    pub(crate) gone: Option<Gone>,
    /// This side is done.
    pub(crate) closing: bool,
    /// Nothing will change any more.
    pub(super) finished: Option<ExitReport>,
    pub(super) watchers: Watchers,
    pub(super) now: Millis,
    pub(crate) log: StderrLog,
    pub(crate) pid: Option<u32>,
    driver: Option<Waker>,
    /// The first line that was not MCP.
    junk: Option<String>,
    start_timeout: Duration,
}

/// How far the handshake is.
pub(crate) enum Session {
    Opening,
    Open(Arc<ServerInfo>),
    Failed(StartError),
}

/// Why there is no connection any more.
#[derive(Clone, Copy)]
pub(crate) enum Gone {
    #[cfg_attr(not(feature = "process"), allow(dead_code))] // only children do
    Exited {
        status: ExitStatus,
        restarted: bool,
    },
    Closed,
}

/// A request that was sent.
pub(super) struct Waiting {
    pub(super) gathered: Gathered,
    pub(super) progress: VecDeque<OwnedProgress>,
    pub(super) end: Option<Outcome>,
    pub(super) waker: Waker,
    since: Millis,
}

/// How it ended.
pub(super) enum Outcome {
    Done,
    Lost,
    Failed(CallError),
}

/// Tasks that wait for the session to open, or to end.
#[derive(Default)]
pub(super) struct Watchers {
    wakers: HashMap<u64, Waker>,
    next: u64,
}

/// Something for the trace, told once the mutex is free.
pub(super) enum News {
    Junk(Vec<u8>, Fault),
    Changed(barewire::Listed),
    Log(String, Option<String>, String),
    Notified(String, Option<String>),
}

impl Watchers {
    pub(super) fn watch(&mut self, ticket: &mut Option<u64>, waker: &Waker) {
        let ticket = *ticket.get_or_insert_with(|| {
            self.next += 1;
            self.next
        });
        self.wakers.insert(ticket, waker.clone());
    }

    pub(super) fn forget(&mut self, ticket: u64) {
        self.wakers.remove(&ticket);
    }
}

impl Waiting {
    pub(super) fn new(waker: &Waker, since: Millis) -> Self {
        let (gathered, progress) = (Gathered::default(), VecDeque::new());
        Self { gathered, progress, end: None, waker: waker.clone(), since }
    }

    /// `true`: the task that waits should look.
    fn add(&mut self, event: ClientEvent<'_>, now: Millis, tail: &StderrLog) -> bool {
        if let Some(progress) = OwnedProgress::copy(&event) {
            if self.progress.len() == PROGRESS {
                self.progress.pop_front();
            }
            self.progress.push_back(progress);
            return true;
        }
        let ClientEvent::Ended { end, .. } = event else {
            self.gathered.add(event);
            return false;
        };
        self.end = Some(match end {
            End::Done { .. } => {
                self.gathered.add(event);
                Outcome::Done
            }
            End::Lost => Outcome::Lost,
            End::Error { code, message, data } => Outcome::Failed(CallError::Server {
                code: code.0,
                message: message.into(),
                data: data.map(|data| data.as_str().to_owned()),
            }),
            End::TimedOut => Outcome::Failed(CallError::TimedOut {
                after: Duration::from_millis(now.0.saturating_sub(self.since.0)),
                stderr_tail: tail.tail(),
            }),
            End::InputRequired => Outcome::Failed(CallError::InputRequired {
                asks: self.gathered.json.take().unwrap_or_else(|| "{}".into()),
                state: self.gathered.state.take(),
            }),
            end => Outcome::Failed(CallError::Protocol(end.to_string())),
        });
        true
    }
}

impl Shared {
    /// Changes the state, and then wakes whom that concerns.
    pub(crate) fn with<T>(&self, change: impl FnOnce(&mut State, &mut Vec<Waker>) -> T) -> T {
        let mut woken = Vec::new();
        let result = change(&mut lock(&self.0), &mut woken);
        woken.into_iter().for_each(Waker::wake);
        result
    }

    /// This side is done: the driver will close the connection.
    pub(crate) fn close(&self) {
        self.with(|state, woken| {
            state.closing = true;
            state.kick(woken);
        });
    }
}

impl State {
    pub(super) fn new(machine: Machine<'static>, log: StderrLog, start_timeout: Duration) -> Self {
        Self {
            machine,
            waiting: HashMap::new(),
            queue: Queue::default(),
            session: Session::Opening,
            gone: None,
            closing: false,
            finished: None,
            watchers: Watchers::default(),
            now: Millis(0),
            log,
            pid: None,
            driver: None,
            junk: None,
            start_timeout,
        }
    }

    /// The driver should look.
    pub(super) fn kick(&mut self, woken: &mut Vec<Waker>) {
        // It registers anew whenever it looks, so one wake is enough.
        woken.extend(self.driver.take());
    }

    /// The driver looks now, and wants to be woken for the next change.
    pub(super) fn listen(&mut self, driver: &Waker) {
        self.driver = Some(driver.clone());
    }

    /// Drains the machine's events, and takes its output if `outbox` is free for it. `true`: something moved.
    pub(super) fn turn(
        &mut self,
        now: Millis,
        outbox: &mut Outbox,
        news: &mut Vec<News>,
        woken: &mut Vec<Waker>,
    ) -> bool {
        self.now = now;
        let mut moved = self.drain(news, woken);
        if outbox.is_empty() && !self.machine.output().is_empty() {
            self.machine.take_output(outbox.refill());
            moved = true;
        }
        self.queue.expire(now, woken);
        if moved {
            woken.extend(self.queue.first());
        }
        moved
    }

    fn drain(&mut self, news: &mut Vec<News>, woken: &mut Vec<Waker>) -> bool {
        let mut moved = false;
        while let Output::Event(event) = self.machine.poll(self.now) {
            moved = true;
            let of = match &event {
                ClientEvent::Opened { .. } => {
                    if let Some(info) = ServerInfo::copy(&event) {
                        self.session = Session::Open(Arc::new(info));
                    }
                    woken.extend(take(&mut self.watchers.wakers).into_values());
                    continue;
                }
                ClientEvent::NotOpened(end) => {
                    let failed = not_opened(*end, self.start_timeout, self.log.tail(), self.junk.clone());
                    if let Some(error) = failed {
                        self.fail(error, woken);
                    }
                    continue;
                }
                ClientEvent::Fault { fault, line, .. } => {
                    let shown = line.get(..line.len().min(SHOWN)).unwrap_or_default();
                    let header = shown.get(..15).is_some_and(|h| h.eq_ignore_ascii_case(b"Content-Length:"));
                    if *fault != Fault::UnknownAnswer && self.junk.is_none() {
                        self.junk = Some(String::from_utf8_lossy(shown).trim_end().to_owned());
                    }
                    news.push(News::Junk(line.to_vec(), *fault));
                    if header && matches!(self.session, Session::Opening) {
                        self.fail(StartError::ContentLength, woken);
                    }
                    continue;
                }
                ClientEvent::Changed { what, .. } => {
                    news.push(News::Changed(*what));
                    continue;
                }
                ClientEvent::Log { level_text, logger, data, .. } => {
                    let logger = logger.map(str::to_owned);
                    news.push(News::Log((*level_text).into(), logger, data.as_str().into()));
                    continue;
                }
                ClientEvent::Notified { method, params, .. } => {
                    let params = params.map(|params| params.as_str().to_owned());
                    news.push(News::Notified((*method).into(), params));
                    continue;
                }
                ClientEvent::Tool { of, .. }
                | ClientEvent::Content { of, .. }
                | ClientEvent::Structured { of, .. }
                | ClientEvent::Meta { of, .. }
                | ClientEvent::Json { of, .. }
                | ClientEvent::Progress { of, .. }
                | ClientEvent::InputRequired { of, .. }
                | ClientEvent::Ended { of, .. } => *of,
                _ => continue,
            };
            if let Some(waiting) = self.waiting.get_mut(&of)
                && waiting.add(event, self.now, &self.log)
            {
                woken.push(waiting.waker.clone());
            }
        }
        moved
    }

    /// The session will not open.
    pub(crate) fn fail(&mut self, error: StartError, woken: &mut Vec<Waker>) {
        if matches!(self.session, Session::Opening) {
            self.session = Session::Failed(error);
        }
        self.closing = true;
        self.wake_all(woken);
    }

    /// The connection has ended: whoever waits hears of it.
    pub(crate) fn lose(&mut self, gone: Gone, woken: &mut Vec<Waker>) {
        match (self.gone, gone) {
            // Closed by itself; that it then exited says more.
            (Some(Gone::Closed), Gone::Exited { .. }) if !self.closing => {}
            (Some(_), _) => return,
            (None, _) => {}
        }
        self.gone = Some(gone);
        if matches!(self.session, Session::Opening) {
            let (stderr_tail, junk) = (self.log.tail(), self.junk.clone());
            self.session = Session::Failed(match gone {
                Gone::Exited { status, restarted } => {
                    StartError::Exited { status, stderr_tail, restarted, junk }
                }
                Gone::Closed => StartError::Closed { junk },
            });
        }
        self.machine.end_of_input();
        self.drain(&mut Vec::new(), woken);
        self.wake_all(woken);
    }

    /// The driver ends, for whatever reason.
    pub(crate) fn finish(&mut self, report: ExitReport, woken: &mut Vec<Waker>) {
        self.lose(Gone::Closed, woken);
        self.closing = true;
        self.finished.get_or_insert(report);
        self.wake_all(woken);
    }

    /// Starts anew over a new child, without the probe.
    #[cfg(feature = "process")]
    pub(crate) fn restart(&mut self) {
        self.machine.reset();
    }

    fn wake_all(&mut self, woken: &mut Vec<Waker>) {
        woken.extend(self.queue.all());
        woken.extend(take(&mut self.watchers.wakers).into_values());
    }

    /// Why a request cannot be sent, if that is for good.
    pub(super) fn refusal(&self) -> Option<CallError> {
        match &self.session {
            Session::Failed(error) => Some(CallError::NotOpened(error.clone())),
            _ if self.gone.is_some() || self.closing => Some(self.loss()),
            _ => None,
        }
    }

    /// What a request ends with whose connection is lost.
    pub(super) fn loss(&self) -> CallError {
        match (self.gone, &self.session) {
            (_, Session::Failed(error)) => CallError::NotOpened(error.clone()),
            (Some(Gone::Exited { status, .. }), _) => {
                CallError::Exited { status, stderr_tail: self.log.tail() }
            }
            _ => CallError::Closed,
        }
    }

    pub(super) fn deadline(&self) -> Option<Millis> {
        if self.gone.is_some() {
            return None;
        }
        self.machine.deadline().into_iter().chain(self.queue.deadline()).min()
    }
}

/// `None`: the connection was lost, of which more is known elsewhere.
fn not_opened(
    end: End<'_>,
    after: Duration,
    stderr_tail: String,
    junk: Option<String>,
) -> Option<StartError> {
    Some(match end {
        End::Lost => return None,
        End::TimedOut => StartError::TimedOut { after, stderr_tail, junk },
        End::Error { code, message, .. } => StartError::Refused { code: code.0, message: message.into() },
        end => StartError::Protocol(end.to_string()),
    })
}

pub(super) fn limit(time: Duration, most: Duration) -> (Millis, Option<Millis>) {
    (millis(time), Some(millis(most.max(time))))
}

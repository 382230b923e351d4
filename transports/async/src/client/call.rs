//! One request as a future.

use super::{
    CallError, Handle,
    queue::Turn,
    settings::millis,
    state::{Outcome, State, Waiting, limit},
};
use barewire::{
    CallId, Client as Machine, Request, SendError,
    json::{Kind, Raw},
    owned::{Gathered, OwnedProgress},
};
use core::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};
use std::sync::Arc;

/// A request. It is sent when it is polled first, and waits for its turn if there is no room. **Dropping it cancels it at the
/// server.**
#[must_use = "nothing is sent until it is awaited"]
pub struct Call<T, P = fn(OwnedProgress)> {
    handle: Arc<Handle>,
    what: What,
    finish: fn(Gathered) -> Result<T, CallError>,
    timeout: Duration,
    most: Duration,
    on_progress: Option<P>,
    stage: Stage,
}

pub(super) enum What {
    Tool { name: String, args: String, state: Option<String>, answers: Vec<(String, String)> },
    Tools,
    Other { method: String, params: Option<String> },
}

enum Stage {
    New,
    Queued(u64),
    Sent(CallId),
    Over,
}

impl<T> Call<T> {
    pub(super) fn new(
        handle: &Arc<Handle>,
        what: What,
        finish: fn(Gathered) -> Result<T, CallError>,
    ) -> Self {
        Self {
            handle: Arc::clone(handle),
            what,
            finish,
            timeout: handle.settings.timeout,
            most: handle.settings.max_timeout,
            on_progress: None,
            stage: Stage::New,
        }
    }
}

impl<T, P> Call<T, P> {
    /// How long it may take; progress starts it anew, if it was asked for.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How long it may take whatever progress says.
    pub fn max_timeout(mut self, timeout: Duration) -> Self {
        self.most = timeout;
        self
    }

    /// Asks for progress. Called by the task that awaits the call.
    pub fn on_progress<Q: FnMut(OwnedProgress)>(self, hook: Q) -> Call<T, Q> {
        // It moves out of a type that has a destructor, field by field: a stage that is over has nothing to undo.
        let mut from = self;
        let stage = core::mem::replace(&mut from.stage, Stage::Over);
        Call {
            handle: Arc::clone(&from.handle),
            what: core::mem::replace(&mut from.what, What::Tools),
            finish: from.finish,
            timeout: from.timeout,
            most: from.most,
            on_progress: Some(hook),
            stage,
        }
    }

    /// For calling a tool again after [`CallError::InputRequired`]: its state, as it came.
    pub fn state(mut self, json: impl Into<String>) -> Self {
        if let What::Tool { state, .. } = &mut self.what {
            *state = Some(json.into());
        }
        self
    }

    /// For calling a tool again after [`CallError::InputRequired`]: the answer to the question under `key`, as JSON text.
    pub fn answer(mut self, key: impl Into<String>, json: impl Into<String>) -> Self {
        if let What::Tool { answers, .. } = &mut self.what {
            answers.push((key.into(), json.into()));
        }
        self
    }

    /// Tries to send it. `Ok(None)`: it waits for its turn.
    fn send(
        &mut self,
        state: &mut State,
        waker: &Waker,
        woken: &mut Vec<Waker>,
    ) -> Result<Option<CallId>, CallError> {
        if let Some(error) = state.refusal() {
            return Err(error);
        }
        let timeout = millis(self.timeout);
        match self.stage {
            Stage::Queued(ticket) => match state.queue.look(ticket, waker) {
                Turn::Wait => return Ok(None),
                Turn::Try => {}
                Turn::Expired => {
                    let stderr_tail = state.log.tail();
                    return Err(CallError::TimedOut { after: self.timeout, stderr_tail });
                }
            },
            // Those who came before have their turn before.
            _ if !state.queue.is_empty() => {
                self.stage = Stage::Queued(state.queue.push(waker, timeout));
                state.kick(woken);
                return Ok(None);
            }
            _ => {}
        }
        let (limit, most) = limit(self.timeout, self.most);
        let sent = self.what.begin(&mut state.machine).and_then(|request| {
            let request = if self.on_progress.is_some() { request.want_progress() } else { request };
            request.limit(limit, most).send()
        });
        match sent {
            Ok(id) => Ok(Some(id)),
            Err(SendError::NotJson) => Err(self.what.bad()),
            Err(SendError::TooLong) => Err(CallError::TooLarge),
            Err(_) => {
                if !matches!(self.stage, Stage::Queued(_)) {
                    self.stage = Stage::Queued(state.queue.push(waker, timeout));
                }
                state.kick(woken);
                Ok(None)
            }
        }
    }

    /// Leaves the queue; whoever is first then tries next.
    fn leave(&self, state: &mut State, woken: &mut Vec<Waker>) {
        if let Stage::Queued(ticket) = self.stage {
            state.queue.remove(ticket);
            woken.extend(state.queue.first());
        }
    }

    fn step(&mut self, state: &mut State, waker: &Waker, woken: &mut Vec<Waker>) -> Step {
        if matches!(self.stage, Stage::Over) {
            return Step::Over(Err(CallError::Closed));
        }
        let Stage::Sent(id) = self.stage else {
            return match self.send(state, waker, woken) {
                Ok(None) => Step::Wait,
                Ok(Some(id)) => {
                    self.leave(state, woken);
                    state.waiting.insert(id, Waiting::new(waker, state.now));
                    state.kick(woken);
                    self.stage = Stage::Sent(id);
                    Step::Wait
                }
                Err(error) => {
                    self.leave(state, woken);
                    self.stage = Stage::Over;
                    Step::Over(Err(error))
                }
            };
        };
        let Some(waiting) = state.waiting.get_mut(&id) else { return Step::Over(Err(CallError::Closed)) };
        if let Some(progress) = waiting.progress.pop_front() {
            return Step::Progress(progress);
        }
        let Some(end) = waiting.end.take() else {
            waiting.waker.clone_from(waker);
            return Step::Wait;
        };
        self.stage = Stage::Over;
        let gathered = state.waiting.remove(&id).map(|waiting| waiting.gathered).unwrap_or_default();
        Step::Over(match end {
            Outcome::Done => Ok(gathered),
            Outcome::Failed(error) => Err(error),
            Outcome::Lost => Err(state.loss()),
        })
    }
}

enum Step {
    Wait,
    Progress(OwnedProgress),
    Over(Result<Gathered, CallError>),
}

impl<T, P: FnMut(OwnedProgress)> Future for Call<T, P> {
    type Output = Result<T, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let handle = Arc::clone(&this.handle);
        loop {
            let step = handle.shared.with(|state, woken| this.step(state, cx.waker(), woken));
            match step {
                Step::Wait => return Poll::Pending,
                Step::Over(gathered) => return Poll::Ready(gathered.and_then(this.finish)),
                Step::Progress(progress) => {
                    if let Some(hook) = &mut this.on_progress {
                        hook(progress);
                    }
                }
            }
        }
    }
}

/// Nothing of it is pinned: the hook is only called.
impl<T, P> Unpin for Call<T, P> {}

impl<T, P> Drop for Call<T, P> {
    fn drop(&mut self) {
        match self.stage {
            Stage::New | Stage::Over => {}
            Stage::Queued(_) => self.handle.shared.with(|state, woken| self.leave(state, woken)),
            Stage::Sent(id) => self.handle.shared.with(|state, woken| {
                if state.waiting.remove(&id).is_some() {
                    state.machine.cancel(id);
                    state.kick(woken);
                    // Its slot is free, or is by the time that another request asks for it.
                    woken.extend(state.queue.first());
                }
            }),
        }
    }
}

impl<T, P> fmt::Debug for Call<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("timeout", &self.timeout)
            .field("max_timeout", &self.most)
            .field("sent", &matches!(self.stage, Stage::Sent(_)))
            .finish_non_exhaustive()
    }
}

impl What {
    fn begin<'m>(&'m self, machine: &'m mut Machine<'static>) -> Result<Request<'m>, SendError> {
        Ok(match self {
            Self::Tool { name, args, state, answers } => {
                let raw = |json: &'m str| Raw::new(json).ok_or(SendError::NotJson);
                let mut request = machine.call_tool(name)?.args_json(raw(args)?);
                if let Some(state) = state {
                    request = request.state(raw(state)?);
                }
                for (key, json) in answers {
                    request = request.answer(key, raw(json)?);
                }
                request
            }
            Self::Tools => machine.list_tools(None)?,
            Self::Other { method, params: None } => machine.request(method)?,
            Self::Other { method, params: Some(params) } => {
                let params = Raw::new(params).ok_or(SendError::NotJson)?;
                machine.request(method)?.params_json(params)
            }
        })
    }

    fn bad(&self) -> CallError {
        CallError::BadArguments(match self {
            Self::Tool { args: json, .. } | Self::Other { params: Some(json), .. } => match Raw::new(json) {
                None => format!("{json:?} does not parse"),
                Some(raw) if raw.kind() != Kind::Object => format!("{json:?} is something else"),
                Some(_) => "an answer or a state is no JSON".into(),
            },
            _ => "there are none".into(),
        })
    }
}

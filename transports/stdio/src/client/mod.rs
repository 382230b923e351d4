//! A client: a handle that many threads can call at once.

mod command;
mod line;
mod linger;
mod pending;
mod settings;
mod state;

pub use barewire::owned::{CallError, ExitReport, StartError, Stderr};
pub use command::Command;
pub(crate) use settings::Tracer;
pub use settings::{Options, Settings, Trace};

use crate::{
    after,
    child::{Child, Ended},
    lock,
};
use barewire::{
    CallId, Client as Machine, ClientConfig, Millis, SendError,
    json::Raw,
    owned::{CallResult, ServerInfo, ToolInfo},
};
use core::sync::atomic::Ordering::Relaxed;
use line::{Failed, Line};
use linger::linger;
use pending::{Outcome, Waiting};
use settings::millis;
use state::Gone;
use std::{
    io::{Read, Write},
    sync::{Arc, Mutex},
    time::Instant,
};

/// A session with a server. Clones share it; all of them can be used in many threads at once.
///
/// When the last clone is dropped, or on [`close`](Self::close), the connection is closed and a child is ended.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    ends: Ends,
    server: ServerInfo,
    settings: Settings,
}

/// A connection which is closed when it is dropped.
struct Ends {
    line: Arc<Line>,
    child: Option<Arc<Child>>,
    report: Mutex<Option<ExitReport>>,
}

impl Client {
    /// A session over any two halves, with the default settings.
    pub fn over(
        read: impl Read + Send + 'static,
        write: impl Write + Send + 'static,
        config: &ClientConfig<'_>,
    ) -> Result<Self, StartError> {
        Self::over_with(read, write, config, Settings::new())
    }

    /// A session over any two halves. A thread that hangs in `read` or `write` when the client is closed is left to
    /// itself; the halves are dropped when it returns.
    pub fn over_with(
        read: impl Read + Send + 'static,
        write: impl Write + Send + 'static,
        config: &ClientConfig<'_>,
        settings: Settings,
    ) -> Result<Self, StartError> {
        let line = Line::new(config, &settings);
        let ends = Ends { line, child: None, report: Mutex::new(None) };
        ends.line.run(read, write, None).map_err(|error| StartError::Io(Arc::new(error)))?;
        let until = after(settings.start_timeout);
        Self::open(ends, settings, until)
    }

    fn open(ends: Ends, settings: Settings, until: Instant) -> Result<Self, StartError> {
        let failed = match ends.line.open(until) {
            Ok(server) => return Ok(Self(Arc::new(Inner { ends, server, settings }))),
            Err(failed) => failed,
        };
        let stderr_tail = ends.stderr_tail();
        Err(match failed {
            Failed::For(error) => error,
            Failed::Gone(Gone::Exited(status), junk) => {
                StartError::Exited { status, stderr_tail, restarted: false, junk }
            }
            Failed::Gone(Gone::Closed, junk) => StartError::Closed { junk },
            Failed::TimedOut(junk) => {
                StartError::TimedOut { after: settings.start_timeout, stderr_tail, junk }
            }
        })
    }

    /// What the server said of itself.
    pub fn server(&self) -> &ServerInfo {
        &self.0.server
    }

    /// All tools, page after page.
    pub fn list_tools(&self) -> Result<Vec<ToolInfo>, CallError> {
        self.send(What::List, Options::new()).map(|waiting| waiting.gathered.tools)
    }

    /// Calls a tool; `args_json` is a JSON object.
    pub fn call(&self, name: &str, args_json: &str) -> Result<CallResult, CallError> {
        self.call_with(name, args_json, Options::new())
    }

    /// Calls a tool with limits of its own, with an ear for progress, or with answers to what it asked.
    pub fn call_with(
        &self,
        name: &str,
        args_json: &str,
        options: Options<'_>,
    ) -> Result<CallResult, CallError> {
        let args = object(args_json)?;
        self.send(What::Call { name, args }, options).map(|waiting| waiting.gathered.result)
    }

    /// Any other method: the result as JSON text.
    pub fn request(&self, method: &str, params_json: Option<&str>) -> Result<String, CallError> {
        let params = params_json.map(object).transpose()?;
        let waiting = self.send(What::Other { method, params }, Options::new())?;
        waiting.gathered.json.ok_or_else(|| CallError::Protocol("the server's answer has no result".into()))
    }

    /// The child's process, which is also its group; `None` over a pair of streams.
    pub fn pid(&self) -> Option<u32> {
        self.0.ends.child.as_ref().map(|child| child.pid())
    }

    /// What was kept of the child's stderr: see [`Stderr`].
    pub fn stderr(&self) -> Vec<u8> {
        self.0.ends.child.as_ref().map(|child| child.stderr()).unwrap_or_default()
    }

    /// The last lines of the child's stderr.
    pub fn stderr_tail(&self) -> String {
        self.0.ends.stderr_tail()
    }

    /// The last line of the child's stderr.
    pub fn last_stderr_line(&self) -> Option<String> {
        self.stderr_tail().lines().last().map(str::to_owned)
    }

    /// Closes the connection: open requests of all clones end, the child's input is closed, and if that does not end
    /// it within the grace time, SIGTERM does, or SIGKILL. When this returns it is reaped.
    pub fn close(&self) -> ExitReport {
        self.0.ends.close()
    }

    /// Sends it and waits for its end.
    fn send(&self, what: What<'_>, mut options: Options<'_>) -> Result<Waiting, CallError> {
        let Inner { ends, settings, .. } = &*self.0;
        let line = &*ends.line;
        let started = Instant::now();
        let timeout = options.timeout.unwrap_or(settings.timeout);
        let most = options.max_timeout.unwrap_or(settings.max_timeout).max(timeout);
        let until = after(timeout);
        let timed_out = || CallError::TimedOut { after: started.elapsed(), stderr_tail: ends.stderr_tail() };
        // Dropped after the guard below, as it takes the lock itself.
        let mut pending = Pending { line, id: None };
        let mut state = lock(&line.state);
        let id = loop {
            if state.gone.is_some() {
                return Err(state.gone_error(ends.child.as_deref()));
            }
            match what.begin(&mut state.machine, &options, (millis(timeout), millis(most))) {
                Ok(id) => break id,
                Err(SendError::NotJson) => {
                    return Err(CallError::BadArguments("a part of it is something else".into()));
                }
                Err(SendError::NotOpen) => return Err(CallError::Closed),
                Err(SendError::TooLong) => return Err(CallError::TooLarge),
                // No room, or too many calls at once: wait for others to end.
                Err(_) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(timed_out());
                    }
                    state = line.pump(state);
                    let nap = line.nap(&state).map_or(left, |nap| nap.min(left));
                    state = line.room.wait(state, Some(nap));
                }
            }
        };
        let waiting = Waiting::default();
        let wake = Arc::clone(&waiting.wake);
        state.waiting.insert(id, waiting);
        pending.id = Some(id);
        let mut fresh = true;
        loop {
            state = line.pump(state);
            let Some(waiting) = state.waiting.get_mut(&id) else { return Err(CallError::Closed) };
            if let Some(progress) = waiting.progress.pop_front() {
                drop(state);
                if let Some(hook) = &mut options.on_progress {
                    hook(progress);
                }
                state = lock(&line.state);
                continue;
            }
            if let Some(end) = waiting.end.take() {
                let Some(waiting) = state.waiting.remove(&id) else { return Err(CallError::Closed) };
                let gone = state.gone_error(ends.child.as_deref());
                drop(state);
                pending.id = None;
                return match end {
                    Outcome::Done => Ok(waiting),
                    Outcome::Failed(error) => Err(error),
                    Outcome::TimedOut => Err(timed_out()),
                    Outcome::Lost => Err(gone),
                };
            }
            if core::mem::take(&mut fresh) {
                drop(state);
                linger(|| wake.ready.load(Relaxed));
                state = lock(&line.state);
                continue;
            }
            let nap = line.nap(&state);
            state = wake.bell.wait(state, nap);
        }
    }
}

impl core::fmt::Debug for Client {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Client").field("server", self.server()).field("pid", &self.pid()).finish()
    }
}

impl Ends {
    fn stderr_tail(&self) -> String {
        self.child.as_ref().map(|child| child.stderr_tail()).unwrap_or_default()
    }

    fn close(&self) -> ExitReport {
        let mut report = lock(&self.report);
        if let Some(report) = &*report {
            return report.clone();
        }
        self.line.close();
        let (status, how) = match &self.child {
            Some(child) => child.stop(),
            None => (None, Ended::NoChild),
        };
        report.insert(ExitReport::new(status, how, self.stderr_tail())).clone()
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.close();
    }
}

/// What is asked of the server.
enum What<'a> {
    List,
    Call { name: &'a str, args: Raw<'a> },
    Other { method: &'a str, params: Option<Raw<'a>> },
}

impl What<'_> {
    fn begin(
        &self,
        machine: &mut Machine<'static>,
        options: &Options<'_>,
        (limit, most): (Millis, Millis),
    ) -> Result<CallId, SendError> {
        let mut request = match *self {
            Self::List => machine.list_tools(None)?,
            Self::Call { name, args } => machine.call_tool(name)?.args_json(args),
            Self::Other { method, params: None } => machine.request(method)?,
            Self::Other { method, params: Some(params) } => machine.request(method)?.params_json(params),
        };
        if let Some(state) = &options.state {
            request = request.state(Raw::new(state).ok_or(SendError::NotJson)?);
        }
        for (key, answer) in &options.answers {
            request = request.answer(key, Raw::new(answer).ok_or(SendError::NotJson)?);
        }
        if options.on_progress.is_some() {
            request = request.want_progress();
        }
        request.limit(limit, Some(most)).send()
    }
}

/// A request that its caller gave up, by a panic in its progress hook, is cancelled.
struct Pending<'l> {
    line: &'l Line,
    id: Option<CallId>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let mut state = lock(&self.line.state);
        if state.waiting.remove(&id).is_some() {
            state.machine.cancel(id);
            drop(self.line.pump(state));
        }
    }
}

fn object(json: &str) -> Result<Raw<'_>, CallError> {
    let raw = Raw::new(json).ok_or_else(|| CallError::BadArguments(format!("{json:?} does not parse")))?;
    if raw.as_str().starts_with('{') {
        Ok(raw)
    } else {
        Err(CallError::BadArguments(format!("{json:?} is something else")))
    }
}

const fn shared<T: Send + Sync + Clone>() {}
const _: () = shared::<Client>();

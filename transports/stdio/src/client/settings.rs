//! What can be chosen about a connection and about one call.

use barewire::{Fault, Limits, Millis, owned::OwnedProgress};
use core::{fmt, time::Duration};
use std::{process::ExitStatus, sync::Arc};

/// One thing that happened on the connection.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Trace<'a> {
    /// The bytes of one write, told before it happens, so before any answer to it.
    Sent(&'a [u8]),
    /// The bytes of one read: several messages, or a part of one.
    Received(&'a [u8]),
    /// The bytes of one read of the child's stderr.
    Stderr(&'a [u8]),
    /// The child was started.
    Started {
        /// Its process, which is also its group.
        pid: u32,
    },
    /// The child has ended, and what it left in its pipes has been read.
    Exited(ExitStatus),
    /// The child ended on the probe for the newest revision, and is started once more without it.
    Restarted,
    /// A line, or a part of one, that the client has no use for: it is not MCP, or answers nothing that was asked. It
    /// has been skipped.
    Junk {
        /// What of the line is at hand.
        line: &'a [u8],
        /// What is wrong with it.
        fault: Fault,
    },
}

type Hook = dyn Fn(Trace<'_>) + Send + Sync;

#[derive(Clone, Default)]
pub(crate) struct Tracer(Option<Arc<Hook>>);

impl Tracer {
    pub(crate) fn trace(&self, what: Trace<'_>) {
        if let Some(hook) = &self.0 {
            hook(what);
        }
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Tracer(on)" } else { "Tracer(off)" })
    }
}

/// How a connection behaves; [`Command`](crate::Command) has the same methods.
#[derive(Clone, Debug)]
#[must_use]
pub struct Settings {
    pub(super) timeout: Duration,
    pub(super) max_timeout: Duration,
    pub(super) start_timeout: Duration,
    pub(super) limits: Limits,
    pub(super) tracer: Tracer,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            max_timeout: Duration::from_secs(600),
            start_timeout: Duration::from_secs(60),
            limits: Limits::default(),
            tracer: Tracer::default(),
        }
    }
}

impl Settings {
    /// 60 s for a request, 10 minutes whatever progress says, 60 s for the start.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long a request may take; progress starts it anew.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How long a request may take whatever progress says.
    pub fn max_timeout(mut self, timeout: Duration) -> Self {
        self.max_timeout = timeout;
        self
    }

    /// How long the start may take, handshake included.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    /// The longest message read, the longest written, and how many requests may be open.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Shows everything that happens. Called in several threads; it must not call the client.
    pub fn trace(mut self, hook: impl Fn(Trace<'_>) + Send + Sync + 'static) -> Self {
        self.tracer = Tracer(Some(Arc::new(hook)));
        self
    }
}

/// What may be chosen for one call.
#[derive(Default)]
#[must_use]
pub struct Options<'f> {
    pub(super) timeout: Option<Duration>,
    pub(super) max_timeout: Option<Duration>,
    pub(super) on_progress: Option<&'f mut dyn FnMut(OwnedProgress)>,
    pub(super) state: Option<String>,
    pub(super) answers: Vec<(String, String)>,
}

impl<'f> Options<'f> {
    /// Those of the connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long it may take; progress starts it anew, if it was asked for.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long it may take whatever progress says.
    pub fn max_timeout(mut self, timeout: Duration) -> Self {
        self.max_timeout = Some(timeout);
        self
    }

    /// Asks for progress. Called in the thread that makes the call.
    pub fn on_progress(mut self, hook: &'f mut dyn FnMut(OwnedProgress)) -> Self {
        self.on_progress = Some(hook);
        self
    }

    /// For calling again after [`CallError::InputRequired`](crate::CallError::InputRequired): its state, as it came.
    pub fn state(mut self, json: impl Into<String>) -> Self {
        self.state = Some(json.into());
        self
    }

    /// For calling again after [`CallError::InputRequired`](crate::CallError::InputRequired): the answer to the
    /// question under this key, the result of its method as JSON text.
    pub fn answer(mut self, key: impl Into<String>, json: impl Into<String>) -> Self {
        self.answers.push((key.into(), json.into()));
        self
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let progress = self.on_progress.is_some();
        f.debug_struct("Options")
            .field("timeout", &self.timeout)
            .field("max_timeout", &self.max_timeout)
            .field("on_progress", &progress)
            .finish()
    }
}

pub(super) fn millis(time: Duration) -> Millis {
    Millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

//! The far ends: how they are called, and how they are started again under the feet of those who call.

use core::pin::pin;
use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_io::{Timer, block_on};
use barewire::owned::OwnedProgress;
use barewire_serial::LinkStats;
use barewire_serial::host::{Device, Failure};
use barewire_stdio::{CallError, Client, Options, Settings, Trace};
use futures_lite::future::or;

use super::servers::LIMITS;

/// Nothing that is answered takes so long, on whatever line and machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// When a call is given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Never,
    /// By its own time limit.
    Deadline(Duration),
    /// By its caller.
    Cancel(Duration),
}

/// Why a call has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Why {
    TimedOut,
    Cancelled,
    /// The far end went meanwhile; in its words.
    Lost(String),
    Wrong(String),
}

/// Hears of progress: what is done, and the words.
pub(super) type Hear<'a> = &'a mut (dyn FnMut(f64, Option<&str>) + Send);

/// A handle that many threads use.
pub(super) trait Caller: Send + Sync {
    fn call(&self, tool: &str, args: &str, limit: Limit, hear: Option<Hear<'_>>) -> Result<String, Why>;
    /// How often the link below began anew, if it has one that does.
    fn sessions(&self) -> u64 {
        0
    }
}

/// A far end, and the way to it.
pub(super) trait Far: Send {
    fn name(&self) -> &'static str;
    fn caller(&self) -> Arc<dyn Caller>;
    /// Ends the far end at once, whatever it does, and starts another one.
    fn restart(&mut self) -> Result<(), String>;
    /// What happened on the link, if it has one: at the near end and at the far one.
    fn links(&mut self) -> Vec<LinkStats> {
        Vec::new()
    }
    /// Resident bytes of a process of its own.
    fn resident(&self) -> Option<u64> {
        None
    }
    /// Ends both sides.
    fn close(self: Box<Self>) -> Result<(), String>;
}

/// Answers to nothing that was asked, as far as this side knows: each is the late answer to a call that was given up, or
/// one too many.
pub(super) type Strays = Arc<AtomicU64>;

pub(super) fn stray(line: &[u8], strays: &AtomicU64) {
    let has = |what: &[u8]| line.windows(what.len()).any(|window| window == what);
    if has(b"\"id\":") && has(b"\"result\":") {
        strays.fetch_add(1, Relaxed);
    }
}

pub(super) fn settings(strays: &Strays) -> Settings {
    let strays = Arc::clone(strays);
    let settings =
        Settings::new().timeout(PATIENCE).max_timeout(PATIENCE).start_timeout(PATIENCE).limits(LIMITS);
    settings.trace(move |what| {
        if let Trace::Junk { line, .. } = what {
            stray(line, &strays);
        }
    })
}

fn options<'h>(limit: Limit, hear: Option<&'h mut dyn FnMut(OwnedProgress)>) -> Options<'h> {
    let options = match limit {
        // Threads cannot be interrupted: they give up by time alone.
        Limit::Deadline(time) | Limit::Cancel(time) => Options::new().timeout(time).max_timeout(time),
        Limit::Never => Options::new(),
    };
    match hear {
        Some(hear) => options.on_progress(hear),
        None => options,
    }
}

fn why(error: CallError) -> Why {
    match error {
        CallError::TimedOut { after, .. } if after < PATIENCE => Why::TimedOut,
        error @ (CallError::Exited { .. } | CallError::Closed) => Why::Lost(error.to_string()),
        error => Why::Wrong(error.to_string()),
    }
}

impl Caller for Client {
    fn call(&self, tool: &str, args: &str, limit: Limit, hear: Option<Hear<'_>>) -> Result<String, Why> {
        let mut hear =
            hear.map(|hear| move |progress: OwnedProgress| hear(progress.done, progress.message.as_deref()));
        let hear = hear.as_mut().map(|hear| hear as &mut dyn FnMut(OwnedProgress));
        self.call_with(tool, args, options(limit, hear)).map(|result| result.text()).map_err(why)
    }
}

impl Caller for Device {
    fn call(&self, tool: &str, args: &str, limit: Limit, hear: Option<Hear<'_>>) -> Result<String, Why> {
        let mut hear =
            hear.map(|hear| move |progress: OwnedProgress| hear(progress.done, progress.message.as_deref()));
        let hear = hear.as_mut().map(|hear| hear as &mut dyn FnMut(OwnedProgress));
        let result = self.call_with(tool, args, options(limit, hear));
        result.map(|result| result.text()).map_err(|failure| match failure {
            Failure::Call(error) => why(error),
            lost @ Failure::Lost(_) => Why::Lost(lost.to_string()),
            other => Why::Wrong(other.to_string()),
        })
    }

    fn sessions(&self) -> u64 {
        self.stats().sessions.into()
    }
}

impl Caller for barewire_async::Client {
    fn call(&self, tool: &str, args: &str, limit: Limit, hear: Option<Hear<'_>>) -> Result<String, Why> {
        use barewire_async::CallError as Error;
        let mut call = Self::call(self, tool, args);
        if let Limit::Deadline(time) = limit {
            call = call.timeout(time).max_timeout(time);
        }
        let answered = async {
            let result = match hear {
                Some(hear) => {
                    call.on_progress(|progress| hear(progress.done, progress.message.as_deref())).await
                }
                None => call.await,
            };
            result.map(|result| result.text()).map_err(|error| match error {
                Error::TimedOut { after, .. } if after < PATIENCE => Why::TimedOut,
                Error::Closed => Why::Lost(error.to_string()),
                error => Why::Wrong(error.to_string()),
            })
        };
        block_on(or(pin!(answered), async {
            match limit {
                // The call's future is dropped then.
                Limit::Cancel(time) => Timer::after(time).await,
                Limit::Never | Limit::Deadline(_) => core::future::pending().await,
            };
            Err(Why::Cancelled)
        }))
    }
}

pub(super) fn told(error: impl ToString) -> String {
    error.to_string()
}

pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

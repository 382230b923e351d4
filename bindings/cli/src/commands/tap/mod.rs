//! `barewire tap`: sits between a host and a server, changes no byte, and logs every read.
//!
//! * **Exact.** Each read is logged as one entry, then written on as it is; nothing is parsed on the way.
//! * **In order.** A read is queued for the log before it is passed on, so no answer precedes its request there.
//! * **Never in the way.** The log has a thread of its own and may fail (see [`queue`](crate::capture::queue)).
//! * **Invisible.** Nothing of our own goes to stdout; end of input, closed pipes and signals are passed on, and the
//!   exit status is the child's. A connection has none: 0 if it was closed, 3 if it broke.

mod child;
mod pump;
mod stream;

use core::time::Duration;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use crate::capture::queue::Log;
use crate::capture::write::Format;
use crate::capture::{Entry, Event, What};
use crate::failure::Failure;
use crate::far::{Far, MISSING};
use crate::sys;

pub(crate) use child::{exit_code, signal_of};

/// How long the log may hold up the end: while nothing of it is written, and in all.
pub(crate) const LOG_STALL: Duration = Duration::from_secs(2);
pub(crate) const LOG_LIMIT: Duration = Duration::from_secs(10);

/// What to listen to and where to log.
pub(crate) struct Tap {
    /// Where the server is.
    pub(crate) far: Far,
    /// The log file, if any.
    pub(crate) log: Option<PathBuf>,
    /// How it is written.
    pub(crate) format: Format,
}

/// What was reached, before anything is logged.
enum Reached {
    Child(std::process::Child),
    Stream(stream::Halves),
}

impl Tap {
    /// Runs until the server is gone, and says with which status to exit. `watch` sees every entry, off the
    /// data's way, and `None` after the last.
    pub(crate) fn run(self, watch: impl FnMut(Option<&Entry>) + Send + 'static) -> Result<i32, Failure> {
        // A connection that does not come about is ended by a signal as anything else is; a child must not outlive one.
        let stream = match &self.far {
            Far::Command(_) => None,
            far => Some(stream::Halves::open(far)?),
        };
        let signals = sys::Signals::catch().map_err(|error| Failure::io("can't catch signals", &error))?;
        let reached = match (&self.far, stream) {
            (_, Some(halves)) => Reached::Stream(halves),
            (Far::Command(words), None) => Reached::Child(child::spawn(words)?),
            (_, None) => return Err(Failure::usage(MISSING)),
        };
        if io::stdin().is_terminal() {
            let _ = writeln!(
                io::stderr(),
                "barewire: this terminal is the host: paste messages, one a line; Ctrl-D ends"
            );
        }
        let (log, writing) = Log::start(self.log.map(with_pid), self.format, watch);
        let pid = match &reached {
            Reached::Child(child) => Some(child.id()),
            Reached::Stream(_) => None,
        };
        log.put(What::Event(Event::Start { command: self.far.words(), pid }));
        let code = match reached {
            Reached::Child(child) => child::run(child, signals, &log)?,
            Reached::Stream(halves) => stream::run(halves, signals, &log),
        };
        log.close();
        if !writing.wait(LOG_STALL, LOG_LIMIT) {
            let _ = writeln!(io::stderr(), "barewire: the log is not complete: it could not keep up");
        }
        Ok(code)
    }
}

/// `%p` in the file's name becomes our process id.
pub(crate) fn with_pid(path: PathBuf) -> PathBuf {
    match path.to_str() {
        Some(name) => name.replace("%p", &std::process::id().to_string()).into(),
        None => path,
    }
}

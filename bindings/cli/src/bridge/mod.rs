//! `barewire bridge`: a stdio MCP server for a host, the real one being at the far end of something that may break.
//!
//! [`relay`] decides, without a clock and without I/O: what passes, what is held, who is answered. Around it are threads
//! that carry bytes ([`drive`]) and keep a connection ([`far_end`]).

mod drive;
mod errors;
mod far_end;
mod far_side;
mod hold;
mod host_side;
mod ids;
mod link;
mod memory;
#[cfg(unix)]
mod pipe;
mod relay;
mod sort;
mod state;
#[cfg(test)]
mod tests;
mod words;

use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use barewire_testkit::Faults;

use crate::capture::queue::Log;
use crate::capture::write::Format;
use crate::capture::{Entry, Event, Stream, What};
use crate::commands::tap::{LOG_LIMIT, LOG_STALL, with_pid};
use crate::failure::Failure;
use crate::far::Far;
use crate::paint::Paint;
use crate::sys::{self, Signals};
use drive::Shared;
use link::Dialer;
use relay::{Note, Relay, Terms};
use words::Words;

/// The longest message, either way: 16 MiB of content, as everywhere in barewire, and what is around it. A relay must not be
/// what a message fails at that both ends would take.
const LIMIT: usize = (16 << 20) + (64 << 10);
/// So much may wait for a peer that does not read.
const BACKLOG: usize = 1 << 20;
/// How long the host waits for the first try of a connection.
const FIRST: Duration = Duration::from_secs(1);
/// How long the connection may take to end, and the host to go on reading what is left.
const END: Duration = Duration::from_secs(7);
const FLUSH: Duration = Duration::from_secs(5);
/// The same where there is nothing to end.
const NOTHING: Duration = Duration::from_millis(100);

/// What to bridge, and how.
pub(crate) struct Bridge {
    pub(crate) far: Far,
    /// Lines are checked from the first byte.
    pub(crate) checked: bool,
    /// What is to happen to the bytes of the far end.
    pub(crate) faults: Option<Faults>,
    /// How long a request may wait for the far end to be there.
    pub(crate) patience: Duration,
    pub(crate) log: Option<PathBuf>,
    pub(crate) format: Format,
    /// For the console on stderr.
    pub(crate) paint: Paint,
}

impl Bridge {
    /// Runs until the host ends, or a command turns out to be of no use; gives the exit code. `watch` sees every entry of the log.
    pub(crate) fn run(self, watch: impl FnMut(Option<&Entry>) + Send + 'static) -> Result<i32, Failure> {
        if self.checked && !matches!(self.far, Far::Serial { .. }) {
            return Err(Failure::usage(format!(
                "--checked is for serial lines; {} loses nothing: leave it out",
                self.far
            )));
        }
        let signals = Signals::catch().map_err(|error| Failure::io("can't catch signals", &error))?;
        let words = Words::start(self.paint);
        let (log, writing) = Log::start(self.log.map(with_pid), self.format, watch);
        let told = self.far.words();
        let (console, printed_log) = (words.clone(), log.clone());
        let name = self.far.to_string();
        let mut dialer = Dialer::new(self.far, self.checked, self.faults, move |line| {
            printed_log.put(What::Bytes(Stream::Err, [line, &b"\n"[..]].concat()));
            console.say(Note::Console(line.to_vec()));
        });
        let medium = dialer.medium();
        // What can't be started at all need not be tried again.
        let first = match medium {
            relay::Medium::Command => Some(dialer.dial()?),
            _ => None,
        };
        let pid = first.as_ref().and_then(|link| link.end.pid());
        log.put(What::Event(Event::Start { command: told, pid }));
        let patience = u64::try_from(self.patience.as_millis()).unwrap_or(u64::MAX);
        let shared = Shared::new(Relay::new(Terms { name, medium, patience }), words, log.clone());
        {
            // From here on it is ended, however soon the end comes.
            let mut now = shared.lock();
            (now.live, now.pid) = (first.is_some(), pid);
        }
        #[cfg(unix)]
        {
            let watches = Arc::clone(&shared);
            thread::spawn(move || drive::watch_host(&watches));
        }
        let (reads, writes, ends) = (Arc::clone(&shared), Arc::clone(&shared), Arc::clone(&shared));
        thread::spawn(move || drive::watch_signals(&ends, signals));
        thread::spawn(move || drive::write_host(&writes));
        let keeps = Arc::clone(&shared);
        thread::spawn(move || far_end::keep(&keeps, dialer, first));
        thread::spawn(move || {
            // Most far ends are there at once: then nothing has to be held.
            reads.wait_until(FIRST, |now| now.tried);
            drive::read_host(&reads);
        });
        let outcome = attend(&shared);
        let code = match &outcome {
            Ok(code) => *code,
            Err(failure) => failure.code,
        };
        // A connection has no status.
        log.put(What::Event(match medium {
            relay::Medium::Command => Event::Exit { code: Some(code), signal: None },
            _ => Event::Other("over".into()),
        }));
        log.close();
        if !writing.wait(LOG_STALL, LOG_LIMIT) {
            shared.say(Note::Told("the log is not complete: it could not keep up".into()));
        }
        let hurry = shared.lock().signal.is_some();
        let said = outcome.unwrap_or_else(|failure| {
            // Not by whoever called: stderr may be full, and then its writer is stuck.
            if failure.code != 0 {
                shared.say(Note::Told(failure.message));
            }
            failure.code
        });
        shared.words.flush(if hurry { NOTHING } else { LOG_STALL });
        Ok(said)
    }
}

/// Sees to what time brings, and to the end.
fn attend(shared: &Arc<Shared>) -> Result<i32, Failure> {
    let mut now = shared.lock();
    while !now.ends() && now.over.is_none() {
        let time = shared.time();
        if now.relay.deadline().is_some_and(|at| at <= time) {
            now.relay.tick(time);
            shared.changed(&mut now);
            continue;
        }
        let nap =
            now.relay.deadline().map_or(Duration::from_secs(3600), |at| Duration::from_millis(at - time));
        now = shared.wait_for(now, nap);
    }
    let live = now.live;
    drop(now);
    if !shared.wait_until(if live { END } else { NOTHING }, |now| now.over.is_some())
        && let Some(pid) = shared.lock().pid
    {
        // Nothing that was started stays.
        sys::kill_group(pid);
    }
    let mut now = shared.lock();
    if let Some(signal) = now.signal {
        return Ok(128 + signal);
    }
    now.relay.give_up("closed", "the bridge has ended");
    shared.changed(&mut now);
    let (mut heard, failed) = (now.heard, matches!(now.over, Some(Err(_))));
    drop(now);
    // A host that is just about to ask is told too; one that never stops has heard enough.
    let enough = Instant::now() + FLUSH;
    while failed && Instant::now() < enough && shared.wait_until(NOTHING, |now| now.heard != heard) {
        heard = shared.lock().heard;
    }
    let mut written = None;
    let mut now = shared.lock();
    // A host that reads slowly gets all the same.
    while !now.is_flushed() && now.signal.is_none() && written != Some(now.written) {
        let before = now.written;
        written = Some(before);
        drop(now);
        shared.wait_until(FLUSH, |now| now.is_flushed() || now.signal.is_some() || now.written != before);
        now = shared.lock();
    }
    match (now.signal, now.over.take()) {
        (Some(signal), _) => Ok(128 + signal),
        (None, Some(Err(failure))) => Err(failure),
        (None, _) => Ok(0),
    }
}

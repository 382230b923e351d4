//! The threads around the relay: they carry bytes and wait; what to do is decided there.
//!
//! One lock and one condition: whoever changes something wakes the others. Nobody reads, writes or starts anything while
//! holding the lock.

use core::time::Duration;
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

#[cfg(unix)]
use super::pipe::wait_hang_up;
use super::relay::{Note, Relay};
use super::words::Words;
use crate::capture::queue::Log;
use crate::capture::{Event, Stream, What};
use crate::failure::Failure;
use crate::sys::{self, Signals};

/// The longest read.
const CHUNK: usize = 64 << 10;
/// How long the start of a command may take that is to be ended at once.
const SOON: Duration = Duration::from_millis(500);

/// What all threads share.
pub(super) struct Shared {
    now: Mutex<Now>,
    changed: Condvar,
    born: Instant,
    pub(super) words: Words,
    pub(super) log: Log,
}

/// How everything is at the moment.
pub(super) struct Now {
    pub(super) relay: Relay,
    /// Which connection it is. What belongs to another one has no effect.
    pub(super) connection: u64,
    /// It has said its last word.
    pub(super) mute: bool,
    /// It takes no more.
    pub(super) deaf: bool,
    /// The newest connection whose process has exited.
    pub(super) exited: u64,
    /// There is one, or a command is being started.
    pub(super) live: bool,
    /// It is to be told that nothing more will come.
    pub(super) half_closed: bool,
    /// Lines are about to be checked: nothing is written until they are.
    pub(super) upgrading: bool,
    /// Its process.
    pub(super) pid: Option<u32>,
    /// The host writes no more: what it has written can be read to its end, whoever else is behind.
    pub(super) host_left: bool,
    /// The host reads no more.
    pub(super) host_gone: bool,
    /// Something is being written to the host.
    writing: bool,
    /// How often something was.
    pub(super) written: u64,
    /// The first connection was tried.
    pub(super) tried: bool,
    /// The newest connection whose process says no more on stderr.
    pub(super) silent: u64,
    /// How often the host was heard.
    pub(super) heard: u64,
    pub(super) signal: Option<i32>,
    /// There will be no connection any more; why, if that is a failure.
    pub(super) over: Option<Result<(), Failure>>,
}

impl Now {
    /// The bridge ends: nothing new is begun.
    pub(super) fn ends(&self) -> bool {
        self.signal.is_some() || self.host_gone || self.relay.is_done()
    }

    /// Everything for the host was written, or will never be.
    pub(super) fn is_flushed(&self) -> bool {
        self.host_gone || (!self.relay.has_for_host() && !self.writing)
    }
}

impl Shared {
    pub(super) fn new(relay: Relay, words: Words, log: Log) -> Arc<Self> {
        let now = Now {
            relay,
            connection: 0,
            mute: false,
            deaf: false,
            exited: 0,
            live: false,
            half_closed: false,
            upgrading: false,
            pid: None,
            host_left: false,
            host_gone: false,
            writing: false,
            written: 0,
            tried: false,
            silent: 0,
            heard: 0,
            signal: None,
            over: None,
        };
        Arc::new(Self { now: Mutex::new(now), changed: Condvar::new(), born: Instant::now(), words, log })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds of the relay's clock.
    pub(super) fn time(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Something changed: people read what there is to be read, the threads look again.
    pub(super) fn changed(&self, now: &mut Now) {
        for note in now.relay.take_notes() {
            self.say(note);
        }
        self.changed.notify_all();
    }

    pub(super) fn say(&self, note: Note) {
        if let Note::Console(line) = &note {
            self.log.put(What::Bytes(Stream::Err, [line, &b"\n"[..]].concat()));
        }
        self.words.say(note);
    }

    pub(super) fn wait<'g>(&self, now: MutexGuard<'g, Now>) -> MutexGuard<'g, Now> {
        self.changed.wait(now).unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait_for<'g>(&self, now: MutexGuard<'g, Now>, at_most: Duration) -> MutexGuard<'g, Now> {
        self.changed.wait_timeout(now, at_most).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits until something is so, or time is over; says whether it is.
    pub(super) fn wait_until(&self, at_most: Duration, mut is: impl FnMut(&Now) -> bool) -> bool {
        let until = Instant::now() + at_most;
        let mut now = self.lock();
        loop {
            if is(&now) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            now = self.wait_for(now, left);
        }
    }
}

/// Carries what the host says, until it says no more.
pub(super) fn read_host(shared: &Shared) {
    let mut chunk = vec![0; CHUNK];
    let mut from = sys::stdin();
    while let Some(n) = read(&mut *from, &mut chunk) {
        let bytes = &chunk[..n];
        shared.log.put(What::Bytes(Stream::C2s, bytes.to_vec()));
        let mut now = shared.lock();
        now.relay.host(bytes, shared.time());
        now.heard += 1;
        shared.changed(&mut now);
        while (now.relay.far_is_behind() || now.relay.host_is_behind()) && !now.ends() && !now.host_left {
            now = shared.wait(now);
        }
    }
    shared.log.put(What::Event(Event::Eof(Stream::C2s)));
    let mut now = shared.lock();
    now.relay.host_ended(shared.time());
    shared.changed(&mut now);
}

/// Sees the host leave while nobody reads what it says. What is left of that is what a pipe holds.
#[cfg(unix)]
pub(super) fn watch_host(shared: &Shared) {
    if !wait_hang_up(&*sys::stdin()) {
        return;
    }
    let mut now = shared.lock();
    now.host_left = true;
    shared.changed(&mut now);
}

/// Carries what the host is to read.
pub(super) fn write_host(shared: &Shared) {
    let mut to = sys::stdout();
    loop {
        let mut now = shared.lock();
        while !now.relay.has_for_host() {
            now = shared.wait(now);
        }
        let bytes = now.relay.take_for_host();
        now.writing = true;
        shared.changed(&mut now);
        drop(now);
        for part in bytes.chunks(CHUNK) {
            shared.log.put(What::Bytes(Stream::S2c, part.to_vec()));
            let written = to.write_all(part).and_then(|()| to.flush());
            let mut now = shared.lock();
            now.host_gone = written.is_err();
            now.written += 1;
            shared.changed(&mut now);
            if now.host_gone {
                return;
            }
        }
        let mut now = shared.lock();
        now.writing = false;
        shared.changed(&mut now);
    }
}

/// Carries what one connection's far end says.
pub(super) fn read_far(shared: &Shared, connection: u64, mut from: impl Read, checks: bool) {
    let mut chunk = vec![0; CHUNK];
    while let Some(n) = read(&mut from, &mut chunk) {
        let mut now = shared.lock();
        if now.connection != connection {
            return;
        }
        now.relay.far(&chunk[..n], shared.time());
        now.upgrading |= now.relay.take_offer() && checks;
        shared.changed(&mut now);
        while now.relay.host_is_behind() && now.connection == connection && !now.host_gone {
            now = shared.wait(now);
        }
    }
    let mut now = shared.lock();
    if now.connection == connection {
        now.mute = true;
        shared.changed(&mut now);
    }
}

/// Carries what one connection's far end is told. Dropping `to` is the last thing it is told.
pub(super) fn write_far(shared: &Shared, connection: u64, mut to: impl Write) {
    loop {
        let mut now = shared.lock();
        let bytes = loop {
            if now.connection != connection {
                return;
            }
            if now.relay.has_for_far() && !now.upgrading {
                break now.relay.take_for_far();
            }
            if now.half_closed {
                return;
            }
            now = shared.wait(now);
        };
        shared.changed(&mut now);
        drop(now);
        if to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
            let mut now = shared.lock();
            if now.connection == connection {
                now.deaf = true;
                shared.changed(&mut now);
            }
            return;
        }
    }
}

/// Waits until a child is gone.
pub(super) fn wait_child(shared: &Shared, connection: u64, pid: u32) {
    sys::wait_exit(pid);
    let mut now = shared.lock();
    now.exited = now.exited.max(connection);
    shared.changed(&mut now);
}

/// Passes on what a child says to people.
pub(super) fn pass_stderr(shared: &Shared, connection: u64, mut from: impl Read) {
    let mut chunk = [0; 8192];
    while let Some(n) = read(&mut from, &mut chunk) {
        shared.log.put(What::Bytes(Stream::Err, chunk[..n].to_vec()));
        // It is drained whether or not anybody reads ours.
        shared.words.pass(&chunk[..n]);
    }
    let mut now = shared.lock();
    now.silent = now.silent.max(connection);
    shared.changed(&mut now);
}

/// A first signal ends the bridge, a second one does so at once.
pub(super) fn watch_signals(shared: &Shared, mut signals: Signals) {
    while let Some((signal, name)) = signals.wait() {
        shared.log.put(What::Event(Event::Signal(name.into())));
        let mut now = shared.lock();
        if now.signal.is_some() {
            drop(now);
            // A command that is just being started has its number in a moment.
            shared.wait_until(SOON, |now| now.pid.is_some() || !now.live);
            if let Some(pid) = shared.lock().pid {
                sys::kill_group(pid);
            }
            std::process::exit(128 + signal);
        }
        now.signal = Some(signal);
        shared.changed(&mut now);
    }
    // There are none on this system.
    thread::park();
}

/// One read; `None` at the end, which an error is too.
fn read(from: &mut dyn Read, chunk: &mut [u8]) -> Option<usize> {
    loop {
        match from.read(chunk) {
            Ok(0) => return None,
            Ok(n) => return Some(n),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

//! A bounded pipe between a session's client and the thread that owns the port.
use super::lock;
use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Condvar, Mutex, PoisonError},
    vec::Vec,
};

/// What is kept for an end that is slow.
const MOST: usize = 64 << 10;

#[derive(Default)]
struct State {
    bytes: VecDeque<u8>,
    closed: bool,
}

#[derive(Default)]
pub(super) struct Pipe {
    state: Mutex<State>,
    changed: Condvar,
}

impl Pipe {
    pub(super) fn close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }

    /// A closed pipe has all the room: what is put there is for nobody.
    pub(super) fn room(&self) -> usize {
        let state = lock(&self.state);
        if state.closed { MOST } else { MOST.saturating_sub(state.bytes.len()) }
    }

    pub(super) fn put(&self, bytes: &[u8]) {
        let mut state = lock(&self.state);
        if !state.closed {
            state.bytes.extend(bytes);
            self.changed.notify_all();
        }
    }

    /// Moves at most `most` bytes to the end of `out`.
    pub(super) fn take(&self, out: &mut Vec<u8>, most: usize) -> usize {
        let mut state = lock(&self.state);
        let n = state.bytes.len().min(most);
        out.extend(state.bytes.drain(..n));
        self.changed.notify_all();
        n
    }
}

/// Called when there is something to write.
pub(super) type Wake = Arc<dyn Fn() + Send + Sync>;

/// What the device says in one session. Ends with the session.
pub struct Reader(pub(super) Arc<Pipe>, pub(super) Wake);

impl io::Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut state = lock(&self.0.state);
        loop {
            let n = out.len().min(state.bytes.len());
            if n > 0 || state.closed || out.is_empty() {
                let full = state.bytes.len() >= MOST;
                for (to, from) in out.iter_mut().zip(state.bytes.drain(..n)) {
                    *to = from;
                }
                drop(state);
                if full {
                    // The port's thread may wait for room.
                    (self.1)();
                }
                return Ok(n);
            }
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// What the device is told in one session. Waits while it is behind; fails when the session is over.
pub struct Writer(pub(super) Arc<Pipe>, pub(super) Wake);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = lock(&self.0.state);
        loop {
            if state.closed {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let n = bytes.len().min(MOST.saturating_sub(state.bytes.len()));
            if n > 0 || bytes.is_empty() {
                state.bytes.extend(bytes.get(..n).unwrap_or_default());
                drop(state);
                (self.1)();
                return Ok(n);
            }
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl core::fmt::Debug for Reader {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Reader")
    }
}

impl core::fmt::Debug for Writer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Writer")
    }
}

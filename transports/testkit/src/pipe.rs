//! A bounded pipe in memory.

use crate::End;
use std::{
    collections::VecDeque,
    io::{self, Read, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

/// A pipe that holds at most `capacity` bytes (at least one). Writing blocks while it is full, reading while it is empty;
/// when one half is dropped, the other reads to the end, or fails with `BrokenPipe`.
///
/// ```
/// use std::io::{Read, Write};
/// let (mut read, mut write) = barewire_testkit::pipe(16);
/// write.write_all(b"hello").unwrap();
/// drop(write);
/// let mut text = String::new();
/// read.read_to_string(&mut text).unwrap();
/// assert_eq!(text, "hello");
/// ```
pub fn pipe(capacity: usize) -> (PipeReader, PipeWriter) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State { bytes: VecDeque::new(), writing: true, reading: true }),
        moved: Condvar::new(),
        capacity: capacity.max(1),
    });
    (PipeReader(Arc::clone(&shared)), PipeWriter(shared))
}

/// Two pipes: a connection in memory. The simplest transport that passes the suite.
///
/// ```
/// use barewire_testkit::{Claims, Suite, duplex};
/// let report = Suite::new(Claims::stream().half_close()).only("handshake-legacy").run(|| Ok(duplex(1 << 16)));
/// report.assert_passed();
/// ```
pub fn duplex(capacity: usize) -> (End, End) {
    let (up, to) = pipe(capacity);
    let (down, from) = pipe(capacity);
    (End::stream(down, to), End::stream(up, from))
}

/// The half that reads.
#[derive(Debug)]
pub struct PipeReader(Arc<Shared>);

/// The half that writes.
#[derive(Debug)]
pub struct PipeWriter(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    moved: Condvar,
    capacity: usize,
}

#[derive(Debug)]
struct State {
    bytes: VecDeque<u8>,
    writing: bool,
    reading: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'g>(&self, state: MutexGuard<'g, State>) -> MutexGuard<'g, State> {
        self.moved.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.moved.notify_all();
    }
}

impl Read for PipeReader {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        while state.bytes.is_empty() && state.writing && !space.is_empty() {
            state = self.0.wait(state);
        }
        let n = state.bytes.read(space)?;
        drop(state);
        self.0.moved.notify_all();
        Ok(n)
    }
}

impl Write for PipeWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        loop {
            if !state.reading {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let n = bytes.len().min(self.0.capacity - state.bytes.len());
            if n > 0 || bytes.is_empty() {
                state.bytes.extend(&bytes[..n]);
                drop(state);
                self.0.moved.notify_all();
                return Ok(n);
            }
            state = self.0.wait(state);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        self.0.change(|state| state.reading = false);
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        self.0.change(|state| state.writing = false);
    }
}

//! Streams that faults happen to.

use super::{Counts, Fault, Injector};
use core::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};
use std::{
    io::{self, Read, Write},
    sync::Arc,
    thread,
};

/// How a stream waits.
pub trait Clock {
    /// Lets this time pass.
    fn sleep(&self, time: Duration);
}

/// Waits in real time.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealClock;

impl Clock for RealClock {
    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }
}

/// Waits for nothing and adds up how long it would have been; clones add to the same sum.
#[derive(Clone, Debug, Default)]
pub struct SimClock(Arc<AtomicU64>);

impl SimClock {
    /// All waits together.
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.0.load(Relaxed))
    }
}

impl Clock for SimClock {
    fn sleep(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }
}

/// Faults in what is read.
#[derive(Debug)]
pub struct FaultyReader<R, C = RealClock> {
    inner: Option<R>,
    injector: Injector,
    clock: C,
    input: Vec<u8>,
    at: usize,
    out: Vec<u8>,
    given: usize,
    then: Fault,
}

impl<R: Read, C: Clock> FaultyReader<R, C> {
    pub(super) fn new(inner: R, injector: Injector, clock: C) -> Self {
        Self {
            inner: Some(inner),
            injector,
            clock,
            input: Vec::new(),
            at: 0,
            out: Vec::new(),
            given: 0,
            then: Fault::None,
        }
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        self.injector.counts()
    }
}

impl<R: Read, C: Clock> Read for FaultyReader<R, C> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if space.is_empty() {
            return Ok(0);
        }
        while self.given == self.out.len() {
            self.out.clear();
            self.given = 0;
            match core::mem::replace(&mut self.then, Fault::None) {
                Fault::None | Fault::Piece => {}
                Fault::Wait(time) => self.clock.sleep(time),
                Fault::Reset => self.inner = None,
            }
            let Some(inner) = &mut self.inner else { return Err(io::ErrorKind::ConnectionReset.into()) };
            if self.at == self.input.len() {
                self.input.resize(space.len().min(64 << 10), 0);
                let n = inner.read(&mut self.input);
                self.input.truncate(*n.as_ref().unwrap_or(&0));
                self.at = 0;
                if n? == 0 {
                    return Ok(0);
                }
            }
            let (taken, then) = self.injector.step(&self.input[self.at..], &mut self.out);
            self.at += taken;
            self.then = then;
        }
        let n = space.len().min(self.out.len() - self.given);
        space[..n].copy_from_slice(&self.out[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }
}

/// Faults in what is written.
#[derive(Debug)]
pub struct FaultyWriter<W, C = RealClock> {
    inner: Option<W>,
    injector: Injector,
    clock: C,
    out: Vec<u8>,
}

impl<W: Write, C: Clock> FaultyWriter<W, C> {
    pub(super) fn new(inner: W, injector: Injector, clock: C) -> Self {
        Self { inner: Some(inner), injector, clock, out: Vec::new() }
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        self.injector.counts()
    }
}

impl<W: Write, C: Clock> Write for FaultyWriter<W, C> {
    /// Takes all bytes, whatever becomes of them.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut at = 0;
        loop {
            let Some(inner) = &mut self.inner else { return Err(io::ErrorKind::ConnectionReset.into()) };
            self.out.clear();
            let (taken, then) = self.injector.step(&bytes[at..], &mut self.out);
            at += taken;
            inner.write_all(&self.out)?;
            match then {
                Fault::None => return Ok(bytes.len()),
                Fault::Piece => inner.flush()?,
                Fault::Wait(time) => {
                    inner.flush()?;
                    self.clock.sleep(time);
                }
                Fault::Reset => {
                    let _ = inner.flush();
                    self.inner = None;
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.as_mut().map_or(Ok(()), Write::flush)
    }
}

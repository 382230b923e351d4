//! Faults on purpose: the same ones each time.

mod spec;
mod stream;

pub use spec::SpecError;
pub(crate) use spec::{number, wrong};
pub use stream::{Clock, FaultyReader, FaultyWriter, RealClock, SimClock};

use crate::text::Random;
use core::time::Duration;
use std::io::{Read, Write};

/// What is to happen to a stream of bytes.
///
/// Rates are per byte. **Reproducible:** the same seed does the same to the same bytes, however they are cut by those
/// who write and read.
///
/// As text, for command lines: `seed=7,drop=1/1000,corrupt=0.002,duplicate=1/5000,delay=1/100:2ms,split=16,stall=4096:500ms,reset=100000`
/// (`split` is the longest piece, `stall` and `reset` count bytes from the start; every part may be left out).
///
/// ```
/// use barewire_testkit::Faults;
/// use std::io::Write;
/// let faults: Faults = "seed=7,drop=1/10".parse().unwrap();
/// let mut out = Vec::new();
/// faults.writer(&mut out).write_all(&[b'x'; 1000]).unwrap();
/// assert!(out.len() < 1000);
///
/// let mut again = Vec::new();
/// faults.writer(&mut again).write_all(&[b'x'; 1000]).unwrap();
/// assert_eq!(out, again);
/// ```
///
/// Both directions of an end:
///
/// ```
/// # fn f(read: barewire_testkit::PipeReader, write: barewire_testkit::PipeWriter) -> Result<(), barewire_testkit::SpecError> {
/// use barewire_testkit::{End, Faults};
/// let faults: Faults = "seed=7,drop=1/1000,split=16,reset=100k".parse()?;
/// let end = End::stream(faults.reader(read), faults.other().writer(write));
/// # drop(end); Ok(()) }
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[must_use]
pub struct Faults {
    seed: u64,
    drop: f64,
    corrupt: f64,
    duplicate: f64,
    delay: Option<(f64, Duration)>,
    split: Option<usize>,
    stall: Option<(u64, Duration)>,
    reset: Option<u64>,
}

impl Faults {
    /// No faults yet.
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// The same faults at other places: for the other direction.
    pub fn other(self) -> Self {
        self.seed(self.seed.wrapping_add(0x5eed))
    }

    /// Another seed, for example for each connection.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Bytes get lost.
    pub fn drop(mut self, rate: f64) -> Self {
        self.drop = rate;
        self
    }

    /// One bit of a byte is turned over.
    pub fn corrupt(mut self, rate: f64) -> Self {
        self.corrupt = rate;
        self
    }

    /// Bytes come twice.
    pub fn duplicate(mut self, rate: f64) -> Self {
        self.duplicate = rate;
        self
    }

    /// After a byte the rest waits.
    pub fn delay(mut self, rate: f64, time: Duration) -> Self {
        self.delay = Some((rate, time));
        self
    }

    /// Bytes come in pieces of 1 to `longest` bytes.
    pub fn split(mut self, longest: usize) -> Self {
        self.split = Some(longest.max(1));
        self
    }

    /// Once, after so many bytes, the rest waits.
    pub fn stall(mut self, at: u64, time: Duration) -> Self {
        self.stall = Some((at, time));
        self
    }

    /// After so many bytes the stream breaks: `ConnectionReset`, and the half is dropped.
    pub fn reset(mut self, at: u64) -> Self {
        self.reset = Some(at);
        self
    }

    /// The faults without a stream, for drivers of your own.
    pub fn injector(&self) -> Injector {
        Injector {
            faults: *self,
            random: Random::new(self.seed),
            pieces: Random::new(!self.seed),
            at: 0,
            left: 0,
            counts: Counts::default(),
        }
    }

    /// Does it to what is read from `inner`, waiting in real time.
    pub fn reader<R: Read>(&self, inner: R) -> FaultyReader<R> {
        FaultyReader::new(inner, self.injector(), RealClock)
    }

    /// Does it to what is written to `inner`, waiting in real time.
    pub fn writer<W: Write>(&self, inner: W) -> FaultyWriter<W> {
        FaultyWriter::new(inner, self.injector(), RealClock)
    }

    /// The same, with a clock of your own.
    pub fn reader_with<R: Read, C: Clock>(&self, inner: R, clock: C) -> FaultyReader<R, C> {
        FaultyReader::new(inner, self.injector(), clock)
    }

    /// The same, with a clock of your own.
    pub fn writer_with<W: Write, C: Clock>(&self, inner: W, clock: C) -> FaultyWriter<W, C> {
        FaultyWriter::new(inner, self.injector(), clock)
    }
}

/// What must be done before more bytes are given to an [`Injector`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Nothing: all bytes were taken.
    None,
    /// A piece ends here: hand on what there is by itself.
    Piece,
    /// Hand on what there is, then wait.
    Wait(Duration),
    /// Hand on what there is, then break the stream.
    Reset,
}

/// How many bytes met which fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Lost.
    pub dropped: u64,
    /// Changed.
    pub corrupted: u64,
    /// Doubled.
    pub duplicated: u64,
    /// Waits, the stall included.
    pub waits: u64,
}

/// Decides byte by byte; reads no clock and moves nothing.
#[derive(Clone, Debug)]
pub struct Injector {
    faults: Faults,
    random: Random,
    /// The lengths of pieces, drawn apart, so that cuts do not change what happens to the bytes.
    pieces: Random,
    at: u64,
    left: usize,
    counts: Counts,
}

impl Injector {
    /// Takes bytes from `input`, appends what becomes of them to `out`, and stops at the first thing to do. Gives how
    /// many were taken, and what to do; call again with the rest.
    pub fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> (usize, Fault) {
        let faults = self.faults;
        for (taken, byte) in input.iter().enumerate() {
            if faults.reset.is_some_and(|at| self.at >= at) {
                return (taken, Fault::Reset);
            }
            self.at += 1;
            let mut byte = *byte;
            if self.meets(faults.corrupt) {
                byte ^= 1 << (self.random.next() & 7);
                self.counts.corrupted += 1;
            }
            if self.meets(faults.drop) {
                self.counts.dropped += 1;
            } else {
                out.push(byte);
                if self.meets(faults.duplicate) {
                    out.push(byte);
                    self.counts.duplicated += 1;
                }
            }
            let taken = taken + 1;
            if let Some((_, time)) = faults.stall.filter(|(at, _)| self.at == *at) {
                self.counts.waits += 1;
                return (taken, Fault::Wait(time));
            }
            if let Some((rate, time)) = faults.delay
                && self.meets(rate)
            {
                self.counts.waits += 1;
                return (taken, Fault::Wait(time));
            }
            if let Some(longest) = faults.split {
                if self.left == 0 {
                    self.left = 1 + (self.pieces.next() % longest as u64) as usize;
                }
                self.left -= 1;
                if self.left == 0 {
                    return (taken, Fault::Piece);
                }
            }
        }
        (input.len(), Fault::None)
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn meets(&mut self, rate: f64) -> bool {
        rate > 0.0 && self.random.unit() < rate
    }
}

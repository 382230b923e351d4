//! Threads that write and read, and how far they are.

use core::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};
use std::{
    io::{self, Read, Write},
    sync::{Arc, Condvar, Mutex, PoisonError, mpsc},
    thread,
    time::Instant,
};

/// Bytes that moved so far, in whichever direction: who sees it grow is patient.
pub(crate) type Moved = Arc<AtomicU64>;

/// In which pieces bytes are written and read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    pub(crate) write: usize,
    pub(crate) read: usize,
}

impl Pieces {
    /// So large that a message of the suite is one piece, so small that long ones show how far they are.
    pub(crate) const LARGE: Self = Self { write: 64 << 10, read: 64 << 10 };
}

/// What the reading thread, or the writing one, has to tell.
pub(crate) enum Seen {
    Line(Vec<u8>),
    End { rest: Vec<u8>, error: Option<String> },
    NotWritten(String),
}

/// Waits until the count stands still, but not longer than `most`.
pub(crate) fn still(count: &AtomicU64, most: Duration) {
    const TICK: Duration = Duration::from_millis(20);
    const QUIET: u32 = 12;
    let until = Instant::now() + most;
    let (mut last, mut quiet) = (count.load(Relaxed), 0);
    while quiet < QUIET && Instant::now() < until {
        let slept = Instant::now();
        thread::sleep(TICK);
        let now = count.load(Relaxed);
        if now != last {
            quiet = 0;
        } else if slept.elapsed() < 2 * TICK {
            // A machine too busy to wake this thread may not have let the others run either.
            quiet += 1;
        }
        last = now;
    }
}

/// What the writing thread does.
pub(crate) fn writing(
    write: &mut impl Write,
    todo: &mpsc::Receiver<Vec<u8>>,
    piece: usize,
    moved: &AtomicU64,
) -> io::Result<()> {
    for bytes in todo {
        for piece in bytes.chunks(piece) {
            write.write_all(piece)?;
            write.flush()?;
            moved.fetch_add(piece.len() as u64, Relaxed);
        }
    }
    Ok(())
}

/// What the reading thread does.
pub(crate) fn reading(
    mut read: impl Read,
    tell: &mpsc::Sender<Seen>,
    piece: usize,
    moved: &AtomicU64,
    gate: &Gate,
    rest: &mut Vec<u8>,
) -> io::Result<()> {
    let mut space = vec![0; piece];
    loop {
        gate.pass();
        let n = match read.read(&mut space) {
            Ok(0) => return Ok(()),
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        moved.fetch_add(n as u64, Relaxed);
        for part in space[..n].split_inclusive(|byte| *byte == b'\n') {
            rest.extend_from_slice(part);
            if part.ends_with(b"\n") {
                // Nobody may be listening any more: then it is only read away.
                let _ = tell.send(Seen::Line(core::mem::take(rest)));
            }
        }
    }
}

/// Holds a thread while it is shut.
#[derive(Default)]
pub(crate) struct Gate {
    shut: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub(crate) fn set(&self, shut: bool) {
        *self.shut.lock().unwrap_or_else(PoisonError::into_inner) = shut;
        self.opened.notify_all();
    }

    pub(crate) fn pass(&self) {
        let shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(shut, |shut| *shut));
    }
}

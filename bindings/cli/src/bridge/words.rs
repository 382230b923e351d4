//! What people read, on stderr, written by a thread of its own: a host that does not read it must not hold up the session,
//! and nothing of the bridge waits for it without an end.

use core::time::Duration;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Instant, SystemTime};

use super::relay::Note;
use crate::capture::write::utc;
use crate::paint::Paint;
use crate::text::{grouped, printable};

/// Pieces that may wait, and bytes of them.
const WAITING: usize = 1024;
const WAITING_BYTES: usize = 256 << 10;
/// A reader that takes nothing for so long does not read: what comes then is dropped and not waited for.
const STALL: Duration = Duration::from_millis(250);

/// The end that is spoken into.
#[derive(Clone)]
pub(super) struct Words(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    stall: Duration,
}

#[derive(Default)]
struct Queue {
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// One is being written.
    writing: bool,
    /// How many were.
    written: u64,
    /// Nobody seems to read: until something is written, nothing waits for room.
    stalled: bool,
    lost_lines: usize,
    lost_bytes: usize,
}

enum Piece {
    Note(SystemTime, Note),
    /// What a command wrote to its stderr, as it came.
    Raw(Vec<u8>),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Note(_, Note::Told(text)) => text.len(),
            Self::Note(_, Note::Console(bytes)) | Self::Raw(bytes) => bytes.len(),
        }
    }
}

impl Queue {
    fn has_room(&self, piece: &Piece) -> bool {
        self.pieces.len() < WAITING && self.bytes + piece.len() <= WAITING_BYTES
    }

    fn put(&mut self, piece: Piece) {
        if self.has_room(&piece) {
            self.bytes += piece.len();
            self.pieces.push_back(piece);
            return;
        }
        match piece {
            Piece::Note(..) => self.lost_lines += 1,
            Piece::Raw(bytes) => self.lost_bytes += bytes.len(),
        }
    }

    /// The next piece, and what is missing before it.
    fn take(&mut self) -> Option<(Piece, String)> {
        let piece = self.pieces.pop_front()?;
        self.bytes -= piece.len();
        Some((piece, self.missing()))
    }

    /// Tells once what found no room.
    fn missing(&mut self) -> String {
        let (lines, bytes) = (core::mem::take(&mut self.lost_lines), core::mem::take(&mut self.lost_bytes));
        let what = match (lines, bytes) {
            (0, 0) => return String::new(),
            (_, 0) => format!("{lines} more lines"),
            (0, _) => format!("{} more bytes of the command's stderr", grouped(bytes)),
            _ => format!("{lines} more lines and {} bytes of the command's stderr", grouped(bytes)),
        };
        format!("barewire: {what} were not shown: stderr is not read fast enough\n")
    }

    fn is_flushed(&self) -> bool {
        self.pieces.is_empty() && !self.writing
    }
}

impl Words {
    pub(super) fn start(paint: Paint) -> Self {
        let words = Self::new(STALL);
        let own = words.clone();
        // Nobody may be reading it, or nobody any more.
        thread::spawn(move || own.write(paint, |bytes| drop(io::stderr().write_all(bytes))));
        words
    }

    fn new(stall: Duration) -> Self {
        Self(Arc::new(Shared { queue: Mutex::default(), changed: Condvar::new(), stall }))
    }

    /// Writes what comes, for ever.
    fn write(&self, paint: Paint, mut to: impl FnMut(&[u8])) {
        let mut in_line = false;
        let mut queue = self.lock();
        loop {
            let Some((piece, missing)) = queue.take() else {
                queue = self.0.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            queue.writing = true;
            drop(queue);
            let bytes = match piece {
                Piece::Raw(bytes) if missing.is_empty() => bytes,
                Piece::Raw(bytes) => [begin(in_line), missing.as_bytes(), &bytes].concat(),
                Piece::Note(time, note) => {
                    [begin(in_line), missing.as_bytes(), line(time, &note, paint).as_bytes()].concat()
                }
            };
            to(&bytes);
            in_line = bytes.last().map_or(in_line, |last| *last != b'\n');
            queue = self.lock();
            (queue.writing, queue.stalled) = (false, false);
            queue.written += 1;
            self.0.changed.notify_all();
        }
    }

    /// Never waits.
    pub(super) fn say(&self, note: Note) {
        self.lock().put(Piece::Note(SystemTime::now(), note));
        self.0.changed.notify_all();
    }

    /// Passes on what a command wrote: waits for whoever reads stderr, but not for somebody who does not.
    pub(super) fn pass(&self, bytes: &[u8]) {
        let piece = Piece::Raw(bytes.to_vec());
        let mut queue = self.lock();
        let (mut seen, mut until) = (queue.written, Instant::now() + self.0.stall);
        while !queue.stalled && !queue.has_room(&piece) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                queue.stalled = true;
                break;
            }
            queue = self.wait(queue, left);
            if queue.written != seen {
                (seen, until) = (queue.written, Instant::now() + self.0.stall);
            }
        }
        queue.put(piece);
        self.0.changed.notify_all();
    }

    /// Waits until all is written, but not for ever.
    pub(super) fn flush(&self, at_most: Duration) {
        let until = Instant::now() + at_most;
        let mut queue = self.lock();
        while !queue.is_flushed() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            queue = self.wait(queue, left);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'q>(&self, queue: MutexGuard<'q, Queue>, at_most: Duration) -> MutexGuard<'q, Queue> {
        self.0.changed.wait_timeout(queue, at_most).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The bridge's own words begin a line, also where a command has not ended its last one.
const fn begin(in_line: bool) -> &'static [u8] {
    if in_line { b"\n" } else { b"" }
}

fn line(time: SystemTime, note: &Note, paint: Paint) -> String {
    match note {
        Note::Told(what) => format!("barewire: {}\n", printable(what)),
        Note::Console(bytes) => {
            let time = utc(time);
            // Of a date in RFC 3339 the time of day, to the millisecond.
            let clock = time.get(11..23).unwrap_or_default();
            format!("{} {}\n", paint.dim(&format!("{clock} │")), printable(&String::from_utf8_lossy(bytes)))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_console_line_has_its_time_and_moves_no_cursor() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(45_296_789);
        let note = Note::Console(b"\x1b[2Jready \xff".to_vec());
        assert_eq!(line(time, &note, Paint(false)), "12:34:56.789 │ \\e[2Jready \u{fffd}\n");
        assert_eq!(line(time, &note, Paint(true)), "\u{1b}[2m12:34:56.789 │\u{1b}[0m \\e[2Jready \u{fffd}\n");
    }

    fn told(text: &str) -> Note {
        Note::Told(text.into())
    }

    #[test]
    fn what_nobody_reads_is_dropped_counted_and_waited_for_by_nobody() {
        let words = Words::new(Duration::ZERO);
        // Nothing is written yet: all of this would hang, if anything waited for that.
        words.pass(&vec![b'e'; WAITING_BYTES]);
        for _ in 0..100 {
            words.pass(&[b'f'; 8192]);
        }
        words.say(told("one"));
        words.say(told("two"));
        words.flush(Duration::ZERO);
        let (send, written) = channel();
        let own = words.clone();
        thread::spawn(move || own.write(Paint(false), |bytes| drop(send.send(bytes.to_vec()))));
        assert!(written.recv().unwrap().starts_with(
            b"barewire: 2 more lines and 819,200 bytes of the command's stderr were not shown: stderr is not read fast enough\neeee"
        ));
        words.say(told("three"));
        assert_eq!(written.recv().unwrap(), b"\nbarewire: three\n");
    }

    #[test]
    fn who_reads_slowly_reads_all_of_a_commands_stderr() {
        let words = Words::new(Duration::from_secs(3600));
        let (send, written) = std::sync::mpsc::sync_channel(0);
        let own = words.clone();
        thread::spawn(move || own.write(Paint(false), |bytes| drop(send.send(bytes.to_vec()))));
        let all: Vec<u8> = (0..1_000_000u32).map(|n| n as u8).collect();
        let said = all.clone();
        let speaker = thread::spawn(move || said.chunks(1000).for_each(|chunk| words.pass(chunk)));
        let mut read = Vec::new();
        while read.len() < all.len() {
            read.extend(written.recv().unwrap());
        }
        assert!(read == all);
        speaker.join().unwrap();
    }
}

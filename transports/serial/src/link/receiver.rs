//! The receiving half: lines into a caller's buffer, and of the right frames the payload, in order, once.
use super::bytes::{copy, move_left};
use super::wire::{HEAD, Head, Kind, Offset, SUM};
use core::ops::Range;

/// `ready` bytes for the machine, then `line` bytes of the line that is being read.
pub(super) struct Receiver<'b> {
    buf: &'b mut [u8],
    ready: usize,
    line: usize,
    /// The line does not fit: the rest of it is passed over.
    skips: bool,
    /// A frame found no room behind what the machine has not taken.
    starved: bool,
    /// What of the peer's stream comes next.
    pub(super) expect: Offset,
    /// Something of the peer's stream came.
    pub(super) any: bool,
    /// The peer's generation, as it was last seen.
    pub(super) generation: u8,
    /// What was asked for again, and in which generation: once is enough.
    asked: Option<(Offset, u8)>,
    pub(super) ack_due: bool,
    pub(super) ask_due: bool,
}

impl<'b> Receiver<'b> {
    pub(super) const fn new(buf: &'b mut [u8]) -> Self {
        Self {
            buf,
            ready: 0,
            line: 0,
            skips: false,
            starved: false,
            expect: Offset::new(),
            any: false,
            generation: 0,
            asked: None,
            ack_due: false,
            ask_due: false,
        }
    }

    /// A session starts. What is ready stays.
    pub(super) fn restart(&mut self) {
        self.expect = Offset::default();
        (self.any, self.generation, self.asked) = (false, 0, None);
        (self.ack_due, self.ask_due, self.starved) = (false, false, false);
    }

    /// The longest payload that fits, if a carriage return is added to its line.
    pub(super) const fn frame(&self) -> usize {
        self.buf.len().saturating_sub(HEAD + SUM + 1)
    }

    pub(super) const fn capacity(&self) -> usize {
        self.buf.len()
    }

    /// Room behind all that is there.
    pub(super) const fn room(&self) -> usize {
        self.buf.len().saturating_sub(self.ready).saturating_sub(self.line)
    }

    pub(super) fn ready(&self) -> &[u8] {
        self.buf.get(..self.ready).unwrap_or(&[])
    }

    /// The machine took `n` of the ready bytes.
    pub(super) fn taken(&mut self, n: usize) {
        let n = n.min(self.ready);
        move_left(self.buf, n..self.ready + self.line, 0);
        self.ready -= n;
        if self.ready == 0 && self.starved {
            self.starved = false;
            self.asked = None;
            self.ask();
        }
    }

    /// Forgets what is ready, but not the line.
    pub(super) fn drop_ready(&mut self) {
        let n = self.ready;
        (self.starved, self.skips) = (false, false);
        self.taken(n);
    }

    pub(super) fn forget(&mut self) {
        (self.ready, self.line, self.skips, self.starved) = (0, 0, false, false);
    }

    /// Puts bytes at the end of what is ready. Only while no line is held.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        if let Some(room) = self.buf.get_mut(self.ready..self.ready + bytes.len()) {
            copy(room, bytes);
            self.ready += bytes.len();
        }
    }

    /// Appends to the line. False: it does not fit, and is passed over to its end.
    pub(super) fn append(&mut self, bytes: &[u8]) -> bool {
        let room = self.room();
        if !self.skips {
            let n = bytes.len().min(room);
            let at = self.ready + self.line;
            if let (Some(to), Some(from)) = (self.buf.get_mut(at..at + n), bytes.get(..n)) {
                copy(to, from);
            }
            self.line += n;
            self.skips = n < bytes.len();
        }
        !self.skips
    }

    /// The line without a carriage return at its end.
    pub(super) fn line(&self) -> &[u8] {
        let line = self.buf.get(self.ready..self.ready + self.line).unwrap_or(&[]);
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// The line is dealt with. True if it did not fit.
    pub(super) fn end_line(&mut self) -> bool {
        self.line = 0;
        let skipped = core::mem::take(&mut self.skips);
        self.starved |= skipped && self.ready > 0;
        skipped
    }

    /// The line was no frame: it is for the machine after all.
    pub(super) fn release_line(&mut self) {
        self.ready += self.line;
        self.line = 0;
    }

    /// A frame with data; its payload is at `at` of the line.
    pub(super) fn accept(&mut self, head: Head, at: Range<usize>) {
        self.generation = head.generation;
        self.any = true;
        let ends = usize::from(head.kind == Kind::End);
        let len = at.len() + ends;
        let known = self.expect.since(head.offset);
        if known >= Offset::HALF {
            // Something before it is missing.
            return self.ask();
        }
        self.ack_due = true;
        if known >= len {
            return;
        }
        let start = self.ready + at.start + known;
        let end = self.ready + at.end;
        let fresh = end.saturating_sub(start);
        move_left(self.buf, start..end.max(start), self.ready);
        self.ready += fresh;
        if ends > 0
            && let Some(place) = self.buf.get_mut(self.ready)
        {
            *place = b'\n';
            self.ready += 1;
        }
        self.expect = head.offset.plus(len);
        self.asked = None;
        self.line = 0;
    }

    /// Something was lost or damaged: ask for it, once in each generation of the peer.
    pub(super) fn ask(&mut self) {
        let what = Some((self.expect, self.generation));
        if self.asked != what {
            self.asked = what;
            self.ask_due = true;
        }
    }
}

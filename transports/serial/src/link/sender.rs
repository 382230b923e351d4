//! The sending half: a ring of what is not acknowledged, cut into frames, and sent again when need be.
use super::bytes::copy;
use super::wire::{CRC, HEAD, Head, Kind, Offset, SUM, sum};
use super::{LinkStats, Role};
use barewire::Millis;

/// Frames do not become shorter than this, however bad the line is.
const LEAST: usize = 24;
/// Shorter ones than this are a sign of a bad line.
const SHORT: usize = 64;
/// Nor longer than this: an acknowledgement that the other way needs waits for the end of a frame.
const LONGEST: usize = 480;
/// First guess, and bounds, of the time after which an acknowledgement is missed.
const PATIENCE: u64 = 300;
const PATIENCE_LEAST: u64 = 100;
const PATIENCE_MOST: u64 = 2000;

pub(super) struct Sender<'b> {
    buf: &'b mut [u8],
    /// The first byte that is kept, and where it stands. Not after `base`; before it while a frame with older bytes is being written.
    floor: Offset,
    index: usize,
    /// The first byte that is not acknowledged.
    base: Offset,
    /// The next one to send.
    next: Offset,
    /// The first one that was never sent.
    high: Offset,
    /// Where what was pushed ends.
    end: Offset,
    generation: u8,
    /// The longest payload now, and ever.
    frame: usize,
    most: usize,
    window: usize,
    patience: u64,
    /// Smoothed time of a round trip and its deviation, in eighths and quarters (RFC 6298).
    smooth: Option<(u64, u64)>,
    timer: Option<Millis>,
    /// A frame whose acknowledgement tells the time of a round trip.
    sample: Option<(Offset, Millis)>,
    /// Timeouts in a row.
    pub(super) silence: u16,
    /// After a timeout: one frame, to see whether anything was lost, or was only slow.
    probes: bool,
    writing: Option<Data>,
}

/// A frame of data that is being written.
#[derive(Clone, Copy)]
struct Data {
    from: Offset,
    len: usize,
    line_feed: bool,
    head: [u8; HEAD],
    tail: [u8; SUM + 1],
    at: usize,
}

impl<'b> Sender<'b> {
    pub(super) const fn new(buf: &'b mut [u8]) -> Self {
        Self {
            buf,
            floor: Offset::new(),
            index: 0,
            base: Offset::new(),
            next: Offset::new(),
            high: Offset::new(),
            end: Offset::new(),
            generation: 0,
            frame: LEAST,
            most: LEAST,
            window: 0,
            patience: PATIENCE,
            smooth: None,
            timer: None,
            sample: None,
            silence: 0,
            probes: false,
            writing: None,
        }
    }

    /// A session with a peer that takes frames of `frame` bytes and `window` bytes under way.
    pub(super) fn restart(&mut self, frame: usize, window: usize) {
        let zero = Offset::default();
        (self.floor, self.base, self.next, self.high, self.end) = (zero, zero, zero, zero, zero);
        (self.index, self.generation, self.silence) = (0, 0, 0);
        (self.patience, self.smooth, self.timer, self.sample) = (PATIENCE, None, None, None);
        // Three to the buffer, so that one is under way while another is acknowledged.
        self.most = frame.min(self.buf.len() / 3).min(window).clamp(1, LONGEST);
        self.frame = self.most;
        self.window = window;
        (self.probes, self.writing) = (false, None);
    }

    /// Copies bytes of the stream in; returns how much was taken.
    pub(super) fn push(&mut self, bytes: &[u8]) -> usize {
        let held = self.end.since(self.floor);
        let n = bytes.len().min(self.buf.len().saturating_sub(held));
        let at = self.place(self.end);
        let first = n.min(self.buf.len().saturating_sub(at));
        if let (Some(to), Some(from)) = (self.buf.get_mut(at..at + first), bytes.get(..first)) {
            copy(to, from);
        }
        if let (Some(to), Some(from)) = (self.buf.get_mut(..n - first), bytes.get(first..n)) {
            copy(to, from);
        }
        self.end = self.end.plus(n);
        n
    }

    /// All was sent and acknowledged.
    pub(super) fn is_empty(&self) -> bool {
        self.base == self.end && self.writing.is_none()
    }

    pub(super) const fn deadline(&self) -> Option<Millis> {
        self.timer
    }

    /// The peer has everything before `to`.
    pub(super) fn acked(&mut self, to: Offset, now: Millis) {
        let n = to.since(self.base);
        if n == 0 || n > self.high.since(self.base) {
            return;
        }
        if self.next.since(to) >= Offset::HALF {
            self.next = to;
        }
        self.base = to;
        (self.silence, self.probes) = (0, false);
        self.free();
        if let Some((what, sent)) = self.sample
            && to.since(what) < Offset::HALF
        {
            self.sample = None;
            self.measured(now.0.saturating_sub(sent.0));
        }
        self.frame = self.most.min(self.frame + (self.frame / 32).max(1));
        self.patience = match self.smooth {
            Some((smooth, deviation)) => bound(smooth / 8 + deviation),
            None => self.patience.min(PATIENCE),
        };
        // A frame that is still being written is not waited for yet.
        let sent = self.writing.map_or(self.next, |data| data.from);
        let waits = sent.since(self.base);
        self.timer = (waits > 0 && waits < Offset::HALF).then(|| now.after(Millis(self.patience)));
    }

    /// The peer asks for all that is not acknowledged. It saw `generation`: what was sent again since answers that.
    pub(super) fn asked(&mut self, generation: u8) {
        if generation == self.generation && self.next != self.base {
            self.probes = false;
            self.go_back();
        }
    }

    /// Time passes. True: an acknowledgement is missed.
    pub(super) fn tick(&mut self, now: Millis) -> bool {
        if self.timer.is_none_or(|timer| now < timer) {
            return false;
        }
        self.silence = self.silence.saturating_add(1);
        // Nobody else shares the line, so haste does no harm; only a peer that is away is asked less and less.
        if self.silence > 3 {
            self.patience = (self.patience * 2).min(PATIENCE_MOST);
        }
        self.probes = true;
        self.go_back();
        true
    }

    /// Starts the next frame, if there is one to send now.
    pub(super) fn compose(&mut self, role: Role, ack: Offset, stats: &mut LinkStats) -> bool {
        let Some((len, line_feed)) = self.cut() else { return false };
        let kind = if line_feed { Kind::End } else { Kind::Piece };
        let head = Head { kind, role, generation: self.generation, offset: self.next, ack }.write();
        let mut digest = CRC.digest();
        digest.update(head.get(1..).unwrap_or(&[]));
        let (a, b) = self.spans(self.next, len);
        digest.update(a);
        digest.update(b);
        let [c0, c1, c2, c3, c4, c5] = sum(digest.finalize());
        self.writing = Some(Data {
            from: self.next,
            len,
            line_feed,
            head,
            tail: [c0, c1, c2, c3, c4, c5, b'\n'],
            at: 0,
        });
        stats.frames = stats.frames.wrapping_add(1);
        if self.high.since(self.next) < Offset::HALF && self.high != self.next {
            stats.resent = stats.resent.wrapping_add(1);
        }
        self.next = self.next.plus(len + usize::from(line_feed));
        true
    }

    /// The next bytes of the frame that is being written.
    pub(super) fn part(&self) -> &[u8] {
        let Some(data) = &self.writing else { return &[] };
        if let Some(rest @ [_, ..]) = data.head.get(data.at..) {
            return rest;
        }
        let at = data.at - HEAD;
        if at < data.len {
            return self.spans(data.from.plus(at), data.len - at).0;
        }
        data.tail.get(at - data.len..).unwrap_or(&[])
    }

    /// `n` bytes of the part have left. True: the frame is out.
    pub(super) fn sent(&mut self, n: usize, now: Millis) -> bool {
        let Some(data) = &mut self.writing else { return true };
        data.at += n;
        if data.at < HEAD + data.len + SUM + 1 {
            return false;
        }
        let end = data.from.plus(data.len + usize::from(data.line_feed));
        self.writing = None;
        self.free();
        // A part that was sent before tells nothing about the time.
        let fresh = end.since(self.high);
        if fresh > 0 && fresh < Offset::HALF {
            self.high = end;
            self.sample = self.sample.or(Some((end, now)));
        }
        if self.base != self.next {
            self.timer = self.timer.or(Some(now.after(Millis(self.patience))));
        }
        true
    }

    /// How much goes into the next frame, and whether the message ends with it.
    fn cut(&self) -> Option<(usize, bool)> {
        let waits = self.end.since(self.next);
        let flying = self.next.since(self.base);
        // Short frames mean losses, and each one costs all that is under way.
        let bad = self.frame < SHORT && self.frame < self.most;
        let window = if bad { self.window.min(4 * self.frame) } else { self.window };
        let open = window.saturating_sub(flying);
        if waits == 0 || open == 0 || self.probes && flying > 0 {
            return None;
        }
        let most = self.frame.min(open);
        let (a, b) = self.spans(self.next, waits.min(most + 1));
        let found = a.iter().chain(b).position(|byte| *byte == b'\n');
        match found {
            Some(at) if at < open => Some((at, true)),
            // Short pieces wait while something is under way: more may follow meanwhile.
            _ if flying > 0 && waits.min(most) < self.frame => None,
            _ => Some((waits.min(most), false)),
        }
    }

    fn go_back(&mut self) {
        self.next = self.base;
        self.generation = (self.generation + 1) & 63;
        self.frame = (self.frame - self.frame / 4).max(LEAST.min(self.most));
        (self.timer, self.sample) = (None, None);
    }

    fn measured(&mut self, time: u64) {
        let (smooth, deviation) = match self.smooth {
            None => (time * 8, time * 2),
            Some((smooth, deviation)) => {
                (smooth - smooth / 8 + time, deviation - deviation / 4 + time.abs_diff(smooth / 8))
            }
        };
        self.smooth = Some((smooth, deviation));
        self.patience = bound(smooth / 8 + deviation);
    }

    /// Gives acknowledged bytes up, but not those of the frame that is being written.
    fn free(&mut self) {
        let from = match &self.writing {
            Some(data) if self.base.since(data.from) < Offset::HALF => data.from,
            _ => self.base,
        };
        self.index = self.place(from);
        self.floor = from;
    }

    fn place(&self, at: Offset) -> usize {
        (self.index + at.since(self.floor)).checked_rem(self.buf.len()).unwrap_or(0)
    }

    /// `len` bytes from `at`, in two runs.
    fn spans(&self, at: Offset, len: usize) -> (&[u8], &[u8]) {
        let start = self.place(at);
        let first = len.min(self.buf.len().saturating_sub(start));
        (self.buf.get(start..start + first).unwrap_or(&[]), self.buf.get(..len - first).unwrap_or(&[]))
    }
}

fn bound(patience: u64) -> u64 {
    patience.clamp(PATIENCE_LEAST, PATIENCE_MOST)
}

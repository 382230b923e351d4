//! Where lines begin and end.
use super::marks::Marks;
use super::skim::{Skim, Skimmed};
use crate::json::Raw;
use crate::json::{FAST, SMALL, copy, move_left};
use crate::machine::Framing;
use crate::machine::mem::{Bytes, Span, show};

/// What a growing buffer keeps when it is empty, and grows by at least.
const CHUNK: usize = 8 * 1024;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Splits a stream into messages over a buffer.
///
/// ```
/// use barewire::frame::{Frame, Lines};
/// let mut buffer = [0; 64];
/// let mut lines = Lines::new(&mut buffer);
/// assert_eq!(lines.feed(b"{}\r\n\n[1]\n{\"a\""), 13);
/// assert!(matches!(lines.next(), Frame::Line(l) if l == b"{}\r"));
/// assert!(matches!(lines.next(), Frame::Line(l) if l == b"[1]"));
/// assert!(matches!(lines.next(), Frame::More));
/// ```
// What is small comes first, as in `Server`.
#[repr(C)]
pub struct Lines<'b> {
    fresh: bool,
    over: bool,
    framing: Framing,
    mem: Bytes<'b>,
    /// The first byte that is not consumed.
    start: usize,
    end: usize,
    marks: Marks,
    /// The line at `start` ends here; it is consumed by moving behind it.
    line: Option<usize>,
    high: usize,
    skim: Option<Skim>,
}

/// `{:#?}` shows all of the state.
impl core::fmt::Debug for Lines<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if f.alternate() {
            let Self { start, end, line, skim, fresh, over, .. } = self;
            write!(f, "rx {start} {end} {line:?} {skim:?} {fresh} {over} ")?;
            return show(f, self.mem.get().get(*start..*end).unwrap_or(&[]));
        }
        f.debug_struct("Lines")
            .field("waiting", &self.waiting())
            .field("limit", &self.limit())
            .finish_non_exhaustive()
    }
}

/// What [`Lines::next`] found. It is consumed by the next call.
#[derive(Debug)]
pub enum Frame<'m> {
    /// One message without its line feed; never blank, not checked to be JSON.
    Line(&'m mut [u8]),
    /// A line longer than the buffer, all of it thrown away.
    TooLong {
        /// How long it was, in bytes.
        dropped: usize,
        /// Its `id`, if it was a JSON object that had one and the id fits half the buffer.
        id: Option<Raw<'m>>,
        /// It had `result` or `error` and no `method`: it is never answered.
        is_response: bool,
    },
    /// Nothing complete; read more.
    More,
}

/// The same without borrows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// `ended` is false for a last line without line feed.
    Line {
        at: Span,
        ended: bool,
    },
    TooLong(Skimmed),
    More,
}

impl<'b> Lines<'b> {
    /// Over `buffer`, which bounds the longest line (its line feed included).
    #[must_use]
    pub const fn new(buffer: &'b mut [u8]) -> Self {
        Self::over(Bytes::Lent(buffer), Framing::Lines)
    }

    /// Over a buffer of its own, which grows with the line at hand up to `limit` bytes (the line feed included) and is given
    /// back afterwards.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub const fn growing(limit: usize) -> Lines<'static> {
        Lines::over(Bytes::Grown(alloc::vec::Vec::new(), limit), Framing::Lines)
    }

    pub(crate) const fn over(mem: Bytes<'b>, framing: Framing) -> Self {
        Self {
            mem,
            start: 0,
            end: 0,
            marks: Marks::NONE,
            line: None,
            skim: None,
            framing,
            fresh: true,
            over: false,
            high: 0,
        }
    }

    /// Longest message that can be read, in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.mem.limit().saturating_sub(1)
    }

    /// Room to read into. Empty only while a message is pending.
    pub fn space(&mut self) -> &mut [u8] {
        self.make_room();
        let end = self.end;
        self.mem.get_mut().get_mut(end..).unwrap_or(&mut [])
    }

    /// Says how much was read into `space`.
    pub fn filled(&mut self, n: usize) {
        let from = self.end;
        self.end = self.end.saturating_add(n).min(self.mem.get().len());
        self.high = self.high.max(self.end.wrapping_sub(self.start));
        if self.framing == Framing::Messages
            && let Some(new) = self.mem.get_mut().get_mut(from..self.end)
        {
            // Neither may stand inside a string, both are white space elsewhere: the meaning is the same.
            for byte in new.iter_mut().filter(|b| **b == b'\n') {
                *byte = b'\r';
            }
        }
    }

    /// Copies input in; returns how much was taken.
    pub fn feed(&mut self, bytes: &[u8]) -> usize {
        self.make_room();
        let room = self.mem.get_mut().get_mut(self.end..).unwrap_or(&mut []);
        let n = bytes.len().min(room.len());
        let (room, bytes) = (room.get_mut(..n).unwrap_or_default(), bytes.get(..n).unwrap_or_default());
        if self.framing == Framing::Lines && self.marks.is_through(self.end) {
            self.marks.copy(room, bytes);
        } else {
            copy(room, bytes);
        }
        self.filled(n);
        n
    }

    /// With [`Framing::Messages`]: what was fed since the last one is one message.
    pub(crate) fn end_of_message(&mut self) {
        if self.space().is_empty() {
            // No line is pending in a full buffer only if the message itself fills it.
            self.look();
            self.make_room();
        }
        let end = self.end;
        if let Some(room) = self.mem.get_mut().get_mut(end) {
            *room = b'\n';
            self.end = end.wrapping_add(1);
        }
    }

    /// No more input will come: what is left without a line feed counts as a last line.
    pub fn end_of_input(&mut self) {
        self.over = true;
    }

    /// The next message. Call it until it says [`Frame::More`] before feeding again.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Frame<'_> {
        self.consume();
        match self.look() {
            Found::Line { at, .. } => Frame::Line(at.of_mut(self.mem.get_mut())),
            Found::TooLong(found) => Frame::TooLong {
                dropped: found.dropped,
                id: found.id.map(|id| Raw::trusted(id.of(self.mem.get()))),
                is_response: found.is_response && !found.has_method,
            },
            Found::More => Frame::More,
        }
    }

    /// What comes next, without consuming it: the same answer until [`consume`](Self::consume).
    #[inline]
    pub(crate) fn look(&mut self) -> Found {
        // Nearly always a whole line lies there, which is not blank, or nothing.
        if FAST && !self.fresh && self.skim.is_none() {
            if self.start == self.end && self.line.is_none() {
                return Found::More;
            }
            if let Some(end) = self.line.or_else(|| self.find_end())
                && let at = Span::new(self.start, end)
                && at.of(self.mem.get()).first().is_some_and(|first| *first > b' ')
            {
                return Found::Line { at, ended: end < self.end };
            }
        }
        self.look_closely()
    }

    #[inline(never)]
    fn look_closely(&mut self) -> Found {
        loop {
            if self.skim.is_some() {
                return self.skimmed();
            }
            if self.waiting() >= BOM.len() {
                self.drop_bom();
            }
            let end = match self.line {
                Some(end) => end,
                None => match self.find_end() {
                    Some(end) => end,
                    None if self.over && self.start < self.end => {
                        self.line = Some(self.end);
                        self.end
                    }
                    None if self.waiting() >= self.mem.limit() && !self.over => {
                        self.start_skim();
                        continue;
                    }
                    None => return Found::More,
                },
            };
            self.drop_bom();
            let at = Span::new(self.start, end);
            if at.of(self.mem.get()).iter().all(|b| matches!(b, b' ' | b'\t' | b'\r')) {
                self.consume();
                continue;
            }
            return Found::Line { at, ended: end < self.end };
        }
    }

    /// Where the line at hand starts; 0 if there is none.
    pub(crate) const fn line_start(&self) -> usize {
        if self.line.is_some() { self.start } else { 0 }
    }

    /// Moves behind the message that `look` found; its bytes stay where they are until room is asked for.
    #[inline]
    pub(crate) fn consume(&mut self) {
        if self.skim.as_ref().is_some_and(Skim::is_over) {
            self.skim = None;
        } else if let Some(end) = self.line.take() {
            self.start = end.wrapping_add(1).min(self.end);
        }
    }

    /// Forgets all input.
    pub(crate) fn clear(&mut self) {
        (self.start, self.end, self.line, self.skim) = (0, 0, None, None);
        self.marks.restart(0);
        self.fresh = true;
        self.over = false;
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.mem.get()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.mem.get_mut()
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.over
    }

    pub(crate) const fn high_water(&self) -> usize {
        self.high
    }

    const fn waiting(&self) -> usize {
        self.end.wrapping_sub(self.start)
    }

    #[inline]
    fn find_end(&mut self) -> Option<usize> {
        self.line = self.marks.next(self.mem.get(), self.end);
        self.line
    }

    fn drop_bom(&mut self) {
        if self.fresh {
            self.fresh = false;
            if self.mem.get().get(self.start..self.end).is_some_and(|b| b.starts_with(BOM)) {
                self.start = self.start.wrapping_add(BOM.len());
            }
        }
    }

    /// A step of its own, since it is made on the stack before it is moved.
    #[inline(never)]
    fn start_skim(&mut self) {
        self.skim = Some(Skim::new());
    }

    /// Feeds what is there to the skimmer, up to the line's end.
    #[inline(never)]
    fn skimmed(&mut self) -> Found {
        self.drop_bom();
        if let Some(done) = self.skim.as_ref().and_then(Skim::result) {
            return Found::TooLong(done);
        }
        let found = self.find_end();
        let Some(skim) = &mut self.skim else { return Found::More };
        let until = found.unwrap_or(self.end);
        let kept = skim.feed(self.mem.get_mut(), Span::new(self.start, until));
        self.line = None;
        if found.is_some() || self.over {
            let done = skim.finish(found.is_some());
            self.start = until.wrapping_add(1).min(self.end);
            return Found::TooLong(done);
        }
        (self.start, self.end) = (kept, kept);
        self.marks.restart(kept);
        Found::More
    }

    #[inline(never)]
    fn make_room(&mut self) {
        let pending = self.line.is_some() || self.skim.as_ref().is_some_and(Skim::is_over);
        let front = self.skim.as_ref().map_or(0, Skim::kept);
        if self.start == self.end && !pending {
            (self.start, self.end) = (front, front);
            self.marks.restart(front);
            if self.skim.is_none() {
                self.mem.shrink();
                if !SMALL && !self.mem.grows() {
                    return;
                }
            }
        }
        let size = self.mem.get().len();
        // Moving is worth it when little has to move, when it frees a good part, or when nothing else can free anything.
        let gain = self.start.saturating_sub(front);
        let cheap = !pending && self.waiting() <= gain / 4;
        let full = self.end >= size && (gain >= size / 4 || (!pending && self.marks.is_through(self.end)));
        if gain > 0 && (cheap || full) {
            move_left(self.mem.get_mut(), self.start..self.end, front);
            self.end = self.end.wrapping_sub(gain);
            self.marks.shift(gain);
            self.line = self.line.map(|l| l.wrapping_sub(gain));
            self.start = front;
        }
        if self.mem.grows() && !pending && self.marks.is_through(self.end) {
            let want = self.end.saturating_add(CHUNK.max(self.waiting() / 2));
            if self.end.saturating_add(CHUNK / 2) > self.mem.get().len() {
                self.mem.reserve(want);
            }
        }
    }
}

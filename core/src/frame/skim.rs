//! Reading a message that is thrown away, for what an answer to it needs.
use super::Member as Known;
use crate::json::{Kind, Raw, ScanFault, Scanner, Step};
use crate::json::{copy, move_left};
use crate::machine::mem::Span;

/// What was learned of a message longer than the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skimmed {
    pub(crate) dropped: usize,
    /// Where the id's token now stands in the buffer; only a string or an integer.
    pub(crate) id: Option<Span>,
    pub(crate) has_method: bool,
    pub(crate) has_id: bool,
    /// It carries `result` or `error`.
    pub(crate) is_response: bool,
    /// Not one JSON text.
    pub(crate) fault: Option<ScanFault>,
    /// Cut off by the end of the input.
    pub(crate) cut: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Member {
    Other,
    Id,
}

/// Keeps what was fed since the last key or value, which is where the next key or the id stands, whatever the chunks.
#[derive(Debug)]
pub(crate) struct Skim {
    scanner: Scanner,
    fault: Option<ScanFault>,
    ended: bool,
    member: Member,
    /// The last bytes before a key, and where in the message they began.
    held: [u8; 40],
    held_len: usize,
    held_at: usize,
    /// How much of the buffer's front holds the id (and what was around it), and where in the message it began.
    kept: usize,
    kept_at: usize,
    lost: bool,
    id: Option<Span>,
    has_id: bool,
    has_method: bool,
    is_response: bool,
    done: Option<Skimmed>,
    fed: usize,
}

impl Skim {
    pub(crate) const fn new() -> Self {
        Self {
            scanner: Scanner::new(),
            fault: None,
            ended: false,
            member: Member::Other,
            held: [0; 40],
            held_len: 0,
            held_at: 0,
            kept: 0,
            kept_at: 0,
            lost: false,
            id: None,
            has_id: false,
            has_method: false,
            is_response: false,
            done: None,
            fed: 0,
        }
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.done.is_some()
    }

    pub(crate) const fn result(&self) -> Option<Skimmed> {
        self.done
    }

    /// How much of the buffer's front must be left alone.
    pub(crate) const fn kept(&self) -> usize {
        self.kept
    }

    /// Reads `at` of `buffer`; what has to be kept is moved to the front. Returns how long that is.
    #[inline(never)]
    pub(crate) fn feed(&mut self, buffer: &mut [u8], at: Span) -> usize {
        self.fed = self.fed.saturating_add(at.len());
        let mut from = at.start;
        while self.fault.is_none_or(|fault| fault == ScanFault::Depth) && from < at.end() {
            let input = Span::new(from, at.end()).of(buffer);
            let position = self.scanner.position();
            let (n, step) = match self.scanner.step(input) {
                Ok(found) => found,
                Err(e) => {
                    self.fault = Some(e.fault);
                    if e.fault != ScanFault::Depth {
                        break;
                    }
                    let skip = self.scanner.position().wrapping_sub(position);
                    self.hold(buffer, Span::new(from, from.wrapping_add(skip)));
                    from = from.wrapping_add(skip);
                    continue;
                }
            };
            self.hold(buffer, Span::new(from, from.wrapping_add(n)));
            from = from.wrapping_add(n);
            match step {
                Step::More => break,
                Step::Key { start, end } => self.key(start, end),
                Step::Value { start, end } => self.value(buffer, start, end),
                Step::End { .. } => self.ended = true,
            }
        }
        self.kept
    }

    /// The line is over (`ended`), or the input is.
    #[inline(never)]
    pub(crate) fn finish(&mut self, ended: bool) -> Skimmed {
        if self.fault.is_none_or(|fault| fault == ScanFault::Depth)
            && let Err(e) = self.scanner.finish()
        {
            self.fault = Some(e.fault);
        }
        let done = Skimmed {
            dropped: self.fed,
            id: self.id,
            has_method: self.has_method,
            has_id: self.has_id,
            is_response: self.is_response,
            fault: self.fault,
            cut: !ended,
        };
        self.done = Some(done);
        done
    }

    fn hold(&mut self, buffer: &mut [u8], new: Span) {
        match self.member {
            Member::Id => {
                // The front half may hold an id; a byte moves left or stays, so nothing unread is overwritten.
                let room = (buffer.len() / 2).saturating_sub(self.kept);
                if new.len() > room {
                    self.lost = true;
                } else if new.end() <= buffer.len() {
                    move_left(buffer, new.start..new.end(), self.kept);
                    self.kept = self.kept.wrapping_add(new.len());
                }
            }
            Member::Other => {
                let new = new.of(buffer);
                if let Some(room) = self.held.get_mut(self.held_len..) {
                    let n = new.len().min(room.len());
                    if let (Some(room), Some(new)) = (room.get_mut(..n), new.get(..n)) {
                        copy(room, new);
                    }
                    self.held_len = self.held_len.wrapping_add(n);
                }
            }
        }
    }

    #[inline(never)]
    fn key(&mut self, start: usize, end: usize) {
        let at = Span::new(start.wrapping_sub(self.held_at), end.wrapping_sub(self.held_at));
        let key = self.held.get(..self.held_len).and_then(|h| h.get(at.start..at.end()));
        match key.and_then(Known::of_key) {
            Some(Known::Id) => {
                if self.has_id {
                    // A double: nobody can tell which is meant.
                    self.lost = true;
                    self.id = None;
                } else {
                    self.member = Member::Id;
                    self.kept = 0;
                    self.kept_at = self.scanner.position();
                }
                self.has_id = true;
            }
            Some(Known::Method) => self.has_method = true,
            Some(Known::Result | Known::Error) => self.is_response = true,
            _ => {}
        }
        self.held_len = 0;
        self.held_at = self.scanner.position();
    }

    #[inline(never)]
    fn value(&mut self, buffer: &mut [u8], start: usize, end: usize) {
        if self.member == Member::Id {
            self.member = Member::Other;
            let at = Span::new(start.wrapping_sub(self.kept_at), end.wrapping_sub(self.kept_at));
            let valid = !self.lost && at.end() <= self.kept && {
                let id = Raw::trusted(at.of(buffer));
                id.kind() == Kind::String || id.is_integer()
            };
            if valid {
                move_left(buffer, at.start..at.end(), 0);
                self.kept = at.len();
                self.id = Some(Span::new(0, self.kept));
            } else {
                self.kept = 0;
            }
        }
        self.held_len = 0;
        self.held_at = self.scanner.position();
    }
}

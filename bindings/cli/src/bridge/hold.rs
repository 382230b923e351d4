//! What the host said while nobody was there to hear it.

use std::collections::VecDeque;

use barewire::json::Raw;

/// How much is kept.
const MOST: usize = 64;
const MOST_BYTES: usize = 1 << 20;

/// One line that waits.
pub(super) struct Held {
    pub(super) line: Vec<u8>,
    /// The ids of its requests; none for a notification.
    pub(super) ids: Vec<Box<[u8]>>,
    /// How long it waits, in milliseconds of the relay's clock.
    pub(super) until: u64,
}

/// Lines in their order, bounded.
#[derive(Default)]
pub(super) struct Hold {
    lines: VecDeque<Held>,
    bytes: usize,
}

impl Hold {
    pub(super) fn has_room(&self, line: &[u8]) -> bool {
        self.lines.len() < MOST && self.bytes + line.len() <= MOST_BYTES
    }

    pub(super) fn push(&mut self, held: Held) {
        self.bytes += held.line.len();
        self.lines.push_back(held);
    }

    /// Puts a line before all others: it was sent already, and is sent again. There is always room for it.
    pub(super) fn push_front(&mut self, held: Held) {
        self.bytes += held.line.len();
        self.lines.push_front(held);
    }

    pub(super) fn take_all(&mut self) -> VecDeque<Held> {
        self.bytes = 0;
        core::mem::take(&mut self.lines)
    }

    /// Takes those whose time is over.
    pub(super) fn take_expired(&mut self, now: u64) -> Vec<Held> {
        let (over, rest): (Vec<Held>, Vec<Held>) =
            core::mem::take(&mut self.lines).into_iter().partition(|held| held.until <= now);
        self.lines = rest.into();
        self.bytes -= over.iter().map(|held| held.line.len()).sum::<usize>();
        over
    }

    /// Takes out a line that has this request and no other.
    pub(super) fn remove(&mut self, id: Raw<'_>) -> bool {
        let is = |own: &[u8]| Raw::from_bytes(own).is_ok_and(|own| own.same_id(id));
        let at = self.lines.iter().position(|held| matches!(&held.ids[..], [own] if is(own)));
        let removed = at.and_then(|at| self.lines.remove(at));
        self.bytes -= removed.as_ref().map_or(0, |held| held.line.len());
        removed.is_some()
    }

    pub(super) fn deadline(&self) -> Option<u64> {
        self.lines.iter().map(|held| held.until).min()
    }
}

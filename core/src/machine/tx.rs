//! The way out: bytes that may be sent, and behind them what is being written.
use super::mem::{Bytes, show};
use crate::json::Sink;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Waiting output beyond which a growing machine wants to send before it lends or makes more.
pub(crate) const BACKLOG: usize = 64 * 1024;
/// Bytes `start..ready` may be sent; `ready..end` belong to what is lent.
pub(crate) struct Tx<'b> {
    mem: Bytes<'b>,
    start: usize,
    ready: usize,
    end: usize,
    high: usize,
}

impl core::fmt::Debug for Tx<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "tx {} {} {} ", self.start, self.ready, self.end)?;
        show(f, self.mem.get().get(self.start..self.end).unwrap_or(&[]))
    }
}

impl<'b> Tx<'b> {
    pub(crate) const fn new(mem: Bytes<'b>) -> Self {
        Self { mem, start: 0, ready: 0, end: 0, high: 0 }
    }

    /// Finished bytes.
    pub(crate) fn output(&self) -> &[u8] {
        self.mem.get().get(self.start..self.ready).unwrap_or(&[])
    }

    /// `n` bytes have left.
    pub(crate) fn sent(&mut self, n: usize) {
        self.high = self.high.max(self.ready.saturating_sub(self.start));
        self.start = self.start.saturating_add(n).min(self.ready);
        if self.start == self.end {
            (self.start, self.ready, self.end) = (0, 0, 0);
            self.mem.shrink();
        }
    }

    /// The most that waited here.
    pub(crate) fn high_water(&self) -> usize {
        self.high.max(self.ready.saturating_sub(self.start))
    }

    /// Takes back what was written and not made ready.
    pub(crate) fn roll_back(&mut self) {
        self.end = self.ready;
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        (self.start, self.ready, self.end) = (0, 0, 0);
    }

    /// Is the whole room of a reply (`cap`, or all of a lent buffer) free?
    pub(crate) fn has_room(&mut self, cap: usize) -> bool {
        let waiting = self.ready.saturating_sub(self.start);
        if self.mem.grows() {
            return waiting < BACKLOG;
        }
        let size = self.mem.limit();
        size.saturating_sub(waiting) >= cap.min(size)
    }

    /// Lends room for one reply of at most `cap` bytes.
    pub(crate) fn lend(&mut self, cap: usize) -> Out<'_> {
        self.pack();
        let limit = if self.mem.grows() {
            self.end.saturating_add(cap.min(self.mem.limit()))
        } else {
            self.mem.limit().min(self.end.saturating_add(cap))
        };
        self.out(limit)
    }

    /// Lends room for a piece of the machine's own message.
    pub(crate) fn lend_piece(&mut self) -> Out<'_> {
        self.pack();
        let limit = if self.mem.grows() { BACKLOG.max(self.end) } else { self.mem.limit() };
        self.out(limit)
    }

    fn out(&mut self, limit: usize) -> Out<'_> {
        let mem = match &mut self.mem {
            Bytes::Lent(s) => Mem::Lent(s),
            #[cfg(feature = "alloc")]
            Bytes::Grown(v, _) => Mem::Grown(v),
        };
        Out { mem, limit, ready: &mut self.ready, end: &mut self.end, full: false }
    }

    /// Moves what waits to the front. A growing buffer does so only when little has to move.
    fn pack(&mut self) {
        let waiting = self.end.saturating_sub(self.start);
        if self.start == 0 || (self.mem.grows() && waiting > self.start) {
            return;
        }
        let range = self.start..self.end;
        if range.end <= self.mem.get().len() {
            crate::json::move_left(self.mem.get_mut(), range, 0);
        }
        self.ready = self.ready.saturating_sub(self.start);
        self.end = waiting;
        self.start = 0;
    }
}

enum Mem<'m> {
    Lent(&'m mut [u8]),
    #[cfg(feature = "alloc")]
    Grown(&'m mut Vec<u8>),
}

/// Room that is lent: appends behind what is ready, all of a piece or nothing; a refusal sticks.
pub(crate) struct Out<'m> {
    mem: Mem<'m>,
    limit: usize,
    ready: &'m mut usize,
    end: &'m mut usize,
    full: bool,
}

impl Out<'_> {
    pub(crate) fn room(&self) -> usize {
        self.limit.saturating_sub(*self.end)
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.full
    }

    /// Says that something did not fit.
    pub(crate) fn overflow(&mut self) {
        self.full = true;
    }

    /// Where the next byte goes.
    pub(crate) fn end(&self) -> usize {
        *self.end
    }

    /// Takes back what was written behind `mark`, and a refusal with it.
    pub(crate) fn roll_back(&mut self, mark: usize) {
        *self.end = mark.min(*self.end);
        self.full = false;
    }

    /// All that is written may be sent now.
    pub(crate) fn commit(&mut self) {
        *self.ready = *self.end;
    }

    /// Moves what was written behind `from` in front of what was written behind `to`.
    pub(crate) fn rotate(&mut self, to: usize, from: usize) {
        let end = *self.end;
        let bytes = match &mut self.mem {
            Mem::Lent(s) => s.get_mut(to..end),
            #[cfg(feature = "alloc")]
            Mem::Grown(v) => v.get_mut(to..end),
        };
        if let (Some(bytes), true) = (bytes, from <= end) {
            bytes.rotate_right(end.saturating_sub(from).min(bytes.len()));
        }
    }

    fn append(&mut self, bytes: &[u8]) -> bool {
        let end = *self.end;
        let Some(to) = end.checked_add(bytes.len()).filter(|to| *to <= self.limit) else { return false };
        match &mut self.mem {
            Mem::Lent(s) => match s.get_mut(end..to) {
                Some(room) => crate::json::copy(room, bytes),
                None => return false,
            },
            #[cfg(feature = "alloc")]
            Mem::Grown(v) => {
                if v.len() < to {
                    v.resize(end.min(v.len()), 0);
                    v.extend_from_slice(bytes);
                } else if let Some(room) = v.get_mut(end..to) {
                    crate::json::copy(room, bytes);
                }
            }
        }
        *self.end = to;
        true
    }
}

impl Sink for Out<'_> {
    fn put(&mut self, bytes: &[u8]) -> bool {
        if self.full || !self.append(bytes) {
            self.full = true;
        }
        !self.full
    }
}

/// A sink for a message that is made again from its start for every piece: what was written before is left out, and
/// what has no room now is left for later.
pub(crate) struct Window<'o, 'm> {
    out: &'o mut Out<'m>,
    skip: usize,
    written: usize,
    short: bool,
}

impl<'o, 'm> Window<'o, 'm> {
    pub(crate) fn new(out: &'o mut Out<'m>, skip: usize) -> Self {
        Self { out, skip, written: 0, short: false }
    }

    /// How many bytes were added.
    pub(crate) const fn written(&self) -> usize {
        self.written
    }

    /// Was there room for all so far?
    pub(crate) const fn is_complete(&self) -> bool {
        !self.short
    }
}

impl Sink for Window<'_, '_> {
    fn put(&mut self, bytes: &[u8]) -> bool {
        if self.short {
            return false;
        }
        let Some((_, rest)) = bytes.split_at_checked(self.skip) else {
            self.skip = self.skip.saturating_sub(bytes.len());
            return true;
        };
        self.skip = 0;
        let n = rest.len().min(self.out.room());
        let (now, later) = rest.split_at_checked(n).unwrap_or((rest, &[]));
        self.out.append(now);
        self.written = self.written.saturating_add(n);
        self.short = !later.is_empty();
        !self.short
    }
}

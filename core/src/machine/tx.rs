//! The way out: bytes that may be sent, and behind them what is being written.
use super::mem::{Bytes, show};
use crate::json::{SMALL, Sink};
#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Waiting output beyond which a growing machine wants to send before it lends or makes more.
pub(crate) const BACKLOG: usize = 64 * 1024;

/// The way out.
pub(crate) struct Tx<'b> {
    mem: Bytes<'b>,
    state: State,
}

/// Bytes `start..ready` may be sent; `ready..end` belong to what is lent.
#[derive(Clone, Copy, Default)]
struct State {
    start: usize,
    ready: usize,
    end: usize,
    high: usize,
    /// What is lent ends here.
    limit: usize,
    /// So many bytes of the message at hand were written before, and are left out.
    skip: usize,
    /// What does not fit is cut, not refused.
    cuts: bool,
    /// Something did not fit.
    full: bool,
}

impl core::fmt::Debug for Tx<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let State { start, ready, end, .. } = self.state;
        write!(f, "tx {start} {ready} {end} ")?;
        show(f, self.mem.get().get(start..end).unwrap_or(&[]))
    }
}

impl<'b> Tx<'b> {
    pub(crate) fn new(mem: Bytes<'b>) -> Self {
        Self { mem, state: State::default() }
    }

    /// Finished bytes.
    pub(crate) fn output(&self) -> &[u8] {
        self.mem.get().get(self.state.start..self.state.ready).unwrap_or(&[])
    }

    /// `n` bytes have left.
    pub(crate) fn sent(&mut self, n: usize) {
        let state = &mut self.state;
        state.high = state.high.max(state.waiting());
        state.start = state.start.saturating_add(n).min(state.ready);
        if state.start == state.end {
            state.empty();
            self.mem.shrink();
        }
    }

    /// All finished bytes leave, into `into`, whose content is dropped. Many are not copied: the two change their memory.
    #[cfg(feature = "alloc")]
    pub(crate) fn swap(&mut self, into: &mut Vec<u8>) {
        /// To copy fewer costs less than what a vector that was changed for another has to be filled with again.
        const MANY: usize = 32 << 10;
        let (State { start, ready, end, .. }, n) = (self.state, self.output().len());
        if let Bytes::Grown(memory, _) = &mut self.mem
            && n >= MANY
            && start == 0
            && ready == end
        {
            core::mem::swap(memory, into);
            into.truncate(n);
        } else {
            into.clear();
            into.extend_from_slice(self.output());
        }
        self.sent(n);
    }

    /// The most that waited here.
    pub(crate) fn high_water(&self) -> usize {
        self.state.high.max(self.state.waiting())
    }

    /// Takes back what was written and not made ready.
    pub(crate) fn roll_back(&mut self) {
        self.state.end = self.state.ready;
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.state.empty();
    }

    /// Is the whole room of a reply (`cap`, or all of a lent buffer) free?
    pub(crate) fn has_room(&mut self, cap: usize) -> bool {
        let waiting = self.state.waiting();
        if self.mem.grows() {
            return waiting < BACKLOG;
        }
        let size = self.mem.limit();
        size.wrapping_sub(waiting) >= cap.min(size)
    }

    /// Lends room for one reply of at most `cap` bytes.
    pub(crate) fn lend(&mut self, cap: usize) -> Out<'_> {
        self.pack();
        let (end, most) = (self.state.end, self.mem.limit());
        let limit = if self.mem.grows() {
            end.saturating_add(cap.min(most))
        } else {
            // Neither is larger than a slice can be.
            most.min(end.wrapping_add(cap.min(most)))
        };
        self.out(limit)
    }

    /// Lends room for a piece of the machine's own message.
    pub(crate) fn lend_piece(&mut self) -> Out<'_> {
        self.pack();
        let limit = if self.mem.grows() { BACKLOG.max(self.state.end) } else { self.mem.limit() };
        self.out(limit)
    }

    fn out(&mut self, limit: usize) -> Out<'_> {
        let mem = match &mut self.mem {
            Bytes::Lent(s) => Mem::Lent(s),
            #[cfg(feature = "alloc")]
            Bytes::Grown(v, _) => Mem::Grown(v),
        };
        self.state.limit = limit;
        self.state.full = false;
        Out { mem, state: &mut self.state }
    }

    /// Moves what waits to the front. A growing buffer does so only when little has to move.
    fn pack(&mut self) {
        let State { start, end, .. } = self.state;
        let waiting = end.wrapping_sub(start);
        if start == 0 || (self.mem.grows() && waiting > start) {
            return;
        }
        if end <= self.mem.get().len() {
            crate::json::move_left(self.mem.get_mut(), start..end, 0);
        }
        self.state.ready = self.state.ready.wrapping_sub(start);
        self.state.end = waiting;
        self.state.start = 0;
    }
}

impl State {
    const fn waiting(&self) -> usize {
        self.ready.wrapping_sub(self.start)
    }

    const fn empty(&mut self) {
        (self.start, self.ready, self.end) = (0, 0, 0);
    }
}

enum Mem<'m> {
    Lent(&'m mut [u8]),
    #[cfg(feature = "alloc")]
    Grown(&'m mut Vec<u8>),
}

impl Mem<'_> {
    /// All of a lent buffer, and what a growing one holds now.
    #[cfg_attr(not(target_os = "none"), inline)]
    fn get_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Lent(s) => s,
            #[cfg(feature = "alloc")]
            Self::Grown(v) => v,
        }
    }
}

/// Appends pieces of bytes one after the other; false if there is no room. It is looked for once, and each piece is copied where its length is known if
/// that is so: a message of many pieces costs little more than its bytes. Pieces are named twice, so they should be no calls that do anything.
macro_rules! put_all {
    ($out:expr, $($piece:expr),+ $(,)?) => {{
        let out: &mut $crate::machine::tx::Out<'_> = $out;
        let len = [$($piece.len()),+].into_iter().fold(0usize, usize::saturating_add);
        if let Some(room) = out.room_of(len) {
            $(let room = $crate::machine::tx::copied(room, $piece);)+
            let _ = room;
            $crate::json::Sink::took(out, len);
            true
        } else {
            $($crate::json::Sink::put(out, $piece))&&+
        }
    }};
}
pub(crate) use put_all;

/// Copies `piece` to the start of `room`; returns what is left of that.
#[inline(always)]
pub(crate) fn copied<'r>(room: &'r mut [u8], piece: &[u8]) -> &'r mut [u8] {
    let Some((first, rest)) = room.split_at_mut_checked(piece.len()) else { return &mut [] };
    crate::json::copy(first, piece);
    rest
}

/// Room that is lent: appends behind what is ready, all of a piece or nothing; a refusal sticks.
///
/// The machine's own messages are made again from their start for every piece of them: between [`begin`](Self::begin) and
/// [`end_piece`](Self::end_piece) what was written before is left out, and what has no room now is cut off.
pub(crate) struct Out<'m> {
    mem: Mem<'m>,
    state: &'m mut State,
}

impl Out<'_> {
    pub(crate) fn room(&self) -> usize {
        self.state.limit.wrapping_sub(self.state.end)
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.state.full
    }

    /// Says that something did not fit.
    pub(crate) fn overflow(&mut self) {
        self.state.full = true;
    }

    /// Where the next byte goes.
    pub(crate) fn end(&self) -> usize {
        self.state.end
    }

    /// Where what is lent began.
    pub(crate) fn ready(&self) -> usize {
        self.state.ready
    }

    /// Takes back what was written behind `mark`, and a refusal with it.
    pub(crate) fn roll_back(&mut self, mark: usize) {
        self.state.end = mark.min(self.state.end);
        self.state.full = false;
    }

    /// All that is written may be sent now.
    pub(crate) fn commit(&mut self) {
        self.state.ready = self.state.end;
    }

    /// Begins a piece of a message of which `skip` bytes were written before; returns what `end_piece` wants.
    pub(crate) fn begin(&mut self, skip: usize) -> usize {
        self.state.skip = skip;
        self.state.cuts = true;
        self.state.full = false;
        self.state.end
    }

    /// Whether all is written now, and how many bytes were added.
    pub(crate) fn end_piece(&mut self, begun: usize) -> (bool, usize) {
        self.state.skip = 0;
        self.state.cuts = false;
        (!core::mem::take(&mut self.state.full), self.state.end.wrapping_sub(begun))
    }

    /// Moves what was written behind `from` in front of what was written behind `to`.
    pub(crate) fn rotate(&mut self, to: usize, from: usize) {
        let end = self.state.end;
        if let (Some(bytes), true) = (self.mem.get_mut().get_mut(to..end), from <= end) {
            rotate(bytes, end.wrapping_sub(from));
        }
    }

    /// Appends `bytes`, or what fits of them.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        if SMALL || !self.append(bytes) {
            self.say_piece(bytes);
        }
    }

    /// The usual case, small enough to be inlined where the length of `bytes` is known: all of them are written, and memory is there.
    #[inline(always)]
    fn append(&mut self, bytes: &[u8]) -> bool {
        let State { end, limit, skip, full, .. } = *self.state;
        if skip > 0 || full || bytes.len() > limit.wrapping_sub(end) {
            return false;
        }
        // A slice of the length of `bytes`, so that a known one is known here.
        let room = self.mem.get_mut().get_mut(end..).and_then(|room| room.get_mut(..bytes.len()));
        let Some(room) = room else { return false };
        crate::json::copy(room, bytes);
        self.state.end = end.wrapping_add(bytes.len());
        true
    }

    /// The same for `len` bytes that `put_all` is about to write.
    #[inline(always)]
    pub(crate) fn room_of(&mut self, len: usize) -> Option<&mut [u8]> {
        let State { end, limit, skip, full, .. } = *self.state;
        if SMALL || skip > 0 || full || len > limit.wrapping_sub(end) {
            return None;
        }
        self.mem.get_mut().get_mut(end..)?.get_mut(..len)
    }

    /// Appends a string that has nothing to escape, with its quotes, if all of it fits and memory is there.
    #[inline]
    pub(crate) fn append_string(&mut self, text: &[u8]) -> bool {
        let State { end, limit, skip, full, .. } = *self.state;
        let len = text.len().wrapping_add(2);
        if SMALL || skip > 0 || full || len > limit.wrapping_sub(end) {
            return false;
        }
        let room = self.mem.get_mut().get_mut(end..).and_then(|room| room.get_mut(..len));
        let Some([first, room @ .., last]) = room else { return false };
        (*first, *last) = (b'"', b'"');
        crate::json::copy(room, text);
        self.state.end = end.wrapping_add(len);
        true
    }

    /// Any case.
    #[inline(never)]
    fn say_piece(&mut self, bytes: &[u8]) {
        let Some((_, bytes)) = bytes.split_at_checked(self.state.skip) else {
            self.state.skip = self.state.skip.wrapping_sub(bytes.len());
            return;
        };
        self.state.skip = 0;
        let n = bytes.len().min(self.room());
        let (now, later) = bytes.split_at_checked(n).unwrap_or((bytes, &[]));
        if self.state.full || !later.is_empty() && !self.state.cuts {
            self.state.full = true;
            return;
        }
        self.state.full = !later.is_empty();
        let end = self.state.end;
        let to = end.wrapping_add(n);
        #[cfg(feature = "alloc")]
        if let Mem::Grown(v) = &mut self.mem
            && v.len() < to
        {
            v.resize(end.min(v.len()), 0);
            v.extend_from_slice(now);
            self.state.end = to;
            return;
        }
        if let Some(room) = self.mem.get_mut().get_mut(end..to) {
            crate::json::copy(room, now);
            self.state.end = to;
        } else {
            self.state.full = true;
        }
    }
}

/// Moves the last `n` bytes to the front. The standard library's way is fast, and a kilobyte.
fn rotate(bytes: &mut [u8], n: usize) {
    let n = n.min(bytes.len());
    if !SMALL {
        return bytes.rotate_right(n);
    }
    reverse(bytes);
    if let Some((front, back)) = bytes.split_at_mut_checked(n) {
        reverse(front);
        reverse(back);
    }
}

fn reverse(mut bytes: &mut [u8]) {
    while let [first, between @ .., last] = bytes {
        core::mem::swap(first, last);
        bytes = between;
    }
}

impl Sink for Out<'_> {
    #[cfg_attr(not(target_os = "none"), inline)]
    fn put(&mut self, bytes: &[u8]) -> bool {
        self.say(bytes);
        !self.state.full
    }

    fn lend(&mut self) -> Option<&mut [u8]> {
        let State { end, limit, skip, full, .. } = *self.state;
        let room = self.mem.get_mut();
        let limit = limit.min(room.len());
        room.get_mut(end..limit).filter(|_| skip == 0 && !full)
    }

    fn took(&mut self, n: usize) {
        self.state.end = self.state.end.wrapping_add(n);
    }
}

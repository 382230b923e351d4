//! Room for calls in flight, and the buffers that a machine is given.
use super::mem::{Bytes, Small};
use crate::json::SMALL;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Arrays for one machine, usable in a `static`. `RX` bounds a message read (its line feed included), `TX` a reply
/// written at once, `CALLS` the calls in flight.
///
/// ```
/// use barewire::Storage;
/// let mut storage = Storage::<512, 256, 2>::new();
/// let buffers = storage.buffers();
/// # let _ = buffers;
/// ```
#[derive(Debug)]
pub struct Storage<const RX: usize, const TX: usize, const CALLS: usize> {
    rx: [u8; RX],
    tx: [u8; TX],
    slots: [Slot; CALLS],
}

impl<const RX: usize, const TX: usize, const CALLS: usize> Storage<RX, TX, CALLS> {
    /// All zero. Fails to compile under 128 bytes in, 64 bytes out or one call.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(RX >= 128 && TX >= 64 && CALLS >= 1 && CALLS <= 65_535) };
        Self { rx: [0; RX], tx: [0; TX], slots: [const { Slot::FREE }; CALLS] }
    }

    /// Lends the arrays to a machine.
    pub fn buffers(&mut self) -> Buffers<'_> {
        Buffers::new(&mut self.rx, &mut self.tx, &mut self.slots)
    }
}

impl<const RX: usize, const TX: usize, const CALLS: usize> Default for Storage<RX, TX, CALLS> {
    fn default() -> Self {
        Self::new()
    }
}

/// What a machine works in: lent slices, or (feature `alloc`) memory that grows to a limit.
pub struct Buffers<'b> {
    pub(crate) rx: Bytes<'b>,
    pub(crate) tx: Bytes<'b>,
    pub(crate) slots: Slots<'b>,
}

impl core::fmt::Debug for Buffers<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Buffers")
            .field("rx", &self.rx.limit())
            .field("tx", &self.tx.limit())
            .finish_non_exhaustive()
    }
}

impl<'b> Buffers<'b> {
    /// Over slices of the caller's own sizes. `rx` of 128 bytes, `tx` of 64 and one slot are the least that is useful;
    /// a machine over less works, but refuses most of what it is asked.
    #[must_use]
    pub const fn new(rx: &'b mut [u8], tx: &'b mut [u8], slots: &'b mut [Slot]) -> Self {
        Self { rx: Bytes::Lent(rx), tx: Bytes::Lent(tx), slots: Slots::Lent(slots) }
    }

    /// Owned and growing; gives a machine that is `'static` if its configuration is. The receive buffer grows for one
    /// message that is longer and is given back after it; messages that wait push back on the peer instead.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub const fn growing(limits: Limits) -> Buffers<'static> {
        Buffers {
            rx: Bytes::Grown(Vec::new(), limits.message.saturating_add(1)),
            tx: Bytes::Grown(Vec::new(), limits.reply),
            slots: Slots::Grown(Vec::new(), limits.calls),
        }
    }
}

/// Hard limits of growing buffers.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the longest message read; 16 MiB by default.
    pub message: usize,
    /// Bytes of the longest reply or request written; 10,000,000 by default, since the TypeScript SDKs drop the
    /// connection at 10 MiB.
    pub reply: usize,
    /// Calls in flight; 1024 by default, 65,535 at most.
    pub calls: usize,
}

#[cfg(feature = "alloc")]
impl Default for Limits {
    fn default() -> Self {
        Self { message: 16 << 20, reply: 10_000_000, calls: 1024 }
    }
}

/// Names one call in flight. The serial counts all calls of the machine and never comes twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallId {
    pub(crate) slot: u16,
    pub(crate) serial: u32,
}

impl CallId {
    /// As one number, for C and logs.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        ((self.serial as u64) << 16) | self.slot as u64
    }

    /// The inverse; a number that never was an id is merely not found.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self { slot: (bits & 0xffff) as u16, serial: (bits >> 16) as u32 }
    }
}

/// How far the call in a slot is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Free,
    /// Its reply is in the application's hands.
    Lent,
    /// To be answered later (server); sent and not answered (client).
    Open,
    /// Its result is half on the wire.
    Streaming,
    /// Cancelled; the application is still to be told (server), or the peer is (client).
    Doomed,
}

/// One call in flight: its raw id or cursor, its progress token, how far it is. Some 150 bytes.
// What is small comes first, as in `Server`.
#[repr(C)]
pub struct Slot {
    pub(crate) state: State,
    pub(crate) serial: u32,
    pub(crate) side: Side,
    /// Server: the request's raw id.
    pub(crate) id: Small<40>,
    /// Server: the raw progress token.
    pub(crate) token: Small<32>,
}

/// `{:#?}` shows all of the state.
impl core::fmt::Debug for Slot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if f.alternate() {
            if self.state == State::Free {
                return f.write_str("Free");
            }
            let (id, token) = (self.id.get().escape_ascii(), self.token.get().escape_ascii());
            return write!(f, "{:?} {} {id} {token} {:?}", self.state, self.serial, self.side);
        }
        f.debug_struct("Slot")
            .field("state", &self.state)
            .field("serial", &self.serial)
            .finish_non_exhaustive()
    }
}

/// What only one side keeps. The tag is a byte of its own, and its zero is nothing: so a fresh [`Storage`] is all zero and takes no
/// flash.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Side {
    None,
    #[cfg(feature = "server")]
    Server(crate::server::SlotServer),
    #[cfg(feature = "client")]
    Client(crate::client::SlotClient),
}

impl Slot {
    /// An empty slot, for arrays: `[const { Slot::FREE }; 4]`.
    pub const FREE: Self =
        Self { id: Small::EMPTY, token: Small::EMPTY, serial: 0, state: State::Free, side: Side::None };

    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) fn free(&mut self) {
        self.id.clear();
        self.token.clear();
        self.state = State::Free;
        self.side = Side::None;
    }
}

pub(crate) enum Slots<'b> {
    Lent(&'b mut [Slot]),
    #[cfg(feature = "alloc")]
    Grown(Vec<Slot>, usize),
}

impl Slots<'_> {
    /// The same, free of what a machine before may have left.
    pub(crate) fn fresh(mut self) -> Self {
        self.all_mut().iter_mut().for_each(Slot::free);
        self
    }

    pub(crate) fn all(&self) -> &[Slot] {
        match self {
            Self::Lent(s) => s,
            #[cfg(feature = "alloc")]
            Self::Grown(v, _) => v,
        }
    }

    pub(crate) fn all_mut(&mut self) -> &mut [Slot] {
        match self {
            Self::Lent(s) => s,
            #[cfg(feature = "alloc")]
            Self::Grown(v, _) => v,
        }
    }

    pub(crate) fn at(&mut self, index: u16) -> Option<&mut Slot> {
        self.all_mut().get_mut(usize::from(index))
    }

    /// The slot of a call that is still open.
    pub(crate) fn of(&mut self, id: CallId) -> Option<&mut Slot> {
        self.at(id.slot).filter(|s| s.serial == id.serial && s.state != State::Free)
    }

    /// May ids and tokens of any length be kept?
    pub(crate) const fn keeps_long(&self) -> bool {
        !matches!(self, Self::Lent(_))
    }

    /// Gives up what is free at the end of a growing table: to look through it then costs what is in use.
    pub(crate) fn trim(&mut self) {
        #[cfg(feature = "alloc")]
        if let Self::Grown(v, _) = self {
            while v.len() > 1 && v.last().is_some_and(|slot| slot.state == State::Free) {
                v.pop();
            }
        }
    }

    pub(crate) fn in_use(&self) -> usize {
        self.all().iter().filter(|s| s.state != State::Free).count()
    }

    /// The first slot in `state`.
    pub(crate) fn find(&self, wanted: impl Fn(&Slot) -> bool) -> Option<u16> {
        self.all().iter().position(wanted).and_then(|i| u16::try_from(i).ok())
    }

    /// A free slot; `hint` (the next serial) makes the usual case one look.
    pub(crate) fn find_free(&mut self, hint: u32) -> Option<u16> {
        let n = self.all().len();
        // Where there are only a few it costs more than it saves.
        if !SMALL
            && let Some(i) = (hint as usize).checked_rem(n)
            && self.all().get(i).is_some_and(|s| s.state == State::Free)
            && let Ok(i) = u16::try_from(i)
        {
            return Some(i);
        }
        if let Some(i) = self.find(|s| s.state == State::Free) {
            return Some(i);
        }
        match self {
            #[cfg(feature = "alloc")]
            Self::Grown(v, limit) if v.len() < (*limit).min(65_535) => {
                v.push(Slot::FREE);
                u16::try_from(n).ok()
            }
            _ => None,
        }
    }
}

//! What a client remembers of one request.
use super::Why;
use crate::machine::Millis;
use crate::machine::slots::{Side, Slot, State};

/// The backstop against lists without end whose cursors never repeat.
const MOST_PAGES: u16 = 10_000;

/// A moment that does not come.
pub(super) const NEVER: Millis = Millis(u64::MAX);

/// What was asked, and so what comes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Call,
    Tools,
    Json,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotClient {
    pub(super) kind: Kind,
    /// The id of the request that is under way: another one for each page.
    pub(super) wire: u32,
    /// Its progress was asked for.
    pub(super) progress: bool,
    /// The connection has ended; the application is still to be told.
    pub(super) lost: bool,
    /// [`NEVER`] stands for none, here and below: a slot is small.
    pub(super) limit: Millis,
    pub(super) most: Millis,
    /// Sent since the last poll: the limits are not counted yet.
    pub(super) fresh: bool,
    pub(super) until: Millis,
    pub(super) last: Millis,
    pub(super) pages: Pages,
}

impl SlotClient {
    pub(super) const fn new(kind: Kind, wire: u32) -> Self {
        Self {
            kind,
            wire,
            progress: false,
            lost: false,
            limit: NEVER,
            most: NEVER,
            fresh: true,
            until: NEVER,
            last: NEVER,
            pages: Pages { count: 0, steps: 0, power: 0, seen: 0 },
        }
    }

    /// Starts the clock.
    pub(super) fn arm(&mut self, now: Millis) {
        self.fresh = false;
        self.last = now.after(self.most);
        self.until = now.after(self.limit).min(self.last);
    }

    /// There is progress: the limit starts anew, if a last moment bounds that.
    pub(super) fn goes_on(&mut self, now: Millis) {
        if self.last != NEVER && !self.fresh {
            self.until = now.after(self.limit).min(self.last);
        }
    }

    /// Another request is under way for it: the next page.
    pub(super) const fn renew(&mut self, wire: u32) {
        self.wire = wire;
        self.fresh = true;
        (self.until, self.last) = (NEVER, NEVER);
    }
}

/// Finds repeated cursors without keeping them: one hash, taken anew after 1, 2, 4 ... pages (Brent).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages {
    count: u16,
    steps: u16,
    power: u16,
    seen: u64,
}

impl Pages {
    /// A cursor was met; its token as it came.
    #[inline(never)]
    pub(super) fn meet(&mut self, cursor: &[u8]) -> Result<(), Why> {
        let hash = cursor
            .iter()
            .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
        if self.count > 0 && self.seen == hash {
            return Err(Why::CursorRepeats);
        }
        self.count = self.count.saturating_add(1);
        if self.count > MOST_PAGES {
            return Err(Why::TooManyPages);
        }
        if self.steps >= self.power {
            self.seen = hash;
            self.power = self.power.saturating_mul(2).max(1);
            self.steps = 0;
        }
        self.steps = self.steps.saturating_add(1);
        Ok(())
    }
}

pub(super) fn own(slot: &Slot) -> Option<&SlotClient> {
    match &slot.side {
        Side::Client(own) => Some(own),
        _ => None,
    }
}

pub(super) fn own_mut(slot: &mut Slot) -> Option<&mut SlotClient> {
    match &mut slot.side {
        Side::Client(own) => Some(own),
        _ => None,
    }
}

/// Waits for the answer to `wire`.
pub(super) fn waits_for(slot: &Slot, wire: u32) -> bool {
    slot.state == State::Open && own(slot).is_some_and(|own| own.wire == wire && !own.lost)
}

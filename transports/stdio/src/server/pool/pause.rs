//! A full queue: to wait for calls that end, or to refuse what has no room.

use super::{Shared, State, TICK};
use core::time::Duration;
use std::{
    io::{Read, Write},
    time::Instant,
};

/// How long calls are counted before they are taken for slow or quick.
pub(super) const WINDOW: Duration = Duration::from_millis(50);
/// How many have to end in that time for the queue to be waited for: as many as the server takes, within these bounds.
const QUICK: (usize, usize) = (16, 64);

/// What is known of a time in which there was no room, or still more to be taken in.
pub(super) struct Pause {
    /// How many calls had ended when it began.
    ends: usize,
    /// When it was last looked at.
    pub(super) looked: Instant,
    /// As far as somebody looked.
    lasted: Duration,
}

impl Pause {
    pub(super) fn new<R, W>(state: &State<'_, R, W>) -> Self {
        Self { ends: state.ends, looked: Instant::now(), lasted: Duration::ZERO }
    }

    /// Counts anew.
    fn restart(&mut self, ends: usize) {
        (self.ends, self.lasted) = (ends, Duration::ZERO);
    }
}

impl<'s, R: Read, W: Write> Shared<'s, R, W> {
    pub(super) fn is_full(&self, state: &State<'s, R, W>) -> bool {
        state.running.len() + state.jobs.len() >= self.room
    }

    /// The queue is full, but calls end quickly: there will be room.
    pub(super) fn is_paused(&self, state: &State<'s, R, W>) -> bool {
        !state.stalled && self.is_full(state)
    }

    /// Nothing more is taken in for now.
    pub(super) fn holds(&self, state: &State<'s, R, W>) -> bool {
        Self::is_taken(state) || self.is_paused(state)
    }

    /// A call is over.
    pub(super) fn ended(&self, state: &mut State<'s, R, W>) {
        state.ends = state.ends.wrapping_add(1);
        self.moved.ring();
    }

    /// To be called now and then: calls may have become slow, or quick again.
    pub(super) fn look_at_pause(&self, state: &mut State<'s, R, W>, pause: &mut Pause, now: Instant) {
        // Whoever looks may have slept, or had no processor, as the tools had none then: that does not count.
        let passed = now.saturating_duration_since(pause.looked).min(2 * TICK);
        pause.looked = now;
        let over = match state.stalled {
            // Not before much of the queue is empty: a ping shall not wait whenever one call takes the place of another.
            true => state.running.len() + state.jobs.len() <= self.room / 2,
            false => !state.more && !self.is_full(state),
        };
        if over {
            state.stalled = false;
            pause.restart(state.ends);
            return;
        }
        pause.lasted += passed;
        if pause.lasted >= WINDOW {
            state.stalled = state.ends.wrapping_sub(pause.ends) < self.room.clamp(QUICK.0, QUICK.1);
            pause.restart(state.ends);
            self.work.ring_one();
        }
    }
}

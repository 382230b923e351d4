//! How requests end other than by an answer: given up, too late, or lost.
use super::jobs::Job;
use super::lend::{Ending, Step};
use super::machine::Client;
use super::result::Current;
use super::slot::{NEVER, own, own_mut};
use crate::machine::CallId;
use crate::machine::slots::State;

impl Client<'_> {
    /// Gives a request up. Nothing of it comes any more, no `Ended` either; the server is told when there is room. A request that
    /// is unknown or over is left alone.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn cancel(&mut self, call: CallId) {
        self.settle();
        if self.current.as_ref().and_then(Current::of) == Some(call) {
            self.current = None;
            self.next_message();
            if let Some(slot) = self.slots.of(call) {
                slot.free();
            }
            return;
        }
        let unwritten = matches!(self.line.job, Some(Job::NextPage { slot, .. }) if slot == call.slot)
            && self.line.at == 0;
        let Some(slot) = self.slots.of(call).filter(|slot| slot.state == State::Open) else { return };
        if own(slot).is_none_or(|own| own.lost) {
            slot.free();
        } else if unwritten {
            slot.free();
            self.line.job = None;
            self.next_message();
        } else {
            slot.state = State::Doomed;
            self.doomed = true;
        }
    }

    /// Starts telling the server of a request that was given up; false if there is none.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn tell_doomed(&mut self) -> bool {
        if !self.doomed {
            return false;
        }
        let Some(slot) = self.slots.find(|slot| slot.state == State::Doomed) else {
            self.doomed = false;
            return false;
        };
        let wire = self.slots.at(slot).and_then(|s| own(s)).map_or(0, |own| own.wire);
        self.say(Job::Cancelled { slot, wire });
        true
    }

    /// Starts the clocks of new requests, and finds one whose time is over.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn expire(&mut self) -> Option<Step> {
        let now = self.now;
        if core::mem::take(&mut self.line.fresh) {
            for own in self.slots.all_mut().iter_mut().filter_map(own_mut).filter(|own| own.fresh) {
                own.arm(now);
                self.soonest = self.soonest.min(own.until);
            }
        }
        if let Some(step) = self.start_expired() {
            return Some(step);
        }
        if now < self.soonest {
            return None;
        }
        self.soonest = NEVER;
        let mut found = None;
        for (i, slot) in self.slots.all_mut().iter_mut().enumerate() {
            // An answer that is being handed out came in time.
            if slot.state != State::Open {
                continue;
            }
            let until = own(slot).filter(|own| !own.lost).map_or(NEVER, |own| own.until);
            if until == NEVER {
                continue;
            }
            if until > now || found.is_some() {
                self.soonest = self.soonest.min(until);
                continue;
            }
            slot.state = State::Doomed;
            self.doomed = true;
            found = u16::try_from(i).ok().map(|index| CallId { slot: index, serial: slot.serial });
        }
        found.map(|of| Step::Ended { of, end: Ending::TimedOut })
    }

    /// The connection is gone, and all requests with it; false if there are none.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn lose_all(&mut self) -> bool {
        let mut any = false;
        for slot in self.slots.all_mut().iter_mut().filter(|s| s.state != State::Free) {
            let waits = matches!(slot.state, State::Open | State::Streaming);
            match own_mut(slot) {
                Some(own) if waits => {
                    own.lost = true;
                    slot.state = State::Open;
                    any = true;
                }
                _ => slot.free(),
            }
        }
        self.losing |= any;
        any
    }

    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn lose_one(&mut self) -> Option<Step> {
        if !self.losing {
            return None;
        }
        let lost = self.slots.find(|s| s.state == State::Open && own(s).is_some_and(|own| own.lost));
        let Some(slot) = lost.and_then(|index| self.slots.at(index)) else {
            self.losing = false;
            return None;
        };
        let of = CallId { slot: lost.unwrap_or_default(), serial: slot.serial };
        slot.free();
        Some(Step::Ended { of, end: Ending::Lost })
    }
}

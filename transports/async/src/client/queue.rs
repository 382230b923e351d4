//! Requests that wait for room, in the order in which they came.

use barewire::Millis;
use core::task::Waker;
use std::collections::VecDeque;

/// First come, first served: only the first may try, and it wakes the next.
#[derive(Default)]
pub(super) struct Queue {
    entries: VecDeque<Entry>,
    next: u64,
    /// None of those that have a deadline is due before.
    soonest: Option<Millis>,
}

struct Entry {
    ticket: u64,
    waker: Waker,
    timeout: Millis,
    /// Counted from the driver's first look at it, as the handles have no clock.
    until: Option<Millis>,
    expired: bool,
}

/// Where a request in the queue stands.
pub(super) enum Turn {
    Wait,
    Try,
    Expired,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn push(&mut self, waker: &Waker, timeout: Millis) -> u64 {
        self.next += 1;
        let entry = Entry { ticket: self.next, waker: waker.clone(), timeout, until: None, expired: false };
        self.entries.push_back(entry);
        self.next
    }

    /// Says whose turn it is, and keeps the waker for later.
    pub(super) fn look(&mut self, ticket: u64, waker: &Waker) -> Turn {
        let first = self.entries.front().map(|entry| entry.ticket);
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.ticket == ticket) else {
            return Turn::Try;
        };
        entry.waker.clone_from(waker);
        match (entry.expired, first == Some(ticket)) {
            (true, _) => Turn::Expired,
            (_, true) => Turn::Try,
            _ => Turn::Wait,
        }
    }

    pub(super) fn remove(&mut self, ticket: u64) {
        if let Some(at) = self.entries.iter().position(|entry| entry.ticket == ticket) {
            self.entries.remove(at);
        }
    }

    pub(super) fn first(&self) -> Option<Waker> {
        self.entries.front().map(|entry| entry.waker.clone())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Waker> {
        self.entries.iter().map(|entry| entry.waker.clone())
    }

    /// Starts the clocks of new entries, and gives the wakers of those whose time is over.
    pub(super) fn expire(&mut self, now: Millis, woken: &mut Vec<Waker>) {
        for entry in self.entries.iter_mut().rev().take_while(|entry| entry.until.is_none()) {
            let until = now.after(entry.timeout);
            entry.until = Some(until);
            self.soonest = Some(self.soonest.map_or(until, |soonest| soonest.min(until)));
        }
        if self.soonest.is_none_or(|soonest| now < soonest) {
            return;
        }
        self.soonest = None;
        for entry in self.entries.iter_mut().filter(|entry| !entry.expired) {
            match entry.until {
                Some(until) if until <= now => {
                    entry.expired = true;
                    woken.push(entry.waker.clone());
                }
                until => self.soonest = self.soonest.into_iter().chain(until).min(),
            }
        }
    }

    pub(super) fn deadline(&self) -> Option<Millis> {
        self.soonest.filter(|_| !self.entries.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_after_the_other_and_each_in_time() {
        let waker = Waker::noop();
        let mut queue = Queue::default();
        let (a, b) = (queue.push(waker, Millis(50)), queue.push(waker, Millis(10)));
        assert!(matches!(queue.look(b, waker), Turn::Wait));
        assert!(matches!(queue.look(a, waker), Turn::Try));
        let mut woken = Vec::new();
        queue.expire(Millis(100), &mut woken);
        assert_eq!(queue.deadline(), Some(Millis(110)));
        queue.expire(Millis(110), &mut woken);
        assert_eq!((woken.len(), queue.deadline()), (1, Some(Millis(150))));
        assert!(matches!(queue.look(b, waker), Turn::Expired));
        queue.remove(a);
        queue.remove(b);
        assert!(queue.is_empty() && queue.deadline().is_none());
    }
}

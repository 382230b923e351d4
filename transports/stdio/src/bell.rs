//! Waiting: a condition variable that costs nothing while nobody waits for it, and what goes with it.

use core::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};
use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// **One mutex:** all who wait hold the same mutex, and who rings has changed what they wait for under it.
/// Then a waiter is either counted already or will see the change, and the count needs no ordering of its own.
#[derive(Default)]
pub(crate) struct Bell {
    condvar: Condvar,
    waiting: AtomicUsize,
}

impl Bell {
    /// Waits for a ring, for `at_most` if given. It may also return for no reason: look at the state again.
    pub(crate) fn wait<'g, T>(
        &self,
        guard: MutexGuard<'g, T>,
        at_most: Option<Duration>,
    ) -> MutexGuard<'g, T> {
        self.waiting.fetch_add(1, Relaxed);
        let guard = match at_most {
            None => self.condvar.wait(guard).unwrap_or_else(PoisonError::into_inner),
            Some(left) => self.condvar.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0,
        };
        self.waiting.fetch_sub(1, Relaxed);
        guard
    }

    /// Waits until `done`, but not longer than `at_most`; the state tells which it was.
    pub(crate) fn wait_until<'g, T>(
        &self,
        mutex: &'g Mutex<T>,
        at_most: Duration,
        done: impl Fn(&T) -> bool,
    ) -> MutexGuard<'g, T> {
        let until = after(at_most);
        let mut guard = lock(mutex);
        while !done(&guard) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            guard = self.wait(guard, Some(left));
        }
        guard
    }

    /// Wakes one.
    #[cfg(feature = "server")]
    pub(crate) fn ring_one(&self) {
        if self.waiting.load(Relaxed) > 0 {
            self.condvar.notify_one();
        }
    }

    /// Wakes all.
    pub(crate) fn ring(&self) {
        if self.waiting.load(Relaxed) > 0 {
            self.condvar.notify_all();
        }
    }
}

#[cfg(feature = "client")]
impl Bell {
    pub(crate) const fn new() -> Self {
        Self { condvar: Condvar::new(), waiting: AtomicUsize::new(0) }
    }
}

/// A thread that panicked in a user's callback must not take the others with it.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The moment after `time` from now; very long times count as 100 years.
pub(crate) fn after(time: Duration) -> Instant {
    const AGES: Duration = Duration::from_secs(100 * 365 * 86_400);
    Instant::now() + time.min(AGES)
}

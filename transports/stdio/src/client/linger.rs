//! A moment of patience before a thread sleeps.

use std::thread;

/// How often a thread offers its time slice before it sleeps; some 10 us in all.
const LINGER: usize = 20;

/// Looks for a moment whether `ready`, before the thread goes to sleep: in a lively exchange the next thing follows at
/// once, and to wake a sleeping thread on another processor takes far longer than a short call does. The thread holds
/// no mutex meanwhile, and looks again under it afterwards.
pub(super) fn linger(ready: impl Fn() -> bool) {
    for _ in 0..LINGER {
        if ready() {
            break;
        }
        thread::yield_now();
    }
}

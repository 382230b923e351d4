//! The children that live, so that Ctrl-C can end them: they are in process groups of their own, and the terminal's
//! signal does not reach them.

use super::{Child, Ended, LEFTOVERS};
use crate::{after, bell::Bell, lock};
use core::time::Duration;
use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

static LIVE: Mutex<Live> = Mutex::new(Live { children: Vec::new(), starting: 0, closed: false });
/// A start is over.
static STARTED: Bell = Bell::new();

struct Live {
    children: Vec<Arc<Child>>,
    /// Processes that exist or will, and are no children yet.
    starting: usize,
    /// No child is started any more.
    closed: bool,
}

/// Leave to start one child, from before its process exists until it is known here.
pub(super) struct Start(());

impl Start {
    /// `None`: all are ended, and no more are started.
    pub(super) fn begin() -> Option<Self> {
        let mut live = lock(&LIVE);
        if live.closed {
            return None;
        }
        live.starting += 1;
        Some(Self(()))
    }

    pub(super) fn add(self, child: &Arc<Child>) {
        lock(&LIVE).children.push(Arc::clone(child));
    }
}

/// Whether [`kill_all`] was called.
pub(crate) fn all_ended() -> bool {
    lock(&LIVE).closed
}

impl Drop for Start {
    fn drop(&mut self) {
        lock(&LIVE).starting -= 1;
        STARTED.ring();
    }
}

pub(super) fn remove(child: &Child) {
    lock(&LIVE).children.retain(|live| !core::ptr::eq(Arc::as_ptr(live), child));
}

/// Ends every child that any client of this process started: SIGTERM to its group, SIGKILL after `grace`; when it
/// returns they are reaped. For a thread that handles Ctrl-C, before it exits the process.
///
/// From then on no client starts a child: [`Command::start`](crate::Command::start) fails.
pub fn kill_all(grace: Duration) {
    lock(&LIVE).closed = true;
    // One that is being started is waited for, so that it does not get away.
    let live = STARTED.wait_until(&LIVE, grace.max(LEFTOVERS), |live| live.starting == 0).children.clone();
    for child in &live {
        child.signal(Ended::Terminated);
    }
    let until = after(grace);
    for child in &live {
        let left = until.saturating_duration_since(Instant::now());
        if !child.wait_reaped(left) {
            child.signal(Ended::Killed);
        }
    }
    let until = after(4 * LEFTOVERS);
    for child in &live {
        child.wait_reaped(until.saturating_duration_since(Instant::now()));
    }
}

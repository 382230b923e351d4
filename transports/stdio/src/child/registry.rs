//! The children that live, so that Ctrl-C can end them: they are in process groups of their own, and the terminal's
//! signal does not reach them.

use super::{Child, Ended, LEFTOVERS};
use crate::{after, lock};
use core::time::Duration;
use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

static LIVE: Mutex<Vec<Arc<Child>>> = Mutex::new(Vec::new());

pub(super) fn add(child: &Arc<Child>) {
    lock(&LIVE).push(Arc::clone(child));
}

pub(super) fn remove(child: &Child) {
    lock(&LIVE).retain(|live| !core::ptr::eq(Arc::as_ptr(live), child));
}

/// Ends every child that any client of this process started: SIGTERM to its group, SIGKILL after `grace`; when it
/// returns they are reaped. For a thread that handles Ctrl-C, before it exits the process.
pub fn kill_all(grace: Duration) {
    let live = lock(&LIVE).clone();
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

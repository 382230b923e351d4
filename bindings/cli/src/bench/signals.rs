//! Ctrl-C and its like: the server goes first.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use crate::failure::Failure;
use crate::sys::{self, Signals};

/// The server at hand, 0 for none.
static SERVER: AtomicU32 = AtomicU32::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);

/// From now on a signal ends the server's process group and then us.
pub(super) fn catch() -> Result<(), Failure> {
    let mut signals = Signals::catch().map_err(|error| Failure::io("can't catch signals", &error))?;
    thread::spawn(move || {
        if let Some((signal, _)) = signals.wait() {
            ENDING.store(true, Ordering::SeqCst);
            match SERVER.load(Ordering::SeqCst) {
                0 => {}
                leader => sys::kill_group(leader),
            }
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

/// Names the server to end; false if it is too late for that.
pub(super) fn watch(leader: u32) -> bool {
    SERVER.store(leader, Ordering::SeqCst);
    !ENDING.load(Ordering::SeqCst)
}

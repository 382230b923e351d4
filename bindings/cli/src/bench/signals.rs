//! Ctrl-C and its like: the server goes first.

use std::process::Child;
use std::sync::{Mutex, PoisonError};
use std::{io, thread};

use crate::failure::Failure;
use crate::sys::{self, Signals};

/// The process group of the server at hand, if there is one. Held while one is started: a signal that comes then waits
/// until the server can be named, and no other is started before the process ends.
static SERVER: Mutex<Option<u32>> = Mutex::new(None);

/// From now on a signal ends the server's process group and then us.
pub(super) fn catch() -> Result<(), Failure> {
    let mut signals = Signals::catch().map_err(|error| Failure::io("can't catch signals", &error))?;
    thread::spawn(move || {
        if let Some((signal, _)) = signals.wait() {
            let server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(leader) = *server {
                sys::kill_group(leader);
            }
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

/// Starts a server, which leads a process group, and which a signal ends from then on.
pub(super) fn start(spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
    let mut server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let child = spawn()?;
    *server = Some(child.id());
    Ok(child)
}

/// The server has been ended.
pub(super) fn forget() {
    *SERVER.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

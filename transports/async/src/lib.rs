//! x
mod client;
mod duplex;
mod outbox;
#[cfg(feature = "process")]
mod process;
mod server;
mod timer;

pub use barewire;
pub use client::{Call, CallError, Client, Connect, Ended, ExitReport, StartError, Trace, connect};
pub use duplex::Duplex;
#[cfg(feature = "process")]
pub use process::{Command, Stderr};
pub use server::{NoSource, Reporter, Serve, ToolCall, ToolSource, serve};
#[cfg(feature = "timer")]
pub use timer::IoTimer;
pub use timer::{NoTimer, Sleep, Timer, Unit};

use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// How often a driver goes round before it lets other tasks have their turn.
const BUSY: usize = 32;

/// A thread that panicked in a user's callback must not take the others with it.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The peer has gone: a normal end.
fn is_close(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset | ConnectionAborted)
}

//! MCP over standard input and output, pipes and child processes: blocking, `std` only, no async runtime.
//!
//! The protocol itself is the crate [`barewire`], which does no I/O; this crate carries its bytes. It adds threads,
//! child processes and clocks, and no protocol.
//!
//! # A server
//!
//! ```no_run
//! use barewire_stdio::{Fail, ToolResult, barewire::*};
//!
//! static TOOLS: &[Tool<'static>] = &[Tool::new(
//!     "greet",
//!     "Greets somebody.",
//!     r#"{"type":"object","properties":{"who":{"type":"string"}},"required":["who"]}"#,
//! )];
//! const _: () = check_tools(TOOLS); // mistakes in the table do not compile
//! static CONFIG: ServerConfig<'static> = ServerConfig::new("greeter", "1.0.0").tools(TOOLS);
//!
//! struct Greet<'m> {
//!     who: &'m str,
//! }
//! impl<'m> FromArgs<'m> for Greet<'m> {
//!     fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
//!         let mut who = Err(BadArgs::new("who", "a string"));
//!         while let Some((key, value)) = fields.next() {
//!             if key == "who" {
//!                 who = value.str("who");
//!             }
//!         }
//!         Ok(Self { who: who? })
//!     }
//! }
//!
//! fn main() -> std::io::Result<()> {
//!     barewire_stdio::serve(&CONFIG, |call| match call.name() {
//!         "greet" => Ok(ToolResult::text(format!("Hello, {}!", call.decode::<Greet<'_>>()?.who))),
//!         _ => Err(Fail::Unknown),
//!     })
//! }
//! ```
//!
//! - Tools run on a bounded pool of threads; while they do, ping, cancel and further calls are taken in. A call beyond
//!   the queue is answered with -32603 "busy" at once. [`Serve`] has the numbers, and a mode without threads.
//! - On Unix nothing that a tool, a C library or a child process prints reaches the peer: it goes to stderr.
//! - At the end of the input accepted calls are answered, within a bound. A peer that has gone is a normal end.
//!
//! It also runs over any `Read` and `Write`: [`Serve::run_over`].
//!
//! # Features
//!
//! `serde`: [`ToolCall`] decodes arguments into serde types. Not on by default.
//!
//! # Systems
//!
//! Unix is where all of this holds. Elsewhere there are no process groups, stdout is not moved aside, so that tools must not print.

mod content;
mod server;

pub use barewire;
pub use content::{OwnedContent, OwnedData};
pub use server::{Fail, Serve, ToolCall, ToolResult, ToolSource, serve};

use core::time::Duration;
use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// A thread that panicked in a user's callback must not take the others with it.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for `condvar`, for `at_most` if given. Callers look at the state again, whatever woke them.
fn wait<'g, T>(condvar: &Condvar, guard: MutexGuard<'g, T>, at_most: Option<Duration>) -> MutexGuard<'g, T> {
    match at_most {
        None => condvar.wait(guard).unwrap_or_else(PoisonError::into_inner),
        Some(left) => condvar.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0,
    }
}

/// The moment after `time` from now; very long times count as 100 years.
fn after(time: Duration) -> Instant {
    const AGES: Duration = Duration::from_secs(100 * 365 * 86_400);
    Instant::now() + time.min(AGES)
}

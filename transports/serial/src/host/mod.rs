//! The host's side: ports, and clients of the devices behind them (feature `host`).
//!
//! ```no_run
//! use barewire_serial::{barewire::ClientConfig, host::Port};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Port::new("/dev/ttyUSB0").baud(115_200).connect(&ClientConfig::new("panel", "1.0.0"))?;
//! for tool in device.list_tools()? {
//!     println!("{}: {}", tool.name, tool.description);
//! }
//! println!("{}", device.call("read_temperature", "{}")?.text());
//! # Ok(())
//! # }
//! ```
//!
//! A [`Device`] is a handle that many threads can use at once. It outlives the device's restarts and its unplugging: calls
//! that were under way fail at once and say why, and the next one opens the port and the session again.
//!
//! [`Port::open`] gives the bytes of sessions instead, for programs that have a client of their own, such as bridges.
mod device;
mod engine;
mod error;
mod open;
mod pipe;
mod port;
mod raw;
mod sift;

pub use device::Device;
pub use engine::{Session, Wire};
pub use error::{Failure, Lost, OpenError};
pub use pipe::{Reader, Writer};
pub use port::{Halves, Port, Trace, is_boot_text};
pub use raw::{RawReader, RawWriter};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A thread that panicked in a user's callback must not take the others with it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

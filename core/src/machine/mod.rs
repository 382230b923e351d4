//! What both machines are made of: memory, the way out, slots for calls, time.
pub(crate) mod mem;
pub(crate) mod slots;
pub(crate) mod tx;
mod values;

#[cfg(feature = "alloc")]
pub use slots::Limits;
pub use slots::{Buffers, CallId, Slot, Storage};
pub use values::{Framing, Full, Io, Millis, Noise, Output, Refused, Stats};

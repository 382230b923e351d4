//! Bytes to messages, over a caller's buffer.
//!
//! [`Lines`] is the way in of both machines, and useful alone, for taps and bridges. A line feed ends a message; a carriage
//! return before it and blank lines are passed over; one byte order mark at the start of the stream is dropped. No byte is
//! looked at twice, however the input is cut. A line longer than the buffer is skimmed for its `id`, so that it can be
//! refused by name, and the stream goes on behind it. (All revisions, basic/transports: one message a line, no line feed
//! inside; the rest is left open there.)
mod lines;
mod marks;
mod member;
mod skim;

pub(crate) use lines::Found;
pub use lines::{Frame, Lines};
pub(crate) use member::Member;
pub(crate) use skim::Skimmed;

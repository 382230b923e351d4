//! Strict JSON over bytes.
//!
//! - [`Scanner`] checks text as it arrives, in pieces of any size, and says where the outermost members are.
//! - [`Raw`] and [`Str`] are views of text that was checked; [`unescape`] turns a string into `&str` where it lies.
//! - [`Pull`] does both in one pass: it goes down into the values of unchecked text and comes back.
//! - [`Sink`] takes text: [`Writer`] is one over a buffer; [`Object`], [`Array`] and the `write_` functions fill it.
//! - With the feature `serde`, values are decoded in place and encoded.
//!
//! Nothing here allocates, recurses over what a peer sent, panics, or takes more than linear time. Sizes and
//! positions are in bytes. Numbers are never rounded unless an `f64` is asked for.

mod bytes;
mod compact;
mod cursor;
#[cfg(feature = "serde")]
mod de;
#[cfg(feature = "serde")]
mod de_access;
#[cfg(feature = "serde")]
mod de_error;
mod escape;
mod fixed;
mod grammar;
mod lanes;
mod masks;
#[cfg(feature = "serde")]
mod message;
mod nearest;
mod number;
mod object;
mod pass;
mod pull;
mod quoted;
mod raw;
mod scan;
#[cfg(feature = "serde")]
mod ser;
#[cfg(feature = "serde")]
mod ser_parts;
#[cfg(feature = "serde")]
mod serde_raw;
mod sink;
mod step;
mod string;
mod unescape;
mod utf8;
mod whole;
mod write;

pub(crate) use bytes::{FAST, SMALL, copy, move_left};
pub use cursor::{Elements, Members};
pub(crate) use cursor::{skip, value as value_len};
#[cfg(feature = "serde")]
pub use de::{from_raw, from_slice_in_place};
#[cfg(feature = "serde")]
pub use de_error::DeError;
pub use fixed::Fixed;
pub(crate) use fixed::{digits, divide};
pub(crate) use lanes::position as find;
#[cfg(all(target_pointer_width = "64", not(barewire_small)))]
pub(crate) use masks::{Block, eq as block_eq, has as block_has};
pub use object::{Array, Object};
pub use pull::{Pull, PullElements, PullMembers, PullValue};
pub use raw::{Kind, Raw};
pub(crate) use raw::{pick, which};
pub use scan::Scanner;
#[cfg(feature = "serde")]
pub use ser::{Refusal, SerError, to_sink};
pub use sink::{Mark, Sink, Writer};
pub use step::{DEPTH, ScanError, ScanFault, Step};
pub use string::{Chars, Str};
pub(crate) use unescape::decode;
pub use unescape::{unescape, unescape_in_place};
pub(crate) use utf8::known as text;
pub(crate) use whole::Whole;
pub use write::{
    escaped_len, write_bool, write_display, write_f64, write_i64, write_raw, write_str, write_str_part,
    write_u64,
};
pub(crate) use write::{is_plain, write_escaped};

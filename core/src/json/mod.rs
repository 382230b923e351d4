//! Strict JSON over bytes.
//!
//! - [`Scanner`] checks text as it arrives, in pieces of any size, and says where the outermost members are.
//! - [`Raw`] and [`Str`] are views of text that was checked; [`unescape`] turns a string into `&str` where it lies.
//! - [`Sink`] takes text: [`Writer`] is one over a buffer; [`Object`], [`Array`] and the `write_` functions fill it.
//! - With the feature `serde`, values are decoded in place and encoded.
//!
//! Nothing here allocates, recurses over what a peer sent, panics, or takes more than linear time. Sizes and
//! positions are in bytes. Numbers are never rounded unless an `f64` is asked for.

mod cursor;
mod lanes;
mod number;
mod object;
mod raw;
mod scan;
mod sink;
mod string;
mod unescape;
mod write;

pub use cursor::{Elements, Members};
pub(crate) use cursor::{skip, value as value_len};
pub use object::{Array, Object};
pub use raw::{Kind, Raw};
pub use scan::{DEPTH, ScanError, ScanFault, Scanner, Step};
pub use sink::{Mark, Sink, Writer};
pub use string::{Chars, Str};
pub use unescape::{unescape, unescape_in_place};
pub use write::{
    escaped_len, write_bool, write_display, write_f64, write_i64, write_raw, write_str, write_str_part,
    write_u64,
};

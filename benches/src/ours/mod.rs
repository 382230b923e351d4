//! Barewire's own rows.

mod framing;
mod read;
mod round_trip;
mod strings;
mod typed;
mod write;

use crate::{Group, Row, row};

/// The version that the rows are of.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The row that all ratios are of.
pub const BASE: &str = "barewire";

/// Our way of reading typed values that unescapes where they lie.
pub const IN_PLACE: &str = "barewire, serde in place";

/// All of them; the first of each group is the one that ratios are of.
#[must_use]
pub fn rows() -> Vec<Row> {
    vec![
        row(Group::Framing, BASE, VERSION, |corpus| Some(framing::Framing::new(corpus)))
            .note("frame::Lines, fed 8 KiB at a time"),
        row(Group::Read, BASE, VERSION, |_| Some(read::Parse)).note("rpc::Message::parse"),
        row(Group::Typed, BASE, VERSION, |corpus| Some(typed::Lazy::new(corpus))).note("json::Pull, lazily"),
        row(Group::Typed, IN_PLACE, VERSION, |corpus| Some(typed::InPlace::new(corpus))).note(
            "json::from_slice_in_place to derived structs; lists into a Vec; with one memcpy of the message",
        ),
        row(Group::Write, BASE, VERSION, |corpus| Some(write::Pieces::new(corpus))).note(
            "fixed text and json::write_ functions into a json::Writer over a buffer, as the machines do it",
        ),
        row(Group::Write, "barewire Object", VERSION, |corpus| Some(write::Members::new(corpus)))
            .note("json::Object, member by member, into the same"),
        row(Group::Escape, BASE, VERSION, |corpus| Some(strings::Escape::new(corpus)))
            .note("json::write_str into a buffer"),
        row(Group::Unescape, BASE, VERSION, |corpus| Some(strings::Unescape::new(corpus)))
            .note("json::Raw::from_bytes, then Str::decode_into a buffer"),
        row(Group::RoundTrip, BASE, VERSION, |corpus| Some(round_trip::Pair::new(corpus)))
            .note("barewire::Client and barewire::Server in lent buffers"),
    ]
}

/// A buffer that holds the longest message, with room for more.
pub(crate) fn room(corpus: &crate::Corpus, more: usize) -> Vec<u8> {
    vec![0; corpus.messages.iter().map(Vec::len).max().unwrap_or(0) + more]
}

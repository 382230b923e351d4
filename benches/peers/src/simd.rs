//! simd-json.

use barewire_benches::outgoing::Message;
use barewire_benches::{Contender, Corpus, Digest, Group, Outgoing, Row, Seen, Turns, row};
use simd_json::Buffers;
use simd_json::serde::{from_slice_with_buffers, to_writer};

use crate::id::{Copy, Skipping, Typed};

const VERSION: &str = "0.19.0";

pub(crate) fn rows() -> Vec<Row> {
    vec![
        row(Group::Read, "simd-json", VERSION, |corpus| Some(Read(Copy::new(corpus), Buffers::new(0))))
            .note("a derived struct by from_slice_with_buffers; no raw spans; with one memcpy"),
        row(Group::Typed, "simd-json", VERSION, |corpus| Some(Values(Copy::new(corpus), Buffers::new(0))))
            .note("&str; schemas are passed over; with one memcpy"),
        row(Group::Write, "simd-json to_writer", VERSION, derived).note("derived structs into one Vec"),
    ]
}

struct Read(Copy, Buffers);

impl Contender for Read {
    fn read(&mut self, message: &[u8]) -> Digest {
        from_slice_with_buffers::<Skipping<'_>>(self.0.of(message), &mut self.1)
            .map_or(Digest::REFUSED, Skipping::digest)
    }
}

struct Values(Copy, Buffers);

impl Contender for Values {
    fn read(&mut self, message: &[u8]) -> Digest {
        from_slice_with_buffers::<Typed<'_>>(self.0.of(message), &mut self.1)
            .map_or(Digest::REFUSED, |read| read.digest())
    }
}

/// Raw schemas are serde_json's own affair: no lists.
fn derived(corpus: &Corpus) -> Option<Write> {
    let has_lists = corpus.outgoing.iter().any(|outgoing| matches!(outgoing, Outgoing::Tools { .. }));
    (!has_lists).then(|| Write { turns: Turns::of(corpus, Message::new), out: Vec::new() })
}

struct Write {
    turns: Turns<Message>,
    out: Vec<u8>,
}

impl Contender for Write {
    fn read(&mut self, _: &[u8]) -> Digest {
        self.out.clear();
        match to_writer(&mut self.out, self.turns.next()) {
            Ok(()) => Digest::of(Seen::written(&self.out)),
            Err(_) => Digest::REFUSED,
        }
    }
}

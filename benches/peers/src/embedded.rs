//! serde-json-core: what firmwares use.

use barewire_benches::outgoing::Message;
use barewire_benches::{Contender, Corpus, Digest, Group, Kind, Outgoing, Row, Seen, Turns, row};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::id::kind;

const VERSION: &str = "0.7.0";

pub(crate) fn rows() -> Vec<Row> {
    vec![
        row(Group::Read, "serde-json-core", VERSION, |_| Some(Read))
            .note("a derived struct; ids that are numbers; no raw spans"),
        row(Group::Write, "serde-json-core", VERSION, derived).note("derived structs into a buffer"),
    ]
}

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: &'a str,
    // It does not tell what a value is: numbers alone.
    id: Option<i64>,
    method: Option<&'a str>,
    params: Option<IgnoredAny>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

struct Read;

impl Contender for Read {
    fn read(&mut self, message: &[u8]) -> Digest {
        let Ok((read, end)) = serde_json_core::from_slice::<Envelope<'_>>(message) else {
            return Digest::REFUSED;
        };
        let Envelope { jsonrpc, id, method, params, result, error } = read;
        std::hint::black_box(params);
        let kind = kind(id.is_some(), method.is_some(), result.is_some(), error.is_some());
        if jsonrpc != "2.0" || kind == Kind::Refused || end != message.len() {
            return Digest::REFUSED;
        }
        Digest {
            kind,
            id: id.map_or(Seen::ABSENT, |id| Seen::made(|| id.to_string())),
            method: Seen::maybe(method.map(str::as_bytes)),
            body: Seen::UNKNOWN,
        }
    }
}

/// Raw schemas are serde_json's own affair: no lists.
fn derived(corpus: &Corpus) -> Option<Write> {
    let has_lists = corpus.outgoing.iter().any(|outgoing| matches!(outgoing, Outgoing::Tools { .. }));
    let longest = corpus.messages.iter().map(Vec::len).max()?;
    (!has_lists).then(|| Write { turns: Turns::of(corpus, Message::new), out: vec![0; longest + 64] })
}

struct Write {
    turns: Turns<Message>,
    out: Vec<u8>,
}

impl Contender for Write {
    fn read(&mut self, _: &[u8]) -> Digest {
        match serde_json_core::to_slice(self.turns.next(), &mut self.out) {
            Ok(length) => Digest::of(Seen::written(&self.out[..length])),
            Err(_) => Digest::REFUSED,
        }
    }
}

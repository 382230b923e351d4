//! jiter, which skips.

use barewire_benches::{Contender, Digest, Group, Kind, Row, Seen, row};
use jiter::Jiter;

use crate::id::kind;

pub(crate) fn rows() -> Vec<Row> {
    vec![
        row(Group::Read, "jiter", "0.19.0", |_| Some(Skip))
            .note("known_skip, spans from its indices; UTF-8 is not checked in what is skipped"),
        row(Group::Unescape, "jiter", "0.19.0", |_| Some(Unescape(Vec::new()))).note("next_str, one tape"),
    ]
}

struct Skip;

fn skip(message: &[u8]) -> Option<Digest> {
    let mut jiter = Jiter::new(message);
    let (mut id, mut method, mut params, mut result, mut error) = (None, None, None, None, None);
    let mut version = false;
    let mut key = jiter.next_object_bytes().ok()?.map(place);
    while let Some(place) = key {
        let peek = jiter.peek().ok()?;
        let start = jiter.current_index();
        match place {
            Key::Version => version = jiter.next_str().ok()? == "2.0",
            Key::Method => method = Some(Seen::of(jiter.next_str().ok()?.as_bytes())),
            other => {
                jiter.known_skip(peek).ok()?;
                let raw = Some(Seen::of(jiter.slice_to_current(start)));
                match other {
                    Key::Id => id = raw,
                    Key::Params => params = raw,
                    Key::Result => result = raw,
                    Key::Error => error = raw,
                    _ => {}
                }
            }
        }
        key = jiter.next_key_bytes().ok()?.map(self::place);
    }
    jiter.finish().ok()?;
    let kind = kind(id.is_some(), method.is_some(), result.is_some(), error.is_some());
    (version && kind != Kind::Refused).then(|| Digest {
        kind,
        id: id.unwrap_or(Seen::ABSENT),
        method: method.unwrap_or(Seen::ABSENT),
        body: params.or(result).or(error).unwrap_or(Seen::ABSENT),
    })
}

enum Key {
    Version,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

fn place(key: &[u8]) -> Key {
    match key {
        b"jsonrpc" => Key::Version,
        b"id" => Key::Id,
        b"method" => Key::Method,
        b"params" => Key::Params,
        b"result" => Key::Result,
        b"error" => Key::Error,
        _ => Key::Other,
    }
}

impl Contender for Skip {
    fn read(&mut self, message: &[u8]) -> Digest {
        skip(message).unwrap_or(Digest::REFUSED)
    }
}

struct Unescape(Vec<u8>);

impl Contender for Unescape {
    fn read(&mut self, json: &[u8]) -> Digest {
        let mut jiter = Jiter::with_tape(json, std::mem::take(&mut self.0));
        let digest = jiter.next_str().map_or(Digest::REFUSED, |text| Digest::of(Seen::of(text.as_bytes())));
        self.0 = jiter.into_tape();
        digest
    }
}

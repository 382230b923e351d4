//! What parsers without raw spans need: an id as a value, and the kind from what is there.

use std::fmt;

use barewire_benches::{Digest, Kind, Seen};
use serde::de::{Deserialize, Deserializer, IgnoredAny, Visitor};

/// A request's id.
pub(crate) enum Id<'a> {
    Number(i64),
    Text(&'a str),
}

impl<'de: 'a, 'a> Deserialize<'de> for Id<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Id<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an integer")
            }
            fn visit_i64<E>(self, value: i64) -> Result<Id<'de>, E> {
                Ok(Id::Number(value))
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Id<'de>, E> {
                i64::try_from(value).map(Id::Number).map_err(E::custom)
            }
            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Id<'de>, E> {
                Ok(Id::Text(value))
            }
        }
        from.deserialize_any(Either)
    }
}

impl Id<'_> {
    fn seen(&self) -> Seen {
        match self {
            Self::Number(number) => Seen::made(|| number.to_string()),
            Self::Text(text) => Seen::made(|| format!("\"{text}\"")),
        }
    }
}

/// An envelope whose params and result are passed over.
#[derive(serde::Deserialize)]
pub(crate) struct Skipping<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: Option<Id<'a>>,
    method: Option<&'a str>,
    params: Option<IgnoredAny>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl Skipping<'_> {
    pub(crate) fn digest(self) -> Digest {
        let Self { jsonrpc, id, method, params, result, error } = self;
        std::hint::black_box(params);
        let kind = kind(id.is_some(), method.is_some(), result.is_some(), error.is_some());
        if jsonrpc != "2.0" || kind == Kind::Refused {
            return Digest::REFUSED;
        }
        Digest {
            kind,
            id: id.map_or(Seen::ABSENT, |id| id.seen()),
            method: Seen::maybe(method.map(str::as_bytes)),
            body: Seen::UNKNOWN,
        }
    }
}

/// The kind, by what is there.
pub(crate) fn kind(id: bool, method: bool, result: bool, error: bool) -> Kind {
    match (method, id, result, error) {
        (true, true, false, false) => Kind::Request,
        (true, false, false, false) => Kind::Notification,
        (false, true, true, false) => Kind::Response,
        (false, _, false, true) => Kind::Error,
        _ => Kind::Refused,
    }
}

/// What the typed group wants, of parsers that have no raw spans: the schemas are passed over.
#[derive(serde::Deserialize)]
pub(crate) struct Typed<'a> {
    #[serde(borrow)]
    result: Answer<'a>,
}

#[derive(serde::Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    tools: Vec<Tool<'a>>,
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
}

#[derive(serde::Deserialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(rename = "inputSchema")]
    schema: IgnoredAny,
}

#[derive(serde::Deserialize)]
struct Block<'a> {
    #[serde(alias = "data")]
    text: &'a str,
}

impl Typed<'_> {
    pub(crate) fn digest(&self) -> Digest {
        for tool in &self.result.tools {
            std::hint::black_box((tool.name, tool.description, tool.schema));
        }
        if !self.result.tools.is_empty() {
            return Digest::UNKNOWN;
        }
        let mut seen = Seen::EMPTY;
        self.result.content.iter().for_each(|block| seen.add(block.text.as_bytes()));
        Digest::of(seen)
    }
}

/// A copy of what is to be read, for parsers that write into it.
pub(crate) struct Copy(Vec<u8>);

impl Copy {
    pub(crate) fn new(corpus: &barewire_benches::Corpus) -> Self {
        Self(vec![0; corpus.messages.iter().map(Vec::len).max().unwrap_or(0)])
    }

    pub(crate) fn of(&mut self, message: &[u8]) -> &mut [u8] {
        let copy = &mut self.0[..message.len()];
        copy.copy_from_slice(message);
        copy
    }
}

//! sonic-rs.

use std::borrow::Cow;

use barewire_benches::outgoing::Message;
use barewire_benches::{Contender, Digest, Group, Kind, Outgoing, Row, Seen, Turns, row};
use serde::{Deserialize, Serialize};
use sonic_rs::{JsonValueTrait, LazyValue, Value};

use crate::id::kind;

const VERSION: &str = "0.5.10";

pub(crate) fn rows() -> Vec<Row> {
    vec![
        row(Group::Read, "sonic-rs LazyValue", VERSION, |_| Some(Lazy))
            .note("a derived struct of LazyValues"),
        row(Group::Read, "sonic-rs object_iter", VERSION, |_| Some(Members))
            .note("to_object_iter; doubles and the end by our own hand"),
        row(Group::Typed, "sonic-rs borrowed", VERSION, |_| Some(Typed))
            .note("Cow strings, LazyValue schemas"),
        row(Group::Write, "sonic-rs to_writer", VERSION, |corpus| {
            Some(Write { turns: Turns::of(corpus, Writable::new), out: Vec::new() })
        })
        .note("derived structs into one Vec; lists from its Value"),
        row(Group::Escape, "sonic-rs", VERSION, |corpus| {
            Some(Escape { texts: Turns::texts(corpus), out: Vec::new() })
        })
        .note("to_writer into one Vec"),
        row(Group::Unescape, "sonic-rs", VERSION, |_| Some(Unescape)).note("from_slice to Cow"),
    ]
}

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: Option<LazyValue<'a>>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<LazyValue<'a>>,
    #[serde(borrow)]
    result: Option<LazyValue<'a>>,
    #[serde(borrow)]
    error: Option<LazyValue<'a>>,
}

struct Lazy;

impl Contender for Lazy {
    fn read(&mut self, message: &[u8]) -> Digest {
        let Ok(read) = sonic_rs::from_slice::<Envelope<'_>>(message) else { return Digest::REFUSED };
        let kind =
            kind(read.id.is_some(), read.method.is_some(), read.result.is_some(), read.error.is_some());
        if read.jsonrpc != "2.0" || kind == Kind::Refused {
            return Digest::REFUSED;
        }
        let raw =
            |raw: &Option<LazyValue<'_>>| Seen::maybe(raw.as_ref().map(|raw| raw.as_raw_str().as_bytes()));
        let body = if read.params.is_some() {
            raw(&read.params)
        } else if read.result.is_some() {
            raw(&read.result)
        } else {
            raw(&read.error)
        };
        Digest {
            kind,
            id: raw(&read.id),
            method: Seen::maybe(read.method.as_deref().map(str::as_bytes)),
            body,
        }
    }
}

struct Members;

impl Contender for Members {
    fn read(&mut self, message: &[u8]) -> Digest {
        let (mut id, mut method, mut params, mut result, mut error) = (None, None, None, None, None);
        let mut version = false;
        for member in sonic_rs::to_object_iter(message) {
            let Ok((key, value)) = member else { return Digest::REFUSED };
            let place = match &*key {
                "jsonrpc" => {
                    version = value.as_str() == Some("2.0");
                    continue;
                }
                "id" => &mut id,
                "method" => &mut method,
                "params" => &mut params,
                "result" => &mut result,
                "error" => &mut error,
                _ => continue,
            };
            if place.replace(value).is_some() {
                return Digest::REFUSED;
            }
        }
        let kind = kind(id.is_some(), method.is_some(), result.is_some(), error.is_some());
        if !version || kind == Kind::Refused {
            return Digest::REFUSED;
        }
        let raw =
            |raw: Option<LazyValue<'_>>| Seen::maybe(raw.as_ref().map(|raw| raw.as_raw_str().as_bytes()));
        Digest {
            kind,
            id: raw(id),
            method: Seen::maybe(method.as_ref().and_then(|method| method.as_str()).map(str::as_bytes)),
            body: raw(params.or(result).or(error)),
        }
    }
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    result: Answer<'a>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    tools: Vec<Tool<'a>>,
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    description: Cow<'a, str>,
    #[serde(borrow, rename = "inputSchema")]
    schema: LazyValue<'a>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, alias = "data")]
    text: Cow<'a, str>,
}

struct Typed;

impl Contender for Typed {
    fn read(&mut self, message: &[u8]) -> Digest {
        let Ok(line) = sonic_rs::from_slice::<Line<'_>>(message) else { return Digest::REFUSED };
        let mut seen = Seen::EMPTY;
        for tool in &line.result.tools {
            seen.add(tool.name.as_bytes());
            seen.add(tool.description.as_bytes());
            seen.add(tool.schema.as_raw_str().as_bytes());
        }
        line.result.content.iter().for_each(|block| seen.add(block.text.as_bytes()));
        Digest::of(seen)
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Writable {
    Derived(Message),
    Tree(Value),
}

impl Writable {
    fn new(outgoing: &Outgoing) -> Self {
        match outgoing {
            // Raw schemas are serde_json's own affair.
            Outgoing::Tools { .. } => Self::Tree(sonic_rs::from_str(&outgoing.json()).unwrap_or_default()),
            _ => Self::Derived(Message::new(outgoing)),
        }
    }
}

struct Write {
    turns: Turns<Writable>,
    out: Vec<u8>,
}

impl Contender for Write {
    fn read(&mut self, _: &[u8]) -> Digest {
        self.out.clear();
        match sonic_rs::to_writer(&mut self.out, self.turns.next()) {
            Ok(()) => Digest::of(Seen::written(&self.out)),
            Err(_) => Digest::REFUSED,
        }
    }
}

struct Escape {
    texts: Turns<String>,
    out: Vec<u8>,
}

impl Contender for Escape {
    fn read(&mut self, _: &[u8]) -> Digest {
        self.out.clear();
        match sonic_rs::to_writer(&mut self.out, self.texts.next()) {
            Ok(()) => Digest::of(Seen::of(&self.out)),
            Err(_) => Digest::REFUSED,
        }
    }
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

struct Unescape;

impl Contender for Unescape {
    fn read(&mut self, json: &[u8]) -> Digest {
        match sonic_rs::from_slice::<Text<'_>>(json) {
            Ok(Text(text)) => Digest::of(Seen::of(text.as_bytes())),
            Err(_) => Digest::REFUSED,
        }
    }
}

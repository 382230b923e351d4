//! serde_json, as servers use it and at its best.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::outgoing::Message;
use crate::{Contender, Digest, Group, Kind, Row, Seen, Turns, row};

pub(super) const VERSION: &str = "1.0.154";

pub(super) fn rows() -> Vec<Row> {
    vec![
        row(Group::Read, "serde_json RawValue", VERSION, |_| Some(Raw)).note("borrowed, params as they came"),
        row(Group::Read, "serde_json Value", VERSION, |_| Some(Tree)).note("a tree; no raw spans"),
        row(Group::Typed, "serde_json borrowed", VERSION, |_| Some(Typed))
            .note("Cow strings, RawValue schemas"),
        row(Group::Write, "serde_json to_writer", VERSION, |corpus| {
            Some(Vector { turns: Turns::of(corpus, Message::new), out: Vec::new() })
        })
        .note("derived structs into one Vec"),
        row(Group::Write, "serde_json to a slice", VERSION, |corpus| {
            Some(Slice { turns: Turns::of(corpus, Message::new), out: crate::ours::room(corpus, 64) })
        })
        .note("the same into a buffer"),
        row(Group::Escape, "serde_json", VERSION, |corpus| {
            Some(Escape { texts: Turns::texts(corpus), out: Vec::new() })
        })
        .note("to_writer into one Vec"),
        row(Group::Unescape, "serde_json", VERSION, |_| Some(Unescape)).note("from_slice to Cow"),
    ]
}

struct Raw;

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// The kind, by what is there.
fn kind(id: bool, method: bool, result: bool, error: bool) -> Kind {
    match (method, id, result, error) {
        (true, true, false, false) => Kind::Request,
        (true, false, false, false) => Kind::Notification,
        (false, true, true, false) => Kind::Response,
        (false, _, false, true) => Kind::Error,
        _ => Kind::Refused,
    }
}

impl Contender for Raw {
    fn read(&mut self, message: &[u8]) -> Digest {
        let Ok(read) = serde_json::from_slice::<Envelope<'_>>(message) else { return Digest::REFUSED };
        let kind =
            kind(read.id.is_some(), read.method.is_some(), read.result.is_some(), read.error.is_some());
        if read.jsonrpc != "2.0" || kind == Kind::Refused {
            return Digest::REFUSED;
        }
        let raw = |raw: Option<&RawValue>| Seen::maybe(raw.map(|raw| raw.get().as_bytes()));
        Digest {
            kind,
            id: raw(read.id),
            method: Seen::maybe(read.method.as_deref().map(str::as_bytes)),
            body: raw(read.params.or(read.result).or(read.error)),
        }
    }
}

struct Tree;

impl Contender for Tree {
    fn read(&mut self, message: &[u8]) -> Digest {
        let Ok(read) = serde_json::from_slice::<Value>(message) else { return Digest::REFUSED };
        let there = |key| read.get(key).is_some();
        let kind = kind(there("id"), there("method"), there("result"), there("error"));
        if read.get("jsonrpc").and_then(Value::as_str) != Some("2.0") || kind == Kind::Refused {
            return Digest::REFUSED;
        }
        Digest {
            kind,
            id: read.get("id").map_or(Seen::ABSENT, |id| Seen::made(|| id.to_string())),
            method: Seen::maybe(read.get("method").and_then(Value::as_str).map(str::as_bytes)),
            body: Seen::UNKNOWN,
        }
    }
}

struct Typed;

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
    schema: &'a RawValue,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, alias = "data")]
    text: Cow<'a, str>,
}

impl Contender for Typed {
    fn read(&mut self, message: &[u8]) -> Digest {
        let Ok(line) = serde_json::from_slice::<Line<'_>>(message) else { return Digest::REFUSED };
        let mut seen = Seen::EMPTY;
        for tool in &line.result.tools {
            seen.add(tool.name.as_bytes());
            seen.add(tool.description.as_bytes());
            seen.add(tool.schema.get().as_bytes());
        }
        line.result.content.iter().for_each(|block| seen.add(block.text.as_bytes()));
        Digest::of(seen)
    }
}

struct Vector {
    turns: Turns<Message>,
    out: Vec<u8>,
}

impl Contender for Vector {
    fn read(&mut self, _: &[u8]) -> Digest {
        self.out.clear();
        match serde_json::to_writer(&mut self.out, self.turns.next()) {
            Ok(()) => Digest::of(Seen::written(&self.out)),
            Err(_) => Digest::REFUSED,
        }
    }
}

struct Slice {
    turns: Turns<Message>,
    out: Vec<u8>,
}

impl Contender for Slice {
    fn read(&mut self, _: &[u8]) -> Digest {
        let all = self.out.len();
        let mut rest = &mut self.out[..];
        match serde_json::to_writer(&mut rest, self.turns.next()) {
            Ok(()) => {
                let written = all - rest.len();
                Digest::of(Seen::written(&self.out[..written]))
            }
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
        match serde_json::to_writer(&mut self.out, self.texts.next()) {
            Ok(()) => Digest::of(Seen::of(&self.out)),
            Err(_) => Digest::REFUSED,
        }
    }
}

struct Unescape;

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Contender for Unescape {
    fn read(&mut self, json: &[u8]) -> Digest {
        match serde_json::from_slice::<Text<'_>>(json) {
            Ok(Text(text)) => Digest::of(Seen::of(text.as_bytes())),
            Err(_) => Digest::REFUSED,
        }
    }
}

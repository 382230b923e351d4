//! What each corpus says, read with serde_json in the plainest way, and the proof that a contender reads the same.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::contender::proving;
use crate::corpora::Corpus;
use crate::{Digest, Group, Kind, Row, Seen};

/// Runs a contender over all messages of a corpus and compares what it read; `Ok(false)` if it does not take part.
///
/// # Errors
/// The first message of which it read something else.
pub fn prove(row: &Row, corpus: &Corpus) -> Result<bool, String> {
    proving(|| {
        let Some(mut contender) = row.ready(corpus) else { return Ok(false) };
        for message in &corpus.messages {
            let (read, truth) = (contender.one(message), truth(row.group, message));
            if !row.limit && !read.agrees(&truth) {
                let shown = String::from_utf8_lossy(&message[..message.len().min(200)]).into_owned();
                return Err(format!("{} reads {read:?}, the truth is {truth:?}, of {shown}", row.name));
            }
        }
        Ok(true)
    })
}

/// What a message says.
fn truth(group: Group, message: &[u8]) -> Digest {
    match group {
        Group::Framing => {
            let mut seen = Seen::EMPTY;
            message.split(|&b| b == b'\n').filter(|line| !line.is_empty()).for_each(|line| seen.add(line));
            Digest::of(seen)
        }
        Group::Read => envelope(message),
        Group::Typed => Digest::of(typed(message)),
        Group::Write => Digest::of(Seen::written(message)),
        Group::Escape => Digest::of(Seen::made(|| {
            serde_json::to_string(&String::from_utf8_lossy(message)).unwrap_or_default()
        })),
        Group::Unescape => {
            Digest::of(Seen::made(|| serde_json::from_slice::<String>(message).unwrap_or_default()))
        }
        Group::RoundTrip => Digest::of(Seen::of(message)),
    }
}

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

fn envelope(message: &[u8]) -> Digest {
    let Ok(read) = serde_json::from_slice::<Envelope<'_>>(message) else { return Digest::REFUSED };
    let kind = match (&read.method, read.id, read.result, read.error) {
        _ if read.jsonrpc != "2.0" => return Digest::REFUSED,
        (Some(_), Some(_), None, None) => Kind::Request,
        (Some(_), None, None, None) => Kind::Notification,
        (None, Some(_), Some(_), None) => Kind::Response,
        (None, _, None, Some(_)) => Kind::Error,
        _ => return Digest::REFUSED,
    };
    let raw = |raw: Option<&RawValue>| Seen::maybe(raw.map(|raw| raw.get().as_bytes()));
    Digest {
        kind,
        id: raw(read.id),
        method: Seen::maybe(read.method.as_deref().map(str::as_bytes)),
        body: raw(read.params.or(read.result).or(read.error)),
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
    #[serde(default)]
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    name: String,
    description: String,
    #[serde(borrow, rename = "inputSchema")]
    schema: &'a RawValue,
}

#[derive(Deserialize)]
struct Block {
    #[serde(alias = "data")]
    text: String,
}

fn typed(message: &[u8]) -> Seen {
    let mut seen = Seen::EMPTY;
    if let Ok(line) = serde_json::from_slice::<Line<'_>>(message) {
        for tool in line.result.tools {
            seen.add(tool.name.as_bytes());
            seen.add(tool.description.as_bytes());
            seen.add(tool.schema.get().as_bytes());
        }
        line.result.content.iter().for_each(|block| seen.add(block.text.as_bytes()));
    }
    seen
}

/// The same values in one way of writing them: members in order, numbers by value, without white space.
pub(crate) fn canonical(json: &[u8]) -> Vec<u8> {
    serde_json::from_slice::<Value>(json).map_or_else(|_| json.to_vec(), |value| sorted(&value).into_bytes())
}

// Only of what contenders wrote from our own corpora: this may recurse.
fn sorted(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| key.as_str());
            let text = members.iter().map(|(key, value)| format!("{key:?}:{}", sorted(value)));
            format!("{{{}}}", text.collect::<Vec<_>>().join(","))
        }
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(sorted).collect::<Vec<_>>().join(","))
        }
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |value| value.to_string())
        }
        other => other.to_string(),
    }
}

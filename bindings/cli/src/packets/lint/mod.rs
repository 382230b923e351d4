//! Rules that one line, or one answer with its request, can be checked against.
//!
//! Rules that need the whole session are in [`tracker`](super::tracker).

mod results;

use barewire::json::{Kind as Json, Raw};

use super::call::brief;
use super::envelope::{Envelope, Kind, Looks, text};
use super::lines::{End, Line};
use super::nulls;
use super::rules::{Finding, rule};
use super::session::{Session, Stage};
use crate::arguments::schema::complaints;

pub(crate) use results::{failed, result};

/// TypeScript clients and servers close the connection at this length.
const TYPESCRIPT_LIMIT: usize = 10_485_760;

/// A finding.
pub(crate) fn finding(number: u16, member: impl Into<String>, text: impl Into<String>) -> Finding {
    Finding { rule: rule(number), member: member.into(), text: text.into() }
}

/// Of many findings of one rule keeps the first three, the last of which tells how many more there were.
pub(crate) fn fold(list: &mut Vec<Finding>) {
    const KEPT: usize = 3;
    let mut seen: Vec<(u16, usize)> = Vec::new();
    let mut counts: Vec<usize> = Vec::with_capacity(list.len());
    for finding in list.iter() {
        let number = finding.rule.number;
        match seen.iter_mut().find(|(known, _)| *known == number) {
            Some((_, count)) => *count += 1,
            None => seen.push((number, 1)),
        }
        counts.push(seen.iter().find(|(known, _)| *known == number).map_or(0, |(_, count)| *count));
    }
    let mut place = 0;
    list.retain_mut(|finding| {
        let count = counts[place];
        place += 1;
        let all = seen.iter().find(|(known, _)| *known == finding.rule.number).map_or(0, |(_, all)| *all);
        if count == KEPT && all > KEPT {
            finding.text += &format!(" (and {} more like this)", all - KEPT);
        }
        count <= KEPT
    });
}

/// Checks how a line is framed. `first` says whether it is the first of its stream.
pub(crate) fn framing(line: &Line, first: bool, list: &mut Vec<Finding>) {
    if first && line.bytes.starts_with(b"\xef\xbb\xbf") {
        list.push(finding(104, "", "the stream begins with a byte order mark (ef bb bf): leave it out"));
    }
    if line.end == End::Nothing {
        list.push(finding(106, "", "the last line has no LF: end every message with one"));
    }
    if line.bytes.len() >= TYPESCRIPT_LIMIT {
        list.push(finding(107, "", "the line has 10 MiB or more: send less, or a link"));
    }
}

/// The finding for a line that is no message.
pub(crate) fn junk(looks: Looks, by_server: bool) -> Option<Finding> {
    Some(match looks {
        Looks::PrettyPiece => return None,
        Looks::PrettyStart => finding(102, "", "a message over several lines: write it as one"),
        Looks::ContentLength => {
            finding(110, "", "Content-Length framing: MCP has one message a line, ended by LF")
        }
        Looks::NotUtf8 => finding(103, "", "bytes that are not UTF-8"),
        Looks::TooDeep => finding(111, "", "over 128 containers inside each other"),
        Looks::Prefixed => finding(101, "", "text before a message on its line: the whole line is lost"),
        Looks::Cut => finding(101, "", "a message that is cut off or spoiled"),
        Looks::Scalar => finding(101, "", "JSON that is no message"),
        _ if by_server => finding(101, "", "a line that is no message: print to stderr, never to stdout"),
        _ => finding(101, "", "a line that is no message"),
    })
}

/// Checks an envelope by itself.
pub(crate) fn envelope(envelope: &Envelope<'_>, kind: Kind, version: Option<&str>, list: &mut Vec<Finding>) {
    match envelope.jsonrpc {
        None => list.push(finding(201, "jsonrpc", "missing; add \"jsonrpc\":\"2.0\"")),
        Some(version) if !version.is("2.0") => {
            list.push(finding(201, "jsonrpc", format!("is {}; it must be \"2.0\"", brief(version, 20))));
        }
        Some(_) => {}
    }
    for name in &envelope.extra {
        list.push(finding(
            215,
            name.clone(),
            "a member that JSON-RPC does not know; put it into params or result",
        ));
    }
    for name in &envelope.doubled {
        list.push(finding(112, *name, "is there twice; peers differ in which one counts"));
    }
    id(envelope, kind, version, list);
    if let Some(params) = envelope.params.filter(|params| params.kind() != Json::Object) {
        let mend = if params.is_null() { "leave it out" } else { "it must be an object" };
        list.push(finding(209, "params", format!("is {}; {mend}", brief(params, 20))));
    }
    match (envelope.result, envelope.error) {
        (Some(result), Some(error)) => {
            let what = if error.is_null() { "null beside a result" } else { "there beside a result" };
            list.push(finding(206, "error", format!("is {what}; send one of the two")));
            object_result(result, list);
        }
        (Some(result), None) => object_result(result, list),
        (None, Some(error)) => self::error(error, list),
        (None, None) => {
            if kind == Kind::Nonsense && envelope.id.is_some() {
                list.push(finding(206, "", "an id, but neither method nor result nor error"));
            }
        }
    }
    if envelope.method.is_some_and(|method| method.kind() != Json::String) {
        list.push(finding(201, "method", "is no string"));
    }
    if kind == Kind::Request && (envelope.result.is_some() || envelope.error.is_some()) {
        list.push(finding(206, "method", "is there beside a result or an error"));
    }
}

fn id(envelope: &Envelope<'_>, kind: Kind, version: Option<&str>, list: &mut Vec<Finding>) {
    match (kind, envelope.id) {
        (Kind::Request | Kind::Result, Some(id)) => {
            let fine = id.kind() == Json::String || id.kind() == Json::Number && id.is_integer();
            if !fine {
                let text = format!("is {}; it must be a string or an integer", brief(id, 30));
                list.push(finding(202, "id", text));
            }
        }
        (Kind::Result, None) => list.push(finding(202, "id", "missing: nobody can tell what is answered")),
        (Kind::Error, Some(id)) if id.is_null() => {
            list.push(finding(
                213,
                "id",
                "is null: JSON-RPC has it so, no MCP schema allows it; leave it out",
            ));
        }
        (Kind::Error, None) if version.is_some_and(|version| version < "2025-11-25") => {
            list.push(finding(213, "id", "missing: only 2025-11-25 and later allow that"));
        }
        _ => {}
    }
}

fn object_result(result: Raw<'_>, list: &mut Vec<Finding>) {
    if result.kind() != Json::Object {
        list.push(finding(209, "result", format!("is {}; it must be an object", brief(result, 30))));
    }
}

fn error(error: Raw<'_>, list: &mut Vec<Finding>) {
    if error.kind() != Json::Object {
        list.push(finding(208, "error", "is no object"));
        return;
    }
    match error.get("code") {
        None => list.push(finding(208, "error.code", "missing; it must be an integer")),
        Some(code) if code.as_i64().is_none() => {
            list.push(finding(208, "error.code", format!("is {}; it must be an integer", brief(code, 30))));
        }
        Some(_) => {}
    }
    match error.get("message") {
        None => list.push(finding(208, "error.message", "missing; it must be a string")),
        Some(message) if message.kind() != Json::String => {
            list.push(finding(
                208,
                "error.message",
                format!("is {}; it must be a string", brief(message, 30)),
            ));
        }
        Some(_) => {}
    }
}

/// Checks a request by its method.
pub(crate) fn request(
    envelope: &Envelope<'_>,
    method: &str,
    from_client: bool,
    session: &Session,
    list: &mut Vec<Finding>,
) {
    if method == "initialize" {
        for name in ["protocolVersion", "capabilities", "clientInfo"] {
            if envelope.param(name).is_none_or(Raw::is_null) {
                list.push(finding(306, format!("params.{name}"), "missing; the handshake needs it"));
            }
        }
        if let Some(info) = envelope.param("clientInfo") {
            implementation(info, "params.clientInfo", list);
        }
    } else if from_client && is_modern(envelope, method, session) {
        for name in ["protocolVersion", "clientCapabilities"] {
            if envelope.meta(name).is_none() {
                let member = format!("params._meta.io.modelcontextprotocol/{name}");
                list.push(finding(501, member, "missing; every request of 2026-07-28 carries it"));
            }
        }
    }
    if method == "tools/call" {
        arguments(envelope, session, list);
    }
    if let Some(params) = envelope.params {
        null_members(nulls::places(params, "params", &[]), list);
    }
}

/// Arguments against the schema that was listed.
fn arguments(envelope: &Envelope<'_>, session: &Session, list: &mut Vec<Finding>) {
    let tool = envelope.param("name").and_then(text).and_then(|name| session.tools.get(&name));
    let Some(schema) = tool.and_then(|tool| Raw::new(&tool.input)) else { return };
    let complaints = complaints(schema, envelope.param("arguments").unwrap_or(Raw::EMPTY_OBJECT));
    if let Some(first) = complaints.first() {
        list.push(finding(413, "params.arguments", format!("break the tool's inputSchema: {first}")));
    }
}

/// Whether a request must follow the modern era's rules.
pub(crate) fn is_modern(envelope: &Envelope<'_>, method: &str, session: &Session) -> bool {
    envelope.meta("protocolVersion").is_some()
        || matches!(method, "server/discover" | "subscriptions/listen")
        || (session.modern && session.stage == Stage::Fresh && method != "ping")
}

fn implementation(info: Raw<'_>, path: &str, list: &mut Vec<Finding>) {
    for name in ["name", "version"] {
        if info.get(name).is_none_or(|value| value.kind() != Json::String) {
            list.push(finding(306, format!("{path}.{name}"), "missing, or no string"));
        }
    }
}

/// One finding for many nulls.
fn null_members(places: Vec<String>, list: &mut Vec<Finding>) {
    let Some(first) = places.first() else { return };
    let more = match places.len() {
        1 => String::new(),
        n => format!(" (and {} more)", n - 1),
    };
    list.push(finding(421, first.clone(), format!("is null{more}; leave it out")));
}

/// Whether an escape in the line stands for half of a surrogate pair only.
pub(crate) fn lone_surrogate(line: &[u8]) -> bool {
    let mut at = 0;
    let mut high = false;
    while let Some(&byte) = line.get(at) {
        let unit = (byte == b'\\').then(|| line.get(at + 1..at + 6)).flatten().and_then(|escape| {
            let hex = core::str::from_utf8(escape.strip_prefix(b"u")?).ok()?;
            u32::from_str_radix(hex, 16).ok()
        });
        match unit {
            Some(0xdc00..=0xdfff) if high => high = false,
            Some(0xdc00..=0xdfff) => return true,
            _ if high => return true,
            Some(0xd800..=0xdbff) => high = true,
            _ => {}
        }
        at += match (byte, unit) {
            (_, Some(_)) => 6,
            (b'\\', None) => 2,
            _ => 1,
        };
    }
    high
}

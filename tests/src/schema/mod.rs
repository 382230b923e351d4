//! One checker over all bytes that either side writes.
//!
//! It knows the conversation: which requests are open, under which revision each was made, what a handshake agreed
//! on. So it can say of each line whether the official schema of its revision allows it, whether an answer carries the
//! id of a question, and whether a newer revision's member slipped into an older session.
//!
//! - [`Checker::line`] judges what *we* wrote. [`Checker::note`] takes what a test wrote, however broken, and only
//!   remembers what it asks.
//! - **The one exemption** from the schema is an error without a readable id up to 2025-06-18: no valid form exists.

mod official;
mod text;

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use official::{Official, REVISIONS, official, result_of};

const CLAIM: &str = "io.modelcontextprotocol/protocolVersion";
const MODERN: &str = "2026-07-28";

/// Where a line goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// A client wrote it.
    ToServer,
    /// A server wrote it.
    ToClient,
}

/// The judge of one conversation.
#[derive(Debug)]
pub struct Checker {
    start: &'static str,
    agreed: Option<&'static str>,
    modern_seen: bool,
    open: Vec<Open>,
    broken_ids: HashSet<String>,
    tokens_done: HashSet<String>,
    either_null: bool,
    part: Vec<u8>,
}

/// A request that was not answered yet.
#[derive(Debug)]
struct Open {
    by: Direction,
    id: String,
    method: String,
    revision: &'static str,
    token: Option<String>,
    progress: Option<f64>,
}

impl Checker {
    /// `revision` is what messages outside of any handshake obey; a handshake that is seen changes it.
    ///
    /// # Panics
    /// When there is no such revision.
    #[must_use]
    pub fn new(revision: &str) -> Self {
        let start = known(revision).expect("a published revision");
        Self {
            start,
            agreed: None,
            modern_seen: false,
            open: Vec::new(),
            broken_ids: HashSet::new(),
            tokens_done: HashSet::new(),
            either_null: false,
            part: Vec::new(),
        }
    }

    /// An error without a readable id may then have its id left out or null: for tests that cannot know which of two
    /// messages was read first.
    pub const fn either_null(&mut self, yes: bool) {
        self.either_null = yes;
    }

    /// Whether the official schemas are at hand; without them only the other rules are checked.
    #[must_use]
    pub fn has_schemas() -> bool {
        REVISIONS.iter().all(|revision| official(revision).is_some())
    }

    /// The revision that the last handshake agreed on.
    #[must_use]
    pub const fn agreed(&self) -> Option<&'static str> {
        self.agreed
    }

    /// Judges all lines of `bytes`, the last of which must be complete.
    ///
    /// # Errors
    /// Says what is wrong with which line.
    pub fn lines(&mut self, direction: Direction, bytes: &[u8]) -> Result<(), String> {
        bytes.split_inclusive(|byte| *byte == b'\n').try_for_each(|line| {
            if line.last() != Some(&b'\n') {
                return Err(format!("the last line has no LF: {}", shown(line)));
            }
            self.line(direction, line)
        })
    }

    /// Judges one line that our side wrote, with or without its LF.
    ///
    /// # Errors
    /// Says what is wrong, and shows the line.
    pub fn line(&mut self, direction: Direction, line: &[u8]) -> Result<(), String> {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        self.judge_line(direction, bare).map_err(|wrong| format!("{wrong}: {}", shown(bare)))
    }

    /// Takes a line that the test wrote, valid or not, so that answers to it can be judged.
    pub fn note(&mut self, direction: Direction, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim().trim_start_matches('\u{feff}');
        // Lone surrogates are JSON, but no text: for noting any letter will do in their place.
        let parsed = sketch(line).or_else(|_| sketch(&without_surrogates(line)));
        match parsed {
            Ok(Value::Array(all)) => {
                all.iter().for_each(|one| self.note(direction, one.to_string().as_bytes()));
            }
            Ok(value) => match raw_member(line, "id") {
                Some(id) if value["method"].is_string() => self.ask(direction, id, &value),
                Some(id) if value.get("result").is_none() && value.get("error").is_none() => {
                    self.broken_ids.insert(id);
                }
                Some(id) => {
                    let of = self.settle(direction, &id, false);
                    let version = value["result"]["protocolVersion"].as_str().and_then(known);
                    if of.is_some_and(|of| of.method == "initialize") && version != Some(MODERN) {
                        self.agreed = version.or(self.agreed);
                    }
                }
                None => {}
            },
            Err(_) => self.broken_ids.extend(raw_member(line, "id")),
        }
    }

    /// [`Checker::note`] for bytes that may be cut anywhere.
    pub fn note_part(&mut self, direction: Direction, bytes: &[u8]) {
        self.part.extend_from_slice(bytes);
        let held = core::mem::take(&mut self.part);
        let complete = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        held[..complete].split(|byte| *byte == b'\n').for_each(|line| self.note(direction, line));
        self.part = held[complete..].to_vec();
    }

    /// No more comes: what [`Checker::note_part`] holds is a line too.
    pub fn note_rest(&mut self, direction: Direction) {
        let rest = core::mem::take(&mut self.part);
        self.note(direction, &rest);
    }

    fn judge_line(&mut self, direction: Direction, line: &[u8]) -> Result<(), String> {
        if line.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            return Err("CR or LF inside of a line".into());
        }
        let line = core::str::from_utf8(line).map_err(|_| "not UTF-8")?;
        if line.is_empty() || line.starts_with('\u{feff}') {
            return Err("an empty line or a byte order mark".into());
        }
        if !line.starts_with('[') {
            return self.message(direction, line);
        }
        if self.agreed.unwrap_or(self.start) != "2025-03-26" {
            return Err("an array, but not in a session of 2025-03-26".into());
        }
        let elements = text::elements(line)?;
        if elements.is_empty() {
            return Err("an empty array".into());
        }
        elements.into_iter().try_for_each(|one| self.message(direction, one))
    }

    fn message(&mut self, direction: Direction, line: &str) -> Result<(), String> {
        let members = text::members(line)?;
        let raw = |key: &str| members.iter().find(|(known, _)| known == key).map(|(_, value)| *value);
        // A number that no float holds is fine JSON; the schema cannot be asked then, everything else can.
        let value: Option<Value> = serde_json::from_str(line).ok();
        let value = value.unwrap_or(Value::Null);
        match (raw("method").is_some(), raw("id"), raw("result"), raw("error")) {
            (true, Some(id), None, None) => {
                only(&members, &["jsonrpc", "id", "method", "params"])?;
                if id.starts_with('"') || id.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
                    self.request(direction, id, &value)
                } else {
                    Err("an id that is neither a string nor an integer".into())
                }
            }
            (true, None, None, None) => {
                only(&members, &["jsonrpc", "method", "params"])?;
                self.notification(direction, &value)
            }
            (false, Some(id), Some(_), None) => {
                only(&members, &["jsonrpc", "id", "result"])?;
                self.result(direction, id, &value)
            }
            (false, id, None, Some(error)) => {
                only(&members, &["jsonrpc", "id", "error"])?;
                only(&text::members(error)?, &["code", "message", "data"])?;
                self.error(direction, id.filter(|id| *id != "null"), id.is_some(), &value)
            }
            _ => Err("neither request, notification, result nor error".into()),
        }
    }

    fn request(&mut self, direction: Direction, id: &str, value: &Value) -> Result<(), String> {
        let method = value["method"].as_str().ok_or("a method that is no string")?.to_owned();
        if self.open.iter().any(|open| open.by == direction && open.id == id) {
            return Err(format!("the id {id} is in flight already"));
        }
        self.ask(direction, id.to_owned(), value);
        let revision = self.open.last().map_or(self.start, |open| open.revision);
        let Some(schema) = official(revision) else { return Ok(()) };
        let union = if direction == Direction::ToServer { "ClientRequest" } else { "ServerRequest" };
        schema.judge("JSONRPCRequest", value)?;
        match schema.of_method(union, &method) {
            Some(name) => schema.judge(&name, value),
            None if REVISIONS
                .iter()
                .filter_map(|r| official(r))
                .any(|s| s.of_method(union, &method).is_some()) =>
            {
                Err(format!("{method} does not exist in {revision}"))
            }
            None => Ok(()),
        }
    }

    fn notification(&mut self, direction: Direction, value: &Value) -> Result<(), String> {
        let method = value["method"].as_str().ok_or("a method that is no string")?;
        let params = &value["params"];
        let mut revision = self.agreed.unwrap_or(self.start);
        if method == "notifications/progress" && direction == Direction::ToClient {
            revision = self.progress(params)?;
        } else if method == "notifications/cancelled" {
            let id = params["requestId"].to_string();
            let of = self.open.iter().find(|open| open.id == id).ok_or("cancels what was not asked")?;
            revision = of.revision;
        } else if params["_meta"]["io.modelcontextprotocol/subscriptionId"] != Value::Null {
            revision = MODERN;
        }
        let Some(schema) = official(revision) else { return Ok(()) };
        let union =
            if direction == Direction::ToServer { "ClientNotification" } else { "ServerNotification" };
        schema.judge("JSONRPCNotification", value)?;
        let name = schema.of_method(union, method).ok_or(format!("{method} does not exist in {revision}"))?;
        schema.judge(&name, value)
    }

    /// Only with a token of an open request, and rising.
    fn progress(&mut self, params: &Value) -> Result<&'static str, String> {
        let token = params["progressToken"].to_string();
        let of = self.open.iter_mut().find(|open| open.token.as_ref() == Some(&token));
        let Some(of) = of else {
            let late = if self.tokens_done.contains(&token) { " after the answer" } else { "" };
            return Err(format!("progress{late} for the token {token}, which no open request has"));
        };
        let now = params["progress"].as_f64().ok_or("progress is no number")?;
        if of.progress.is_some_and(|before| now <= before) {
            return Err("progress does not rise".into());
        }
        of.progress = Some(now);
        Ok(of.revision)
    }

    fn result(&mut self, direction: Direction, id: &str, value: &Value) -> Result<(), String> {
        let of = self.settle(direction, id, false);
        if of.is_none() && !self.broken_ids.contains(id) {
            return Err(format!("answers the id {id}, which nobody asked"));
        }
        let result = &value["result"];
        let (method, mut revision) =
            of.map_or((String::new(), self.agreed.unwrap_or(self.start)), |of| (of.method, of.revision));
        if method == "initialize" && direction == Direction::ToClient {
            let version = result["protocolVersion"].as_str().unwrap_or_default();
            revision =
                known(version).filter(|v| *v != MODERN).ok_or("initialize agrees on no legacy revision")?;
            self.agreed = Some(revision);
        }
        let Some(schema) = official(revision) else { return Ok(()) };
        if value.is_null() {
            return Ok(());
        }
        let envelope =
            if schema.has("JSONRPCResultResponse") { "JSONRPCResultResponse" } else { "JSONRPCResponse" };
        schema.judge(envelope, value)?;
        let name = match result["resultType"].as_str() {
            Some("input_required") if revision == MODERN => "InputRequiredResult",
            _ => result_of(&method),
        };
        schema.judge(name, result)?;
        only_known(schema, name, result)
    }

    fn error(
        &mut self,
        direction: Direction,
        id: Option<&str>,
        written: bool,
        value: &Value,
    ) -> Result<(), String> {
        let revision = match id {
            Some(id) => match self.settle(direction, id, value["error"]["code"] == -32600) {
                Some(of) => of.revision,
                None if self.broken_ids.contains(id) => self.agreed.unwrap_or(self.start),
                None => return Err(format!("answers the id {id}, which nobody asked")),
            },
            None => {
                let exempt = !self.modern_seen && self.agreed != Some("2025-11-25");
                return match (exempt, written) {
                    _ if self.either_null => Ok(()),
                    (true, true) => Ok(()),
                    (true, false) => Err("an error without id: null, where JSON-RPC wants it".into()),
                    (false, true) => Err("an error with id: null, where the schema has none".into()),
                    (false, false) => self.judge_error(self.agreed.unwrap_or(MODERN), value),
                };
            }
        };
        self.judge_error(revision, value)
    }

    fn judge_error(&self, revision: &str, value: &Value) -> Result<(), String> {
        let Some(schema) = official(revision) else { return Ok(()) };
        let envelope =
            if schema.has("JSONRPCErrorResponse") { "JSONRPCErrorResponse" } else { "JSONRPCError" };
        schema.judge(envelope, value)?;
        match value["error"]["code"].as_i64() {
            Some(-32022) => schema.judge("UnsupportedProtocolVersionError", value),
            Some(-32021) => schema.judge("MissingRequiredClientCapabilityError", value),
            _ => Ok(()),
        }
    }

    /// Remembers a request.
    fn ask(&mut self, by: Direction, id: String, value: &Value) {
        let method = value["method"].as_str().unwrap_or_default().to_owned();
        let meta = &value["params"]["_meta"];
        let claim = meta.get(CLAIM).is_some();
        let revision = match method.as_str() {
            _ if claim => MODERN,
            "server/discover" | "subscriptions/listen" => MODERN,
            "initialize" => {
                let asked = value["params"]["protocolVersion"].as_str().and_then(known);
                let asked = asked.filter(|asked| *asked != MODERN).unwrap_or("2025-11-25");
                // What follows at once, before the answer is seen, counts as of the session that is asked for.
                if self.agreed.is_none() {
                    self.start = asked;
                }
                asked
            }
            _ => self.agreed.unwrap_or(self.start),
        };
        let complete = meta.get(CLAIM).is_some_and(|version| version == MODERN)
            && meta["io.modelcontextprotocol/clientCapabilities"].is_object();
        self.modern_seen |= complete && by == Direction::ToServer;
        let token = meta.get("progressToken").map(Value::to_string);
        self.open.push(Open { by, id, method, revision, token, progress: None });
    }

    /// Ends the request that an answer in `direction` belongs to: the first with this id, or the last.
    fn settle(&mut self, direction: Direction, id: &str, last: bool) -> Option<Open> {
        let mut all = self.open.iter().enumerate().filter(|(_, open)| open.by != direction && open.id == id);
        let (at, _) = if last { all.next_back() } else { all.next() }?;
        let open = self.open.remove(at);
        self.tokens_done.extend(open.token.clone());
        Some(open)
    }
}

fn known(revision: &str) -> Option<&'static str> {
    REVISIONS.into_iter().find(|known| *known == revision)
}

fn only(members: &[(String, &str)], allowed: &[&str]) -> Result<(), String> {
    match members.iter().find(|(key, _)| !allowed.contains(&key.as_str())) {
        Some((key, _)) => Err(format!("the member {key:?} has no place here")),
        None => Ok(()),
    }
}

/// Members that only newer revisions know must not be sent: in results, tools and content blocks.
fn only_known(schema: &Official, name: &str, result: &Value) -> Result<(), String> {
    let check = |name: &str, value: &Value| {
        let mut unknown = value.as_object().into_iter().flatten().filter(|(key, _)| !schema.knows(name, key));
        unknown
            .next()
            .map_or(Ok(()), |(key, _)| Err(format!("{name} of this revision has no member {key:?}")))
    };
    if name == "Result" {
        return if schema.has("DiscoverResult") || result["resultType"].is_null() {
            Ok(())
        } else {
            Err("resultType in a legacy session".into())
        };
    }
    check(name, result)?;
    for tool in result["tools"].as_array().into_iter().flatten() {
        check("Tool", tool)?;
    }
    for block in result["content"].as_array().into_iter().flatten() {
        let kind = match block["type"].as_str() {
            Some("text") => "TextContent",
            Some("image") => "ImageContent",
            Some("audio") => "AudioContent",
            Some("resource") => "EmbeddedResource",
            Some("resource_link") => "ResourceLink",
            _ => continue,
        };
        check(kind, block)?;
    }
    Ok(())
}

/// What the checker reads of a message, so that the rest may be deeper than a parser likes: the methods, `_meta`, and
/// which members there are.
fn sketch(line: &str) -> Result<Value, serde_json::Error> {
    #[derive(Default, Deserialize)]
    struct Inner {
        #[serde(default, rename = "_meta")]
        meta: Option<Value>,
        #[serde(default, rename = "protocolVersion")]
        version: Option<Value>,
    }
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(default)]
        method: Option<Value>,
        #[serde(borrow, default)]
        params: Option<&'a RawValue>,
        #[serde(borrow, default)]
        result: Option<&'a RawValue>,
        #[serde(borrow, default)]
        error: Option<&'a RawValue>,
    }
    if line.starts_with('[') {
        return serde_json::from_str(line);
    }
    let envelope: Envelope<'_> = serde_json::from_str(line)?;
    let mut message = json!({});
    for (key, raw) in [("params", envelope.params), ("result", envelope.result), ("error", envelope.error)] {
        if let Some(raw) = raw {
            let inner: Inner = serde_json::from_str(raw.get()).unwrap_or_default();
            message[key] =
                json!({ "_meta": inner.meta.unwrap_or_else(|| json!({})), "protocolVersion": inner.version });
        }
    }
    if let Some(method) = envelope.method {
        message["method"] = method;
    }
    Ok(message)
}

fn without_surrogates(line: &str) -> String {
    let mut out = String::new();
    let mut parts = line.split("\\u");
    out.extend(parts.next());
    for part in parts {
        let surrogate = part.starts_with(['d', 'D']) && part.get(1..2).is_some_and(|digit| digit > "7");
        match part.get(4..) {
            Some(rest) if surrogate => out.extend(["x", rest]),
            _ => out.extend(["\\u", part]),
        }
    }
    out
}

/// The raw value of an outermost member of a line that need not be valid; duplicates give none.
fn raw_member(line: &str, key: &str) -> Option<String> {
    let bytes = line.as_bytes();
    let (mut depth, mut at, mut found) = (0_u32, 0, None);
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = string_end(bytes, at);
                let after = line.get(end..)?.trim_start();
                if depth == 1 && after.starts_with(':') && line.get(at + 1..end - 1) == Some(key) {
                    if found.is_some() {
                        return None;
                    }
                    let value = after[1..].trim_start();
                    let stop = if value.starts_with('"') {
                        string_end(value.as_bytes(), 0)
                    } else {
                        value.find([',', '}', ' ']).unwrap_or(value.len())
                    };
                    found = value.get(..stop).map(str::to_owned);
                }
                at = end - 1;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Behind the closing quote of the string that opens at `start`, or the end of the text.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    match text.char_indices().nth(300) {
        Some((cut, _)) => format!("{}… ({} bytes)", &text[..cut], line.len()),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests;

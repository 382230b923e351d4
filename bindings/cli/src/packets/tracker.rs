//! Entries in, packets out: puts each message into its session.

use barewire::json::{Kind as Json, Raw};

use super::call::subject;
use super::envelope::{self, Envelope, Looks, looks, text};
use super::lines::{Assembler, End, Line};
use super::lint::{self, finding};
use super::members::Story;
use super::model::{Item, Kind, Message, Packet, Summary, When};
use super::rules::Severity;
use super::session::{Match, Open, Session, Stage};
use super::texts::{T, Table, say};
use super::{requests, results};
use crate::capture::{Entry, Event, Micros, Stream, What};

/// The longest line of stderr that is kept in one piece.
const STDERR_LINE: usize = 4 << 10;
/// How much of a call is shown in a header.
const CALL: usize = 60;

/// Follows one session.
pub(crate) struct Tracker {
    table: Table,
    lines: [Assembler; 2],
    stderr: Vec<u8>,
    session: Session,
    summary: Summary,
    began: Option<Micros>,
    ended: Option<Micros>,
    number: usize,
    state: String,
    /// Per direction: lines so far, blank lines not told yet, whether CR LF was told, inside a pretty message.
    seen: [usize; 2],
    blank: [bool; 2],
    told_crlf: [bool; 2],
    pretty: [bool; 2],
    /// The newest message of the client was a notification, and nothing was open then.
    silent: bool,
    /// The server is gone.
    over: bool,
}

impl Tracker {
    pub(crate) fn new(table: Table) -> Self {
        Self {
            table,
            lines: [Assembler::new(Stream::C2s), Assembler::new(Stream::S2c)],
            stderr: Vec::new(),
            session: Session::default(),
            summary: Summary::default(),
            began: None,
            ended: None,
            number: 0,
            state: String::new(),
            seen: [0; 2],
            blank: [false; 2],
            told_crlf: [false; 2],
            pretty: [false; 2],
            silent: false,
            over: false,
        }
    }

    /// Takes one entry and hands out what it completes.
    pub(crate) fn take(&mut self, entry: &Entry) -> Vec<Item> {
        match &entry.what {
            What::Bytes(Stream::Err, bytes) => self.stderr(bytes),
            What::Bytes(stream, bytes) => {
                let lines = self.lines[stream.index()].push(bytes, entry.at);
                lines.into_iter().filter_map(|line| self.line(line)).collect()
            }
            What::Event(event) => {
                let mut items = Vec::new();
                match event {
                    Event::Start { .. } => self.session.from_start = true,
                    Event::Eof(Stream::Err) => items.extend(self.stderr_rest()),
                    Event::Eof(stream) => items.extend(self.rest(*stream)),
                    Event::Exit { .. } => {
                        self.over = true;
                        items.extend(self.rests());
                    }
                    _ => {}
                }
                self.ended = entry.at.or(self.ended);
                items.push(Item::Event { at: entry.at, event: event.clone() });
                items
            }
        }
    }

    /// No more entries: what is left, and the totals.
    pub(crate) fn finish(&mut self) -> (Vec<Item>, Summary) {
        let items = self.rests();
        let mut summary = core::mem::take(&mut self.summary);
        summary.span = self.ended.zip(self.began).map(|(end, began)| end.saturating_sub(began));
        self.session.sum_up(&mut summary, self.ended, self.over);
        let broken = summary.unanswered.iter().filter(|open| open.finding.is_some()).count();
        summary.findings += broken;
        summary.errors += broken;
        (items, summary)
    }

    fn rests(&mut self) -> Vec<Item> {
        let mut items: Vec<Item> = self.rest(Stream::C2s).into_iter().collect();
        items.extend(self.rest(Stream::S2c));
        items.extend(self.stderr_rest());
        items
    }

    fn rest(&mut self, stream: Stream) -> Option<Item> {
        let line = self.lines[stream.index()].finish()?;
        self.line(line)
    }

    /// stderr may have no lines at all (progress bars), so long ones are cut.
    fn stderr(&mut self, bytes: &[u8]) -> Vec<Item> {
        let mut items = Vec::new();
        for &byte in bytes {
            if byte == b'\n' || byte == b'\r' || self.stderr.len() >= STDERR_LINE {
                items.extend(self.stderr_rest());
            }
            if byte != b'\n' && byte != b'\r' {
                self.stderr.push(byte);
            }
        }
        items
    }

    fn stderr_rest(&mut self) -> Option<Item> {
        let line = core::mem::take(&mut self.stderr);
        let text = String::from_utf8_lossy(&line).into_owned();
        (!text.trim().is_empty()).then_some(Item::Stderr { text })
    }

    fn line(&mut self, line: Line) -> Option<Item> {
        let side = line.stream.index();
        self.seen[side] += 1;
        self.summary.bytes[side] += line.size();
        if line.bytes.trim_ascii().is_empty() {
            self.blank[side] = true;
            return None;
        }
        self.number += 1;
        self.summary.packets[side] += 1;
        if let Some(at) = line.at {
            self.began.get_or_insert(at);
            self.ended = self.ended.max(line.at);
        }
        let mut messages = self.messages(&line);
        if let Some(first) = messages.first_mut() {
            let mut findings = Vec::new();
            lint::framing(&line, self.seen[side] == 1, &mut findings);
            self.once(&line, &mut findings);
            findings.append(&mut first.findings);
            first.findings = findings;
        }
        for finding in messages.iter().flat_map(|message| &message.findings) {
            self.summary.findings += 1;
            self.summary.errors += usize::from(finding.rule.severity == Severity::Error);
        }
        let state = self.session.state(self.table);
        let state_changed = state != self.state;
        self.state.clone_from(&state);
        let open = self.session.waiting();
        let packet = Packet { number: self.number, line, messages, state, state_changed, open };
        Some(Item::Packet(Box::new(packet)))
    }

    /// What is told once per direction.
    fn once(&mut self, line: &Line, findings: &mut Vec<super::rules::Finding>) {
        let side = line.stream.index();
        if line.end == End::CrLf && !core::mem::replace(&mut self.told_crlf[side], true) {
            findings.push(finding(105, "", "lines end in CR LF: end them with LF alone (told once)"));
        }
        if core::mem::take(&mut self.blank[side]) {
            findings.push(finding(105, "", "a blank line before this one: readers skip it, write none"));
        }
    }

    fn messages(&mut self, line: &Line) -> Vec<Message> {
        let side = line.stream.index();
        let mut bytes = line.bytes.as_slice();
        if self.seen[side] == 1 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        let raw = match Raw::from_bytes(bytes.trim_ascii()) {
            Ok(raw) if matches!(raw.kind(), Json::Object | Json::Array) => raw,
            Ok(_) => return vec![self.junk(looks(bytes, None, false), side)],
            Err(error) => return vec![self.junk(looks(bytes, Some(error.fault), self.pretty[side]), side)],
        };
        self.pretty[side] = false;
        let surrogate =
            lint::lone_surrogate(bytes).then(|| finding(111, "", "half of a surrogate pair stands alone"));
        let mut messages =
            if raw.kind() == Json::Array { self.batch(raw, line) } else { vec![self.message(raw, line)] };
        if let Some(first) = messages.first_mut() {
            first.findings.extend(surrogate);
        }
        messages
    }

    fn junk(&mut self, looks: Looks, side: usize) -> Message {
        self.pretty[side] = matches!(looks, Looks::PrettyStart | Looks::PrettyPiece);
        let key = match looks {
            Looks::PrettyStart => T::JunkPretty,
            Looks::PrettyPiece => T::JunkPiece,
            Looks::ContentLength => T::JunkLength,
            Looks::NotUtf8 => T::JunkUtf8,
            Looks::TooDeep => T::JunkDeep,
            Looks::Traceback => T::JunkTrace,
            Looks::Installer => T::JunkInstaller,
            Looks::Ansi => T::JunkAnsi,
            Looks::Log => T::JunkLog,
            Looks::Cut => T::JunkCut,
            Looks::Scalar => T::JunkScalar,
            Looks::Prefixed => T::JunkPrefixed,
            Looks::Print => T::JunkPrint,
        };
        Message {
            kind: Kind::Junk(looks),
            sentence: say(self.table, key, &[]),
            findings: lint::junk(looks).into_iter().collect(),
            first: self.session.first(format!("junk {looks:?}")),
            ..Message::default()
        }
    }

    fn batch(&mut self, raw: Raw<'_>, line: &Line) -> Vec<Message> {
        let elements: Vec<Raw<'_>> = raw.elements().collect();
        let mut head = Message {
            kind: Kind::Batch(elements.len()),
            sentence: say(self.table, T::Batch, &[&elements.len()]),
            first: self.session.first("batch".into()),
            ..Message::default()
        };
        if !self.session.is_revision("2025-03-26") && !self.session.late {
            head.findings.push(finding(
                108,
                "",
                "an array of messages: only a session of 2025-03-26 may send one",
            ));
        }
        let mut messages = vec![head];
        for element in elements {
            messages.push(self.message(element, line));
        }
        messages
    }

    fn message(&mut self, raw: Raw<'_>, line: &Line) -> Message {
        if raw.kind() != Json::Object {
            return self.junk(Looks::Scalar, line.stream.index());
        }
        let envelope = Envelope::read(raw);
        let kind = envelope.kind();
        let mut message =
            Message { id: envelope.id.map(|id| super::call::brief(id, 40)), ..Message::default() };
        let first_of_client = line.stream == Stream::C2s && self.session.client_begins(&envelope);
        lint::envelope(&envelope, kind, self.session.version.as_deref(), &mut message.findings);
        match kind {
            envelope::Kind::Request => self.request(&envelope, line, first_of_client, &mut message),
            envelope::Kind::Notification => self.notification(&envelope, line, &mut message),
            envelope::Kind::Result | envelope::Kind::Error => {
                self.answer(&envelope, kind, line, &mut message)
            }
            envelope::Kind::Nonsense => message.sentence = say(self.table, T::JunkNonsense, &[]),
        }
        self.silent = kind == envelope::Kind::Notification && self.session.waiting().is_empty();
        message
    }

    fn request(
        &mut self,
        envelope: &Envelope<'_>,
        line: &Line,
        first_of_client: bool,
        message: &mut Message,
    ) {
        let method = envelope.method_name().unwrap_or_else(|| "?".into());
        let modern = lint::is_modern(envelope, &method, &self.session);
        self.judge_request(envelope, &method, line.stream, first_of_client, &mut message.findings);
        let from_client = line.stream == Stream::C2s;
        lint::request(envelope, &method, from_client, &self.session, &mut message.findings);
        let story = requests::request(self.table, envelope, &method, &self.session);
        self.tell(message, Kind::Request, &method, story, line.stream);
        message.call = subject(&method, envelope.params, CALL);
        if line.stream == Stream::C2s {
            if method == "initialize" {
                self.session.stage = Stage::Asked;
            } else if envelope.meta("protocolVersion").is_some() && self.session.stage == Stage::Fresh {
                self.session.modern = true;
                self.session.version = envelope.meta("protocolVersion").and_then(text);
            }
        }
        if let Some(id) = envelope.id {
            let open = Open {
                number: self.number,
                at: line.at,
                asker: line.stream,
                id: super::call::brief(id, 60),
                call: message.call.clone(),
                modern: modern && envelope.meta("protocolVersion").is_some(),
                version: envelope.param("protocolVersion").and_then(text),
                method,
                cancelled: false,
                meanwhile: None,
            };
            self.session.ask(open, id);
        }
    }

    /// The rules about when a request may come.
    fn judge_request(
        &self,
        envelope: &Envelope<'_>,
        method: &str,
        stream: Stream,
        first_of_client: bool,
        list: &mut Vec<super::rules::Finding>,
    ) {
        let session = &self.session;
        let modern = lint::is_modern(envelope, method, session);
        if let Some(id) = envelope.id.filter(|id| !id.is_null())
            && !session.late
            && session.is_reused(stream, id, modern)
        {
            list.push(finding(
                203,
                "id",
                format!("{} was used before in this session", super::call::brief(id, 40)),
            ));
        }
        let opening = matches!(method, "initialize" | "ping" | "server/discover") || modern;
        if stream == Stream::C2s {
            if first_of_client && session.from_start && !opening {
                list.push(finding(301, "method", format!("{method} comes first; `initialize` must")));
            } else if session.stage == Stage::Asked && !opening {
                list.push(finding(303, "method", format!("{method} before `initialize` was answered")));
            } else if session.stage == Stage::Agreed && !opening {
                list.push(finding(
                    305,
                    "method",
                    format!("{method} without notifications/initialized before it"),
                ));
            }
        } else {
            if session.stage == Stage::Agreed && method != "ping" {
                list.push(finding(
                    304,
                    "method",
                    format!("{method} before the client said that it is ready"),
                ));
            }
            if session.modern && session.stage == Stage::Fresh {
                list.push(finding(504, "method", "a request from the server: 2026-07-28 has none"));
            }
        }
    }

    fn notification(&mut self, envelope: &Envelope<'_>, line: &Line, message: &mut Message) {
        let method = envelope.method_name().unwrap_or_else(|| "?".into());
        let mut target = None;
        match method.as_str() {
            "notifications/initialized" if line.stream == Stream::C2s => {
                if self.session.stage == Stage::Asked {
                    let text = "sent before `initialize` was answered";
                    message.findings.push(finding(303, "method", text));
                }
                self.session.stage = Stage::Open;
            }
            "notifications/cancelled" => {
                if let Some(id) = envelope.param("requestId")
                    && let Some(open) = self.session.cancel(line.stream, id)
                {
                    target = Some(format!("#{}", open.number));
                    if open.method == "initialize" {
                        message.findings.push(finding(302, "params.requestId", "`initialize` is cancelled"));
                    }
                }
            }
            _ => {}
        }
        if let Some(params) = envelope.params {
            let places = super::nulls::places(params, "params", &[]);
            if let Some(place) = places.first() {
                message.findings.push(finding(421, place.clone(), "is null; leave it out"));
            }
        }
        let story = requests::notification(self.table, envelope, &method, target);
        self.tell(message, Kind::Notification, &method, story, line.stream);
        message.call = subject(&method, envelope.params, CALL);
    }

    fn answer(&mut self, envelope: &Envelope<'_>, kind: envelope::Kind, line: &Line, message: &mut Message) {
        let asker = if line.stream == Stream::S2c { Stream::C2s } else { Stream::S2c };
        let id = envelope.id.filter(|id| !id.is_null());
        let matched = id.map_or(Match::Nothing, |id| self.session.answer(asker, id));
        let ok = kind == envelope::Kind::Result;
        let shown = if ok { Kind::Result } else { Kind::Error };
        let open = match matched {
            Match::Request(open) => Some(open),
            other => {
                self.judge_stray(&other, envelope, line.stream, &mut message.findings);
                None
            }
        };
        let story = match (&open, envelope.result, envelope.error) {
            (Some(open), Some(result), _) if ok => {
                lint::result(result, open, &self.session, &mut message.findings);
                self.move_on(open, result);
                results::result(self.table, result, open)
            }
            (open, _, Some(error)) => {
                let modern = open.as_ref().is_some_and(|open| open.modern);
                lint::failed(error, modern, &mut message.findings);
                if open.as_ref().is_some_and(|open| open.method == "initialize") {
                    self.session.stage = Stage::Refused;
                }
                if open.as_ref().is_some_and(|open| open.method == "server/discover")
                    && !is_modern_error(error)
                {
                    self.session.modern = false;
                    self.session.version = None;
                }
                results::error(self.table, error, open.as_deref())
            }
            _ => Story::new(say(
                self.table,
                if self.session.late { T::GotUnjudged } else { T::GotUnasked },
                &[],
            )),
        };
        let method = open.as_ref().map(|open| open.method.clone());
        self.tell(message, shown, method.as_deref().unwrap_or(""), story, line.stream);
        message.method = method;
        if let Some(open) = open {
            if open.cancelled {
                message.sentence = say(self.table, T::GotLate, &[]);
            }
            message.answers = Some(open.answers(line.at));
            message.call = open.call;
        }
    }

    /// An answer that belongs to no open request.
    fn judge_stray(
        &self,
        matched: &Match,
        envelope: &Envelope<'_>,
        stream: Stream,
        list: &mut Vec<super::rules::Finding>,
    ) {
        let id = envelope.id.map(|id| super::call::brief(id, 40)).unwrap_or_default();
        match matched {
            Match::Again => list.push(finding(205, "id", format!("{id} was answered already"))),
            Match::OtherType(asked) => {
                list.push(finding(
                    204,
                    "id",
                    format!("is {id}; asked was {asked}: the JSON type must be the same"),
                ));
            }
            Match::Nothing if envelope.id.is_none_or(Raw::is_null) => {
                // Without an id it can only be about the newest message of the other side.
                if self.silent && stream == Stream::S2c {
                    list.push(finding(207, "", "an answer to a notification: nothing may come back to one"));
                }
            }
            Match::Nothing if !self.session.late => {
                list.push(finding(204, "id", format!("{id} was never asked")));
            }
            Match::Nothing | Match::Request(_) => {}
        }
    }

    fn move_on(&mut self, open: &Open, result: Raw<'_>) {
        match open.method.as_str() {
            "initialize" => self.session.agree(result),
            "server/discover" => self.session.offer(result),
            "tools/list" => self.session.list(result),
            _ => {}
        }
    }

    fn tell(&mut self, message: &mut Message, kind: Kind, method: &str, story: Story, stream: Stream) {
        message.kind = kind;
        message.method = Some(method.to_owned());
        message.sentence = story.sentence;
        message.brief = story.brief;
        message.rows = story.rows;
        for row in &mut message.rows {
            // What stands in every message alike is told once.
            let known = match row.key.as_str() {
                "id" => format!("row id {}", row.value.starts_with('"')),
                "resultType" | "ttlMs" | "cacheScope" => format!("row {} {}", row.key, row.value),
                "nextCursor" if row.when == When::Long => "row nextCursor".into(),
                key if key.starts_with("_meta …") => format!("row {} {key} {}", stream.name(), row.value),
                _ => continue,
            };
            if row.when == When::Long && !self.session.first(known) {
                row.when = When::Teach;
            }
        }
        message.first = self.session.first(format!("{} {} {method}", stream.name(), kind.name()));
    }
}

/// Errors that only a server of the modern era sends (2026-07-28, basic/transports/stdio, "Backward compatibility").
fn is_modern_error(error: Raw<'_>) -> bool {
    error.get("code").and_then(Raw::as_i64).is_some_and(|code| (-32022..=-32020).contains(&code))
}

//! Entries in, packets out: puts each message into its session.

mod messages;

use barewire::json::{Kind as Json, Raw};

use super::envelope::{Looks, looks};
use super::lines::{Assembler, End, Line};
use super::lint::{self, finding};
use super::model::{Item, Kind, Message, Packet, Summary};
use super::rules::{Finding, Severity};
use super::session::Session;
use super::texts::{T, Table, say};
use crate::capture::{Entry, Event, Micros, Stream, What};

/// The longest line of stderr that is kept in one piece.
const STDERR_LINE: usize = 4 << 10;

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
        messages.iter_mut().for_each(|message| lint::fold(&mut message.findings));
        let state = self.session.state(self.table);
        let state_changed = state != self.state;
        self.state.clone_from(&state);
        let open = self.session.waiting();
        let packet = Packet { number: self.number, line, messages, state, state_changed, open };
        Some(Item::Packet(Box::new(packet)))
    }

    /// What is told once per direction.
    fn once(&mut self, line: &Line, findings: &mut Vec<Finding>) {
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
            Looks::Cut => T::JunkCut,
            Looks::Scalar => T::JunkScalar,
            Looks::Prefixed => T::JunkPrefixed,
            _ if side == Stream::C2s.index() => T::JunkClient,
            Looks::Print => T::JunkPrint,
            Looks::Traceback => T::JunkTrace,
            Looks::Installer => T::JunkInstaller,
            Looks::Ansi => T::JunkAnsi,
            Looks::Log => T::JunkLog,
        };
        Message {
            kind: Kind::Junk(looks),
            sentence: say(self.table, key, &[]),
            findings: lint::junk(looks, side == Stream::S2c.index()).into_iter().collect(),
            first: self.session.first(format!("junk {looks:?}")),
            ..Message::default()
        }
    }

    /// What a batch may not hold, wherever it is allowed at all.
    fn judge_batch(&self, elements: &[Raw<'_>], list: &mut Vec<Finding>) {
        let has = |key: &str| elements.iter().any(|element| element.get(key).is_some());
        if elements.is_empty() {
            list.push(finding(109, "", "an empty batch"));
        } else if elements.iter().any(|e| e.get("method").is_some_and(|method| method.is("initialize"))) {
            list.push(finding(109, "", "`initialize` inside a batch"));
        } else if has("method") && (has("result") || has("error")) {
            list.push(finding(109, "", "requests and responses in one batch"));
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
        self.judge_batch(&elements, &mut head.findings);
        let mut messages = vec![head];
        for element in elements {
            messages.push(self.message(element, line));
        }
        messages
    }
}

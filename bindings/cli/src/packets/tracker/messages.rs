//! One message: put into its session, judged by what came before it, and told.

use barewire::json::{Kind as Json, Raw};

use super::super::call::{brief, subject};
use super::super::envelope::{self, Envelope, Looks, text};
use super::super::lines::Line;
use super::super::lint::{self, finding};
use super::super::members::Story;
use super::super::model::{Kind, Message, When};
use super::super::nulls;
use super::super::rules::Finding;
use super::super::session::{Match, Open, Stage};
use super::super::texts::{T, say};
use super::super::{requests, results};
use super::Tracker;
use crate::capture::Stream;

/// How much of a call is shown in a header.
const CALL: usize = 60;

impl Tracker {
    pub(super) fn message(&mut self, raw: Raw<'_>, line: &Line) -> Message {
        if raw.kind() != Json::Object {
            return self.junk(Looks::Scalar, line.stream.index());
        }
        let envelope = Envelope::read(raw);
        let kind = envelope.kind();
        let mut message = Message { id: envelope.id.map(|id| brief(id, 40)), ..Message::default() };
        let first_of_client = line.stream == Stream::C2s && self.session.client_begins(&envelope);
        lint::envelope(&envelope, kind, self.session.version.as_deref(), &mut message.findings);
        match kind {
            envelope::Kind::Request => self.request(&envelope, line, first_of_client, &mut message),
            envelope::Kind::Notification => self.notification(&envelope, line, &mut message),
            envelope::Kind::Result | envelope::Kind::Error => {
                self.answer(&envelope, kind, line, &mut message);
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
                id: brief(id, 60),
                call: message.call.clone(),
                tool: envelope.param("name").and_then(text),
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
        list: &mut Vec<Finding>,
    ) {
        let session = &self.session;
        let modern = lint::is_modern(envelope, method, session);
        if let Some(id) = envelope.id.filter(|id| !id.is_null())
            && !session.late
            && session.is_reused(stream, id, modern)
        {
            list.push(finding(203, "id", format!("{} was used before in this session", brief(id, 40))));
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
            let places = nulls::places(params, "params", &[]);
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
    fn judge_stray(&self, matched: &Match, envelope: &Envelope<'_>, stream: Stream, list: &mut Vec<Finding>) {
        let id = envelope.id.map(|id| brief(id, 40)).unwrap_or_default();
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

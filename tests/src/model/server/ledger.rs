//! The naive model: a list of who asked what, and what became of it. It knows the protocol and nothing of the machine.

use core::hash::Hash;

use barewire::{CallId, Fault};
use serde_json::Value;

use super::port::{Did, TIMES};
use super::script::{Ask, Request, Script};
use crate::model::Lines;
use crate::model::explore::{Property, Verdict, broken};
use crate::schema::Direction;

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum State {
    /// Nobody heard of it.
    New,
    /// The application has it, to be answered later.
    Held(CallId),
    /// Its result is under way in pieces.
    Paused(CallId),
    /// The application answered.
    Given,
    /// The line was reset: the application is still to be told.
    Doomed(CallId),
    /// It was cancelled while its answer was half on the wire: the line is ended.
    Cut,
    /// It was cancelled, or lost with its line.
    Over,
}

/// A request's entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Entry {
    /// What became of it.
    pub(super) state: State,
    /// How many answers came out.
    pub(super) answers: u8,
}

/// The list, and what came out so far.
#[derive(Debug)]
pub(super) struct Ledger<'s> {
    script: &'s Script,
    lines: &'s Lines,
    /// One for each request of the script.
    pub(super) entries: Vec<Entry>,
    /// How many bytes of the script the machine has taken.
    pub(super) fed: usize,
    /// The input has ended.
    pub(super) ended: bool,
    /// The time after that is over.
    pub(super) late: bool,
    /// The line was reset so often.
    pub(super) resets: u8,
    /// Bytes that came before the last reset are no more.
    pub(super) forgotten: usize,
    /// The machine said `Closed`.
    pub(super) closed: bool,
    /// `tools_changed` was called and not told.
    changed: bool,
    /// It has to be told.
    tells: bool,
    /// Output that was shown and not sent.
    pub(super) shown: Vec<u8>,
    /// The beginning of a line that is not complete.
    pub(super) partial: Vec<u8>,
    in_use: u8,
    busy: u8,
}

impl Hash for Ledger<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.entries, self.fed, self.ended, self.late, self.resets, self.forgotten).hash(state);
        (self.closed, self.changed, self.tells, self.shown.len(), &self.partial, self.in_use, self.busy)
            .hash(state);
    }
}

enum Class<'v> {
    Opened,
    Discovered,
    Empty,
    Tools,
    Text { text: &'v str, is_error: bool },
    Error(i64, &'v str),
}

impl<'s> Ledger<'s> {
    /// Nothing has happened.
    #[must_use]
    pub(super) fn new(script: &'s Script, lines: &'s Lines) -> Self {
        Self {
            script,
            lines,
            entries: vec![Entry { state: State::New, answers: 0 }; script.requests.len()],
            fed: 0,
            ended: false,
            late: false,
            resets: 0,
            forgotten: 0,
            closed: false,
            changed: false,
            tells: false,
            shown: Vec::new(),
            partial: Vec::new(),
            in_use: 0,
            busy: 0,
        }
    }

    fn all(&self) -> impl Iterator<Item = (&'s Request, &Entry)> {
        self.script.requests.iter().zip(&self.entries)
    }

    /// Did all of a line come in since the last reset?
    pub(super) fn came(&self, line: usize) -> bool {
        let end = self.script.start_of(line + 1);
        self.script.start_of(line) >= self.forgotten && (self.fed >= end || self.ended && self.fed + 1 >= end)
    }

    /// The request that the application knows under an id.
    pub(super) fn of(&self, call: CallId) -> Option<usize> {
        self.entries.iter().position(
            |entry| matches!(entry.state, State::Held(c) | State::Paused(c) | State::Doomed(c) if c == call),
        )
    }

    fn is_open(entry: &Entry) -> bool {
        match entry.state {
            State::Held(_) | State::Paused(_) => true,
            State::Given => entry.answers == 0,
            _ => false,
        }
    }

    /// The machine told of a call.
    pub(super) fn called(&mut self, call: CallId, tag: &str, did: Did) -> Verdict {
        let Some(at) = self.script.requests.iter().position(|r| r.tag == tag) else {
            return broken(Property::Told, format!("a call {tag:?} that nobody made"));
        };
        let request = &self.script.requests[at];
        if !self.came(request.line) || self.entries[at] != (Entry { state: State::New, answers: 0 }) {
            return broken(Property::Told, format!("the call {tag} is told twice, or before it came"));
        }
        if self.all().any(|(r, e)| r.id == request.id && Self::is_open(e)) {
            return broken(Property::Told, format!("the call {tag}, whose id {} is in flight", request.id));
        }
        if self.entries.iter().filter(|e| matches!(e.state, State::Held(_) | State::Paused(_))).count()
            >= self.script.slots
        {
            return broken(Property::Slots, format!("the call {tag}, though no slot is free"));
        }
        self.did(at, call, did)
    }

    /// The application did something with a reply.
    pub(super) fn did(&mut self, at: usize, call: CallId, did: Did) -> Verdict {
        self.entries[at].state = match did {
            Did::Answered => State::Given,
            Did::Kept => State::Held(call),
            Did::Paused => State::Paused(call),
            Did::Full | Did::Gone => return Ok(()),
        };
        Ok(())
    }

    /// Did a call come that the application was not told of?
    pub(super) fn waits_for_a_slot(&self) -> bool {
        self.all().any(|(r, e)| {
            r.ask.tool().is_some() && e.state == State::New && e.answers == 0 && self.came(r.line)
        })
    }

    /// Is the result of request `at` half on the wire?
    pub(super) fn is_half_out(&self, at: usize) -> bool {
        let head = format!("\"id\":{},", self.script.requests[at].id);
        matches!(self.entries[at].state, State::Paused(_))
            && self.partial.windows(head.len()).any(|part| part == head.as_bytes())
    }

    /// May the machine have ended a call by itself?
    pub(super) fn may_be_gone(&self, at: usize) -> bool {
        let request = &self.script.requests[at];
        let reopened =
            self.all().any(|(r, _)| r.ask == Ask::Open && r.line > request.line && self.came(r.line));
        self.late || reopened || matches!(self.entries[at].state, State::Doomed(_))
    }

    /// The machine told that a call was given up.
    pub(super) fn cancelled(&mut self, call: CallId) -> Verdict {
        let Some(at) = self.of(call) else {
            return broken(Property::Once, "a cancellation of a call that the application does not have");
        };
        let request = &self.script.requests[at];
        let asked = self.script.cancels.iter().any(|(line, id)| {
            *line > request.line && *id == request.id && self.came(*line) && !self.is_half_out(at)
        });
        if !asked && !self.may_be_gone(at) {
            return broken(Property::Cancelled, format!("{} is cancelled without reason", request.tag));
        }
        self.entries[at].state = if self.is_half_out(at) { State::Cut } else { State::Over };
        Ok(())
    }

    /// The machine told of a mistake.
    pub(super) fn fault(&mut self, fault: Fault) -> Verdict {
        let has = |ask: Ask| self.all().any(|(r, _)| r.ask == ask && self.came(r.line));
        let reason = match fault {
            Fault::IdInUse => {
                let new =
                    |id| self.all().any(|(r, e)| r.id == id && e.state == State::New && self.came(r.line));
                let found = self.all().any(|(r, e)| Self::is_open(e) && new(r.id));
                self.in_use += 1;
                found
            }
            Fault::Busy => {
                self.busy += 1;
                let open = self.entries.iter().filter(|e| Self::is_open(e)).count();
                open >= self.script.slots
            }
            Fault::NotJson { .. } => has(Ask::Junk),
            Fault::TooLong { .. } => has(Ask::Long),
            Fault::Cut => self.ended,
            _ => false,
        };
        if reason { Ok(()) } else { broken(Property::Told, format!("the fault {fault:?} without reason")) }
    }

    /// Looks at what may be sent now.
    pub(super) fn look(&mut self, output: &[u8]) -> Verdict {
        let Some(new) = output.strip_prefix(self.shown.as_slice()) else {
            let (was, is) = (self.shown.escape_ascii(), output.escape_ascii());
            return broken(Property::Shown, format!("output {was} became {is}"));
        };
        if self.closed && !new.is_empty() {
            return broken(Property::Closed, format!("{} was said after Closed", new.escape_ascii()));
        }
        self.partial.extend_from_slice(new);
        self.shown.extend_from_slice(new);
        while let Some(end) = self.partial.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            self.line(&line)?;
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Verdict {
        let shown = || String::from_utf8_lossy(line).into_owned();
        let asked: Vec<&[u8]> = self.script.lines.iter().map(Vec::as_slice).collect();
        if let Err(e) = self.lines.judge(self.script.revision, Direction::ToClient, &asked, &[], line) {
            return broken(Property::Lines, e);
        }
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            return broken(Property::Lines, shown());
        };
        match &value {
            Value::Array(all) => all.iter().try_for_each(|one| self.answer(one)),
            _ if value["method"] == "notifications/tools/list_changed" => {
                if core::mem::take(&mut self.changed) {
                    Ok(())
                } else {
                    broken(Property::Once, "the tools changed, it says, but they did not")
                }
            }
            _ if value["method"] == "notifications/progress" => self.progress(&value),
            _ => self.answer(&value),
        }
    }

    fn progress(&self, value: &Value) -> Verdict {
        let token = value["params"]["progressToken"].to_string();
        let known = self.all().find(|(r, _)| r.ask == Ask::Progress && r.id == token);
        match known.map(|(_, entry)| entry.state) {
            // It is told while the call is being lent, before the application has said what it did.
            Some(State::New | State::Held(_)) => Ok(()),
            Some(_) => broken(Property::Cancelled, format!("progress of {token}, which is over")),
            None => broken(Property::Once, format!("progress of {token}, which nobody wants")),
        }
    }

    fn answer(&mut self, value: &Value) -> Verdict {
        let shown = value.to_string();
        let id = value.get("id").filter(|id| !id.is_null()).map(Value::to_string);
        let class = classify(value);
        let mine = |r: &Request| match &id {
            Some(id) => r.id == id && r.ask != Ask::Junk,
            None => r.ask == Ask::Junk,
        };
        let mut found = None;
        for (at, (request, entry)) in self.all().enumerate() {
            let fits = mine(request) && self.came(request.line) && self.fits(request, &class);
            if !fits {
                continue;
            }
            let by_application =
                request.ask.tool().is_some() && !matches!(class, Class::Error(-32600 | -32602, _));
            match (entry.answers, entry.state) {
                (0, State::Over) if found.is_none() => {
                    found = Some(Err((Property::Cancelled, "which is over")));
                }
                (0, State::Held(_)) if by_application && found.is_none() => {
                    found = Some(Err((Property::Once, "which the application did not answer")));
                }
                (0, State::Over | State::Held(_)) => {}
                (0, _) => {
                    found = Some(Ok(at));
                    break;
                }
                (_, _) if found.is_none() => found = Some(Err((Property::Once, "which was answered before"))),
                (_, _) => {}
            }
        }
        match found {
            Some(Ok(at)) => {
                self.entries[at].answers += 1;
                match class {
                    Class::Error(-32600, text) if text.contains("still open") => self.in_use -= 1,
                    Class::Error(-32603, text) if text.contains("busy") => self.busy -= 1,
                    _ => {}
                }
                Ok(())
            }
            Some(Err((property, why))) => broken(property, format!("an answer to a request {why}: {shown}")),
            None => broken(Property::Once, format!("an answer that no request has coming: {shown}")),
        }
    }

    fn fits(&self, request: &Request, class: &Class<'_>) -> bool {
        let handshake = self.script.requests.iter().any(|r| r.ask == Ask::Open);
        let session = request.ask.tool().is_some() || request.ask == Ask::List;
        match (class, request.ask) {
            (Class::Error(-32600, text), _) if text.contains("still open") => self.in_use > 0,
            (Class::Error(-32603, text), _) if text.contains("busy") => self.busy > 0,
            (Class::Error(-32602, text), _) if text.contains("no session") => {
                handshake && self.resets > 0 && session
            }
            (Class::Opened, Ask::Open)
            | (Class::Discovered, Ask::Discover)
            | (Class::Empty, Ask::Ping)
            | (Class::Error(-32601, _), Ask::Unknown)
            | (Class::Tools, Ask::List)
            | (Class::Error(-32603, _), Ask::Mute | Ask::Forgotten)
            | (Class::Error(-32700, _), Ask::Junk) => true,
            (Class::Error(-32600, text), Ask::Long) => text.contains("too large"),
            (Class::Error(7, text), Ask::Fail) => *text == request.tag,
            (Class::Text { text, is_error }, Ask::Stream | Ask::Slow | Ask::LaterStream) => {
                let whole = request.tag.repeat(TIMES);
                if *is_error { self.late && whole.starts_with(text) } else { *text == whole }
            }
            // What fits never depends on timing.
            (Class::Error(-32603, text), Ask::Now | Ask::Later | Ask::Progress) => {
                self.script.tight && text.contains("reply too large")
            }
            (Class::Text { text, is_error }, Ask::Now | Ask::Later | Ask::Progress) => {
                *text == request.tag && !is_error && !self.script.tight
            }
            _ => false,
        }
    }

    /// Nothing waits anywhere: is everything answered that can be?
    pub(super) fn settled(&self) -> Verdict {
        if !self.partial.is_empty() {
            let half = self.partial.escape_ascii();
            return broken(Property::Lines, format!("half a line came out: {half}"));
        }
        for (request, entry) in self.all() {
            let tag = format!("{:?} {} {}", request.ask, request.id, request.tag);
            let silent = request.ask == Ask::Junk && !self.script.answers_noise;
            match entry.state {
                State::New if self.came(request.line) && entry.answers == 0 && !silent => {
                    return broken(Property::Answered, format!("{tag} came and got no answer"));
                }
                State::Given | State::Cut if entry.answers == 0 => {
                    return broken(Property::Answered, format!("the answer to {tag} did not come out"));
                }
                State::Doomed(_) => {
                    return broken(Property::Answered, format!("the end of {tag} was not told"));
                }
                State::Held(_) => {
                    let cancelled = self
                        .script
                        .cancels
                        .iter()
                        .any(|(line, id)| *line > request.line && *id == request.id && self.came(*line));
                    if cancelled {
                        return broken(Property::Answered, format!("the cancellation of {tag} was not told"));
                    }
                }
                _ => {}
            }
        }
        if self.changed && self.tells && !self.ended {
            return broken(Property::Answered, "the change of the tools was not told");
        }
        Ok(())
    }

    /// The tools are others now: to be told where a session is open.
    pub(super) fn changed(&mut self) {
        self.changed = true;
        self.tells = self.resets == 0 && self.all().any(|(r, e)| r.ask == Ask::Open && e.answers > 0);
    }

    /// The line is new.
    pub(super) fn reset(&mut self) {
        self.resets += 1;
        self.tells = false;
        (self.ended, self.late, self.closed) = (false, false, false);
        self.shown.clear();
        self.partial.clear();
        // The peer begins with its next line.
        let next = (0..=self.script.lines.len()).find(|line| self.script.start_of(*line) >= self.fed);
        self.fed = self.script.start_of(next.unwrap_or(self.script.lines.len()));
        self.forgotten = self.fed;
        (self.in_use, self.busy) = (0, 0);
        for (entry, request) in self.entries.iter_mut().zip(&self.script.requests) {
            if self.script.start_of(request.line) < self.forgotten {
                entry.state = match entry.state {
                    State::Held(call) | State::Paused(call) | State::Doomed(call) => State::Doomed(call),
                    _ => State::Over,
                };
            }
        }
    }
}

fn classify(value: &Value) -> Class<'_> {
    if let Some(error) = value.get("error") {
        let text = error["message"].as_str().unwrap_or_default();
        return Class::Error(error["code"].as_i64().unwrap_or_default(), text);
    }
    let result = &value["result"];
    if result.get("protocolVersion").is_some() {
        Class::Opened
    } else if result.get("supportedVersions").is_some() {
        Class::Discovered
    } else if result.get("tools").is_some() {
        Class::Tools
    } else if let Some(text) = result["content"][0]["text"].as_str() {
        Class::Text { text, is_error: result["isError"] == true }
    } else if result["content"].is_array() {
        // A result in pieces that was cut before its first.
        Class::Text { text: "", is_error: result["isError"] == true }
    } else {
        Class::Empty
    }
}

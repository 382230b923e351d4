//! What becomes of the far end's lines.

use barewire::frame::Frame;
use barewire::json::Raw;
use barewire::{Code, Fault};
use barewire_serial::offers_checked;

use super::errors::{failed, too_long, unreadable};
use super::memory::{Ask, member};
use super::relay::{Medium, Note};
use super::sort::spoilt::Parts;
use super::sort::{Sort, sort};
use super::state::{Own, Phase, State};
use super::{BACKLOG, LIMIT};
use crate::packets::view::one_line;
use crate::text::{self, grouped};

/// How many questions of the far end may be open, and how long their ids may be together.
const QUESTIONS: usize = 1024;
const QUESTION_BYTES: usize = 1 << 20;
/// The most of a line that is no message which is shown.
const SHOWN: usize = 1024;

const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

impl State {
    pub(super) fn far_frame(&mut self, frame: Frame<'_>) {
        match frame {
            Frame::Line(line) => self.far_line(line),
            Frame::TooLong { dropped, id, is_response } => {
                self.tell(format!(
                    "the server wrote a message of {} bytes; the limit is {}",
                    grouped(dropped),
                    grouped(LIMIT)
                ));
                match id {
                    Some(id) if !is_response => self.refuse(&too_long(id, "the message", dropped)),
                    Some(id) if self.is_sent(id) => {
                        self.answer(id, None);
                        self.to_host.extend(too_long(id, "the server's answer", dropped));
                    }
                    _ => {}
                }
            }
            Frame::More => {}
        }
    }

    fn far_line(&mut self, line: &[u8]) {
        match sort(line) {
            Sort::Batch(batch) => {
                let mut passed = Vec::new();
                let mut all = true;
                for element in batch.elements() {
                    if self.far_message(sort(element.as_bytes())) {
                        passed.push(element);
                    } else {
                        all = false;
                    }
                }
                if all {
                    self.pass(line);
                } else if !passed.is_empty() {
                    let elements: Vec<&[u8]> = passed.iter().map(|element| element.as_bytes()).collect();
                    let rest = [b"[", &elements.join(&b","[..])[..], b"]"].concat();
                    self.pass(&rest);
                }
            }
            // What is nested too deep to be read may be all right for the host.
            Sort::Junk { fault: Fault::TooDeep, id: Some(id) } if self.is_sent(id) => {
                self.far_message(Sort::Answer { id, result: None });
                self.pass(line);
            }
            Sort::Junk { .. } if self.ending && line.starts_with(b"{") => {
                self.tell(format!("the server's last message was cut off: {}", one_line(line)));
            }
            Sort::Junk { .. } | Sort::Nameless => self.far_spoilt(line),
            // A server that answers noise answers what a line has made of anything: that is nothing for a host.
            Sort::Stray if self.terms.medium == Medium::Serial && !matches!(self.phase, Phase::Shaking) => {
                self.notes.push(Note::Console(line.to_vec()));
            }
            Sort::Answer { id, result: None } if self.has_forgotten(id, line) => self.forgotten(id),
            message => {
                if self.far_message(message) {
                    self.pass(line);
                }
            }
        }
    }

    /// Whether this is how a server of ours says that it knows of no session, though there is one.
    fn has_forgotten(&self, id: Raw<'_>, line: &[u8]) -> bool {
        let error = || Raw::from_bytes(line).ok()?.get("error");
        let is_open = matches!(self.phase, Phase::Ready) && self.memory.initialized && !self.unopened;
        is_open
            && self.memory.legacy.is_some()
            && self.open.get(id).is_some_and(|open| open.sent && open.ask.handshake().is_none())
            && error().is_some_and(|error| {
                error.get("code").and_then(Raw::as_i64) == Some(Code::INVALID_PARAMS.0)
                    && error
                        .get("message")
                        .and_then(Raw::as_string)
                        .is_some_and(|text| text.chars().take(11).eq("no session:".chars()))
            })
    }

    /// The device has started again without a word: what it was asked before it did is lost, and the session is opened again.
    fn forgotten(&mut self, id: Raw<'_>) {
        self.tell("the server has started again, and knows of no session any more; it is opened again");
        self.open.remove(id);
        let refused =
            "the server had started again and refused this request: it was not carried out; send it again";
        self.to_host.extend(failed(id, "restarted", refused));
        let lost = "the server has started again meanwhile: this request may have been carried out or not";
        for (id, _) in self.open.take(|open| open.sent) {
            if let Ok(id) = Raw::from_bytes(&id) {
                self.to_host.extend(failed(id, "restarted", lost));
            }
        }
        self.unopened = true;
        self.reopen();
    }

    /// A line that is no message, but may have some in it: what is whole passes, who waits for the rest is told, and people
    /// see it all.
    fn far_spoilt(&mut self, line: &[u8]) {
        let parts = Parts::of(line);
        let in_array = parts.in_array();
        let (mut passed, mut all): (Vec<&[u8]>, bool) = (Vec::new(), in_array);
        for part in parts {
            let passes = match sort(part.text) {
                Sort::Junk { fault: Fault::TooDeep, id: Some(id) } if self.is_sent(id) => {
                    self.far_message(Sort::Answer { id, result: None })
                }
                Sort::Junk { fault, .. } => {
                    if let Some(id) = part.answers {
                        self.unreadable(id, fault);
                    }
                    false
                }
                message => self.far_message(message),
            };
            if passes {
                passed.push(part.text);
            } else {
                all = false;
            }
        }
        // Nothing but its depth was wrong with it.
        if all && matches!(sort(line), Sort::Junk { fault: Fault::TooDeep, .. }) && !passed.is_empty() {
            self.pass(line);
            return;
        }
        let shown = line.trim_ascii_end();
        self.notes.push(Note::Console(shown[..shown.len().min(SHOWN)].to_vec()));
        if in_array && !passed.is_empty() {
            self.pass(&[b"[", &passed.join(&b","[..])[..], b"]"].concat());
        } else {
            passed.into_iter().for_each(|message| self.pass(message));
        }
    }

    /// An answer that can't be read.
    fn unreadable(&mut self, id: Raw<'_>, fault: Fault) {
        if let Some(at) = self.own.iter().position(|(own, _)| id.is(own)) {
            match self.own.swap_remove(at) {
                (_, own @ Own::Restore(_)) => self.own_answer(&own, None),
                _ => {
                    self.shake_later(format!("the server's answer to the handshake can't be read ({fault})"));
                }
            }
            return;
        }
        let Some(open) = self.open.get(id).filter(|open| open.sent) else { return };
        let until = open.since.saturating_add(self.terms.patience);
        let again = open.ask.handshake().is_some() && self.terms.medium == Medium::Serial;
        if again && until > self.now {
            // The line did that, and the handshake is sent again anyway.
            return;
        }
        if self.answer(id, None) {
            self.to_host.extend(unreadable(id, fault));
        }
    }

    fn is_sent(&self, id: Raw<'_>) -> bool {
        self.open.get(id).is_some_and(|open| open.sent)
    }

    /// Refuses a question of the far end; one that does not read its refusals gets no more of them.
    fn refuse(&mut self, answer: &[u8]) {
        if self.to_far.len() < 2 * BACKLOG {
            self.to_far.extend_from_slice(answer);
        }
    }

    /// Takes note of a message. True: the host is to have it.
    fn far_message(&mut self, message: Sort<'_>) -> bool {
        match message {
            Sort::Request { id, .. } => {
                if self.questions.get(id).is_none()
                    && !self.questions.has_room([id], QUESTIONS, QUESTION_BYTES)
                {
                    self.refuse(&failed(id, "busy", "too many questions to the host are open"));
                    return false;
                }
                self.questions.insert(id, ());
                true
            }
            Sort::Notification { method, params } => {
                if method.is("notifications/cancelled")
                    && let Some(id) = params.and_then(|params| params.get("requestId"))
                {
                    // A modern server ends a listen so; others take a question back.
                    if self.open.get(id).is_some_and(|open| open.sent && matches!(open.ask, Ask::Listen)) {
                        self.open.remove(id);
                    } else {
                        self.questions.remove(id);
                    }
                }
                true
            }
            Sort::Answer { id, result } => self.answer(id, result),
            // It may be about anything; while only our own handshake is under way it is about that.
            Sort::Stray if matches!(self.phase, Phase::Shaking) => {
                self.shake_later("the server answered the handshake with an error without id".into());
                false
            }
            Sort::Stray => true,
            Sort::Batch(_) | Sort::Junk { .. } | Sort::Nameless => false,
        }
    }

    fn answer(&mut self, id: Raw<'_>, result: Option<Raw<'_>>) -> bool {
        if let Some(at) = self.own.iter().position(|(own, _)| id.is(own)) {
            let (_, own) = self.own.swap_remove(at);
            self.own_answer(&own, result);
            return false;
        }
        if !self.is_sent(id) {
            if let Some(at) = self.recent.iter().position(|own| &own[..] == id.as_bytes()) {
                self.recent.remove(at);
            } else {
                let id = one_line(id.as_bytes());
                self.tell(format!("the server answered {id}, which is not open: late, twice or unasked; the host does not see it"));
            }
            return false;
        }
        let Some(open) = self.open.remove(id) else { return false };
        self.answered();
        if open.ask.handshake().is_some() {
            self.again = None;
            self.look_for_offer(result);
        }
        let is_initialize = matches!(open.ask, Ask::Initialize { .. });
        let initialized_again = matches!(open.ask, Ask::Initialize { again: true, .. });
        match result {
            Some(result) => {
                self.memory.learn(open.ask, result);
                self.unopened &= !is_initialize;
                if initialized_again {
                    self.send(INITIALIZED);
                }
            }
            // Then the session before counts, of which this far end may not know.
            None if is_initialize && self.unopened && self.memory.legacy.is_some() => self.reopen(),
            None => {}
        }
        true
    }

    const fn answered(&mut self) {
        (self.answered, self.ever_answered) = (true, true);
    }

    fn look_for_offer(&mut self, result: Option<Raw<'_>>) {
        self.offered |= result.and_then(|result| result.get("capabilities")).is_some_and(offers_checked);
    }

    /// An answer to a request of our own.
    fn own_answer(&mut self, own: &Own, result: Option<Raw<'_>>) {
        // The connection has not been of use to the host by that.
        self.ever_answered = true;
        self.unopened &= !matches!((own, result), (Own::Initialize, Some(_)));
        match own {
            Own::Restore(what) => {
                if result.is_none() {
                    self.tell(format!("{what} could not be put back: the server answered with an error"));
                }
            }
            // One of several, on a line that loses things; the first counted.
            _ if !matches!(self.phase, Phase::Shaking) => {}
            Own::Discover => {
                self.look_for_offer(result);
                self.ready();
            }
            Own::Initialize => {
                let Some(result) = result else {
                    let name = &self.terms.name;
                    let why =
                        format!("{name} refused to open the session again: reconnect the server in the host");
                    self.refuse_all("refused", why);
                    return;
                };
                self.look_for_offer(Some(result));
                self.reopened(result);
            }
        }
    }

    /// The session is open again: what it was made of is put back.
    fn reopened(&mut self, result: Raw<'_>) {
        let (version, capabilities) = (member(result, "protocolVersion"), member(result, "capabilities"));
        let Some(legacy) = &mut self.memory.legacy else { return self.ready() };
        if legacy.version != version {
            let why = format!(
                "{} now speaks MCP {} and not {}: reconnect the server in the host",
                self.terms.name,
                one_line(&version),
                one_line(&legacy.version)
            );
            self.refuse_all("version", why);
            return;
        }
        let differs = legacy.capabilities != capabilities;
        legacy.capabilities = capabilities;
        let (level, subscriptions) = (legacy.level.clone(), legacy.subscriptions.clone());
        let lists = legacy.lists();
        if differs {
            self.tell("the server's capabilities are not what they were before: reconnect it in the host if something is missing");
        }
        if self.memory.initialized {
            self.send(INITIALIZED);
            if let Some(params) = level {
                self.ask("logging/setLevel", &params, Own::Restore("the log level"));
            }
            for params in subscriptions {
                self.ask("resources/subscribe", &params, Own::Restore("a subscription"));
            }
        }
        self.ready();
        if self.memory.initialized {
            for list in lists {
                // It may be another program by now.
                let changed = text::object(|o| {
                    o.str("jsonrpc", "2.0")
                        .display("method", format_args!("notifications/{list}/list_changed"));
                });
                self.pass(&changed);
            }
        }
    }
}

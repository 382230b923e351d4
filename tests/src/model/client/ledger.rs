//! The naive model: a list of what was asked, and what came of it. It knows the protocol and nothing of the machine.

use core::hash::Hash;

use barewire::{CallId, Fault, Millis};

use super::peer::Peer;
use super::port::{How, Said};
use super::script::{Answer, Script};
use crate::model::Lines;
use crate::model::explore::{Property, Verdict, broken};
use crate::schema::Direction;

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum State {
    /// It was not made.
    Unsent,
    /// It is under way.
    Sent(CallId),
    /// It was told that it is over.
    Ended(CallId),
    /// The application gave it up.
    GivenUp(CallId),
}

/// A request's entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Entry {
    /// What became of it.
    pub(super) state: State,
    /// The application gave it up, in time or not.
    pub(super) given_up: bool,
    /// All of its answer came in.
    arrived: bool,
    /// It came before anything else ended the request.
    in_time: bool,
    /// When it ends by itself.
    until: Option<Millis>,
    fresh: bool,
    /// How it ended.
    how: Option<How>,
}

/// The list, the server, and what came out so far.
#[derive(Debug)]
pub(super) struct Ledger<'s> {
    script: &'s Script,
    lines: &'s Lines,
    /// One for each request of the script.
    pub(super) entries: Vec<Entry>,
    /// The server.
    pub(super) peer: Peer,
    /// Which question is being answered.
    pub(super) answering: Option<usize>,
    /// Half a line came in.
    pub(super) half: bool,
    /// The session is open.
    pub(super) open: bool,
    /// The input has ended.
    pub(super) ended: bool,
    /// The machine said `Closed`.
    pub(super) closed: bool,
    not_opened: bool,
    shown: Vec<u8>,
    partial: Vec<u8>,
}

impl Hash for Ledger<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.entries, &self.peer, self.answering, self.half, self.open).hash(state);
        (self.ended, self.closed, self.not_opened, &self.shown, &self.partial).hash(state);
    }
}

impl<'s> Ledger<'s> {
    /// Nothing has happened.
    pub(super) fn new(script: &'s Script, lines: &'s Lines) -> Self {
        let entry = Entry {
            state: State::Unsent,
            given_up: false,
            arrived: false,
            in_time: false,
            until: None,
            fresh: false,
            how: None,
        };
        Self {
            script,
            lines,
            entries: vec![entry; script.requests.len()],
            peer: Peer::default(),
            answering: None,
            half: false,
            open: false,
            ended: false,
            closed: false,
            not_opened: false,
            shown: Vec::new(),
            partial: Vec::new(),
        }
    }

    /// How many requests hold a slot, at most: those given up do until the server is told.
    pub(super) fn in_flight(&self) -> usize {
        let told = |at: usize| self.peer.questions.iter().any(|q| q.of == Some(at) && q.cancelled);
        let holds = |(at, entry): (usize, &Entry)| match entry.state {
            State::Sent(_) => true,
            State::GivenUp(_) => !told(at) && !entry.arrived,
            State::Ended(_) => entry.how == Some(How::TimedOut) && !told(at),
            State::Unsent => false,
        };
        self.entries.iter().enumerate().filter(|one| holds(*one)).count()
    }

    fn of(&self, call: CallId) -> Option<usize> {
        self.entries.iter().position(
            |entry| matches!(entry.state, State::Sent(c) | State::Ended(c) | State::GivenUp(c) if c == call),
        )
    }

    /// A request was made.
    pub(super) fn asked(&mut self, at: usize, call: CallId) -> Verdict {
        if self.of(call).is_some() {
            return broken(Property::Once, "two requests have the same id");
        }
        (self.entries[at].state, self.entries[at].fresh) = (State::Sent(call), true);
        Ok(())
    }

    /// Limits count from the next poll.
    pub(super) fn polled(&mut self, now: Millis) {
        for (entry, request) in self.entries.iter_mut().zip(&self.script.requests) {
            if core::mem::take(&mut entry.fresh) {
                entry.until = request.limit.map(|limit| now.after(limit));
            }
        }
    }

    /// The application gives a request up.
    pub(super) fn give_up(&mut self, at: usize) -> Option<CallId> {
        let entry = &mut self.entries[at];
        entry.given_up = true;
        match entry.state {
            State::Sent(call) => {
                entry.state = State::GivenUp(call);
                Some(call)
            }
            State::Ended(call) => Some(call),
            _ => None,
        }
    }

    /// All of the answer that was under way came in.
    pub(super) fn arrived(&mut self, script: &Script) {
        let Some(at) = self.answering.take() else { return };
        if let Some(of) = self.peer.questions[at].of
            && self.peer.is_last(script, at)
        {
            let entry = &mut self.entries[of];
            entry.in_time |= !entry.arrived && matches!(entry.state, State::Sent(_));
            entry.arrived = true;
        }
    }

    /// The server refused the handshake that it was asked for.
    fn refused(&self) -> bool {
        self.script.revision == "2026-07-28"
            && self.peer.questions.iter().any(|q| q.method == "initialize" && q.answers > 0)
    }

    /// The machine said something.
    pub(super) fn hear(&mut self, said: &Said, now: Millis, output: &[u8]) -> Verdict {
        if self.closed && *said != Said::Closed {
            return broken(Property::Closed, format!("{said:?} after Closed"));
        }
        match said {
            Said::Opened if self.open || self.not_opened => {
                broken(Property::Once, "the session is opened twice")
            }
            Said::Opened if !output.is_empty() => {
                broken(Property::Progress, "Opened, and the transmit buffer is not free")
            }
            Said::Opened => {
                self.open = true;
                Ok(())
            }
            Said::NotOpened(why) if self.open || self.not_opened || !(self.ended || self.refused()) => {
                broken(Property::Once, format!("not opened, without reason: {why}"))
            }
            Said::NotOpened(_) => {
                self.not_opened = true;
                // What was half said is dropped, with the rest.
                self.shown.clear();
                self.partial.clear();
                Ok(())
            }
            Said::Part(call, text) => self.part(*call, text),
            Said::Ended(call, how) => self.over_with(*call, *how, now),
            Said::Fault(fault) => self.fault(*fault),
            _ => Ok(()),
        }
    }

    fn part(&self, call: CallId, text: &str) -> Verdict {
        let Some(at) = self.of(call) else { return broken(Property::Once, "a part of nobody's result") };
        match self.entries[at].state {
            _ if self.script.requests[at].tag != text => {
                broken(Property::Told, format!("request {at} is told {text}, which is another's"))
            }
            State::GivenUp(_) => broken(Property::Cancelled, "a part of a result that was given up"),
            State::Ended(_) => broken(Property::Once, "a part of a result that is over"),
            _ => Ok(()),
        }
    }

    fn over_with(&mut self, call: CallId, how: How, now: Millis) -> Verdict {
        let Some(at) = self.of(call) else { return broken(Property::Once, "the end of nobody's request") };
        let answer = self.script.requests[at].answer;
        let lost = self.ended || self.entries[at].how == Some(How::Lost);
        let entry = &mut self.entries[at];
        match entry.state {
            State::GivenUp(_) => {
                return broken(Property::Cancelled, format!("request {at} was given up, and ends"));
            }
            State::Ended(_) => return broken(Property::Once, format!("request {at} ends twice")),
            _ => {}
        }
        let reason = match (how, answer) {
            (How::Done, Answer::Good | Answer::Pages(_))
            | (How::Error, Answer::Error)
            | (How::Invalid, Answer::Invalid | Answer::Long) => entry.arrived,
            (How::TimedOut, _) => entry.until.is_some_and(|until| now >= until),
            (How::Lost, _) => lost,
            _ => false,
        };
        if !reason {
            return broken(Property::Told, format!("request {at} ends with {how:?}, without reason"));
        }
        entry.state = State::Ended(call);
        entry.how = Some(how);
        Ok(())
    }

    fn fault(&self, fault: Fault) -> Verdict {
        let long = self.script.requests.iter().any(|r| r.answer == Answer::Long);
        let reason = match fault {
            Fault::Cut => self.ended,
            Fault::TooLong { .. } => long,
            Fault::NotJson { .. } | Fault::NotAMessage => !self.script.extras.is_empty(),
            Fault::UnknownAnswer => self.script.extras.iter().any(|line| line.contains("result")),
            Fault::ErrorWithoutId => self.script.extras.iter().any(|line| line.contains("error")),
            Fault::NotAllowed => self.script.extras.iter().any(|line| line.contains("method")),
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
        self.shown.extend_from_slice(new);
        Ok(())
    }

    /// Bytes left: the server reads them.
    pub(super) fn sent(&mut self, n: usize) -> Verdict {
        self.partial.extend(self.shown.drain(..n));
        while let Some(end) = self.partial.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            self.line(&line)?;
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Verdict {
        let before: Vec<&[u8]> = self.peer.read.iter().map(Vec::as_slice).collect();
        let revision = if line.windows(15).any(|w| w == b"server/discover") {
            "2026-07-28"
        } else {
            self.script.revision
        };
        let asked: Vec<&[u8]> = self.script.extras.iter().map(|extra| extra.as_bytes()).collect();
        self.lines
            .judge(revision, Direction::ToServer, &asked, &before, line)
            .or_else(|e| broken(Property::Lines, e))?;
        let known = self.peer.questions.len();
        self.peer.read(self.script, line).or_else(|e| {
            let property = if e.contains("gives") { Property::Cancelled } else { Property::Once };
            broken(property, format!("{e}: {}", line.escape_ascii()))
        })?;
        // A request that ended by its answer is not given up.
        for question in &self.peer.questions[..known] {
            if let (Some(of), true) = (question.of, question.cancelled) {
                let entry = &self.entries[of];
                let fits = matches!(entry.state, State::GivenUp(_)) || entry.how == Some(How::TimedOut);
                if !fits {
                    return broken(Property::Cancelled, format!("request {of} is given up, and nobody did"));
                }
            }
        }
        Ok(())
    }

    /// Waits: all that came in is told, all that goes out has left.
    pub(super) fn settled(&self, until: Option<Millis>) -> Verdict {
        for (at, entry) in self.entries.iter().enumerate() {
            let sent = matches!(entry.state, State::Sent(_));
            if sent && entry.arrived {
                return broken(
                    Property::Answered,
                    format!("the answer to request {at} came and was not told"),
                );
            }
            let question = self.peer.questions.iter().rfind(|q| q.of == Some(at));
            let given_up = matches!(entry.state, State::GivenUp(_)) || entry.how == Some(How::TimedOut);
            let silent = question.is_none_or(|q| !q.cancelled);
            if given_up && silent && !entry.arrived && question.is_some_and(|q| q.answers == 0) {
                return broken(
                    Property::Cancelled,
                    format!("the server was not told that request {at} is given up"),
                );
            }
            if entry.how == Some(How::Lost) && sent {
                return broken(Property::Answered, format!("request {at} was lost, and that was not told"));
            }
        }
        let sooner =
            self.entries.iter().filter(|e| matches!(e.state, State::Sent(_))).filter_map(|e| e.until).min();
        if self.open && until != sooner {
            return broken(Property::Until, format!("it names {until:?}, the limits {sooner:?}"));
        }
        if self.partial.is_empty() {
            return Ok(());
        }
        broken(Property::Lines, format!("half a line came out: {}", self.partial.escape_ascii()))
    }

    /// Closed: every request has ended.
    pub(super) fn over(&mut self) -> Verdict {
        if !self.ended && !self.not_opened {
            return broken(Property::Closed, "Closed before the input ended");
        }
        if let Some(at) = self.entries.iter().position(|e| matches!(e.state, State::Sent(_))) {
            return broken(Property::Answered, format!("Closed, and the end of request {at} was not told"));
        }
        self.closed = true;
        Ok(())
    }

    /// The server is gone: what has not left is dropped.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.shown.clear();
        self.partial.clear();
    }

    /// The line is new: what is under way is lost.
    pub(super) fn reset(&mut self) {
        self.peer = Peer::default();
        (self.answering, self.half, self.open, self.ended) = (None, false, false, false);
        (self.closed, self.not_opened) = (false, false);
        self.shown.clear();
        self.partial.clear();
        for entry in &mut self.entries {
            if let State::Sent(_) = entry.state {
                (entry.how, entry.arrived) = (Some(How::Lost), false);
            }
        }
    }
}

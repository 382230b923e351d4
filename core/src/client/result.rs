//! Answers, handed out element by element.
use super::Why;
use super::decode::{check_tool, place};
use super::handshake::Phase;
use super::jobs::Job;
use super::lend::{Ending, Step};
use super::machine::Client;
use super::slot::{Kind, own_mut};
use super::usual::{self, TextBlock};
use crate::json::{self, Raw, SMALL, skip, value_len};
use crate::machine::CallId;
use crate::machine::mem::Span;
use crate::machine::slots::State;
use crate::mcp::Version;
use crate::rpc::Fault;

/// What of the message at hand is still to be told. Spans count from the start of the line.
#[derive(Debug)]
pub(super) enum Current {
    Opening(Opening),
    Delivery(Delivery),
}

impl Current {
    pub(super) fn of(&self) -> Option<CallId> {
        match self {
            Self::Opening(_) => None,
            Self::Delivery(delivery) => Some(delivery.of),
        }
    }
}

/// A server that was met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    pub(super) version: Version,
    pub(super) name: Option<Span>,
    pub(super) server_version: Option<Span>,
    pub(super) instructions: Option<Span>,
    pub(super) capabilities: Option<Span>,
    /// The message at hand told it.
    pub(super) has_line: bool,
}

impl Opening {
    /// Nothing is known but what it speaks.
    pub(super) const fn bare(version: Version) -> Self {
        Self {
            version,
            name: None,
            server_version: None,
            instructions: None,
            capabilities: None,
            has_line: false,
        }
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn shifted(self, by: usize) -> Self {
        let shifted = |at: Option<Span>| at.map(|at| at.shifted(by));
        Self {
            name: shifted(self.name),
            server_version: shifted(self.server_version),
            instructions: shifted(self.instructions),
            capabilities: shifted(self.capabilities),
            ..self
        }
    }
}

/// A result, and how far it was handed out.
#[derive(Debug)]
pub(super) struct Delivery {
    of: CallId,
    kind: Kind,
    /// Where the next element stands.
    next: Option<usize>,
    /// If that is known already to be a usual block of text: which.
    text: Option<TextBlock>,
    json: Option<Span>,
    structured: Option<Span>,
    meta: Option<Span>,
    cursor: Option<Span>,
    asks: Option<Span>,
    state: Option<Span>,
    /// It wants to be asked again.
    wants: bool,
    asked: bool,
    is_error: bool,
    /// The slip of the element at hand was told.
    told: bool,
}

impl Delivery {
    /// Nothing of it is found yet.
    pub(super) const fn new(of: CallId, kind: Kind) -> Self {
        Self {
            of,
            kind,
            next: None,
            text: None,
            json: None,
            structured: None,
            meta: None,
            cursor: None,
            asks: None,
            state: None,
            wants: false,
            asked: false,
            is_error: false,
            told: false,
        }
    }

    /// Finds the parts of a result; `all` is the line.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn read(&mut self, version: Version, all: &[u8], result: Raw<'_>) -> Result<(), Why> {
        let kind = self.kind;
        let delivery = self;
        let (mut items, mut result_type, mut is_error) = (None, None, None);
        let list = if kind == Kind::Tools { "tools" } else { "content" };
        let mut members = result.members();
        if !SMALL
            && kind == Kind::Call
            && let Some(usual) = usual::content(result)
        {
            let start = place(all, result).start;
            delivery.next = Some(start.saturating_add(usual.at));
            delivery.meta = usual.meta.map(|at| at.shifted(start));
            delivery.text = Some(usual.block);
            members = usual.rest;
        }
        for (key, value) in members {
            let at = Some(place(all, value));
            if key.is(list) {
                items = Some(value);
                // The last one counts.
                (delivery.next, delivery.text) = (None, None);
            } else if key.is("structuredContent") {
                // Before 2026-07-28 it is an object; null is how some servers leave it out.
                delivery.structured = at.filter(|_| version.is_stateless() || !value.is_null());
            } else if key.is("isError") {
                is_error = Some(value);
            } else if key.is("_meta") {
                delivery.meta = at.filter(|_| value.kind() == json::Kind::Object);
            } else if key.is("nextCursor") {
                delivery.cursor = at.filter(|_| !value.is_null());
            } else if key.is("resultType") {
                result_type = Some(value);
            } else if key.is("inputRequests") {
                delivery.asks = at.filter(|_| !value.is_null());
            } else if key.is("requestState") {
                delivery.state = at.filter(|_| !value.is_null());
            }
        }
        delivery.wants = wants_more(result_type, version, kind)?;
        if delivery.wants {
            return delivery.question(all);
        }
        match (kind, items.filter(|items| !items.is_null())) {
            (Kind::Json, _) => {
                delivery.json = Some(place(all, result));
                (delivery.structured, delivery.meta, delivery.cursor) = (None, None, None);
            }
            (_, Some(items)) if items.kind() == json::Kind::Array => {
                delivery.next = Some(place(all, items).start.saturating_add(1));
            }
            (Kind::Call, None) if delivery.text.is_some() => {}
            (Kind::Call, None) => {
                // Nothing but a word that is not known: no empty success.
                let unknown = result_type.is_some_and(|value| !value.is("complete"));
                if unknown && delivery.structured.is_none() {
                    return Err(Why::ResultType);
                }
            }
            (Kind::Call, Some(_)) => return Err(Why::Shape("`content` is not an array")),
            (Kind::Tools, None) => return Err(Why::Shape("`tools` is missing")),
            (Kind::Tools, Some(_)) => return Err(Why::Shape("`tools` is not an array")),
        }
        match (kind, is_error.filter(|flag| !flag.is_null())) {
            (Kind::Call, Some(flag)) => {
                delivery.is_error = flag.as_bool().ok_or(Why::Shape("`isError` is not true or false"))?;
            }
            (Kind::Tools, _) => delivery.structured = None,
            _ => {}
        }
        if kind == Kind::Call {
            delivery.cursor = None;
        }
        Ok(())
    }

    /// A result that asks: something must be asked for (2026-07-28, basic/patterns/mrtr).
    #[cfg_attr(target_os = "none", inline(never))]
    fn question(&self, all: &[u8]) -> Result<(), Why> {
        let is = |at: Option<Span>, kind| at.is_none_or(|at| Raw::trusted(at.of(all)).kind() == kind);
        if !is(self.asks, json::Kind::Object) {
            return Err(Why::Shape("`inputRequests` is not an object"));
        }
        if !is(self.state, json::Kind::String) {
            return Err(Why::Shape("`requestState` is not a string"));
        }
        if self.asks.is_none() && self.state.is_none() {
            return Err(Why::Shape("it asks for input, but `inputRequests` and `requestState` are missing"));
        }
        Ok(())
    }
}

/// What `resultType` says: absent is complete, unknown is invalid (2026-07-28, basic/index, "Results"). Legacy results may have
/// a member of that name with any meaning, but what is no result in either era is none.
#[cfg_attr(target_os = "none", inline(never))]
fn wants_more(result_type: Option<Raw<'_>>, version: Version, kind: Kind) -> Result<bool, Why> {
    let Some(value) = result_type else { return Ok(false) };
    if value.is("complete") {
        return Ok(false);
    }
    let asks = value.is("input_required");
    if version.is_stateless() {
        return if asks && kind != Kind::Tools { Ok(true) } else { Err(Why::ResultType) };
    }
    if asks || value.is("task") { Err(Why::ResultType) } else { Ok(false) }
}

impl Delivery {
    /// The next element; none when all are told. `start`: where the line stands in `bytes`.
    #[cfg_attr(target_os = "none", inline(never))]
    fn element(&mut self, bytes: &[u8], start: usize) -> Option<Step> {
        let of = self.of;
        loop {
            let line = bytes.get(start..).unwrap_or(&[]);
            let from = skip(line, self.next?, b',');
            let rest = line.get(from..).unwrap_or(&[]);
            if !SMALL
                && self.kind == Kind::Call
                && let Some(block) = self.text.take().or_else(|| usual::text_block(rest))
            {
                self.next = Some(from.saturating_add(block.len()));
                let string = Span::new(block.start, block.end);
                return Some(Step::Text { of, at: string.shifted(start.saturating_add(from)) });
            }
            let len = rest.first().filter(|b| **b != b']').and_then(|_| value_len(rest));
            let Some(len) = len.filter(|len| *len > 0) else {
                self.next = None;
                return None;
            };
            let end = from.saturating_add(len);
            let at = Span::new(from, end).shifted(start);
            if self.kind != Kind::Tools {
                self.next = Some(end);
                return Some(Step::Content { of, at });
            }
            let (named, complete) = check_tool(Raw::trusted(at.of(bytes)));
            let whole = named && complete;
            if !whole && !core::mem::replace(&mut self.told, true) {
                return Some(Step::Fault(Fault::WrongShape, at));
            }
            self.next = Some(end);
            self.told = false;
            if named {
                return Some(Step::Tool { of, at });
            }
        }
    }

    /// What follows the elements; none when all is told, and the next page is to be asked for if there is one and `follows`.
    #[cfg_attr(target_os = "none", inline(never))]
    fn member(&mut self, bytes: &[u8], start: usize, follows: bool) -> Option<Step> {
        let of = self.of;
        if let Some(at) = self.json.take() {
            return Some(Step::Json { of, at: at.shifted(start) });
        }
        if let Some(at) = self.structured.take() {
            return Some(Step::Structured { of, at: at.shifted(start) });
        }
        if let Some(at) = self.meta.take() {
            return Some(Step::Meta { of, at: at.shifted(start) });
        }
        let cursor = self.cursor?.shifted(start);
        if Raw::trusted(cursor.of(bytes)).kind() != json::Kind::String {
            self.cursor = None;
            return Some(Step::Fault(Fault::WrongShape, cursor));
        }
        if follows {
            return None;
        }
        self.cursor = None;
        Some(Step::Page { of, next: cursor })
    }

    /// What must be asked for; none when that is told.
    fn questions(&mut self, start: usize) -> Option<Step> {
        if core::mem::replace(&mut self.asked, true) {
            return None;
        }
        let at = |at: Option<Span>| at.map(|at| at.shifted(start));
        Some(Step::InputRequired { of: self.of, asks: at(self.asks), state: at(self.state) })
    }
}

impl Client<'_> {
    /// Tells the next part of the message at hand.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn hand_out(&mut self) -> Step {
        let start = self.line_start();
        // Told where it lies: it is too large to be moved for each part.
        let step = match &mut self.current {
            None => return Step::Again,
            Some(Current::Opening(opening)) => {
                let opening = *opening;
                return self.hand_out_opening(opening, start);
            }
            Some(Current::Delivery(delivery)) if delivery.wants => {
                let (of, step) = (delivery.of, delivery.questions(start));
                // Free before it is told, so that the call can be made again at once.
                if step.is_some()
                    && let Some(slot) = self.slots.of(of)
                {
                    slot.free();
                }
                step
            }
            Some(Current::Delivery(delivery)) => {
                let bytes = self.rx.bytes();
                let step = delivery.element(bytes, start);
                step.or_else(|| delivery.member(bytes, start, self.config.get().follow_pages))
            }
        };
        step.unwrap_or_else(|| self.delivered(start))
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn hand_out_opening(&mut self, opening: Opening, start: usize) -> Step {
        if !self.tx.output().is_empty() && !self.rx.is_over() {
            return Step::Send;
        }
        self.current = None;
        self.phase = Phase::Open(opening.version);
        self.start_until = None;
        if opening.has_line {
            self.next_message();
        }
        Step::Opened(opening.shifted(start))
    }

    /// All is told: the next page, or the end.
    #[cfg_attr(target_os = "none", inline(never))]
    fn delivered(&mut self, start: usize) -> Step {
        let Some(Current::Delivery(Delivery { of, cursor, wants, is_error, .. })) = self.current else {
            return Step::Again;
        };
        self.current = None;
        let end = match cursor {
            _ if wants => Ending::InputRequired,
            Some(cursor) => match self.next_page(of, cursor, start) {
                Ok(()) => return Step::Again,
                Err(why) => Ending::Invalid(why),
            },
            None => Ending::Done { is_error },
        };
        if let Some(slot) = self.slots.of(of) {
            slot.free();
        }
        self.next_message();
        Step::Ended { of, end }
    }

    /// Asks for the next page. The line stays until that is written, since the cursor stands in it.
    #[cfg_attr(target_os = "none", inline(never))]
    fn next_page(&mut self, of: CallId, cursor: Span, start: usize) -> Result<(), Why> {
        let token = cursor.shifted(start).of(self.rx.bytes());
        let own = self.slots.of(of).and_then(own_mut).ok_or(Why::Shape("nobody waits for it"))?;
        own.pages.meet(token)?;
        let wire = self.take_serial().ok_or(Why::TooManyPages)?;
        let slot = self.slots.of(of).ok_or(Why::Shape("nobody waits for it"))?;
        slot.state = State::Open;
        let own = own_mut(slot).ok_or(Why::Shape("nobody waits for it"))?;
        own.renew(wire);
        let progress = own.progress;
        self.line.fresh = true;
        self.say(Job::NextPage { slot: of.slot, wire, cursor, progress });
        Ok(())
    }
}

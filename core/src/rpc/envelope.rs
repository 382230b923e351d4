//! One pass over a line: which members stand where, and what kind of message they make.
use super::{Fault, quick};
use crate::frame::Member;
use crate::json::{FAST, Kind, Raw, SMALL, ScanError, ScanFault, Scanner, Step};
use crate::machine::mem::Span;

/// What kind of message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    Request,
    Notification,
    Response,
    Error,
}

/// A valid envelope: where its members stand in the line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    pub(crate) shape: Shape,
    pub(crate) id: Option<Span>,
    pub(crate) params: Option<Span>,
    /// What its shape is known by: the method with its quotes, the result or the error.
    pub(crate) content: Span,
    /// `result` or `error` is null beside the other one, and was taken as absent.
    pub(crate) null_beside: bool,
}

/// A line that is no valid message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bad {
    pub(crate) fault: Fault,
    /// A valid id.
    pub(crate) id: Option<Span>,
    /// It is a notification or a response, whatever else is wrong with it.
    pub(crate) never_answer: bool,
}

pub(crate) enum Read {
    Message(Envelope),
    /// A valid JSON array.
    Batch(Span),
    Bad(Bad),
}

/// Reads one line, strictly.
pub(crate) fn read(line: &[u8]) -> Read {
    read_as(line, false)
}

/// Reads one line. `lenient`: servers are known that write `"error":null` beside a result.
#[inline(never)]
pub(crate) fn read_as(line: &[u8], lenient: bool) -> Read {
    let mut found = Found::default();
    if FAST && quick::read(line, &mut found).is_some() {
        return found.object(line, lenient);
    }
    scan(line, lenient)
}

/// The way that knows all there is, and says what is wrong.
#[inline(never)]
fn scan(line: &[u8], lenient: bool) -> Read {
    let mut scanner = Scanner::new();
    let mut found = Found::default();
    let mut key = None;
    let mut rest = line;
    let whole = loop {
        match scanner.step(rest) {
            Ok((n, step)) => {
                rest = rest.get(n..).unwrap_or(&[]);
                match step {
                    Step::Key { start, end } => {
                        key = Member::of_key(Span::new(start, end).of(line));
                        found.meet(key);
                    }
                    Step::Value { start, end } => {
                        if let Some(member) = key.take() {
                            found.put(member, Span::new(start, end));
                        }
                    }
                    Step::End { .. } => {}
                    Step::More => match scanner.finish() {
                        Ok(whole) => break Span::new(whole.start, whole.end),
                        Err(e) => return Read::Bad(found.broken(line, e)),
                    },
                }
            }
            // The rest is skimmed for the id.
            Err(e) if e.fault == ScanFault::Depth => rest = line.get(scanner.position()..).unwrap_or(&[]),
            Err(e) => return Read::Bad(found.broken(line, e)),
        }
    };
    match line.get(whole.start) {
        Some(b'{') => found.object(line, lenient),
        Some(b'[') => Read::Batch(whole),
        _ => Read::Bad(Bad { fault: Fault::NotAMessage, id: None, never_answer: false }),
    }
}

#[derive(Default)]
pub(super) struct Found {
    /// By member.
    values: [Option<Span>; 6],
    /// Which keys were met, their values complete or not; a bit for each member.
    met: u8,
    /// Which values came twice.
    twice: u8,
}

const fn bit(member: Member) -> u8 {
    1 << member as u8
}

impl Found {
    #[inline(always)]
    pub(super) fn meet(&mut self, key: Option<Member>) {
        self.met |= key.map_or(0, bit);
    }

    /// A response or a notification, whatever else is wrong with it.
    #[cfg_attr(target_os = "none", inline(never))]
    const fn never_answered(&self) -> bool {
        if self.met & bit(Member::Method) != 0 {
            self.met & bit(Member::Id) == 0
        } else {
            self.met & (bit(Member::Result) | bit(Member::Error)) != 0
        }
    }

    #[inline(always)]
    pub(super) fn put(&mut self, member: Member, at: Span) {
        let Some(place) = self.values.get_mut(member as usize) else { return };
        if place.is_some() {
            self.twice |= bit(member);
        }
        *place = Some(at);
    }

    const fn get(&self, member: Member) -> Option<Span> {
        let [jsonrpc, id, method, params, result, error] = self.values;
        match member {
            Member::Jsonrpc => jsonrpc,
            Member::Id => id,
            Member::Method => method,
            Member::Params => params,
            Member::Result => result,
            Member::Error => error,
        }
    }

    /// All keys that were met have their values.
    pub(super) fn all_met(&mut self) {
        let met = |met, value: &Option<Span>| met << 1 | u8::from(value.is_some());
        self.met = self.values.iter().rev().fold(0, met);
    }

    fn valid_id(&self, line: &[u8]) -> Option<Span> {
        self.get(Member::Id)
            .filter(|at| self.twice & bit(Member::Id) == 0 && is_id(Raw::trusted(at.of(line))))
    }

    fn object(&self, line: &[u8], lenient: bool) -> Read {
        match self.envelope(line, lenient) {
            Ok(envelope) => Read::Message(envelope),
            Err(bad) => Read::Bad(bad),
        }
    }

    #[inline(never)]
    fn envelope(&self, line: &[u8], lenient: bool) -> Result<Envelope, Bad> {
        let id = self.valid_id(line);
        let envelope = self.members(line, lenient, id);
        envelope.map_err(|fault| Bad { fault, id, never_answer: self.never_answered() })
    }

    #[inline(always)]
    fn members(&self, line: &[u8], lenient: bool, id: Option<Span>) -> Result<Envelope, Fault> {
        let raw = |at: Span| Raw::trusted(at.of(line));
        if self.twice != 0 {
            return Err(Fault::TwiceTheKey);
        }
        let is_two = |v: Span| !SMALL && v.of(line) == b"\"2.0\"" || raw(v).is("2.0");
        if !self.get(Member::Jsonrpc).is_some_and(is_two) {
            return Err(Fault::NotAMessage);
        }
        let null = |at: Span| raw(at).is_null();
        let both = (self.get(Member::Result), self.get(Member::Error));
        let (result, error) = match both {
            (Some(result), Some(error)) if lenient && null(error) => (Some(result), None),
            (Some(result), Some(error)) if lenient && null(result) => (None, Some(error)),
            both => both,
        };
        let own_id = self.get(Member::Id);
        let (shape, content, kind) = match (self.get(Member::Method), result, error) {
            (Some(method), None, None) => {
                let shape = if own_id.is_none() { Shape::Notification } else { Shape::Request };
                (shape, method, Kind::String)
            }
            (None, Some(result), None) => (Shape::Response, result, Kind::Object),
            (None, None, Some(error)) => (Shape::Error, error, Kind::Object),
            _ => return Err(Fault::NotAMessage),
        };
        let needs_id = match shape {
            Shape::Request | Shape::Response => true,
            // An error may answer a line whose id could not be read.
            Shape::Error => own_id.is_some_and(|id| !null(id)),
            Shape::Notification => false,
        };
        if raw(content).kind() != kind || needs_id && id.is_none() {
            return Err(Fault::NotAMessage);
        }
        let params = self.get(Member::Params);
        Ok(Envelope { shape, id, params, content, null_beside: (result, error) != both })
    }

    /// The scanner stopped: what of the envelope is known decides who is answered.
    fn broken(&self, line: &[u8], e: ScanError) -> Bad {
        let fault = match e.fault {
            ScanFault::Syntax => Fault::NotJson { at: e.at },
            ScanFault::Utf8 => Fault::NotUtf8 { at: e.at },
            ScanFault::Depth => Fault::TooDeep,
        };
        if fault != Fault::TooDeep {
            return Bad { fault, id: None, never_answer: false };
        }
        Bad { fault, id: self.valid_id(line), never_answer: self.never_answered() }
    }
}

/// What is wrong with a response that [`read_as`] refuses, in words.
pub(crate) fn complaint(response: Raw<'_>) -> &'static str {
    let is_object = |value: Raw<'_>| value.kind() == Kind::Object;
    match (response.get("result"), response.get("error")) {
        _ if response.get("jsonrpc").is_none_or(|v| !v.is("2.0")) => "`jsonrpc` is not \"2.0\"",
        (Some(_), Some(_)) => "both `result` and `error` are there",
        (None, None) => "neither `result` nor `error` is there",
        (Some(result), _) if !is_object(result) => "`result` is not an object",
        (_, Some(error)) if !is_object(error) => "`error` is not an object",
        _ => "a member is there twice",
    }
}

/// A string or an integer.
pub(crate) fn is_id(raw: Raw<'_>) -> bool {
    let digits = || FAST && raw.as_bytes().iter().all(u8::is_ascii_digit);
    raw.kind() == Kind::String || digits() || raw.is_integer()
}

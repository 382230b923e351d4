//! One message at a time: what it is, and whom it is for.
use super::handshake::Phase;
use super::jobs::Job;
use super::lend::{Ending, Step};
use super::machine::Client;
use super::result::{Current, Delivery};
use super::slot::{own, waits_for};
use super::{Era, Why};
use crate::frame::{Found, Skimmed};
use crate::json::{Raw, ScanFault, skip, value_len};
use crate::machine::CallId;
use crate::machine::mem::Span;
use crate::machine::slots::State;
use crate::mcp::{LEGACY, Version};
use crate::rpc::{Bad, Code, Envelope, Fault, Read, Shape, complaint, read_as};

/// A batch that is being read; from the start of the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Where the element at hand starts, and where it ends: noted before it is decoded in place.
    next: usize,
    end: usize,
}

/// Whose answer a message is.
#[derive(Clone, Copy)]
enum Whose {
    Handshake(u32),
    Call(CallId),
    /// Of a request that is over.
    Late,
    Nobody,
}

impl Client<'_> {
    /// Reads on. `None`: nothing complete is there.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn read_on(&mut self) -> Option<Step> {
        loop {
            let (line, ended) = match self.rx.look() {
                Found::More => return None,
                Found::TooLong(found) => return Some(self.too_long(found)),
                Found::Line { at, ended } => (at, ended),
            };
            let Some(at) = self.next_part(line) else { continue };
            let place = at.shifted(line.start);
            return Some(match read_as(place.of(self.rx.bytes()), true) {
                Read::Message(envelope) => self.message(line, at, &envelope),
                Read::Batch(inside) if self.batch.is_none() && self.takes_batches() => {
                    let next = inside.start.saturating_add(1);
                    self.batch = Some(Batch { next, end: next });
                    continue;
                }
                Read::Batch(_) => self.slip(Fault::Batch, place),
                Read::Bad(bad) => self.bad(place, bad, ended),
            });
        }
    }

    /// The next message of the line: all of it, or a batch's next element. `None`: a batch is over.
    #[cfg_attr(target_os = "none", inline(never))]
    fn next_part(&mut self, line: Span) -> Option<Span> {
        let Some(batch) = &mut self.batch else { return Some(Span::new(0, line.len())) };
        let bytes = line.of(self.rx.bytes());
        let start = skip(bytes, batch.next, b',');
        let rest = bytes.get(start..).unwrap_or(&[]);
        match rest.first().filter(|b| **b != b']').and_then(|_| value_len(rest)) {
            Some(len) if len > 0 => {
                batch.end = start.saturating_add(len);
                Some(Span::new(start, batch.end))
            }
            _ => {
                self.batch = None;
                self.rx.consume();
                None
            }
        }
    }

    /// Only 2025-03-26 has batches (basic/index, "Batching").
    fn takes_batches(&self) -> bool {
        LEGACY && matches!(self.phase, Phase::Open(Version::V2025_03_26))
    }

    /// The message at hand needs nothing more.
    pub(super) fn next_message(&mut self) {
        self.told = false;
        match &mut self.batch {
            Some(batch) => batch.next = batch.end,
            None => self.rx.consume(),
        }
    }

    /// Where the line at hand starts in the receive buffer.
    pub(super) const fn line_start(&self) -> usize {
        self.rx.line_start()
    }

    /// The message at hand is only reported.
    pub(super) fn slip(&mut self, fault: Fault, place: Span) -> Step {
        self.next_message();
        Step::Fault(fault, place)
    }

    /// A line that was longer than the buffer. An answer fails its request at once.
    #[cfg_attr(target_os = "none", inline(never))]
    fn too_long(&mut self, found: Skimmed) -> Step {
        let dropped = found.dropped;
        let fault = match found.fault {
            Some(_) if found.cut => Fault::Cut,
            Some(ScanFault::Syntax) => Fault::NotJson { at: dropped },
            Some(ScanFault::Utf8) => Fault::NotUtf8 { at: dropped },
            Some(ScanFault::Depth) => Fault::TooDeep,
            None => Fault::TooLong { dropped },
        };
        let readable = matches!(fault, Fault::TooLong { .. } | Fault::TooDeep);
        let id = found.id.filter(|_| readable);
        let whose = match id {
            Some(id) if !found.has_method => self.whose(id).0,
            _ => Whose::Nobody,
        };
        let why = if fault == Fault::TooDeep { Why::TooDeep } else { Why::TooLong { dropped } };
        match whose {
            Whose::Handshake(wire) => {
                self.rx.consume();
                self.handshake_broken(wire, why)
            }
            Whose::Call(of) => {
                self.rx.consume();
                self.fail(of, why)
            }
            Whose::Late => {
                self.rx.consume();
                Step::Again
            }
            Whose::Nobody => {
                match id {
                    Some(id) if found.has_method && self.answers_requests() => {
                        let (code, text) = (Code::INVALID_REQUEST, "message too large");
                        self.say(Job::Refuse { id, code, text });
                    }
                    _ => self.rx.consume(),
                }
                Step::Fault(fault, Span::default())
            }
        }
    }

    /// A line that is no message. If it is an answer all the same, its request fails now and not when its time is over.
    #[cfg_attr(target_os = "none", inline(never))]
    fn bad(&mut self, place: Span, bad: Bad, ended: bool) -> Step {
        let line = place.of(self.rx.bytes()).trim_ascii();
        let answers = |id: Span| (Raw::trusted(line).get("method").is_none()).then_some(id);
        let whose = match bad.id.and_then(answers) {
            Some(id) => self.whose(id.shifted(place.start)).0,
            None => Whose::Nobody,
        };
        let why = match bad.fault {
            Fault::TooDeep => Why::TooDeep,
            _ => Why::Shape(complaint(Raw::trusted(line))),
        };
        match whose {
            Whose::Call(of) => {
                self.next_message();
                self.fail(of, why)
            }
            Whose::Handshake(wire) => {
                self.next_message();
                self.handshake_broken(wire, why)
            }
            _ => self.slip(if ended { bad.fault } else { Fault::Cut }, place),
        }
    }

    fn fail(&mut self, of: CallId, why: Why) -> Step {
        if let Some(slot) = self.slots.of(of) {
            slot.free();
        }
        Step::Ended { of, end: Ending::Invalid(why) }
    }

    /// Whom the answer with the id at `id` (from the start of the buffer) is for, and whether the id became a string on the way.
    #[cfg_attr(target_os = "none", inline(never))]
    fn whose(&self, id: Span) -> (Whose, bool) {
        let Some((wire, text)) = wire_id(Raw::trusted(id.of(self.rx.bytes()))) else {
            return (Whose::Nobody, false);
        };
        if self.is_handshake(wire) {
            return (Whose::Handshake(wire), text);
        }
        let found = self.waiting(wire);
        match found {
            Some(of) => (Whose::Call(of), text),
            None if text || wire == 0 || wire >= self.line.serial => (Whose::Nobody, text),
            None => (Whose::Late, text),
        }
    }

    /// The request that waits under an id.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn waiting(&self, wire: u32) -> Option<CallId> {
        let all = self.slots.all();
        // Where it is unless a page was followed or slots were taken out of turn.
        let hint = (wire as usize).checked_rem(all.len())?;
        let index = match all.get(hint) {
            Some(slot) if waits_for(slot, wire) => hint,
            _ => all.iter().position(|slot| waits_for(slot, wire))?,
        };
        let serial = all.get(index)?.serial;
        Some(CallId { slot: u16::try_from(index).ok()?, serial })
    }

    /// Does the server's era let it ask? Before that is known, one that asks is a legacy one.
    fn answers_requests(&self) -> bool {
        match self.phase {
            Phase::Open(version) => !version.is_stateless(),
            _ => self.config.get().era != Era::Modern,
        }
    }

    /// A valid message.
    #[cfg_attr(target_os = "none", inline(never))]
    fn message(&mut self, line: Span, at: Span, envelope: &Envelope) -> Step {
        let place = at.shifted(line.start);
        match envelope.shape {
            Shape::Notification => self.notice(place, envelope),
            Shape::Request => {
                if !self.answers_requests() {
                    return self.slip(Fault::NotAllowed, place);
                }
                let id = envelope.id.unwrap_or_default().shifted(at.start);
                let method = envelope.content.shifted(place.start);
                let ping = Raw::trusted(method.of(self.rx.bytes())).is("ping");
                self.say(if ping {
                    Job::Pong { id }
                } else {
                    Job::Refuse { id, code: Code::METHOD_NOT_FOUND, text: "Method not found" }
                });
                Step::Again
            }
            Shape::Error if envelope.id.is_none() => self.nameless(place, envelope),
            Shape::Response | Shape::Error => self.answer(line, at, envelope),
        }
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn answer(&mut self, line: Span, at: Span, envelope: &Envelope) -> Step {
        let place = at.shifted(line.start);
        let (whose, text) = self.whose(envelope.id.unwrap_or_default().shifted(place.start));
        if (text || envelope.null_beside) && !self.told && !matches!(whose, Whose::Nobody) {
            // Told once; the message is read again then.
            self.told = true;
            return Step::Fault(if text { Fault::IdType } else { Fault::NullBeside }, place);
        }
        match whose {
            Whose::Nobody => self.slip(Fault::UnknownAnswer, place),
            Whose::Late => {
                self.next_message();
                Step::Again
            }
            Whose::Handshake(wire) => self.handshake_answer(line, at, wire, envelope),
            Whose::Call(of) => self.result(line, place, of, envelope),
        }
    }

    /// The answer to a request.
    #[cfg_attr(target_os = "none", inline(never))]
    fn result(&mut self, line: Span, place: Span, of: CallId, envelope: &Envelope) -> Step {
        if envelope.shape == Shape::Error {
            let end = self.error_end(envelope.content.shifted(place.start));
            if let Some(slot) = self.slots.of(of) {
                slot.free();
            }
            self.next_message();
            return Step::Ended { of, end };
        }
        let version = self.phase.version();
        let Some(kind) = self.slots.of(of).and_then(|slot| {
            slot.state = State::Streaming;
            own(slot).map(|own| own.kind)
        }) else {
            return self.slip(Fault::UnknownAnswer, place);
        };
        let all = line.of(self.rx.bytes());
        let result = envelope.content.shifted(place.start);
        let result = Raw::trusted(result.of(self.rx.bytes()));
        self.current = Some(Current::Delivery(Delivery::new(of, kind)));
        let Some(Current::Delivery(delivery)) = &mut self.current else { return Step::Again };
        match delivery.read(version, all, result) {
            Ok(()) => self.hand_out(),
            Err(why) => {
                self.current = None;
                self.next_message();
                self.fail(of, why)
            }
        }
    }
}

/// One of our ids, and whether it became a string: a number, or one as a string of its digits (servers are known that do that).
pub(super) fn wire_id(id: Raw<'_>) -> Option<(u32, bool)> {
    if let Some(text) = id.as_string() {
        let text = text.plain().filter(|t| t.bytes().all(|b| b.is_ascii_digit()) && !t.starts_with('0'))?;
        return Some((text.parse().ok()?, true));
    }
    Some((u32::try_from(id.as_u64()?).ok()?, false))
}

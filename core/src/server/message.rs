//! One message at a time: what it is, and who is answered.
use super::jobs::{Data, To, What};
use super::judge::in_flight;
use super::line::Batch;
use super::state::{Hand, Server, Step};
use crate::frame::{Found, Skimmed};
use crate::json::{Raw, skip, value_len, which};
use crate::machine::Noise;
use crate::machine::mem::Span;
use crate::machine::slots::State;
use crate::mcp::{LEGACY, Refusal, Route, Version};
use crate::rpc::{Bad, Envelope, Fault, Read, Shape, read};

/// How often in a row noise is answered.
const PATIENCE: u8 = 8;

impl Server<'_> {
    /// Reads on. `None`: nothing complete is there.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn read_on(&mut self) -> Option<Step> {
        loop {
            let (line, ended) = match self.rx.look() {
                Found::More => return None,
                Found::TooLong(found) => return Some(self.too_long(found)),
                Found::Line { at, ended } => (at, ended),
            };
            if self.waiting {
                return Some(self.take(line));
            }
            let Some(at) = self.next_part(line) else { return Some(Step::Again) };
            let hand = Hand { line, at, ended };
            match read(hand.place().of(self.rx.bytes())) {
                Read::Message(envelope) => return Some(self.serve(&hand, &envelope)),
                Read::Batch(inside) if self.line.batch.is_none() && self.takes_batches() => {
                    let first = inside.start.wrapping_add(1);
                    let bytes = line.of(self.rx.bytes());
                    if bytes.get(skip(bytes, first, b',')).is_none_or(|b| *b == b']') {
                        return Some(self.noise(&hand, Fault::NotAMessage));
                    }
                    self.line.batch = Some(Batch { next: first, wrote: false });
                }
                Read::Batch(_) => return Some(self.noise(&hand, Fault::Batch)),
                Read::Bad(bad) => return Some(self.bad(&hand, bad)),
            }
        }
    }

    /// The next message of the line: all of it, or a batch's next element. `None`: a batch is over.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn next_part(&mut self, line: Span) -> Option<Span> {
        let whole = line_span(line);
        let Some(batch) = self.line.batch.as_mut().filter(|_| LEGACY) else { return Some(whole) };
        let bytes = line.of(self.rx.bytes());
        let start = skip(bytes, batch.next, b',');
        let rest = bytes.get(start..).unwrap_or(&[]);
        match rest.first() {
            Some(b']') | None => {
                let wrote = batch.wrote;
                self.line.batch = None;
                if wrote {
                    // The line is consumed when the bracket is out.
                    self.line.start(To::Nobody, What::BatchEnd);
                } else {
                    self.rx.consume();
                }
                None
            }
            Some(_) => {
                let end = start.wrapping_add(value_len(rest).unwrap_or(rest.len()));
                batch.next = end;
                Some(Span::new(start, end))
            }
        }
    }

    pub(super) fn takes_batches(&self) -> bool {
        LEGACY && self.session.legacy == Some(Version::V2025_03_26)
    }

    /// A line that was longer than the buffer.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn too_long(&mut self, found: Skimmed) -> Step {
        let limit = self.rx.limit();
        let fault = match found.fault {
            Some(_) if found.cut => Fault::Cut,
            Some(crate::json::ScanFault::Syntax) => Fault::NotJson { at: found.dropped },
            Some(crate::json::ScanFault::Utf8) => Fault::NotUtf8 { at: found.dropped },
            Some(crate::json::ScanFault::Depth) => Fault::TooDeep,
            None => Fault::TooLong { dropped: found.dropped },
        };
        let not_json = matches!(fault, Fault::NotJson { .. } | Fault::NotUtf8 { .. });
        let id = found.id.filter(|_| !not_json);
        let never = found.cut
            || !not_json && (found.is_response && !found.has_method || found.has_method && !found.has_id);
        if never || id.is_none() && !self.may_answer_noise() {
            self.rx.consume();
        } else {
            let to = id.map_or(To::Nobody, To::Message);
            let why = if not_json { Refusal::NotJson } else { Refusal::TooLarge };
            self.line.start(to, What::Error { why, data: Data::Limit(limit) });
        }
        Step::Fault(fault, Span::default())
    }

    /// May noise be answered once more?
    pub(super) fn may_answer_noise(&mut self) -> bool {
        if self.config.get().rest().noise == Noise::Ignore || self.noise >= PATIENCE {
            return false;
        }
        self.noise = self.noise.wrapping_add(1);
        true
    }

    /// What has no readable id: answered if the channel is one where that helps.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn noise(&mut self, hand: &Hand, fault: Fault) -> Step {
        let why = match fault {
            Fault::NotJson { .. } | Fault::NotUtf8 { .. } => Refusal::NotJson,
            Fault::Batch => Refusal::Batch,
            Fault::TooDeep => Refusal::TooDeep,
            _ => Refusal::NotARequest,
        };
        // What the end of the input cut off is not the peer's mistake.
        let cut = !hand.ended && why == Refusal::NotJson;
        let fault = if cut { Fault::Cut } else { fault };
        if !cut && self.may_answer_noise() {
            self.line.start(To::Nobody, What::Error { why, data: Data::None });
        } else {
            self.next_message();
        }
        Step::Fault(fault, hand.place())
    }

    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn bad(&mut self, hand: &Hand, bad: Bad) -> Step {
        match bad.id {
            _ if bad.never_answer => {
                self.next_message();
                Step::Fault(bad.fault, hand.place())
            }
            Some(id) => {
                let why = match bad.fault {
                    Fault::TooDeep => Refusal::TooDeep,
                    Fault::TwiceTheKey => Refusal::TwiceTheMember,
                    _ => Refusal::NotARequest,
                };
                self.refuse(id.shifted(hand.at.start), why, Data::None);
                Step::Fault(bad.fault, hand.place())
            }
            None => self.noise(hand, bad.fault),
        }
    }

    pub(super) fn refuse(&mut self, id: Span, why: Refusal, data: Data) {
        self.line.start(To::Message(id), What::Error { why, data });
    }

    /// A valid message. Part of its caller's frame, which all that is deepest lies above.
    #[inline(always)]
    pub(super) fn serve(&mut self, hand: &Hand, envelope: &Envelope) -> Step {
        let place = hand.place();
        match envelope.shape {
            Shape::Request => self.noise = 0,
            Shape::Notification => {
                self.noise = 0;
                return self.notification(place, envelope);
            }
            Shape::Response | Shape::Error => {
                self.next_message();
                return Step::Fault(Fault::UnknownAnswer, place);
            }
        }
        let id = envelope.id.unwrap_or_default().shifted(hand.at.start);
        match self.judge(hand, id, envelope) {
            Ok(Route::Call) => self.take(hand.line),
            Ok(Route::Initialize) => {
                Step::Opened { version: self.asked.ready.version, client: self.asked.name }
            }
            Ok(_) => Step::Again,
            Err(why) => {
                let data = match why {
                    Refusal::Unsupported => Data::Versions(self.asked.version),
                    Refusal::ModernTooLarge => Data::Limit(self.rx.limit()),
                    _ => Data::None,
                };
                self.refuse(id, why, data);
                if why == Refusal::IdInUse { Step::Fault(Fault::IdInUse, place) } else { Step::Again }
            }
        }
    }

    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn notification(&mut self, place: Span, envelope: &Envelope) -> Step {
        const KNOWN: &[&str] = &["notifications/cancelled", "notifications/initialized"];
        let message = place.of(self.rx.bytes());
        let method = envelope.content;
        let params = envelope.params.map(|p| p.shifted(place.start));
        let step = match Raw::trusted(method.of(message)).as_string().and_then(|name| which(name, KNOWN)) {
            Some(0) => {
                let wanted =
                    envelope.params.map(|p| Raw::trusted(p.of(message))).and_then(|p| p.get("requestId"));
                let slot =
                    wanted.and_then(|id| self.slots.find(|s| s.state == State::Open && in_flight(s, id)));
                slot.map_or(Step::Again, |slot| self.cancelled(slot))
            }
            Some(_) => Step::Again,
            None => Step::Notified { method: method.shifted(place.start), params },
        };
        self.next_message();
        step
    }
}

const fn line_span(line: Span) -> Span {
    Span::new(0, line.len())
}

//! One message at a time: what it is, who is answered, and with what.
use super::jobs::{Data, Job, Part, To};
use super::lend::Batch;
use super::machine::{Server, Step};
use super::{ServerConfig, Source};
use crate::frame::{Found, Skimmed};
use crate::json::{Kind, Raw, skip, value_len};
use crate::machine::mem::Span;
use crate::machine::slots::{Slot, State};
use crate::machine::{CallId, Noise};
use crate::mcp::{Abilities, Method, Ready, Route, Version, claim};
use crate::rpc::{Bad, Code, Envelope, Fault, Read, Shape, read};

/// How often in a row noise is answered.
const PATIENCE: u8 = 8;

/// The message at hand: where it stands in its line, and its envelope, so that nothing is read twice while it waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Current {
    /// From the start of the line.
    pub(super) at: Span,
    envelope: Envelope,
    /// A call that waits for a slot or for room.
    call: Option<Lend>,
}

/// The members of params that are used, from the start of the line.
#[derive(Clone, Copy, Default)]
struct Params<'a> {
    name: Option<Raw<'a>>,
    arguments: Option<Raw<'a>>,
    cursor: Option<Raw<'a>>,
    meta: Option<Raw<'a>>,
}

impl<'a> Params<'a> {
    fn read(params: Option<Raw<'a>>) -> Self {
        let mut found = Self::default();
        for (key, value) in params.into_iter().flat_map(Raw::members) {
            let place = if key.is("_meta") {
                &mut found.meta
            } else if key.is("name") {
                &mut found.name
            } else if key.is("arguments") {
                &mut found.arguments
            } else if key.is("cursor") {
                &mut found.cursor
            } else {
                continue;
            };
            *place = Some(value).filter(|v| !v.is_null());
        }
        found
    }
}

/// What becomes of one request.
enum Verdict {
    Say(Job),
    Call(Lend),
    Open { version: Version, can: Abilities, client: Option<Span> },
}

impl Server<'_> {
    /// Reads on. `None`: nothing complete is there.
    pub(super) fn read_on(&mut self) -> Option<Step> {
        loop {
            let (line, ended) = match self.rx.look() {
                Found::More => return None,
                Found::TooLong(found) => return Some(self.too_long(found)),
                Found::Line { at, ended } => (at, ended),
            };
            if let Some(current) = self.current {
                return Some(self.serve(line, current));
            }
            let Some(at) = self.next_part(line) else { return Some(Step::Again) };
            match read(at.shifted(line.start).of(self.rx.bytes())) {
                Read::Message(envelope) => self.current = Some(Current { at, envelope, call: None }),
                Read::Batch(inside) if self.line.batch.is_none() && self.takes_batches() => {
                    let first = inside.start.saturating_add(1);
                    let empty = line
                        .of(self.rx.bytes())
                        .get(skip(line.of(self.rx.bytes()), first, b','))
                        .is_none_or(|b| *b == b']');
                    if empty {
                        return Some(self.noise(line, line_span(line), Fault::NotAMessage, ended));
                    }
                    self.line.batch = Some(Batch { next: first, wrote: false });
                }
                Read::Batch(_) => return Some(self.noise(line, at, Fault::Batch, ended)),
                Read::Bad(bad) => return Some(self.bad(line, at, bad, ended)),
            }
        }
    }

    /// The next message of the line: all of it, or a batch's next element. `None`: a batch is over.
    fn next_part(&mut self, line: Span) -> Option<Span> {
        let whole = line_span(line);
        let Some(batch) = &mut self.line.batch else { return Some(whole) };
        let bytes = line.of(self.rx.bytes());
        let start = skip(bytes, batch.next, b',');
        let rest = bytes.get(start..).unwrap_or(&[]);
        match rest.first() {
            Some(b']') | None => {
                let wrote = batch.wrote;
                self.line.batch = None;
                if wrote {
                    // The line is consumed when the bracket is out.
                    self.line.start(Job::BatchEnd);
                } else {
                    self.rx.consume();
                }
                None
            }
            Some(_) => {
                let end = start.saturating_add(value_len(rest).unwrap_or(rest.len()));
                batch.next = end;
                Some(Span::new(start, end))
            }
        }
    }

    fn takes_batches(&self) -> bool {
        self.session.legacy == Some(Version::V2025_03_26)
    }

    /// The message at hand needs nothing more.
    pub(super) fn next_message(&mut self) {
        self.current = None;
        if self.line.batch.is_none() {
            self.rx.consume();
        }
    }

    /// A line that was longer than the buffer.
    fn too_long(&mut self, found: Skimmed) -> Step {
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
            let (code, text) = if not_json {
                (Code::PARSE_ERROR, "Parse error")
            } else {
                (Code::INVALID_REQUEST, "message too large")
            };
            self.line.start(Job::Error { to, code, text, data: Data::Limit(limit) });
        }
        Step::Fault(fault, Span::default())
    }

    /// May noise be answered once more?
    fn may_answer_noise(&mut self) -> bool {
        if self.config.get().noise == Noise::Ignore || self.noise >= PATIENCE {
            return false;
        }
        self.noise = self.noise.saturating_add(1);
        true
    }

    /// What has no readable id: answered if the channel is one where that helps.
    fn noise(&mut self, line: Span, at: Span, fault: Fault, ended: bool) -> Step {
        let (code, text) = match fault {
            Fault::NotJson { .. } | Fault::NotUtf8 { .. } => (Code::PARSE_ERROR, "Parse error"),
            Fault::Batch => (Code::INVALID_REQUEST, "batches are only part of revision 2025-03-26"),
            Fault::TooDeep => (Code::INVALID_REQUEST, "nested deeper than 128"),
            _ => (Code::INVALID_REQUEST, "not a JSON-RPC 2.0 request"),
        };
        let fault = if ended { fault } else { Fault::Cut };
        if ended && self.may_answer_noise() {
            self.line.start(Job::Error { to: To::Nobody, code, text, data: Data::None });
        } else {
            self.next_message();
        }
        Step::Fault(fault, at.shifted(line.start))
    }

    fn bad(&mut self, line: Span, at: Span, bad: Bad, ended: bool) -> Step {
        match bad.id {
            _ if bad.never_answer => {
                self.next_message();
                Step::Fault(bad.fault, at.shifted(line.start))
            }
            Some(id) => {
                let text = match bad.fault {
                    Fault::TooDeep => "nested deeper than 128",
                    Fault::TwiceTheKey => "a member of the envelope stands there twice",
                    _ => "not a JSON-RPC 2.0 request",
                };
                self.refuse(id.shifted(at.start), Code::INVALID_REQUEST, text, Data::None);
                Step::Fault(bad.fault, at.shifted(line.start))
            }
            None => self.noise(line, at, bad.fault, ended),
        }
    }

    fn refuse(&mut self, id: Span, code: Code, text: &'static str, data: Data) {
        self.line.start(Job::Error { to: To::Message(id), code, text, data });
    }

    /// A valid message.
    fn serve(&mut self, line: Span, current: Current) -> Step {
        let Current { at, envelope, call } = current;
        let place = at.shifted(line.start);
        match envelope.shape {
            Shape::Request => self.noise = 0,
            Shape::Notification => {
                self.noise = 0;
                return self.notification(place, &envelope);
            }
            Shape::Response | Shape::Error => {
                self.next_message();
                return Step::Fault(Fault::UnknownAnswer, place);
            }
        }
        let id = envelope.id.unwrap_or_default().shifted(at.start);
        if let Some(call) = call {
            return self.take(line, call, place);
        }
        match self.judge(line, at, id, &envelope) {
            Ok(Verdict::Say(job)) => {
                self.line.start(job);
                Step::Again
            }
            Ok(Verdict::Open { version, can, client }) => {
                self.open(version, can);
                self.line.start(Job::Initialize { id, version });
                Step::Opened { version, client: client.map(|c| c.shifted(line.start)) }
            }
            Ok(Verdict::Call(call)) => {
                self.current = Some(Current { at, envelope, call: Some(call) });
                self.take(line, call, place)
            }
            Err(fault) => {
                let text = if fault == Fault::IdInUse {
                    "the id of a request that is still open"
                } else {
                    "Invalid request"
                };
                self.refuse(id, Code::INVALID_REQUEST, text, Data::None);
                Step::Fault(fault, place)
            }
        }
    }

    /// What the request gets. Spans of the verdict count from the start of the line.
    fn judge(&mut self, line: Span, at: Span, id: Span, envelope: &Envelope) -> Result<Verdict, Fault> {
        let all = line.of(self.rx.bytes());
        let message = at.of(all);
        let span = |raw: Raw<'_>| Span::within(all, raw.as_bytes()).unwrap_or_default();
        let refuse =
            |code: Code, text, data| Ok(Verdict::Say(Job::Error { to: To::Message(id), code, text, data }));
        let invalid = |text| refuse(Code::INVALID_PARAMS, text, Data::None);
        let method = Method::of(Raw::trusted(envelope.method.unwrap_or_default().of(message)));
        let raw_id = Raw::trusted(id.of(all));
        let open = self.slots.find(|slot| in_flight(slot, raw_id)).is_some();
        let rebooted = open && method == Method::Discover && self.config.get().noise == Noise::Ignore;
        if open && method != Method::Initialize && !rebooted {
            return Err(Fault::IdInUse);
        }
        let params = envelope.params.map(|p| Raw::trusted(p.of(message))).filter(|p| !p.is_null());
        if params.is_some_and(|p| p.kind() != Kind::Object) {
            return invalid("params must be an object");
        }
        let found = Params::read(params);
        if found.meta.is_some_and(|m| m.kind() != Kind::Object) {
            return invalid("params._meta must be an object");
        }
        let claim = claim(found.meta);
        let config = self.config.get();
        let batched = self.line.batch.is_some();
        let route = self.session.route(method, &claim, config.has_tools());
        if batched && (claim.version.is_some() || matches!(route, Route::Initialize)) {
            return refuse(Code::INVALID_REQUEST, "not allowed in a batch", Data::None);
        }
        let verdict = match route {
            Route::Refuse(code, text, versions) => {
                let data = match claim.version {
                    Some(requested) if versions => Data::Versions(span(requested)),
                    _ => Data::None,
                };
                return refuse(code, text, data);
            }
            Route::Initialize => return initialize(params, &invalid, &span),
            Route::Ping => Verdict::Say(Job::Empty { id }),
            Route::Discover => Verdict::Say(Job::Discover { id }),
            Route::List(ready) => {
                let Some((item, until)) = page(&config, found.cursor) else {
                    return invalid("a cursor that was not issued here");
                };
                Verdict::Say(Job::Tools { id, version: ready.version, part: Part::Head, item, until })
            }
            Route::Call(ready) => {
                let Some(name) = found.name.filter(|n| n.kind() == Kind::String) else {
                    return invalid("params.name must be a string");
                };
                if let Some(text) = found.arguments.and_then(wrong_arguments) {
                    return invalid(text);
                }
                if let Source::Table(table) = config.tools
                    && !table.iter().any(|tool| name.is(tool.name))
                {
                    return invalid("Unknown tool");
                }
                Verdict::Call(Lend {
                    id,
                    name: span(name),
                    args: found.arguments.map(span),
                    meta: found.meta.map(span),
                    token: claim.token.map(span),
                    ready,
                })
            }
        };
        let modern = claim.version.is_some();
        self.session.modern |= modern;
        if rebooted {
            self.doom(|_| true);
        }
        Ok(verdict)
    }

    fn open(&mut self, version: Version, can: Abilities) {
        let all = self.config.get().noise == Noise::Ignore;
        self.doom(|slot| {
            all || !super::jobs::server_side(Some(slot)).is_some_and(|own| own.version.is_modern())
        });
        self.session.legacy = Some(version);
        self.session.can = can;
    }

    /// A call that may start as soon as there are a slot and room.
    fn take(&mut self, line: Span, call: Lend, place: Span) -> Step {
        let id = call.id;
        let config = self.config.get();
        if !self.tx.has_room(config.reply.unwrap_or(usize::MAX)) {
            return Step::Send;
        }
        let Some(slot) = self.slots.find_free(self.serial) else {
            // An open array can't wait: what would free a slot could not be sent before its end.
            if config.refuse_when_full || self.line.batch.is_some() {
                self.refuse(id, Code::INTERNAL, "busy: too many calls at once", Data::None);
                return Step::Fault(Fault::Busy, place);
            }
            return Step::Blocked;
        };
        let call = call.shifted(line.start);
        if !self.fill(slot, &call) {
            self.refuse(id, Code::INVALID_REQUEST, "id too long", Data::None);
            return Step::Fault(Fault::IdTooLong, place);
        }
        self.next_message();
        Step::Call(slot, call)
    }

    fn notification(&mut self, place: Span, envelope: &Envelope) -> Step {
        let message = place.of(self.rx.bytes());
        let method = envelope.method.unwrap_or_default();
        let params = envelope.params.map(|p| p.shifted(place.start));
        let raw = Raw::trusted(method.of(message));
        let step = if raw.is("notifications/cancelled") {
            let wanted =
                envelope.params.map(|p| Raw::trusted(p.of(message))).and_then(|p| p.get("requestId"));
            let slot = wanted.and_then(|id| self.slots.find(|s| s.state == State::Open && in_flight(s, id)));
            slot.map_or(Step::Again, |slot| self.cancelled(slot))
        } else if raw.is("notifications/initialized") {
            Step::Again
        } else {
            Step::Notified { method: method.shifted(place.start), params }
        };
        self.next_message();
        step
    }

    pub(super) fn cancelled(&mut self, slot: u16) -> Step {
        let Some(s) = self.slots.at(slot) else { return Step::Again };
        let id = CallId { slot, serial: s.serial };
        s.free();
        Step::Cancelled(id)
    }
}

/// What lending a call needs; spans from the start of the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lend {
    pub(super) id: Span,
    /// With its quotes.
    pub(super) name: Span,
    pub(super) args: Option<Span>,
    pub(super) meta: Option<Span>,
    pub(super) token: Option<Span>,
    pub(super) ready: Ready,
}

impl Lend {
    fn shifted(self, by: usize) -> Self {
        Self {
            id: self.id.shifted(by),
            name: self.name.shifted(by),
            args: self.args.map(|s| s.shifted(by)),
            meta: self.meta.map(|s| s.shifted(by)),
            token: self.token.map(|s| s.shifted(by)),
            ready: self.ready,
        }
    }
}

fn initialize(
    params: Option<Raw<'_>>,
    invalid: &dyn Fn(&'static str) -> Result<Verdict, Fault>,
    span: &dyn Fn(Raw<'_>) -> Span,
) -> Result<Verdict, Fault> {
    let Some(params) = params else { return invalid("params.protocolVersion is missing") };
    let Some(wanted) = params.get("protocolVersion").filter(|v| v.kind() == Kind::String) else {
        return invalid("params.protocolVersion must be a string");
    };
    let legacy = Version::ALL.into_iter().find(|v| !v.is_modern() && wanted.is(v.as_str()));
    let version = legacy.unwrap_or(Version::NEWEST_LEGACY);
    let name = params.get("clientInfo").and_then(|info| info.get("name"));
    let can = params.get("capabilities").map(Abilities::read).unwrap_or_default();
    Ok(Verdict::Open { version, can, client: name.filter(|n| n.kind() == Kind::String).map(span) })
}

/// The page that a cursor asks for: its first item, and where it ends.
fn page(config: &ServerConfig<'_>, cursor: Option<Raw<'_>>) -> Option<(usize, usize)> {
    let size = config.page.map(usize::from);
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let text = cursor.as_string()?.plain()?;
            let start = text.parse::<usize>().ok()?;
            let canonical = !text.starts_with(['0', '+']) && start.checked_rem(size?)? == 0;
            let inside = match config.tools {
                Source::Table(table) => start < table.len(),
                _ => true,
            };
            (canonical && inside).then_some(start)?
        }
    };
    Some((start, size.map_or(usize::MAX, |size| start.saturating_add(size))))
}

fn wrong_arguments(arguments: Raw<'_>) -> Option<&'static str> {
    match arguments.kind() {
        Kind::Object => None,
        Kind::String => Some("arguments must be an object, got string"),
        Kind::Array => Some("arguments must be an object, got array"),
        Kind::Number => Some("arguments must be an object, got number"),
        _ => Some("arguments must be an object, got boolean"),
    }
}

fn in_flight(slot: &Slot, id: Raw<'_>) -> bool {
    !matches!(slot.state, State::Free | State::Doomed) && Raw::trusted(slot.id.get()).same_id(id)
}

const fn line_span(line: Span) -> Span {
    Span::new(0, line.len())
}

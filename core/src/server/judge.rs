//! What a request gets.
use super::Source;
use super::config::Conf;
use super::jobs::{Data, Job, Part, server_side};
use super::slot::SlotServer;
use super::state::{Lend, Server, Step};
use crate::json::{Kind, Raw};
use crate::machine::Noise;
use crate::machine::mem::Span;
use crate::machine::slots::{Side, Slot, State};
use crate::mcp::{Abilities, LEGACY, Method, Refusal, Route, Version, claim};
use crate::rpc::{Envelope, Fault};

/// The least length of a message that must be readable to offer 2026-07-28.
const MODERN_LEAST: usize = 400;

/// The members of params that are used, from the start of the line.
#[derive(Clone, Copy, Default)]
struct Params<'a> {
    name: Option<Raw<'a>>,
    arguments: Option<Raw<'a>>,
    cursor: Option<Raw<'a>>,
    meta: Option<Raw<'a>>,
}

impl<'a> Params<'a> {
    #[inline(never)]
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
pub(super) enum Verdict {
    Say(Job),
    Call(Lend),
    Open { version: Version, can: Abilities, client: Option<Span> },
}

impl Server<'_> {
    /// What the request gets. Spans of the verdict count from the start of the line.
    #[inline(never)]
    pub(super) fn judge(
        &mut self,
        line: Span,
        at: Span,
        id: Span,
        envelope: &Envelope,
    ) -> Result<Verdict, (Refusal, Data)> {
        let all = line.of(self.rx.bytes());
        let message = at.of(all);
        let span = |raw: Raw<'_>| Span::within(all, raw.as_bytes()).unwrap_or_default();
        let method = Method::of(Raw::trusted(envelope.method.unwrap_or_default().of(message)));
        let raw_id = Raw::trusted(id.of(all));
        let ignore = self.config.get().rest().noise == Noise::Ignore;
        let open = self.slots.all().iter().find(|slot| in_flight(slot, raw_id));
        // A handshake ends what is open; on a line where noise is ignored the peer may have started anew.
        let spared = open.is_some_and(|slot| match method {
            Method::Initialize => !ignore && is_modern(slot),
            Method::Discover => !ignore,
            _ => true,
        });
        let rebooted = open.is_some() && method == Method::Discover && ignore;
        if spared {
            return refuse(Refusal::IdInUse);
        }
        let params = envelope.params.map(|p| Raw::trusted(p.of(message))).filter(|p| !p.is_null());
        if params.is_some_and(|p| p.kind() != Kind::Object) {
            return refuse(Refusal::ParamsShape);
        }
        let found = Params::read(params);
        if found.meta.is_some_and(|m| m.kind() != Kind::Object) {
            return refuse(Refusal::MetaShape);
        }
        let claim = claim(found.meta);
        let config = self.config.get();
        let batched = self.line.batch.is_some();
        let route = self.session.route(method, &claim, config.rest().has_tools());
        if batched && (claim.version.is_some() || matches!(route, Route::Initialize)) {
            return refuse(Refusal::NotInABatch);
        }
        let verdict = match route {
            Route::Refuse(why) => {
                let requested = claim.version.filter(|_| why == Refusal::Unsupported);
                return Err((why, requested.map_or(Data::None, |v| Data::Versions(span(v)))));
            }
            Route::Initialize => return initialize(params, &span),
            Route::Ping => Verdict::Say(Job::Empty { id }),
            // What every stateless request says of its sender takes some 300 bytes: a client is told before it starts.
            Route::Discover if self.rx.limit() < MODERN_LEAST => {
                return Err((Refusal::ModernTooLarge, Data::Limit(self.rx.limit())));
            }
            Route::Discover => Verdict::Say(Job::Discover { id }),
            Route::List(ready) => {
                let Some((item, until)) = page(config, found.cursor) else {
                    return refuse(Refusal::Cursor);
                };
                Verdict::Say(Job::Tools { id, version: ready.version, part: Part::Head, item, until })
            }
            Route::Call(ready) => {
                let Some(name) = found.name.filter(|n| n.kind() == Kind::String) else {
                    return refuse(Refusal::NameShape);
                };
                if let Some(why) = found.arguments.and_then(wrong_arguments) {
                    return refuse(why);
                }
                if let Source::Table(table) = config.rest().tools
                    && !table.iter().any(|tool| name.is(tool.name))
                {
                    return refuse(Refusal::NoTool);
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

    #[inline(never)]
    pub(super) fn open(&mut self, version: Version, can: Abilities) {
        let all = self.config.get().rest().noise == Noise::Ignore;
        self.doom(|slot| all || !is_modern(slot));
        self.session.legacy = Some(version);
        self.session.can = can;
    }

    /// A call that may start as soon as there are a slot and room.
    #[inline(never)]
    pub(super) fn take(&mut self, line: Span, call: Lend, at: Span) -> Step {
        let place = at.shifted(line.start);
        let id = call.id;
        let config = self.config.get();
        if !self.tx.has_room(config.rest().reply.unwrap_or(usize::MAX)) {
            return Step::Send;
        }
        let Some(slot) = self.slots.find_free(self.serial) else {
            // An open array can't wait: what would free a slot could not be sent before its end.
            if config.rest().refuse_when_full || self.line.batch.is_some() {
                self.refuse(id, Refusal::Busy, Data::None);
                return Step::Fault(Fault::Busy, place);
            }
            return Step::Blocked;
        };
        let call = call.shifted(line.start);
        if !self.fill(slot, &call) {
            self.refuse(id, Refusal::IdTooLong, Data::None);
            return Step::Fault(Fault::IdTooLong, place);
        }
        self.next_message();
        Step::Call(slot, call)
    }

    /// Notes a call in its slot; false if its id does not fit.
    #[inline(never)]
    pub(super) fn fill(&mut self, index: u16, lend: &Lend) -> bool {
        let long = self.slots.keeps_long();
        let serial = self.serial;
        let Some(slot) = self.slots.at(index) else { return false };
        let bytes = self.rx.bytes();
        if !slot.id.set(lend.id.of(bytes), long) {
            return false;
        }
        // A token that does not fit only means that no progress is told.
        slot.token.set(lend.token.unwrap_or_default().of(bytes), long);
        slot.serial = serial;
        slot.state = State::Lent;
        slot.side = Side::Server(SlotServer::new(lend.ready.version));
        self.serial = self.serial.wrapping_add(1).max(1);
        self.most_calls = self.most_calls.max(self.slots.in_use());
        true
    }
}

const fn refuse<T>(why: Refusal) -> Result<T, (Refusal, Data)> {
    Err((why, Data::None))
}

#[inline(never)]
fn initialize(params: Option<Raw<'_>>, span: &dyn Fn(Raw<'_>) -> Span) -> Result<Verdict, (Refusal, Data)> {
    let Some(params) = params else { return refuse(Refusal::NoVersion) };
    let Some(wanted) = params.get("protocolVersion").filter(|v| v.kind() == Kind::String) else {
        return refuse(Refusal::VersionShape);
    };
    if !LEGACY {
        // 2026-07-28, basic/versioning: who is asked for a handshake that he doesn't know names what he speaks.
        return Err((Refusal::Unsupported, Data::Versions(span(wanted))));
    }
    let legacy = Version::ALL.into_iter().find(|v| !v.is_modern() && wanted.is(v.as_str()));
    let version = legacy.unwrap_or(Version::NEWEST_LEGACY);
    let name = params.get("clientInfo").and_then(|info| info.get("name"));
    let can = params.get("capabilities").map(Abilities::read).unwrap_or_default();
    Ok(Verdict::Open { version, can, client: name.filter(|n| n.kind() == Kind::String).map(span) })
}

/// The page that a cursor asks for: its first item, and where it ends.
#[inline(never)]
fn page(config: Conf<'_>, cursor: Option<Raw<'_>>) -> Option<(usize, usize)> {
    let size = config.rest().page.map(usize::from);
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let mut start = 0usize;
            for digit in cursor.as_string()?.chars() {
                // Pages start at others than the first, and we write no zero in front.
                let digit = digit.to_digit(10).filter(|d| start > 0 || *d > 0)?;
                start = start.checked_mul(10)?.checked_add(digit as usize)?;
            }
            let canonical = start > 0 && start.checked_rem(size?)? == 0;
            let inside = match config.rest().tools {
                Source::Table(table) => start < table.len(),
                _ => true,
            };
            (canonical && inside).then_some(start)?
        }
    };
    Some((start, size.map_or(usize::MAX, |size| start.saturating_add(size))))
}

fn wrong_arguments(arguments: Raw<'_>) -> Option<Refusal> {
    match arguments.kind() {
        Kind::Object => None,
        Kind::String => Some(Refusal::ArgumentsString),
        Kind::Array => Some(Refusal::ArgumentsArray),
        Kind::Number => Some(Refusal::ArgumentsNumber),
        _ => Some(Refusal::ArgumentsBool),
    }
}

#[inline(never)]
pub(super) fn in_flight(slot: &Slot, id: Raw<'_>) -> bool {
    !matches!(slot.state, State::Free | State::Doomed) && Raw::trusted(slot.id.get()).same_id(id)
}

fn is_modern(slot: &Slot) -> bool {
    server_side(Some(slot)).is_some_and(|own| own.version.is_stateless())
}

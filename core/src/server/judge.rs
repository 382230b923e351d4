//! What a request gets.
use super::Source;
use super::config::Conf;
use super::jobs::{Data, Job, Part, server_side};
use super::slot::SlotServer;
use super::state::{Hand, Lend, Server, Step, Waiting};
use super::usual;
use crate::json::{Kind, Raw, SMALL, pick};
use crate::machine::Noise;
use crate::machine::mem::Span;
use crate::machine::slots::{Side, Slot, State};
use crate::mcp::{Abilities, LEGACY, Method, Refusal, Route, Version};
use crate::rpc::{Envelope, Fault};

/// The least length of a message that must be readable to offer 2026-07-28.
const MODERN_LEAST: usize = 400;

impl Server<'_> {
    /// What the request gets.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn judge(
        &mut self,
        hand: &Hand,
        id: Span,
        envelope: &Envelope,
    ) -> Result<Step, (Refusal, Data)> {
        let all = hand.line.of(self.rx.bytes());
        let message = hand.at.of(all);
        let method = Method::of(Raw::trusted(envelope.method.unwrap_or_default().of(message)));
        let config = self.config.get();
        let ignore = config.rest().noise == Noise::Ignore;
        let raw_id = Raw::trusted(id.of(all));
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
        let mut found = [None; 4];
        let claimed = usual::params(params.unwrap_or(Raw::EMPTY_OBJECT), &mut found);
        let [name, arguments, cursor, meta] = found.map(|value| value.filter(|v| !v.is_null()));
        if meta.is_some_and(|m| m.kind() != Kind::Object) {
            return refuse(Refusal::MetaShape);
        }
        let claim = usual::claim_by(claimed, meta);
        let batched = self.line.batch.is_some();
        let route = self.session.route(method, &claim, config.rest().has_tools());
        if batched && (claim.version.is_some() || matches!(route, Route::Initialize)) {
            return refuse(Refusal::NotInABatch);
        }
        let job = match route {
            Route::Refuse(why) => {
                let requested = claim.version.filter(|_| why == Refusal::Unsupported);
                return Err((why, requested.map_or(Data::None, |v| Data::Versions(place(all, v)))));
            }
            Route::Initialize => {
                let Opening { version, can, client } = initialize(params, all)?;
                self.open(version, can);
                self.line.start(Job::Initialize { id, version });
                return Ok(Step::Opened { version, client: client.shifted(hand.line.start) });
            }
            Route::Ping => Job::Empty { id },
            // What every stateless request says of its sender takes some 300 bytes: a client is told before it starts.
            Route::Discover if self.rx.limit() < MODERN_LEAST => {
                return Err((Refusal::ModernTooLarge, Data::Limit(self.rx.limit())));
            }
            Route::Discover => Job::Discover { id },
            Route::List(ready) => {
                let Some((item, until)) = page(config, cursor) else {
                    return refuse(Refusal::Cursor);
                };
                Job::Tools { id, version: ready.version, part: Part::Head, item, until }
            }
            Route::Call(ready) => {
                let Some(name) = name.filter(|n| n.kind() == Kind::String) else {
                    return refuse(Refusal::NameShape);
                };
                if let Some(why) = arguments.and_then(wrong_arguments) {
                    return refuse(why);
                }
                let tool = match config.rest().tools {
                    Source::Table(table) => match table.iter().position(|tool| name.is(tool.name)) {
                        None => return refuse(Refusal::NoTool),
                        found => found,
                    },
                    _ => None,
                };
                self.waiting = Some(Waiting {
                    at: hand.at,
                    call: Lend {
                        id,
                        name: place(all, name),
                        tool: tool.filter(|_| !SMALL).and_then(Lend::place_of),
                        args: arguments.map(|raw| place(all, raw)),
                        meta: meta.map(|raw| place(all, raw)),
                        token: claim.token.map(|raw| place(all, raw)),
                        ready,
                    },
                });
                self.session.modern |= claim.version.is_some();
                return Ok(self.take(hand.line));
            }
        };
        self.session.modern |= claim.version.is_some();
        if rebooted {
            self.doom(|_| true);
        }
        self.line.start(job);
        Ok(Step::Again)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn open(&mut self, version: Version, can: Abilities) {
        let all = self.config.get().rest().noise == Noise::Ignore;
        self.doom(|slot| all || !is_modern(slot));
        self.session.legacy = Some(version);
        self.session.can = can;
    }

    /// The call that waits, as soon as there are a slot and room.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn take(&mut self, line: Span) -> Step {
        let Some(Waiting { at, call }) = &self.waiting else { return Step::Again };
        let (id, place) = (call.id, at.shifted(line.start));
        let config = self.config.get();
        let refused = config.rest().refuse_when_full || self.line.batch.is_some();
        if !self.tx.has_room(config.rest().reply.unwrap_or(usize::MAX)) {
            return Step::Send;
        }
        self.slots.trim();
        let (why, fault) = match self.slots.find_free(self.serial) {
            Some(slot) if self.fill(slot, line) => return Step::Call(slot),
            Some(_) => (Refusal::IdTooLong, Fault::IdTooLong),
            // An open array can't wait: what would free a slot could not be sent before its end.
            None if refused => (Refusal::Busy, Fault::Busy),
            None => return Step::Blocked,
        };
        self.refuse(id, why, Data::None);
        Step::Fault(fault, place)
    }

    /// Notes the call that waits in a slot; false if its id does not fit.
    #[cfg_attr(target_os = "none", inline(never))]
    fn fill(&mut self, index: u16, line: Span) -> bool {
        let long = self.slots.keeps_long();
        let (Some(slot), Some(Waiting { call, .. })) = (self.slots.at(index), &self.waiting) else {
            return false;
        };
        let bytes = line.of(self.rx.bytes());
        if !slot.id.set(call.id.of(bytes), long) {
            return false;
        }
        // A token that does not fit only means that no progress is told.
        slot.token.set(call.token.unwrap_or_default().of(bytes), long);
        slot.serial = self.serial;
        slot.state = State::Lent;
        slot.side = Side::Server(SlotServer::new(call.ready.version));
        self.serial = self.serial.wrapping_add(1).max(1);
        self.most_calls = self.most_calls.max(self.slots.in_use());
        true
    }
}

/// Where a part of the line stands in it.
#[cfg_attr(target_os = "none", inline(never))]
fn place(line: &[u8], part: Raw<'_>) -> Span {
    Span::within(line, part.as_bytes()).unwrap_or_default()
}

const fn refuse<T>(why: Refusal) -> Result<T, (Refusal, Data)> {
    Err((why, Data::None))
}

/// What a handshake agrees on; the client's name from the start of the line, with its quotes.
struct Opening {
    version: Version,
    can: Abilities,
    client: Span,
}

#[cfg_attr(target_os = "none", inline(never))]
fn initialize(params: Option<Raw<'_>>, line: &[u8]) -> Result<Opening, (Refusal, Data)> {
    let Some(params) = params else { return refuse(Refusal::NoVersion) };
    let mut found = [None; 3];
    pick(params, &["protocolVersion", "clientInfo", "capabilities"], &mut found);
    let [wanted, info, capabilities] = found;
    let Some(wanted) = wanted.filter(|v| v.kind() == Kind::String) else {
        return refuse(Refusal::VersionShape);
    };
    if !LEGACY {
        // 2026-07-28, basic/versioning: who is asked for a handshake that he doesn't know names what he speaks.
        return Err((Refusal::Unsupported, Data::Versions(place(line, wanted))));
    }
    let legacy = Version::ALL.into_iter().find(|v| !v.is_modern() && wanted.is(v.as_str()));
    let name = info.and_then(|info| info.get("name")).filter(|name| name.kind() == Kind::String);
    Ok(Opening {
        version: legacy.unwrap_or(Version::NEWEST_LEGACY),
        can: capabilities.map(Abilities::read).unwrap_or_default(),
        client: name.map(|name| place(line, name)).unwrap_or_default(),
    })
}

/// The page that a cursor asks for: its first item, and where it ends.
#[cfg_attr(target_os = "none", inline(never))]
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

#[cfg_attr(target_os = "none", inline(never))]
pub(super) fn in_flight(slot: &Slot, id: Raw<'_>) -> bool {
    !matches!(slot.state, State::Free | State::Doomed) && Raw::trusted(slot.id.get()).same_id(id)
}

fn is_modern(slot: &Slot) -> bool {
    server_side(Some(slot)).is_some_and(|own| own.version.is_stateless())
}

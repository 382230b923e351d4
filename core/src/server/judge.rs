//! What a request gets.
use super::Source;
use super::config::Conf;
use super::jobs::{Data, Part, To, What, server_side};
use super::slot::SlotServer;
use super::state::{Asked, Hand, Server, Step};
use super::usual::{Known, Params};
use crate::json::{Kind, Raw, SMALL, divide, pick};
use crate::machine::Noise;
use crate::machine::mem::Span;
use crate::machine::slots::{Side, Slot, State};
use crate::mcp::{Abilities, LEGACY, Method, Refusal, Route, Version};
use crate::rpc::{Envelope, Fault};

/// The least length of a message that must be readable to offer 2026-07-28.
const MODERN_LEAST: usize = 400;

impl Server<'_> {
    /// What the request gets: a job was started, or a call waits.
    pub(super) fn judge(&mut self, hand: &Hand, id: Span, envelope: &Envelope) -> Result<Route, Refusal> {
        (self.asked.id, self.asked.at) = (id, hand.at);
        let method = Method::of(hand.part(self.rx.bytes(), Some(envelope.content)));
        let rebooted = self.reuses(hand, id, method)?;
        let route = self.route(hand, envelope, method)?;
        let what = match route {
            Route::Initialize => {
                self.initialize(hand)?;
                self.open(hand.line);
                What::Meet { version: self.asked.ready.version }
            }
            Route::Ping => What::Empty,
            // What every stateless request says of its sender takes some 300 bytes: a client is told before it starts.
            Route::Discover if self.rx.limit() < MODERN_LEAST => return Err(Refusal::ModernTooLarge),
            Route::Discover => What::Meet { version: Version::V2026_07_28 },
            Route::List => {
                let cursor = Raw::trusted(self.asked.cursor.of(hand.line.of(self.rx.bytes())));
                let (item, until) = page(self.config.get(), cursor).ok_or(Refusal::Cursor)?;
                What::Tools { version: self.asked.ready.version, part: Part::Head, item, until }
            }
            Route::Call => {
                self.check_call(hand.line)?;
                What::Done
            }
        };
        self.session.modern |= self.asked.version.len() > 0;
        self.waiting = route == Route::Call;
        if !self.waiting {
            if rebooted {
                self.doom(|_| true);
            }
            self.line.start(To::Message(id), what);
        }
        Ok(route)
    }

    /// Refuses the id of an open request, but where a handshake ends what is open; on a line where noise is ignored the peer may have
    /// started anew, which is then true.
    fn reuses(&self, hand: &Hand, id: Span, method: Method) -> Result<bool, Refusal> {
        let ignore = self.config.get().rest().noise == Noise::Ignore;
        let id = Raw::trusted(id.of(hand.line.of(self.rx.bytes())));
        let Some(open) = self.slots.all().iter().find(|slot| in_flight(slot, id)) else { return Ok(false) };
        match method {
            Method::Initialize if ignore || !is_modern(open) => Ok(false),
            Method::Discover if ignore => Ok(true),
            _ => Err(Refusal::IdInUse),
        }
    }

    /// Finds the parts of a request, reads what it claims, and says where it goes.
    #[cfg_attr(target_os = "none", inline(never))]
    fn route(&mut self, hand: &Hand, envelope: &Envelope, method: Method) -> Result<Route, Refusal> {
        let known = find_parts(&mut self.asked, self.rx.bytes(), hand, envelope)?;
        let line = hand.line.of(self.rx.bytes());
        let claim = known.claim(Raw::trusted(self.asked.meta.of(line)));
        self.asked.token = given(line, claim.token);
        self.asked.version = claim.version.map(|version| place(line, version)).unwrap_or_default();
        let tools = self.config.get().rest().has_tools();
        let route = self.session.route(method, &claim, tools, &mut self.asked.ready);
        if self.line.batch.is_some() && (claim.version.is_some() || route == Ok(Route::Initialize)) {
            return Err(Refusal::NotInABatch);
        }
        if let (Ok(Route::Call), Some(can), true) = (route, claim.capabilities, claim.version.is_some()) {
            self.asked.ready.can = Abilities::read(can);
        }
        route
    }

    /// Whether a call can be made at all.
    fn check_call(&mut self, line: Span) -> Result<(), Refusal> {
        let line = line.of(self.rx.bytes());
        let name = Raw::trusted(self.asked.name.of(line));
        if name.kind() != Kind::String {
            return Err(Refusal::NameShape);
        }
        match Raw::trusted(self.asked.arguments.of(line)).kind() {
            Kind::Object | Kind::Null => {}
            Kind::String => return Err(Refusal::ArgumentsString),
            Kind::Array => return Err(Refusal::ArgumentsArray),
            Kind::Number => return Err(Refusal::ArgumentsNumber),
            Kind::Bool => return Err(Refusal::ArgumentsBool),
        }
        self.asked.tool = None;
        if let Source::Table(table) = self.config.get().rest().tools {
            let tool = table.iter().position(|tool| name.is(tool.name)).ok_or(Refusal::NoTool)?;
            self.asked.tool = u16::try_from(tool).ok().filter(|_| !SMALL);
        }
        Ok(())
    }

    /// A handshake.
    fn initialize(&mut self, hand: &Hand) -> Result<(), Refusal> {
        const NAMES: &[&str] = &["protocolVersion", "clientInfo"];
        let line = hand.line.of(self.rx.bytes());
        let params = Raw::trusted(self.asked.params.of(line));
        if params.is_null() {
            return Err(Refusal::NoVersion);
        }
        let mut found = [None; NAMES.len()];
        pick(params, NAMES, &mut found);
        let [wanted, info] = found;
        let wanted = wanted.filter(|v| v.kind() == Kind::String).ok_or(Refusal::VersionShape)?;
        if !LEGACY {
            // 2026-07-28, basic/versioning: who is asked for a handshake that he doesn't know names what he speaks.
            self.asked.version = place(line, wanted);
            return Err(Refusal::Unsupported);
        }
        let legacy = Version::ALL.into_iter().find(|v| !v.is_modern() && wanted.is(v.as_str()));
        let version = legacy.unwrap_or(Version::NEWEST_LEGACY);
        let name = info.and_then(|info| info.get("name")).filter(|name| name.kind() == Kind::String);
        self.asked.name = name.map(|name| place(line, name).shifted(hand.line.start)).unwrap_or_default();
        self.asked.ready.version = version;
        Ok(())
    }

    /// Opens the session that a handshake agreed on. A step of its own, for the stack's sake.
    #[cfg_attr(target_os = "none", inline(never))]
    fn open(&mut self, line: Span) {
        let params = Raw::trusted(self.asked.params.of(line.of(self.rx.bytes())));
        let can = params.get("capabilities").map(Abilities::read).unwrap_or_default();
        let version = self.asked.ready.version;
        let all = self.config.get().rest().noise == Noise::Ignore;
        self.doom(|slot| all || !is_modern(slot));
        self.session.legacy = Some(version);
        self.session.can = can;
    }

    /// The call that waits, as soon as there are a slot and room.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn take(&mut self, line: Span) -> Step {
        let (id, place) = (self.asked.id, self.asked.at.shifted(line.start));
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
    fn fill(&mut self, index: u16, line: Span) -> bool {
        let long = self.slots.keeps_long();
        let (Some(slot), call) = (self.slots.at(index), &self.asked) else { return false };
        let bytes = line.of(self.rx.bytes());
        if !slot.id.set(call.id.of(bytes), long) {
            return false;
        }
        // A token that does not fit only means that no progress is told.
        slot.token.set(call.token.of(bytes), long);
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

/// Finds the parts of a request in the receive buffer; says what it met of the claim. Apart from what reads the claim, for the stack's sake.
#[cfg_attr(target_os = "none", inline(never))]
fn find_parts<'l>(
    asked: &mut Asked,
    bytes: &'l [u8],
    hand: &Hand,
    envelope: &Envelope,
) -> Result<Known<'l>, Refusal> {
    let line = hand.line.of(bytes);
    let params = hand.part(bytes, envelope.params);
    if !matches!(params.kind(), Kind::Object | Kind::Null) {
        return Err(Refusal::ParamsShape);
    }
    asked.params = given(line, Some(params));
    let Params { found: [name, arguments, cursor, meta], known } = Params::read(params);
    if meta.is_some_and(|meta| !matches!(meta.kind(), Kind::Object | Kind::Null)) {
        return Err(Refusal::MetaShape);
    }
    asked.name = given(line, name);
    asked.arguments = given(line, arguments);
    asked.cursor = given(line, cursor);
    asked.meta = given(line, meta);
    Ok(known)
}

/// The same for what may be left out, or null.
#[cfg_attr(target_os = "none", inline(never))]
fn given(line: &[u8], part: Option<Raw<'_>>) -> Span {
    part.filter(|part| !part.is_null()).map(|part| place(line, part)).unwrap_or_default()
}

/// The page that a cursor (or nothing) asks for: its first item, and where it ends.
#[cfg_attr(target_os = "none", inline(never))]
fn page(config: Conf<'_>, cursor: Raw<'_>) -> Option<(usize, usize)> {
    let size = config.rest().page.map(u32::from);
    let start = match cursor.kind() {
        Kind::Null => 0,
        _ => {
            let mut start = 0usize;
            for digit in cursor.as_string()?.chars() {
                // Pages start at others than the first, and we write no zero in front.
                let digit = digit.to_digit(10).filter(|d| start > 0 || *d > 0)?;
                start = start.checked_mul(10)?.checked_add(digit as usize)?;
            }
            let canonical = start > 0 && divide(start as u64, size?).1 == 0;
            let inside = match config.rest().tools {
                Source::Table(table) => start < table.len(),
                _ => true,
            };
            (canonical && inside).then_some(start)?
        }
    };
    Some((start, size.map_or(usize::MAX, |size| start.saturating_add(size as usize))))
}

#[cfg_attr(target_os = "none", inline(never))]
pub(super) fn in_flight(slot: &Slot, id: Raw<'_>) -> bool {
    !matches!(slot.state, State::Free | State::Doomed) && Raw::trusted(slot.id.get()).same_id(id)
}

fn is_modern(slot: &Slot) -> bool {
    server_side(Some(slot)).is_some_and(|own| own.version.is_stateless())
}

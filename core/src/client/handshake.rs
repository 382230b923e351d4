//! Opening a session, in either era.
//!
//! ```text
//! Auto      server/discover ── a result that offers 2026-07-28, -32020, -32021 ─────────────────► open, modern
//!                          ├── -32022 that offers 2026-07-28 ──► server/discover once more
//!                          ├── only legacy versions offered, any other error, an error without id,
//!                          │   silence, an answer that is none ──► initialize
//!                          └── offers nothing that is spoken here ──────────────────────────────► not opened
//! Legacy    initialize ────┬── a result with a legacy version ──► notifications/initialized ───► open, legacy
//!                          ├── an error, and the probe was answered late, after all (Auto) ─────► open, modern
//!                          ├── an error that offers 2026-07-28 (Auto) ──► server/discover
//!                          ├── an error that offers another legacy version ──► initialize once more
//!                          └── anything else ───────────────────────────────────────────────────► not opened
//! ```
//! Each of the two is asked twice at most. (2026-07-28, basic/transports/stdio, "Backward compatibility", and basic/versioning; 2024-11-05 to
//! 2025-11-25, basic/lifecycle.) An error -32022 must say what is supported; one that does not is any other error.
use super::Why;
use super::jobs::Job;
use super::lend::{Ending, Step};
use super::machine::Client;
use super::result::{Current, Opening};
use super::{Era, decode};
use crate::json::{Kind, Raw};
use crate::machine::Millis;
use crate::machine::mem::Span;
use crate::mcp::{LEGACY, MODERN, Version, key};
use crate::rpc::{Code, Envelope, Fault, Shape};

/// How far the session is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Nothing was sent; `legacy`: a server died of the probe.
    Start {
        legacy: bool,
    },
    Probing {
        id: u32,
        until: Option<Millis>,
        tries: Tries,
    },
    /// `probe`: the id of a probe that was given up; `found`: it was answered late, with 2026-07-28.
    Initializing {
        id: u32,
        asked: Version,
        probe: u32,
        found: bool,
        tries: Tries,
    },
    Open(Version),
    /// `probed`: the server went away without answering the probe.
    Shut {
        probed: bool,
    },
}

/// How often each was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tries {
    probes: u8,
    handshakes: u8,
}

impl Phase {
    pub(super) const START: Self = Self::Start { legacy: false };

    pub(super) const fn restarted(self) -> Self {
        match self {
            Self::Probing { tries: Tries { handshakes: 0, .. }, .. }
            | Self::Shut { probed: true }
            | Self::Start { legacy: true } => Self::Start { legacy: true },
            _ => Self::START,
        }
    }

    pub(super) const fn silent_at(self) -> Option<Millis> {
        match self {
            Self::Probing { until, .. } => until,
            _ => None,
        }
    }

    pub(super) const fn version(self) -> Version {
        match self {
            Self::Open(version) => version,
            _ => Version::NEWEST_LEGACY,
        }
    }

    const fn tries(self) -> Tries {
        match self {
            Self::Probing { tries, .. } | Self::Initializing { tries, .. } => tries,
            _ => Tries { probes: 0, handshakes: 0 },
        }
    }
}

/// Which of the versions in a list are spoken here.
#[derive(Clone, Copy, Default)]
struct Offer {
    any: bool,
    modern: bool,
    legacy: Option<Version>,
}

impl Offer {
    #[cfg_attr(target_os = "none", inline(never))]
    fn read(list: Option<Raw<'_>>) -> Self {
        let mut offer = Self::default();
        for item in list.into_iter().flat_map(Raw::elements).filter(|i| i.kind() == Kind::String) {
            offer.any = true;
            match Version::ALL.into_iter().find(|v| item.is(v.as_str())) {
                Some(version) if version.is_modern() => offer.modern = MODERN,
                Some(_) if !LEGACY => {}
                found => offer.legacy = offer.legacy.max(found),
            }
        }
        offer
    }

    /// Of an error: `data.supported`.
    fn of_error(error: Raw<'_>) -> Self {
        Self::read(error.get("data").and_then(|data| data.get("supported")))
    }
}

impl Client<'_> {
    /// What the configuration asks for, as far as it is compiled in: with one era there is nothing to find out.
    fn era(&self) -> Era {
        match self.config.get().era {
            Era::Auto if !MODERN => Era::Legacy,
            Era::Auto if !LEGACY => Era::Modern,
            era => era,
        }
    }

    /// Starts what the handshake needs next by itself, if anything.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn shake(&mut self) -> Option<Step> {
        let started = match self.phase {
            Phase::Start { legacy } => match self.era() {
                _ if !LEGACY && !MODERN => return Some(self.not_opened(Ending::Invalid(Why::Version))),
                Era::Auto if !legacy => self.probe(),
                Era::Modern => self.probe(),
                _ => self.initialize(None),
            },
            Phase::Probing { until: Some(until), .. } if self.current.is_none() && self.now >= until => {
                self.initialize(None)
            }
            _ => return None,
        };
        Some(if started { Step::Again } else { self.not_opened(Ending::TimedOut) })
    }

    /// The session is not open in time.
    pub(super) fn start_expired(&mut self) -> Option<Step> {
        if matches!(self.phase, Phase::Open(_) | Phase::Shut { .. }) || self.losing {
            return None;
        }
        let start = self.config.get().start?;
        let until = *self.start_until.get_or_insert(self.now.after(start));
        (self.now >= until).then(|| self.not_opened(Ending::TimedOut))
    }

    /// Asks who is there; false if that was asked often enough.
    #[cfg_attr(target_os = "none", inline(never))]
    fn probe(&mut self) -> bool {
        let mut tries = self.phase.tries();
        tries.probes = tries.probes.saturating_add(1);
        if tries.probes > 2 || !MODERN {
            return false;
        }
        let Some(id) = self.take_serial() else { return false };
        let config = self.config.get();
        let until = (self.era() == Era::Auto).then(|| self.now.after(config.probe));
        self.phase = Phase::Probing { id, until, tries };
        self.say(Job::Discover { id });
        true
    }

    /// Starts the handshake of old; false if it may not be, or was tried often enough.
    #[cfg_attr(target_os = "none", inline(never))]
    fn initialize(&mut self, version: Option<Version>) -> bool {
        let mut tries = self.phase.tries();
        tries.handshakes = tries.handshakes.saturating_add(1);
        let config = self.config.get();
        if tries.handshakes > 2 || self.era() == Era::Modern || !LEGACY {
            return false;
        }
        let asked = version.unwrap_or_else(|| config.asks_for());
        let (probe, found) = match self.phase {
            Phase::Probing { id, .. } => (id, false),
            Phase::Initializing { probe, found, .. } => (probe, found),
            _ => (0, false),
        };
        let Some(id) = self.take_serial() else { return false };
        self.phase = Phase::Initializing { id, asked, probe, found, tries };
        self.say(Job::Initialize { id, version: asked });
        true
    }

    /// There will be no session. Ends with `Closed`.
    pub(super) fn not_opened(&mut self, end: Ending) -> Step {
        let probed = matches!(end, Ending::Lost)
            && matches!(self.phase, Phase::Probing { tries: Tries { handshakes: 0, .. }, .. })
            && self.era() == Era::Auto;
        self.phase = Phase::Shut { probed };
        (self.current, self.line.job, self.line.at, self.start_until) = (None, None, 0, None);
        self.tx.clear();
        Step::NotOpened(end)
    }

    /// Is this the id of a handshake's question that waits for its answer?
    pub(super) fn is_handshake(&self, wire: u32) -> bool {
        match self.phase {
            Phase::Probing { id, .. } => wire == id,
            // 0 is nobody's: ids start at 1.
            Phase::Initializing { id, probe, .. } => wire == id || wire == probe && probe != 0,
            _ => false,
        }
    }

    /// The handshake's question got an answer that can't be read.
    pub(super) fn handshake_broken(&mut self, wire: u32, why: Why) -> Step {
        let goes_on = match self.phase {
            Phase::Probing { .. } => self.initialize(None),
            Phase::Initializing { id, .. } => id != wire,
            _ => false,
        };
        if goes_on { Step::Again } else { self.not_opened(Ending::Invalid(why)) }
    }

    /// An error that names no request, while there is only the probe.
    pub(super) fn probe_refused(&mut self) -> bool {
        matches!(self.phase, Phase::Probing { .. }) && self.initialize(None)
    }

    /// The answer to the handshake's question. The message is at `at` of the line.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn handshake_answer(&mut self, line: Span, at: Span, wire: u32, envelope: &Envelope) -> Step {
        let place = at.shifted(line.start);
        let value = envelope.content.shifted(place.start);
        let is_error = envelope.shape == Shape::Error;
        let json = Raw::trusted(value.of(self.rx.bytes()));
        match self.phase {
            Phase::Initializing { id, asked, probe, tries, .. } if id != wire => {
                // The probe is answered late.
                let found = !is_error && Offer::read(json.get("supportedVersions")).modern;
                self.phase = Phase::Initializing { id, asked, probe, found, tries };
                self.next_message();
                Step::Again
            }
            Phase::Initializing { asked, found, .. } => {
                if is_error {
                    self.initialize_refused(value, asked, found)
                } else {
                    self.initialized(line, value)
                }
            }
            _ if is_error => self.discover_refused(value),
            _ => self.discovered(line, value),
        }
    }

    /// `server/discover` has a result.
    #[cfg_attr(target_os = "none", inline(never))]
    fn discovered(&mut self, line: Span, value: Span) -> Step {
        let bytes = self.rx.bytes();
        let result = Raw::trusted(value.of(bytes));
        let complete = result.get("resultType").is_none_or(|t| t.is("complete"));
        let offer = Offer::read(result.get("supportedVersions"));
        if complete && offer.modern {
            let info = result.get("_meta").and_then(|meta| meta.get(key::SERVER_INFO));
            // Drafts of the revision had it where the handshake has it.
            let info = info.or_else(|| result.get("serverInfo"));
            let opening = self.opening(line, Version::V2026_07_28, result, info);
            self.current = Some(Current::Opening(opening));
            return Step::Again;
        }
        let fits = offer.legacy.is_some() || !offer.any || !complete;
        self.next_message();
        if fits && self.initialize(self.preferred(offer)) {
            return Step::Again;
        }
        self.not_opened(Ending::Invalid(if offer.any {
            Why::Version
        } else {
            Why::Shape("`supportedVersions` is missing")
        }))
    }

    /// What to ask for of what a server offers: what the application wants, else the newest.
    fn preferred(&self, offer: Offer) -> Option<Version> {
        self.config.get().protocol_version.filter(|v| !v.is_modern()).or(offer.legacy)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn discover_refused(&mut self, error: Span) -> Step {
        let json = Raw::trusted(error.of(self.rx.bytes()));
        let code = json.get("code").and_then(Raw::as_i64).map(Code);
        let offer = Offer::of_error(json);
        let end = self.error_end(error);
        self.next_message();
        let only_legacy = offer.legacy.is_some() && !offer.modern;
        let next = match code {
            _ if only_legacy => self.initialize(self.preferred(offer)),
            Some(Code::UNSUPPORTED_VERSION) if offer.modern => self.probe(),
            Some(Code::UNSUPPORTED_VERSION) if offer.any => false,
            Some(Code::MISSING_CAPABILITY | Code::HEADER_MISMATCH) => {
                self.current = Some(Current::Opening(Opening::bare(Version::V2026_07_28)));
                true
            }
            _ => self.initialize(None),
        };
        if next { Step::Again } else { self.not_opened(end) }
    }

    /// `initialize` has a result.
    #[cfg_attr(target_os = "none", inline(never))]
    fn initialized(&mut self, line: Span, value: Span) -> Step {
        let result = Raw::trusted(value.of(self.rx.bytes()));
        let Some(version) = result.get("protocolVersion").filter(|v| v.kind() == Kind::String) else {
            self.next_message();
            return self
                .not_opened(Ending::Invalid(Why::Shape("`protocolVersion` is missing, or not a string")));
        };
        let spoken = Version::ALL.into_iter().find(|v| !v.is_modern() && version.is(v.as_str()));
        let Some(version) = spoken else {
            self.next_message();
            return self.not_opened(Ending::Invalid(Why::Version));
        };
        let opening = self.opening(line, version, result, result.get("serverInfo"));
        self.current = Some(Current::Opening(opening));
        self.say(Job::Initialized);
        Step::Again
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn initialize_refused(&mut self, error: Span, asked: Version, found: bool) -> Step {
        let json = Raw::trusted(error.of(self.rx.bytes()));
        let modern = json.get("code").and_then(Raw::as_i64).map(Code) == Some(Code::UNSUPPORTED_VERSION);
        let offer = Offer::of_error(json);
        let end = self.error_end(error);
        self.next_message();
        if found {
            // Whatever it dislikes about `initialize`, it said what it speaks.
            self.current = Some(Current::Opening(Opening::bare(Version::V2026_07_28)));
            return Step::Again;
        }
        let auto = self.era() == Era::Auto;
        let next = auto && (offer.modern || modern && !offer.any) && self.probe()
            || offer.legacy.is_some_and(|v| v != asked) && self.initialize(offer.legacy);
        if next { Step::Again } else { self.not_opened(end) }
    }

    /// What will be told of the server; places count from the start of the line.
    #[cfg_attr(target_os = "none", inline(never))]
    fn opening(&self, line: Span, version: Version, result: Raw<'_>, info: Option<Raw<'_>>) -> Opening {
        let all = line.of(self.rx.bytes());
        let of = |value: Option<Raw<'_>>, kind: Kind| {
            value.filter(|v| v.kind() == kind).map(|v| decode::place(all, v))
        };
        Opening {
            version,
            name: of(info.and_then(|i| i.get("name")), Kind::String),
            server_version: of(info.and_then(|i| i.get("version")), Kind::String),
            instructions: of(result.get("instructions"), Kind::String),
            capabilities: of(result.get("capabilities"), Kind::Object),
            has_line: true,
        }
    }

    /// An error object, as the end of something.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn error_end(&self, error: Span) -> Ending {
        let all = self.rx.bytes();
        let json = Raw::trusted(error.of(all));
        let message = json.get("message").filter(|m| m.kind() == Kind::String);
        Ending::Error {
            code: Code(json.get("code").and_then(Raw::as_i64).unwrap_or(0)),
            message: message.map(|m| decode::place(all, m)),
            data: json.get("data").map(|d| decode::place(all, d)),
        }
    }

    /// An error without an id: nobody's, but while there is only the probe it must be the probe's.
    pub(super) fn nameless(&mut self, place: Span, envelope: &Envelope) -> Step {
        let error = envelope.content.shifted(place.start);
        let end = self.error_end(error);
        self.next_message();
        if matches!(self.phase, Phase::Probing { .. }) && !self.probe_refused() {
            return self.not_opened(end);
        }
        Step::Fault(Fault::ErrorWithoutId, place)
    }
}

//! The one place that knows eras: what a request may ask, given what it claims and what was agreed before.
//!
//! ```text
//!                      no claim                                a claim (_meta names a protocol version)
//! initialize           handshake, at any time                  -32601
//! ping                 {}                                      -32601
//! server/discover      -32602: says what is missing            -32602, -32022 or the answer
//! tools/…              served once a handshake was answered,   -32602, -32022 or served as 2026-07-28
//!                      else -32602: says what is missing
//! anything else        -32601                                  -32602, -32022, else -32601
//! ```
//! Without the feature `modern` a claim is not seen, and `server/discover` is a method like any other that is not there. Without
//! `legacy`, `initialize` gets -32022 with the versions that are spoken, `ping` -32601, and whatever claims nothing is told what is missing.
//!
//! No era is pinned: each message is judged by itself (2026-07-28, basic/versioning, "dual-era servers").
use super::{LEGACY, MODERN, Refusal, Version, key};
use crate::json::{Kind, Raw, SMALL, pick, which};

/// What the client declared that it can be asked.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Abilities {
    /// Forms for the user (since 2025-06-18).
    pub form: bool,
    /// Sending the user to a URL (since 2025-11-25).
    pub url: bool,
    /// Asking its model.
    pub sample: bool,
    /// Asking its model with tools (since 2025-11-25).
    pub sample_tools: bool,
    /// Listing its roots.
    pub roots: bool,
}

impl Abilities {
    /// None of them.
    pub const NONE: Self = Self { form: false, url: false, sample: false, sample_tools: false, roots: false };

    /// Can show forms to the user.
    #[must_use]
    pub const fn form(mut self) -> Self {
        self.form = true;
        self
    }

    /// Can send the user to a URL.
    #[must_use]
    pub const fn url(mut self) -> Self {
        self.url = true;
        self
    }

    /// Can ask its model.
    #[must_use]
    pub const fn sample(mut self) -> Self {
        self.sample = true;
        self
    }

    /// Can ask its model, with tools.
    #[must_use]
    pub const fn sample_tools(mut self) -> Self {
        self.sample = true;
        self.sample_tools = true;
        self
    }

    /// Can list its roots.
    #[must_use]
    pub const fn roots(mut self) -> Self {
        self.roots = true;
        self
    }

    /// Reads `capabilities` of a client.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) fn read(capabilities: Raw<'_>) -> Self {
        if !SMALL && capabilities == Raw::EMPTY_OBJECT {
            return Self::NONE;
        }
        let mut can = Self::default();
        let mut found = [None; 3];
        pick(capabilities, &["elicitation", "sampling", "roots"], &mut found);
        let [elicitation, sampling, roots] = found;
        if let Some(modes) = elicitation {
            can.url = modes.get("url").is_some();
            // An empty object means forms, as before there were two modes.
            can.form = modes.get("form").is_some() || !can.url;
        }
        can.sample = sampling.is_some();
        can.sample_tools = sampling.is_some_and(|sampling| sampling.get("tools").is_some());
        can.roots = roots.is_some();
        can
    }
}

/// How grave a log message is (RFC 5424).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Level {
    /// For finding faults.
    Debug,
    /// Normal.
    Info,
    /// Normal, but worth a look.
    Notice,
    /// May become an error.
    Warning,
    /// Something failed.
    Error,
    /// A part is down.
    Critical,
    /// Act at once.
    Alert,
    /// Unusable.
    Emergency,
}

impl Level {
    const NAMES: [(&'static str, Self); 8] = [
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("notice", Self::Notice),
        ("warning", Self::Warning),
        ("error", Self::Error),
        ("critical", Self::Critical),
        ("alert", Self::Alert),
        ("emergency", Self::Emergency),
    ];

    /// As on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) fn read(raw: Raw<'_>) -> Option<Self> {
        Self::NAMES.iter().find(|(name, _)| raw.is(name)).map(|(_, level)| *level)
    }
}

/// The reserved keys of one `_meta`.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub(crate) version: Option<Raw<'a>>,
    pub(crate) capabilities: Option<Raw<'a>>,
    pub(crate) log: Option<Raw<'a>>,
    pub(crate) token: Option<Raw<'a>>,
    /// `clientInfo` or the progress token has a wrong type, which only a stateless peer is told.
    wrong: bool,
    pub(crate) twice: bool,
}

/// Reads `params._meta`; anything but an object claims nothing.
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) fn claim(meta: Option<Raw<'_>>) -> Claim<'_> {
    const NAMES: &[&str] = &[
        key::PROGRESS_TOKEN,
        // To who does not speak 2026-07-28 its keys mean nothing.
        key::PROTOCOL_VERSION,
        key::CLIENT_CAPABILITIES,
        key::LOG_LEVEL,
        key::CLIENT_INFO,
    ];
    let names = if MODERN { NAMES } else { &[key::PROGRESS_TOKEN] };
    let mut found = [None; 5];
    let twice = meta.is_some_and(|meta| pick(meta, names, &mut found));
    claim_of(found, twice)
}

/// The same of what was found: token, version, capabilities, log level and client.
#[inline]
pub(crate) fn claim_of(
    [token, version, capabilities, log, info]: [Option<Raw<'_>>; 5],
    twice: bool,
) -> Claim<'_> {
    let wrong = info.is_some_and(|info| info.kind() != Kind::Object)
        || token.is_some_and(|token| !crate::rpc::is_id(token));
    Claim { version, capabilities, log, token: token.filter(|_| !wrong), wrong, twice }
}

/// The methods that a server of tools knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Method {
    Initialize,
    Ping,
    Discover,
    ToolsList,
    ToolsCall,
    Other,
}

impl Method {
    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) fn of(raw: Raw<'_>) -> Self {
        const NAMES: &[&str] = &["initialize", "ping", "server/discover", "tools/list", "tools/call"];
        if !SMALL {
            match raw.as_bytes() {
                b"\"tools/call\"" => return Self::ToolsCall,
                b"\"tools/list\"" => return Self::ToolsList,
                _ => {}
            }
        }
        match raw.as_string().and_then(|name| which(name, NAMES)) {
            Some(0) => Self::Initialize,
            Some(1) => Self::Ping,
            Some(2) => Self::Discover,
            Some(3) => Self::ToolsList,
            Some(4) => Self::ToolsCall,
            _ => Self::Other,
        }
    }
}

/// What a request that may be served is served with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) version: Version,
    pub(crate) can: Abilities,
    pub(crate) log: Option<Level>,
}

impl Ready {
    /// Before anything is known.
    pub(crate) const NOT: Self = Self { version: Version::NEWEST_LEGACY, can: Abilities::NONE, log: None };
}

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Route {
    Initialize,
    Ping,
    Discover,
    List,
    Call,
}

/// What was agreed by a handshake, and whether a modern peer was heard.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Session {
    pub(crate) legacy: Option<Version>,
    pub(crate) can: Abilities,
    pub(crate) modern: bool,
}

impl Session {
    /// Judges a request; `ready` is what it is served with. `tools`: does this server have any?
    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) fn route(
        &self,
        method: Method,
        claim: &Claim<'_>,
        tools: bool,
        ready: &mut Ready,
    ) -> Result<Route, Refusal> {
        if claim.twice {
            return Err(Refusal::TwiceTheKey);
        }
        if !LEGACY && !MODERN {
            return Err(Refusal::NoMethod);
        }
        let stateless = MODERN && claim.version.is_some();
        if stateless {
            modern(claim, ready)?;
        } else if let Some(version) = self.legacy {
            *ready = Ready { version, can: self.can, log: None };
        }
        let is_ready = stateless || LEGACY && self.legacy.is_some();
        match method {
            Method::Discover if stateless => Ok(Route::Discover),
            Method::Discover if MODERN => Err(Refusal::NoClaim),
            Method::Initialize if !stateless => Ok(Route::Initialize),
            Method::Ping if LEGACY && !stateless => Ok(Route::Ping),
            Method::ToolsList if tools && is_ready => Ok(Route::List),
            Method::ToolsCall if tools && is_ready => Ok(Route::Call),
            Method::ToolsList | Method::ToolsCall if tools => Err(match (LEGACY, MODERN) {
                (true, true) => Refusal::NoSession,
                (true, false) => Refusal::NoHandshake,
                _ => Refusal::NoClaim,
            }),
            _ => Err(Refusal::NoMethod),
        }
    }

    /// May an error leave its id out? Schemas allow it since 2025-11-25; `null` is what JSON-RPC has and older peers know.
    pub(crate) fn omits_id(&self) -> bool {
        !LEGACY && MODERN || self.modern || self.legacy == Some(Version::V2025_11_25)
    }
}

/// The ladder of 2026-07-28: form of `_meta`, then the version; method and params come after it. What the client can do is read by who needs it:
/// here it would be deepest on the stack.
#[cfg_attr(target_os = "none", inline(never))]
fn modern(claim: &Claim<'_>, ready: &mut Ready) -> Result<(), Refusal> {
    let version = claim.version.filter(|v| v.kind() == Kind::String).ok_or(Refusal::ClaimVersion)?;
    claim.capabilities.filter(|c| c.kind() == Kind::Object).ok_or(Refusal::ClaimCapabilities)?;
    if claim.wrong {
        return Err(Refusal::ClaimOthers);
    }
    let log = match claim.log {
        None => None,
        Some(log) => Some(Level::read(log).ok_or(Refusal::ClaimLevel)?),
    };
    if !version.is(Version::V2026_07_28.as_str()) {
        return Err(Refusal::Unsupported);
    }
    *ready = Ready { version: Version::V2026_07_28, can: Abilities::NONE, log };
    Ok(())
}

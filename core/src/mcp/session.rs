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
//! No era is pinned: each message is judged by itself (2026-07-28, basic/versioning, "dual-era servers").
use super::{Version, key};
use crate::json::{Kind, Raw};
use crate::rpc::Code;

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
    pub(crate) fn read(capabilities: Raw<'_>) -> Self {
        let mut can = Self::default();
        for (name, value) in capabilities.members() {
            if name.is("elicitation") {
                can.url = value.get("url").is_some();
                // An empty object means forms, as before there were two modes.
                can.form = value.get("form").is_some() || !can.url;
            } else if name.is("sampling") {
                can.sample = true;
                can.sample_tools = value.get("tools").is_some();
            } else if name.is("roots") {
                can.roots = true;
            }
        }
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

    pub(crate) fn read(raw: Raw<'_>) -> Option<Self> {
        Self::NAMES.iter().find(|(name, _)| raw.is(name)).map(|(_, level)| *level)
    }
}

/// The reserved keys of one `_meta`.
#[derive(Clone, Copy, Default)]
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
pub(crate) fn claim(meta: Option<Raw<'_>>) -> Claim<'_> {
    let mut claim = Claim::default();
    let Some(meta) = meta else { return claim };
    let mut info = None;
    for (name, value) in meta.members() {
        let place = if name.is(key::PROTOCOL_VERSION) {
            &mut claim.version
        } else if name.is(key::CLIENT_CAPABILITIES) {
            &mut claim.capabilities
        } else if name.is(key::LOG_LEVEL) {
            &mut claim.log
        } else if name.is(key::PROGRESS_TOKEN) {
            &mut claim.token
        } else if name.is(key::CLIENT_INFO) {
            &mut info
        } else {
            continue;
        };
        claim.twice |= place.replace(value).is_some();
    }
    claim.wrong = info.is_some_and(|info| info.kind() != Kind::Object);
    claim.wrong |= claim.token.is_some_and(|token| !crate::rpc::is_id(token));
    claim.token = claim.token.filter(|_| !claim.wrong);
    claim
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
    pub(crate) fn of(raw: Raw<'_>) -> Self {
        match raw.as_bytes() {
            b"\"tools/call\"" => return Self::ToolsCall,
            b"\"tools/list\"" => return Self::ToolsList,
            _ => {}
        }
        let all = [
            ("initialize", Self::Initialize),
            ("ping", Self::Ping),
            ("server/discover", Self::Discover),
            ("tools/list", Self::ToolsList),
            ("tools/call", Self::ToolsCall),
        ];
        all.iter().find(|(name, _)| raw.is(name)).map_or(Self::Other, |(_, method)| *method)
    }
}

/// What a request that may be served is served with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) version: Version,
    pub(crate) can: Abilities,
    pub(crate) log: Option<Level>,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Route {
    Initialize,
    Ping,
    Discover,
    List(Ready),
    Call(Ready),
    /// The error, and whether its data names the versions that are spoken.
    Refuse(Code, &'static str, bool),
}

/// What was agreed by a handshake, and whether a modern peer was heard.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Session {
    pub(crate) legacy: Option<Version>,
    pub(crate) can: Abilities,
    pub(crate) modern: bool,
}

const NO_METHOD: Route = Route::Refuse(Code::METHOD_NOT_FOUND, "Method not found", false);

impl Session {
    /// Judges a request. `tools`: does this server have any?
    pub(crate) fn route(&self, method: Method, claim: &Claim<'_>, tools: bool) -> Route {
        if claim.twice {
            return Route::Refuse(Code::INVALID_REQUEST, "a reserved key of _meta stands there twice", false);
        }
        if claim.version.is_some() {
            return match modern(claim) {
                Ok(ready) => match method {
                    Method::Discover => Route::Discover,
                    Method::ToolsList if tools => Route::List(ready),
                    Method::ToolsCall if tools => Route::Call(ready),
                    _ => NO_METHOD,
                },
                Err(refused) => refused,
            };
        }
        match (method, self.legacy) {
            (Method::Initialize, _) => Route::Initialize,
            (Method::Ping, _) => Route::Ping,
            (Method::Discover, _) => Route::Refuse(
                Code::INVALID_PARAMS,
                "params._meta needs io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities",
                false,
            ),
            (Method::ToolsList, Some(version)) if tools => Route::List(self.ready(version)),
            (Method::ToolsCall, Some(version)) if tools => Route::Call(self.ready(version)),
            (Method::ToolsList | Method::ToolsCall, None) if tools => Route::Refuse(
                Code::INVALID_PARAMS,
                "no session: send initialize first, or io.modelcontextprotocol/protocolVersion and \
                 io.modelcontextprotocol/clientCapabilities in params._meta",
                false,
            ),
            _ => NO_METHOD,
        }
    }

    const fn ready(&self, version: Version) -> Ready {
        Ready { version, can: self.can, log: None }
    }

    /// May an error leave its id out? Schemas allow it since 2025-11-25; `null` is what JSON-RPC has and older peers know.
    pub(crate) fn omits_id(&self) -> bool {
        self.modern || self.legacy == Some(Version::V2025_11_25)
    }
}

/// The ladder of 2026-07-28: form of `_meta`, then the version; method and params come after it.
fn modern(claim: &Claim<'_>) -> Result<Ready, Route> {
    let wrong = |text| Route::Refuse(Code::INVALID_PARAMS, text, false);
    let version = claim.version.filter(|v| v.kind() == Kind::String);
    let version = version.ok_or(wrong("_meta: io.modelcontextprotocol/protocolVersion must be a string"))?;
    let capabilities = claim.capabilities.filter(|c| c.kind() == Kind::Object);
    let capabilities = capabilities
        .ok_or(wrong("_meta: io.modelcontextprotocol/clientCapabilities must be there, an object"))?;
    if claim.wrong {
        return Err(wrong("_meta: clientInfo must be an object, progressToken a string or an integer"));
    }
    let log = match claim.log {
        None => None,
        Some(log) => {
            Some(Level::read(log).ok_or(wrong("_meta: io.modelcontextprotocol/logLevel is no known level"))?)
        }
    };
    if !version.is(Version::V2026_07_28.as_str()) {
        return Err(Route::Refuse(Code::UNSUPPORTED_VERSION, "Unsupported protocol version", true));
    }
    Ok(Ready { version: Version::V2026_07_28, can: Abilities::read(capabilities), log })
}

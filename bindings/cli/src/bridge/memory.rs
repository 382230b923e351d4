//! What a session is made of, so that it can be made again with a server that has forgotten it.

use barewire::json::Raw;

/// How many subscriptions are remembered.
const SUBSCRIPTIONS: usize = 256;

/// A request of the host, as far as it must be known.
#[derive(Debug)]
pub(super) enum Ask {
    /// `initialize`, the whole line.
    Initialize {
        line: Box<[u8]>,
        /// The host said `notifications/initialized` without waiting for the answer.
        initialized: bool,
        /// That went to somebody who is gone: it is said again once this is answered.
        again: bool,
    },
    /// `server/discover`, the whole line.
    Discover(Box<[u8]>),
    /// `logging/setLevel`, its params.
    Level(Box<[u8]>),
    /// `resources/subscribe`, its params.
    Subscribe(Box<[u8]>),
    /// `resources/unsubscribe`, its params.
    Unsubscribe(Box<[u8]>),
    /// `subscriptions/listen`, which is only answered when it ends.
    Listen,
    /// Anything else.
    Other,
}

impl Ask {
    pub(super) fn of(line: &[u8], method: Raw<'_>, params: Option<Raw<'_>>) -> Self {
        let params = || params.unwrap_or(Raw::EMPTY_OBJECT).as_bytes().into();
        match () {
            () if method.is("initialize") => {
                Self::Initialize { line: line.into(), initialized: false, again: false }
            }
            () if method.is("server/discover") => Self::Discover(line.into()),
            () if method.is("logging/setLevel") => Self::Level(params()),
            () if method.is("resources/subscribe") => Self::Subscribe(params()),
            () if method.is("resources/unsubscribe") => Self::Unsubscribe(params()),
            () if method.is("subscriptions/listen") => Self::Listen,
            () => Self::Other,
        }
    }

    /// The line of a handshake, which carries nothing out and may be sent again.
    pub(super) fn handshake(&self) -> Option<&[u8]> {
        match self {
            Self::Initialize { line, .. } | Self::Discover(line) => Some(line),
            _ => None,
        }
    }

    /// This handshake is sent once more, for the first try may not have been heard, nor what was said behind it.
    pub(super) const fn repeat(&mut self) {
        if let Self::Initialize { initialized, again, .. } = self {
            *again = *initialized;
        }
    }
}

/// What the host and the server agreed on.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) legacy: Option<Legacy>,
    /// The params of the newest `server/discover` that was answered with a result.
    pub(super) discover: Option<Box<[u8]>>,
    /// The host has sent `notifications/initialized`.
    pub(super) initialized: bool,
}

/// A session of the revisions up to 2025-11-25.
pub(super) struct Legacy {
    /// Of the host's `initialize`.
    pub(super) params: Box<[u8]>,
    /// Of its answer.
    pub(super) version: Box<[u8]>,
    pub(super) capabilities: Box<[u8]>,
    /// The params of `logging/setLevel`.
    pub(super) level: Option<Box<[u8]>>,
    /// The params of `resources/subscribe`, each once.
    pub(super) subscriptions: Vec<Box<[u8]>>,
}

impl Memory {
    /// A request was answered with a result.
    pub(super) fn learn(&mut self, ask: Ask, result: Raw<'_>) {
        match ask {
            Ask::Initialize { line, initialized, .. } => {
                self.discover = None;
                self.initialized = initialized;
                self.legacy = Some(Legacy {
                    params: params(&line),
                    version: member(result, "protocolVersion"),
                    capabilities: member(result, "capabilities"),
                    level: None,
                    subscriptions: Vec::new(),
                });
            }
            Ask::Discover(line) => self.discover = Some(params(&line)),
            Ask::Level(params) => {
                if let Some(legacy) = &mut self.legacy {
                    legacy.level = Some(params);
                }
            }
            Ask::Subscribe(params) => {
                if let Some(legacy) = &mut self.legacy {
                    legacy.forget(&params);
                    if legacy.subscriptions.len() < SUBSCRIPTIONS {
                        legacy.subscriptions.push(params);
                    }
                }
            }
            Ask::Unsubscribe(params) => {
                if let Some(legacy) = &mut self.legacy {
                    legacy.forget(&params);
                }
            }
            Ask::Listen | Ask::Other => {}
        }
    }
}

impl Legacy {
    fn forget(&mut self, params: &[u8]) {
        let uri =
            |params: &[u8]| Some(Raw::from_bytes(params).ok()?.get("uri")?.as_string()?.chars().collect());
        let gone: Option<String> = uri(params);
        self.subscriptions.retain(|own| uri(own) != gone);
    }

    /// What the server's lists are called that it said may change.
    pub(super) fn lists(&self) -> Vec<&'static str> {
        let Ok(capabilities) = Raw::from_bytes(&self.capabilities) else { return Vec::new() };
        let changes = |name: &&str| {
            let list = capabilities.get(name).and_then(|list| list.get("listChanged"));
            list.and_then(Raw::as_bool) == Some(true)
        };
        ["tools", "prompts", "resources"].into_iter().filter(changes).collect()
    }
}

/// A member as it came; `null` if it is absent.
pub(super) fn member(object: Raw<'_>, key: &str) -> Box<[u8]> {
    object.get(key).unwrap_or(Raw::NULL).as_bytes().into()
}

fn params(line: &[u8]) -> Box<[u8]> {
    let params = Raw::from_bytes(line).ok().and_then(|request| request.get("params"));
    params.unwrap_or(Raw::EMPTY_OBJECT).as_bytes().into()
}

//! What servers see of a client.
use crate::machine::{Framing, Millis};
use crate::mcp::{Abilities, Version};
#[cfg(feature = "alloc")]
use alloc::{boxed::Box, string::String};

/// Which kind of server is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Era {
    /// Asks first (`server/discover`), and falls back to the handshake (2026-07-28, basic/transports/stdio,
    /// "Backward compatibility"). Every request to a modern server carries some 250 bytes of `_meta`: against a device that
    /// receives into less than 512 bytes choose [`Legacy`](Self::Legacy).
    #[default]
    Auto,
    /// Starts with the handshake of 2024-11-05 to 2025-11-25.
    Legacy,
    /// Only 2026-07-28.
    Modern,
}

/// What servers see of the client, and how it behaves. Borrowed by the machine, so that it can stay in flash.
///
/// ```
/// use barewire::{ClientConfig, Era, Millis};
/// static CONFIG: ClientConfig<'static> = ClientConfig::new("panel", "1.0.0").era(Era::Auto).probe(Millis(2_000));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ClientConfig<'b> {
    /// `clientInfo.name`.
    pub name: &'b str,
    /// `clientInfo.version`.
    pub version: &'b str,
    /// Which kind of server is expected; [`Era::Auto`] unless set.
    pub era: Era,
    /// What `initialize` asks for; the newest that has a handshake unless set. A server may answer with another one
    /// (all revisions to 2025-11-25, basic/lifecycle, "Version negotiation").
    pub protocol_version: Option<Version>,
    /// What the server may ask in return. Told to modern servers alone: questions of legacy ones are refused (-32601).
    pub can: Abilities,
    /// How input is divided; [`Framing::Lines`] unless set.
    pub framing: Framing,
    /// With [`Era::Auto`]: how long `server/discover` may stay unanswered before `initialize` is sent; 10 s unless set.
    pub probe: Millis,
    /// How long all of it may take until the session is open; 60 s unless set, for ever if `None`.
    pub start: Option<Millis>,
    /// Ask for the next page of a list by itself; true unless set.
    pub follow_pages: bool,
    /// Vendor keys to announce in the handshake, a JSON object.
    pub extensions: Option<&'b str>,
    /// The id of the first request; 1 unless set.
    pub first_id: u32,
}

impl<'b> ClientConfig<'b> {
    /// A client that asks for nothing special.
    #[must_use]
    pub const fn new(name: &'b str, version: &'b str) -> Self {
        Self {
            name,
            version,
            era: Era::Auto,
            protocol_version: None,
            can: Abilities::NONE,
            framing: Framing::Lines,
            probe: Millis(10_000),
            start: Some(Millis(60_000)),
            follow_pages: true,
            extensions: None,
            first_id: 1,
        }
    }

    /// Sets which kind of server is expected.
    #[must_use]
    pub const fn era(mut self, era: Era) -> Self {
        self.era = era;
        self
    }

    /// Sets what `initialize` asks for. 2026-07-28 has no handshake and counts as not set.
    #[must_use]
    pub const fn protocol_version(mut self, version: Version) -> Self {
        self.protocol_version = Some(version);
        self
    }

    /// Sets what the server may ask in return.
    #[must_use]
    pub const fn can(mut self, can: Abilities) -> Self {
        self.can = can;
        self
    }

    /// Sets how input is divided.
    #[must_use]
    pub const fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// Sets how long `server/discover` may stay unanswered.
    #[must_use]
    pub const fn probe(mut self, time: Millis) -> Self {
        self.probe = time;
        self
    }

    /// Sets how long it may take until the session is open.
    #[must_use]
    pub const fn start(mut self, time: Option<Millis>) -> Self {
        self.start = time;
        self
    }

    /// Sets whether the next page of a list is asked for by itself.
    #[must_use]
    pub const fn follow_pages(mut self, follow: bool) -> Self {
        self.follow_pages = follow;
        self
    }

    /// Announces vendor keys, a JSON object: as `capabilities.experimental` in `initialize`, as `extensions` of the
    /// client's capabilities in `server/discover`; requests do not repeat them.
    #[must_use]
    pub const fn extensions(mut self, json: &'b str) -> Self {
        self.extensions = Some(json);
        self
    }

    /// Sets the id of the first request; those that follow count up from it, 0 is taken for 1. On a channel without an end, such
    /// as a serial line, a server may still work for the client before: another start for each session keeps their
    /// answers apart.
    #[must_use]
    pub const fn first_id(mut self, id: u32) -> Self {
        self.first_id = id;
        self
    }

    /// What `initialize` asks for.
    pub(super) fn asks_for(&self) -> Version {
        self.protocol_version.filter(|v| !v.is_modern()).unwrap_or(Version::NEWEST_LEGACY)
    }
}

/// The machine's configuration: the caller's, or (feature `alloc`) a copy.
pub(super) enum Config<'b> {
    Lent(&'b ClientConfig<'b>),
    #[cfg(feature = "alloc")]
    Owned(Box<OwnedConfig>),
}

#[cfg(feature = "alloc")]
pub(super) struct OwnedConfig {
    name: String,
    version: String,
    extensions: Option<String>,
    rest: ClientConfig<'static>,
}

impl Config<'_> {
    #[cfg(feature = "alloc")]
    pub(super) fn owning(config: &ClientConfig<'_>) -> Self {
        let rest = ClientConfig {
            name: "",
            version: "",
            era: config.era,
            protocol_version: config.protocol_version,
            can: config.can,
            framing: config.framing,
            probe: config.probe,
            start: config.start,
            follow_pages: config.follow_pages,
            extensions: None,
            first_id: config.first_id,
        };
        Self::Owned(Box::new(OwnedConfig {
            name: config.name.into(),
            version: config.version.into(),
            extensions: config.extensions.map(Into::into),
            rest,
        }))
    }

    pub(super) fn get(&self) -> ClientConfig<'_> {
        match self {
            Self::Lent(config) => **config,
            #[cfg(feature = "alloc")]
            Self::Owned(own) => ClientConfig {
                name: &own.name,
                version: &own.version,
                extensions: own.extensions.as_deref(),
                ..own.rest
            },
        }
    }
}

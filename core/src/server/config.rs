//! What peers see of a server.
use crate::machine::{Framing, Millis, Noise};
use crate::mcp::Tool;
#[cfg(feature = "alloc")]
use alloc::{boxed::Box, string::String};

/// Where a list comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Source<'b, T> {
    /// Not offered: the capability is not announced, its methods answer -32601.
    None,
    /// A table, usually `static`: the machine lists it and looks names up in it.
    Table(&'b [T]),
    /// The application answers [`ServerEvent::List`](crate::ServerEvent::List), and refuses unknown names itself.
    Dynamic,
}

/// What peers see of the server, and how it behaves. Borrowed by the machine, so that it can stay in flash.
///
/// ```
/// use barewire::{Noise, ServerConfig, Tool};
/// static TOOLS: &[Tool<'static>] = &[Tool::new("blink", "Blink once.", r#"{"type":"object"}"#)];
/// static CONFIG: ServerConfig<'static> = ServerConfig::new("board", "1.0.0").tools(TOOLS).noise(Noise::Answer);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ServerConfig<'b> {
    /// `serverInfo.name`.
    pub name: &'b str,
    /// `serverInfo.version`.
    pub version: &'b str,
    /// How a model should use this server.
    pub instructions: Option<&'b str>,
    /// The tools.
    pub tools: Source<'b, Tool<'b>>,
    /// What becomes of input without a readable id; [`Noise::Ignore`] unless set.
    pub noise: Noise,
    /// How input is divided; [`Framing::Lines`] unless set.
    pub framing: Framing,
    /// Tools on one page of `tools/list`; all on one unless set.
    pub page: Option<u16>,
    /// The most bytes of one reply; all of a lent transmit buffer, or 10,000,000 of a growing one, unless set.
    pub reply: Option<usize>,
    /// Refuse a call that finds no slot (-32603 "busy") instead of leaving it unread.
    pub refuse_when_full: bool,
    /// Announce that the list of tools may change (legacy revisions), so that
    /// [`Server::tools_changed`](crate::Server::tools_changed) tells the peer.
    pub list_changed: bool,
    /// After the end of input, how long deferred calls may still be answered; 5 s unless set.
    pub drain: Millis,
    /// Vendor keys to announce, a JSON object.
    pub extensions: Option<&'b str>,
}

impl<'b> ServerConfig<'b> {
    /// A server without tools.
    #[must_use]
    pub const fn new(name: &'b str, version: &'b str) -> Self {
        Self {
            name,
            version,
            instructions: None,
            tools: Source::None,
            noise: Noise::Ignore,
            framing: Framing::Lines,
            page: None,
            reply: None,
            refuse_when_full: false,
            list_changed: false,
            drain: Millis(5000),
            extensions: None,
        }
    }

    /// Offers a table of tools.
    #[must_use]
    pub const fn tools(mut self, table: &'b [Tool<'b>]) -> Self {
        self.tools = Source::Table(table);
        self
    }

    /// Offers tools that the application lists.
    #[must_use]
    pub const fn dynamic_tools(mut self) -> Self {
        self.tools = Source::Dynamic;
        self
    }

    /// Tells models how to use the server.
    #[must_use]
    pub const fn instructions(mut self, text: &'b str) -> Self {
        self.instructions = Some(text);
        self
    }

    /// Sets what becomes of noise.
    #[must_use]
    pub const fn noise(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    /// Sets how input is divided.
    #[must_use]
    pub const fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// Lists at most `tools` tools a page (0 counts as 1).
    #[must_use]
    pub const fn page(mut self, tools: u16) -> Self {
        self.page = Some(if tools == 0 { 1 } else { tools });
        self
    }

    /// Bounds one reply. With a lent transmit buffer, a fraction of it lets many answers share one write. What fits
    /// never depends on timing.
    #[must_use]
    pub const fn reply(mut self, bytes: usize) -> Self {
        self.reply = Some(bytes);
        self
    }

    /// Refuses calls beyond the slots instead of pushing back on the peer.
    #[must_use]
    pub const fn refuse_when_full(mut self) -> Self {
        self.refuse_when_full = true;
        self
    }

    /// Announces that the list of tools may change.
    #[must_use]
    pub const fn list_changed(mut self) -> Self {
        self.list_changed = true;
        self
    }

    /// Sets how long deferred calls may be answered after the end of input.
    #[must_use]
    pub const fn drain(mut self, time: Millis) -> Self {
        self.drain = time;
        self
    }

    /// Announces vendor keys, a JSON object: as `capabilities.extensions` from 2026-07-28 on, as
    /// `capabilities.experimental` before.
    ///
    /// ```
    /// # use barewire::ServerConfig;
    /// static CONFIG: ServerConfig<'static> =
    ///     ServerConfig::new("board", "1.0.0").extensions(r#"{"com.example/blink":{}}"#);
    /// ```
    #[must_use]
    pub const fn extensions(mut self, json: &'b str) -> Self {
        self.extensions = Some(json);
        self
    }

    pub(crate) const fn has_tools(&self) -> bool {
        !matches!(self.tools, Source::None)
    }
}

/// The machine's configuration: the caller's, or (feature `alloc`) a copy whose tables became dynamic.
pub(crate) enum Config<'b> {
    Lent(&'b ServerConfig<'b>),
    #[cfg(feature = "alloc")]
    Owned(Box<OwnedConfig>),
}

#[cfg(feature = "alloc")]
pub(crate) struct OwnedConfig {
    name: String,
    version: String,
    instructions: Option<String>,
    extensions: Option<String>,
    rest: ServerConfig<'static>,
}

impl Config<'_> {
    #[cfg(feature = "alloc")]
    pub(crate) fn owning(config: &ServerConfig<'_>) -> Self {
        let tools = if config.has_tools() { Source::Dynamic } else { Source::None };
        let rest = ServerConfig {
            name: "",
            version: "",
            instructions: None,
            tools,
            noise: config.noise,
            framing: config.framing,
            page: config.page,
            reply: config.reply,
            refuse_when_full: config.refuse_when_full,
            list_changed: config.list_changed,
            drain: config.drain,
            extensions: None,
        };
        Self::Owned(Box::new(OwnedConfig {
            name: config.name.into(),
            version: config.version.into(),
            instructions: config.instructions.map(Into::into),
            extensions: config.extensions.map(Into::into),
            rest,
        }))
    }

    pub(crate) fn get(&self) -> Conf<'_> {
        match self {
            Self::Lent(config) => Conf::Lent(config),
            #[cfg(feature = "alloc")]
            Self::Owned(own) => Conf::Owned(own),
        }
    }
}

/// A look at the configuration, wherever it is: no more than a pointer.
#[derive(Clone, Copy)]
pub(crate) enum Conf<'a> {
    Lent(&'a ServerConfig<'a>),
    #[cfg(feature = "alloc")]
    Owned(&'a OwnedConfig),
}

impl<'a> Conf<'a> {
    pub(crate) fn name(self) -> &'a str {
        match self {
            Self::Lent(config) => config.name,
            #[cfg(feature = "alloc")]
            Self::Owned(own) => &own.name,
        }
    }

    pub(crate) fn version(self) -> &'a str {
        match self {
            Self::Lent(config) => config.version,
            #[cfg(feature = "alloc")]
            Self::Owned(own) => &own.version,
        }
    }

    pub(crate) fn instructions(self) -> Option<&'a str> {
        match self {
            Self::Lent(config) => config.instructions,
            #[cfg(feature = "alloc")]
            Self::Owned(own) => own.instructions.as_deref(),
        }
    }

    pub(crate) fn extensions(self) -> Option<&'a str> {
        match self {
            Self::Lent(config) => config.extensions,
            #[cfg(feature = "alloc")]
            Self::Owned(own) => own.extensions.as_deref(),
        }
    }

    /// All that is no text.
    pub(crate) fn rest(self) -> &'a ServerConfig<'a> {
        match self {
            Self::Lent(config) => config,
            #[cfg(feature = "alloc")]
            Self::Owned(own) => &own.rest,
        }
    }
}

impl core::fmt::Debug for Conf<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Conf").field(&self.name()).finish()
    }
}

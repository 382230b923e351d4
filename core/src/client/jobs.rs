//! The machine's own messages. Each is a pure function of what the machine remembers, made again from its start for every
//! piece, so that it goes through a transmit buffer of any size.
use super::ClientConfig;
use crate::json::{
    Fixed, Raw, SMALL, Sink as _, digits, is_plain, write_i64, write_raw, write_str, write_str_part,
    write_u64,
};
use crate::machine::mem::Span;
use crate::machine::tx::{Out, put_all};
use crate::mcp::{Abilities, Level, Version, key, write};
use crate::rpc::Code;

/// A message of the machine's own that is under way. Spans count from the start of the line at hand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job {
    Discover {
        id: u32,
    },
    Initialize {
        id: u32,
        version: Version,
    },
    Initialized,
    /// The server is told that a request is given up, and its slot is free then.
    Cancelled {
        slot: u16,
        wire: u32,
    },
    /// `{}`, to a ping.
    Pong {
        id: Span,
    },
    Refuse {
        id: Span,
        code: Code,
        text: &'static str,
    },
    /// The next page of a list; the cursor stands in the line at hand.
    NextPage {
        slot: u16,
        wire: u32,
        cursor: Span,
        progress: bool,
    },
}

impl Job {
    /// Is it about the message at hand?
    pub(super) const fn needs_line(&self) -> bool {
        matches!(self, Self::Pong { .. } | Self::Refuse { .. } | Self::NextPage { .. })
    }
}

/// What a request says about itself in `_meta`.
#[derive(Clone, Copy)]
pub(super) struct Meta<'a> {
    pub(super) version: Version,
    pub(super) token: Option<u32>,
    pub(super) log: Option<Level>,
    /// The application's own.
    pub(super) more: Option<Raw<'a>>,
    /// The vendor keys of the configuration too: when the server is met.
    pub(super) meets: bool,
}

impl Meta<'_> {
    /// Is there anything to say?
    pub(super) fn is_needed(&self) -> bool {
        self.version.is_stateless() || self.token.is_some() || self.own_members().next().is_some()
    }

    /// Is there anything to say that not every request says?
    pub(super) const fn has_more(&self) -> bool {
        self.token.is_some() || self.log.is_some() || self.more.is_some()
    }

    /// The application's members without those that are the machine's: protocol keys win.
    fn own_members(&self) -> impl Iterator<Item = (crate::json::Str<'_>, Raw<'_>)> {
        let log = self.log.is_some();
        self.more.into_iter().flat_map(Raw::members).filter(move |(name, _)| {
            let ours =
                [key::PROTOCOL_VERSION, key::CLIENT_INFO, key::CLIENT_CAPABILITIES, key::PROGRESS_TOKEN];
            !(ours.iter().any(|ours| name.is(ours)) || log && name.is(key::LOG_LEVEL))
        })
    }

    /// What stands in `_meta`, the protocol's keys first (2026-07-28, basic/index, "_meta").
    #[inline(never)]
    pub(super) fn write(&self, out: &mut Out<'_>, config: &ClientConfig<'_>) -> bool {
        let claims = self.version.is_stateless();
        (!claims || self.claim(out, config)) && self.rest(out, !claims)
    }

    /// What every request to a modern server says.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn claim(&self, out: &mut Out<'_>, config: &ClientConfig<'_>) -> bool {
        let extensions = config.extensions.filter(|_| self.meets);
        let (name, own_version) = (config.name, config.version);
        if SMALL {
            let parts = [
                "\"",
                key::PROTOCOL_VERSION,
                "\":\"",
                self.version.as_str(),
                "\",\"",
                key::CLIENT_INFO,
                "\":",
            ];
            return write::all(out, &parts)
                && write::implementation(out, name, own_version)
                && write::all(out, &[",\"", key::CLIENT_CAPABILITIES, "\":"])
                && abilities(out, config.can, extensions);
        }
        if config.can == Abilities::NONE && extensions.is_none() && is_plain(name) && is_plain(own_version) {
            // The same as below for most clients: in one go, where a second copy of the keys costs nothing.
            return put_all!(
                out,
                b"\"io.modelcontextprotocol/protocolVersion\":\"",
                self.version.as_str().as_bytes(),
                b"\",\"io.modelcontextprotocol/clientInfo\":{\"name\":\"",
                name.as_bytes(),
                b"\",\"version\":\"",
                own_version.as_bytes(),
                b"\"},\"io.modelcontextprotocol/clientCapabilities\":{}",
            );
        }
        out.put(b"\"io.modelcontextprotocol/protocolVersion\":\"")
            && out.put(self.version.as_str().as_bytes())
            && out.put(b"\",\"io.modelcontextprotocol/clientInfo\":")
            && write::implementation(out, name, own_version)
            && out.put(b",\"io.modelcontextprotocol/clientCapabilities\":")
            && abilities(out, config.can, extensions)
    }

    /// What follows; `first`: nothing stands before it.
    #[cfg_attr(not(target_os = "none"), inline(never))]
    pub(super) fn rest(&self, out: &mut Out<'_>, mut first: bool) -> bool {
        let mut comma = |out: &mut Out<'_>| core::mem::take(&mut first) || out.put(b",");
        self.token.is_none_or(|token| {
            comma(out)
                && write::all(out, &["\"", key::PROGRESS_TOKEN, "\":"])
                && write_u64(out, u64::from(token))
        }) && self.log.filter(|_| self.version.is_stateless()).is_none_or(|level| {
            comma(out) && write::all(out, &["\"", key::LOG_LEVEL, "\":\"", level.as_str(), "\""])
        }) && self.own_members().all(|(name, value)| {
            comma(out) && out.put(b"\"") && out.put(name.raw()) && out.put(b"\":") && write_raw(out, value)
        })
    }
}

#[inline(never)]
fn abilities(out: &mut Out<'_>, can: Abilities, extensions: Option<&str>) -> bool {
    let elicitation = match (can.form, can.url) {
        (false, false) => "",
        (true, false) => "\"elicitation\":{\"form\":{}}",
        (false, true) => "\"elicitation\":{\"url\":{}}",
        (true, true) => "\"elicitation\":{\"form\":{},\"url\":{}}",
    };
    let sampling = match (can.sample || can.sample_tools, can.sample_tools) {
        (false, _) => "",
        (true, false) => "\"sampling\":{}",
        (true, true) => "\"sampling\":{\"tools\":{}}",
    };
    let roots = if can.roots { "\"roots\":{}" } else { "" };
    let mut first = true;
    let mut comma = || if core::mem::take(&mut first) { "" } else { "," };
    out.put(b"{")
        && [elicitation, sampling, roots]
            .iter()
            .filter(|part| !part.is_empty())
            .all(|part| write::all(out, &[comma(), part]))
        && extensions.is_none_or(|json| write::extensions(out, comma(), json, true))
        && out.put(b"}")
}

/// The method of a request.
#[derive(Clone, Copy)]
pub(super) enum Method<'a> {
    /// One that has nothing to escape.
    Known(&'static str),
    Any(&'a str),
}

/// `{"jsonrpc":"2.0","id":…,"method":…`
pub(super) fn head(out: &mut Out<'_>, id: u32, method: Method<'_>) -> bool {
    if !SMALL && let Method::Known(name) = method {
        let mut number = [0; Fixed::ROOM];
        let id = digits(&mut number, u64::from(id), false);
        return put_all!(out, b"{\"jsonrpc\":\"2.0\",\"id\":", id, b",\"method\":\"", name.as_bytes(), b"\"");
    }
    out.put(b"{\"jsonrpc\":\"2.0\",\"id\":")
        && write_u64(out, u64::from(id))
        && out.put(b",\"method\":\"")
        && match method {
            Method::Known(name) => out.put(name.as_bytes()),
            Method::Any(name) => write_str_part(out, name),
        }
        && out.put(b"\"")
}

/// All that a message can be made of.
pub(super) struct Say<'a> {
    pub(super) config: &'a ClientConfig<'a>,
    /// The line at hand.
    pub(super) line: &'a [u8],
    /// What is spoken.
    pub(super) version: Version,
}

impl Say<'_> {
    /// All of `job`.
    #[inline(never)]
    pub(super) fn job(&self, out: &mut Out<'_>, job: &Job) -> bool {
        match *job {
            Job::Discover { id } => {
                let meta = Meta { version: Version::NEWEST, token: None, log: None, more: None, meets: true };
                head(out, id, Method::Known("server/discover"))
                    && out.put(b",\"params\":{\"_meta\":{")
                    && meta.write(out, self.config)
                    && out.put(b"}}}\n")
            }
            Job::Initialize { id, version } => {
                head(out, id, Method::Known("initialize"))
                    && write::all(out, &[",\"params\":{\"protocolVersion\":\"", version.as_str()])
                    && out.put(b"\",\"capabilities\":{")
                    && self.config.extensions.is_none_or(|json| write::extensions(out, "", json, false))
                    && out.put(b"},\"clientInfo\":")
                    && write::implementation(out, self.config.name, self.config.version)
                    && out.put(b"}}\n")
            }
            Job::Initialized => out.put(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"),
            Job::Cancelled { wire, .. } => {
                out.put(
                    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":",
                ) && write_u64(out, u64::from(wire))
                    && out.put(b"}}\n")
            }
            Job::Pong { id } => self.answer(out, id) && out.put(b",\"result\":{}}\n"),
            Job::Refuse { id, code, text } => {
                self.answer(out, id)
                    && out.put(b",\"error\":{\"code\":")
                    && write_i64(out, code.0)
                    && out.put(b",\"message\":")
                    && write_str(out, text)
                    && out.put(b"}}\n")
            }
            Job::NextPage { wire, cursor, progress, .. } => {
                let meta = Meta {
                    version: self.version,
                    token: progress.then_some(wire),
                    log: None,
                    more: None,
                    meets: false,
                };
                head(out, wire, Method::Known("tools/list"))
                    && out.put(b",\"params\":{")
                    && (!meta.is_needed()
                        || out.put(b"\"_meta\":{") && meta.write(out, self.config) && out.put(b"},"))
                    && out.put(b"\"cursor\":")
                    && out.put(cursor.of(self.line))
                    && out.put(b"}}\n")
            }
        }
    }

    fn answer(&self, out: &mut Out<'_>, id: Span) -> bool {
        out.put(b"{\"jsonrpc\":\"2.0\",\"id\":") && out.put(id.of(self.line))
    }
}

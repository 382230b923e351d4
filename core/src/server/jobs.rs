//! The machine's own messages. Each is a pure function of what the machine remembers, made again from its start for every
//! piece, so that it goes through a transmit buffer of any size.
use super::BadArgs;
use super::config::Conf;
use super::slot::{SlotServer, Stage};
use crate::json::{Raw, Sink, write_i64, write_raw, write_str, write_str_part, write_u64};
use crate::machine::mem::Span;
use crate::machine::slots::{Side, Slot};
use crate::mcp::{Refusal, Version, key, write};
use crate::rpc::Code;

/// Whom an answer goes to, and so what is over when it is out.
#[derive(Clone, Copy, Debug)]
pub(super) enum To {
    /// The message at hand, which has no readable id.
    Nobody,
    /// The message at hand; its id, from the start of the line.
    Message(Span),
    /// The call in a slot.
    Slot(u16),
}

/// What follows the text of an error.
#[derive(Clone, Copy, Debug)]
pub(super) enum Data {
    None,
    /// `data.limit`, in bytes.
    Limit(usize),
    /// `data.supported`, and `data.requested`, which stands in the message.
    Versions(Span),
}

/// A message of the machine's own that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job {
    Error {
        to: To,
        why: Refusal,
        data: Data,
    },
    /// An error of the application whose own text had no room.
    Failed {
        slot: u16,
        code: Code,
    },
    /// Arguments that do not decode.
    BadArgs {
        slot: u16,
        bad: BadArgs,
    },
    /// `{}`
    Empty {
        id: Span,
    },
    Initialize {
        id: Span,
        version: Version,
    },
    Discover {
        id: Span,
    },
    /// The list, from `item` on; how far the head, the item or the tail is written is `Line::at`.
    Tools {
        id: Span,
        version: Version,
        part: Part,
        item: usize,
        until: usize,
    },
    /// What closes a result that was streamed.
    Tail {
        slot: u16,
    },
    /// What closes a batch.
    BatchEnd,
    /// The list of tools changed.
    Changed,
    /// Nothing more to write for the message at hand.
    Done,
}

/// Which part of a list is being written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Head,
    Items,
    /// `more`: another page follows.
    Tail {
        more: bool,
    },
}

/// What stands around one message: nothing and a line feed, or a batch's brackets and commas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    pub(super) before: &'static str,
    pub(super) after: &'static str,
}

impl Around {
    pub(super) const LINE: Self = Self { before: "", after: "\n" };
}

/// All that a message can be made of.
pub(super) struct Say<'a> {
    pub(super) config: Conf<'a>,
    /// The line at hand.
    pub(super) line: &'a [u8],
    pub(super) around: Around,
    pub(super) omits_id: bool,
}

impl Say<'_> {
    fn id(&self, sink: &mut dyn Sink, id: &[u8]) -> bool {
        write::all(sink, &[self.around.before, "{\"jsonrpc\":\"2.0\",\"id\":"]) && sink.put(id)
    }

    /// All of `job`, which is none that writes nothing, nor a list; `slot` is its call's.
    #[inline(never)]
    pub(super) fn job(&self, sink: &mut dyn Sink, job: &Job, slot: Option<&Slot>) -> bool {
        match job {
            Job::Error { to, why, data } => {
                let head = match to {
                    To::Nobody if self.omits_id => {
                        write::all(sink, &[self.around.before, "{\"jsonrpc\":\"2.0\""])
                    }
                    To::Nobody => write::all(sink, &[self.around.before, "{\"jsonrpc\":\"2.0\",\"id\":null"]),
                    To::Message(id) => self.id(sink, id.of(self.line)),
                    To::Slot(_) => self.id(sink, slot.map_or(b"", |s| s.id.get())),
                };
                head && error(sink, why.code(), |sink| why.write(sink), |sink| self.data(sink, *data))
                    && self.end(sink, "}")
            }
            Job::Failed { code, .. } => {
                self.failure(sink, slot.map_or(b"", |s| s.id.get()), (*code, code.text()), None)
            }
            Job::BadArgs { bad, .. } => self.bad_args(sink, *bad, slot),
            Job::Empty { id } => self.id(sink, id.of(self.line)) && self.end(sink, ",\"result\":{}}"),
            Job::Initialize { id, version } => self.initialize(sink, id.of(self.line), *version),
            Job::Discover { id } => self.discover(sink, id.of(self.line)),
            Job::Tail { .. } => slot.is_none_or(|slot| {
                server_side(Some(slot)).is_none_or(|own| self.tail(sink, slot.id.get(), own))
            }),
            Job::BatchEnd => sink.put(b"]\n"),
            Job::Changed => {
                sink.put(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n")
            }
            Job::Tools { .. } | Job::Done => true,
        }
    }

    fn end(&self, sink: &mut dyn Sink, closing: &str) -> bool {
        write::all(sink, &[closing, self.around.after])
    }

    #[inline(never)]
    fn data(&self, sink: &mut dyn Sink, data: Data) -> bool {
        match data {
            Data::None => true,
            Data::Limit(limit) => {
                sink.put(b",\"data\":{\"limit\":") && write_u64(sink, limit as u64) && sink.put(b"}")
            }
            Data::Versions(requested) => {
                sink.put(b",\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":")
                    && sink.put(requested.of(self.line))
                    && sink.put(b"}")
            }
        }
    }

    #[inline(never)]
    fn bad_args(&self, sink: &mut dyn Sink, bad: BadArgs, slot: Option<&Slot>) -> bool {
        let Some(own) = server_side(slot) else { return true };
        let id = slot.map_or(&b""[..], |s| s.id.get());
        let sentence = |sink: &mut dyn Sink| bad.say(&mut |text| write_str_part(sink, text));
        if !own.version.since(Version::V2025_11_25) {
            return self.id(sink, id)
                && sink.put(b",\"error\":{\"code\":-32602,\"message\":\"")
                && sentence(sink)
                && self.end(sink, "\"}}");
        }
        self.head(sink, id, own.version)
            && sink.put(b"\"content\":[{\"type\":\"text\",\"text\":\"")
            && sentence(sink)
            && sink.put(b"\"}],\"isError\":true")
            && self.server_info(sink, own.version, ",")
            && self.end(sink, "}}")
    }

    #[inline(never)]
    fn initialize(&self, sink: &mut dyn Sink, id: &[u8], version: Version) -> bool {
        self.id(sink, id)
            && write::all(
                sink,
                &[",\"result\":{\"protocolVersion\":\"", version.as_str(), "\",\"capabilities\":"],
            )
            && self.capabilities(sink, false)
            && sink.put(b",\"serverInfo\":")
            && write::implementation(sink, self.config.name(), self.config.version())
            && self.instructions(sink)
            && self.end(sink, "}}")
    }

    #[inline(never)]
    fn discover(&self, sink: &mut dyn Sink, id: &[u8]) -> bool {
        self.head(sink, id, Version::V2026_07_28)
            && sink.put(b"\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":")
            && self.capabilities(sink, true)
            && self.instructions(sink)
            && sink.put(b",\"ttlMs\":0,\"cacheScope\":\"private\"")
            && self.server_info(sink, Version::V2026_07_28, ",")
            && self.end(sink, "}}")
    }

    fn capabilities(&self, sink: &mut dyn Sink, modern: bool) -> bool {
        let tools: &[u8] = match (self.config.rest().has_tools(), self.config.rest().list_changed && !modern)
        {
            (false, _) => b"",
            (true, false) => b"\"tools\":{}",
            (true, true) => b"\"tools\":{\"listChanged\":true}",
        };
        sink.put(b"{")
            && sink.put(tools)
            && self.config.extensions().is_none_or(|json| {
                let comma = if tools.is_empty() { "" } else { "," };
                write::extensions(sink, comma, json, modern)
            })
            && sink.put(b"}")
    }

    fn instructions(&self, sink: &mut dyn Sink) -> bool {
        self.config.instructions().is_none_or(|text| sink.put(b",\"instructions\":") && write_str(sink, text))
    }

    /// The head of a result, up to its first own member.
    pub(super) fn head(&self, sink: &mut dyn Sink, id: &[u8], version: Version) -> bool {
        self.id(sink, id)
            && sink.put(b",\"result\":{")
            && (!version.is_stateless() || sink.put(b"\"resultType\":\"complete\","))
    }

    /// `_meta` with who we are, which only modern peers are told in results.
    pub(super) fn server_info(&self, sink: &mut dyn Sink, version: Version, comma: &str) -> bool {
        !version.is_stateless()
            || write::all(sink, &[comma, "\"_meta\":{\"", key::SERVER_INFO, "\":"])
                && write::implementation(sink, self.config.name(), self.config.version())
                && sink.put(b"}")
    }

    /// What closes the result of a call, whatever stage it is in.
    pub(super) fn tail(&self, sink: &mut dyn Sink, id: &[u8], slot: &SlotServer) -> bool {
        (match slot.stage {
            Stage::Start => self.stream_head(sink, id, slot.version),
            Stage::Empty | Stage::Blocks => true,
            Stage::Members => sink.put(b"\"content\":["),
            Stage::Text | Stage::Blob(_) => self.close_block(sink, slot),
        }) && sink.put(b"]")
            && (!slot.is_error || sink.put(b",\"isError\":true"))
            && (slot.has_meta || self.server_info(sink, slot.version, ","))
            && self.end(sink, "}}")
    }

    /// The head of a result that is streamed.
    pub(super) fn stream_head(&self, sink: &mut dyn Sink, id: &[u8], version: Version) -> bool {
        self.head(sink, id, version) && sink.put(b"\"content\":[")
    }

    /// What closes an open block.
    pub(super) fn close_block(&self, sink: &mut dyn Sink, slot: &SlotServer) -> bool {
        match slot.stage {
            Stage::Text => sink.put(b"\"}"),
            Stage::Blob(brackets) => {
                let rest = slot.carry.get(..usize::from(slot.carried)).unwrap_or(&[]);
                (rest.is_empty() || sink.put(&write::quad(rest)))
                    && sink.put(b"\"")
                    && (0..brackets).all(|_| sink.put(b"}"))
            }
            _ => true,
        }
    }

    /// One part of a list: `item` is the tool, for `Part::Items`.
    #[inline(never)]
    pub(super) fn list(
        &self,
        sink: &mut dyn Sink,
        (id, version): (Span, Version),
        part: Part,
        (index, first): (usize, bool),
        item: Option<&crate::mcp::Tool<'_>>,
    ) -> bool {
        match (part, item) {
            (Part::Head, _) => self.head(sink, id.of(self.line), version) && sink.put(b"\"tools\":["),
            (Part::Items, None) => true,
            (Part::Items, Some(tool)) => (first || sink.put(b",")) && write::tool(sink, tool, version),
            (Part::Tail { more }, _) => {
                sink.put(b"]")
                    && (!more
                        || sink.put(b",\"nextCursor\":\"")
                            && write_u64(sink, index as u64)
                            && sink.put(b"\""))
                    && (!version.is_stateless() || sink.put(b",\"ttlMs\":0,\"cacheScope\":\"private\""))
                    && self.server_info(sink, version, ",")
                    && self.end(sink, "}}")
            }
        }
    }

    /// A JSON-RPC error that the application words.
    #[inline(never)]
    pub(super) fn failure(
        &self,
        sink: &mut dyn Sink,
        id: &[u8],
        (code, message): (Code, &str),
        data: Option<Raw<'_>>,
    ) -> bool {
        let more =
            |sink: &mut dyn Sink| data.is_none_or(|data| sink.put(b",\"data\":") && write_raw(sink, data));
        self.id(sink, id)
            && error(sink, code, |sink| write_str_part(sink, message), more)
            && self.end(sink, "}")
    }
}

fn error(
    sink: &mut dyn Sink,
    code: Code,
    text: impl FnOnce(&mut dyn Sink) -> bool,
    more: impl FnOnce(&mut dyn Sink) -> bool,
) -> bool {
    sink.put(b",\"error\":{\"code\":")
        && write_i64(sink, code.0)
        && sink.put(b",\"message\":\"")
        && text(sink)
        && sink.put(b"\"")
        && more(sink)
        && sink.put(b"}")
}

pub(super) fn server_side(slot: Option<&Slot>) -> Option<&SlotServer> {
    match slot.map(|s| &s.side) {
        Some(Side::Server(own)) => Some(own),
        _ => None,
    }
}

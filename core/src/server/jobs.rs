//! The machine's own messages. Each is a pure function of what the machine remembers, made again from its start for every
//! piece, so that it goes through a transmit buffer of any size.
use super::BadArgs;
use super::config::Conf;
use super::slot::{SlotServer, Stage};
use crate::json::{Fixed, Raw, SMALL, Sink as _, digits, is_plain, write_escaped};
use crate::machine::mem::Span;
use crate::machine::slots::{Side, Slot as CallSlot};
use crate::machine::tx::{Out, put_all};
use crate::mcp::pattern::{Slot, fill, pattern};
use crate::mcp::{Refusal, Version, write};
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
pub(super) struct Job {
    pub(super) to: To,
    pub(super) what: What,
}

/// What it says.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Error {
        why: Refusal,
        data: Data,
    },
    /// An error of the application whose own text had no room.
    Failed {
        code: Kept,
    },
    /// Arguments that do not decode.
    BadArgs {
        bad: BadArgs,
    },
    /// `{}`
    Empty,
    /// The answer to `initialize` or `server/discover`.
    Meet {
        version: Version,
    },
    /// The list, from `item` on; how far the head, the item or the tail is written is `Line::at`.
    Tools {
        version: Version,
        part: Part,
        item: usize,
        until: usize,
    },
    /// What closes a result that was streamed.
    Tail,
    /// What closes a batch.
    BatchEnd,
    /// The list of tools changed.
    Changed,
    /// Nothing more to write for the message at hand.
    Done,
}

/// A code without the alignment of 64 bits, by which every job would be larger on small processors.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct Kept(pub(super) Code);

impl To {
    /// The call that is answered, if it has a slot.
    pub(super) const fn slot(self) -> Option<u16> {
        match self {
            Self::Slot(slot) => Some(slot),
            _ => None,
        }
    }
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Around {
    Line,
    /// The first answer of a batch.
    First,
    /// One of the others.
    Next,
}

/// The text of an error.
#[derive(Clone, Copy)]
pub(super) enum Words<'a> {
    Refusal(Refusal),
    BadArgs(&'a BadArgs),
    Own(&'a str),
}

/// All that a message can be made of.
pub(super) struct Say<'a> {
    pub(super) config: Conf<'a>,
    /// The line at hand.
    pub(super) line: &'a [u8],
    pub(super) around: Around,
}

const IS: Slot<'static> = Some(b"");

impl Say<'_> {
    /// Fills a pattern, for a request's id and the revision that is spoken. Slots: 0 the head of an answer, 1 what stands before it,
    /// 2 the id, 3 members that modern results begin with, 4 and 5 our name and version, 6 the end of an answer behind its last member,
    /// 7 the member that modern results end with.
    #[inline(never)]
    pub(super) fn fill(
        &self,
        out: &mut Out<'_>,
        pattern: &[u8],
        (id, version): (Slot<'_>, Version),
        own: &[Slot<'_>],
    ) -> bool {
        let modern = version.is_stateless();
        let before: &[u8] = match self.around {
            Around::Line => b"",
            Around::First => b"[",
            Around::Next => b",",
        };
        let head = pattern!("$1{\"jsonrpc\":\"2.0\"<2,\"id\":$2>");
        let end = if self.around == Around::Line { pattern!("}}\n") } else { pattern!("}}") };
        let info = pattern!(concat!(
            ",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":",
            "{\"name\":\"@4\",\"version\":\"@5\"}}"
        ));
        let common = [
            Some(head),
            Some(before),
            id,
            modern.then_some(pattern!("\"resultType\":\"complete\",")),
            Some(self.config.name().as_bytes()),
            Some(self.config.version().as_bytes()),
            Some(end),
            modern.then_some(info),
        ];
        fill(out, pattern, &common, own)
    }

    /// All that a job says, which is none that writes nothing, nor a list; `slot` is its call's.
    #[inline(never)]
    pub(super) fn job(&self, out: &mut Out<'_>, what: &What, id: Slot<'_>, slot: Option<&CallSlot>) -> bool {
        match what {
            What::Error { why, data } => self.error(out, id, (why.code(), Words::Refusal(*why)), *data, None),
            &What::Failed { code: Kept(code) } => {
                self.error(out, id, (code, Words::Own(code.text())), Data::None, None)
            }
            What::BadArgs { bad } => match server_side(slot).map(|own| own.version) {
                Some(version) if version.since(Version::V2025_11_25) => {
                    self.bad_args(out, bad, (id, version))
                }
                Some(_) => {
                    let words = (Code::INVALID_PARAMS, Words::BadArgs(bad));
                    self.error(out, id, words, Data::None, None)
                }
                None => true,
            },
            What::Empty => self.fill(out, pattern!("&0,\"result\":{&6"), (id, Version::NEWEST_LEGACY), &[]),
            What::Meet { version } => self.meet(out, id, *version),
            What::Tail => server_side(slot).is_none_or(|own| self.tail(out, id, own)),
            What::BatchEnd => out.put(b"]\n"),
            What::Changed => {
                out.put(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n")
            }
            What::Tools { .. } | What::Done => true,
        }
    }

    /// An error.
    #[inline(never)]
    fn error(
        &self,
        out: &mut Out<'_>,
        id: Slot<'_>,
        (code, words): (Code, Words<'_>),
        data: Data,
        json: Option<Raw<'_>>,
    ) -> bool {
        let about = (id, Version::NEWEST_LEGACY);
        let mut number = [0; Fixed::ROOM];
        let code = digits(&mut number, code.0.unsigned_abs(), code.0 < 0);
        let head = pattern!("&0,\"error\":{\"code\":$8,\"message\":\"");
        let tail = pattern!(concat!(
            "\"<8,\"data\":{\"limit\":$8}><9,\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":$9}>",
            "<a,\"data\":$a>&6"
        ));
        let said = self.fill(out, head, about, &[Some(code)])
            && match words {
                Words::Refusal(why) => why.write(out),
                Words::BadArgs(bad) => say_bad_args(out, bad),
                Words::Own(text) => write_escaped(out, text.as_bytes()),
            };
        let (limit, requested) = match data {
            Data::None => (None, None),
            Data::Limit(limit) => (Some(digits(&mut number, limit as u64, false)), None),
            Data::Versions(span) => (None, Some(span.of(self.line))),
        };
        said && self.fill(out, tail, about, &[limit, requested, json.map(Raw::as_bytes)])
    }

    /// Wrong arguments, as the revisions since 2025-11-25 have them: a result that the model can learn from.
    fn bad_args(&self, out: &mut Out<'_>, bad: &BadArgs, about: (Slot<'_>, Version)) -> bool {
        let head = pattern!("&0,\"result\":{&3\"content\":[{\"type\":\"text\",\"text\":\"");
        self.fill(out, head, about, &[])
            && say_bad_args(out, bad)
            && self.fill(out, pattern!("\"}],\"isError\":true&7&6"), about, &[])
    }

    /// The answer to `initialize` or `server/discover`.
    #[inline(never)]
    fn meet(&self, out: &mut Out<'_>, id: Slot<'_>, version: Version) -> bool {
        let modern = version.is_modern();
        let config = self.config.rest();
        let text = if modern {
            pattern!(concat!(
                "&0,\"result\":{&3\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":",
                "{<8~\"tools\":{}><a~\"extensions\":$a>}<b,\"instructions\":\"@b\">",
                ",\"ttlMs\":0,\"cacheScope\":\"private\"&7&6"
            ))
        } else {
            pattern!(concat!(
                "&0,\"result\":{\"protocolVersion\":\"$c\",\"capabilities\":",
                "{<8~\"tools\":{<9\"listChanged\":true>}><a~\"experimental\":$a>}",
                ",\"serverInfo\":{\"name\":\"@4\",\"version\":\"@5\"}<b,\"instructions\":\"@b\">&6"
            ))
        };
        let own = [
            IS.filter(|_| config.has_tools()),
            IS.filter(|_| config.list_changed),
            self.config.extensions().map(str::as_bytes),
            self.config.instructions().map(str::as_bytes),
            Some(version.as_str().as_bytes()),
        ];
        self.fill(out, text, (id, version), &own)
    }

    /// The head of a result, up to its first own member.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn head(&self, out: &mut Out<'_>, id: Slot<'_>, version: Version) -> bool {
        if !SMALL
            && self.around == Around::Line
            && let Some(id) = id
        {
            // The same, for a third of the instructions: most messages of a server begin so.
            let result: &[u8] = match version.is_stateless() {
                true => b",\"result\":{\"resultType\":\"complete\",",
                false => b",\"result\":{",
            };
            return put_all!(out, b"{\"jsonrpc\":\"2.0\",\"id\":", id, result);
        }
        self.fill(out, pattern!("&0,\"result\":{&3"), (id, version), &[])
    }

    /// What closes the result of a call, whatever stage it is in.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn tail(&self, out: &mut Out<'_>, id: Slot<'_>, slot: &SlotServer) -> bool {
        let closed = matches!(slot.stage, Stage::Empty | Stage::Blocks);
        if !SMALL && self.around == Around::Line && closed && !slot.is_error {
            // As for the head.
            if slot.has_meta || !slot.version.is_stateless() {
                return out.put(b"]}}\n");
            }
            let (name, version) = (self.config.name(), self.config.version());
            if is_plain(name) && is_plain(version) {
                return put_all!(
                    out,
                    b"],\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"",
                    name.as_bytes(),
                    b"\",\"version\":\"",
                    version.as_bytes(),
                    b"\"}}}}\n",
                );
            }
        }
        self.tail_of_any(out, id, slot)
    }

    #[inline(never)]
    fn tail_of_any(&self, out: &mut Out<'_>, id: Slot<'_>, slot: &SlotServer) -> bool {
        let own = [IS.filter(|_| slot.is_error), IS.filter(|_| !slot.has_meta)];
        (match slot.stage {
            Stage::Start => self.stream_head(out, id, slot.version),
            Stage::Members => out.put(b"\"content\":["),
            _ => self.close_block(out, slot),
        }) && self.fill(out, pattern!("]<8,\"isError\":true><9&7>&6"), (None, slot.version), &own)
    }

    /// The head of a result that is streamed.
    #[inline(always)]
    pub(super) fn stream_head(&self, out: &mut Out<'_>, id: Slot<'_>, version: Version) -> bool {
        self.head(out, id, version) && out.put(b"\"content\":[")
    }

    /// What closes an open block.
    pub(super) fn close_block(&self, out: &mut Out<'_>, slot: &SlotServer) -> bool {
        match slot.stage {
            Stage::Text => out.put(b"\"}"),
            Stage::Blob(brackets) => {
                let rest = slot.carry.get(..usize::from(slot.carried)).unwrap_or(&[]);
                (rest.is_empty() || out.put(&write::quad(rest)))
                    && out.put(if brackets > 1 { b"\"}}" } else { b"\"}" })
            }
            _ => true,
        }
    }

    /// What stands around the tools of a list; the next page would begin at `next`.
    pub(super) fn list(
        &self,
        out: &mut Out<'_>,
        (id, version): (Slot<'_>, Version),
        part: Part,
        next: usize,
    ) -> bool {
        match part {
            Part::Head => self.head(out, id, version) && out.put(b"\"tools\":["),
            Part::Items => true,
            Part::Tail { more } => {
                let mut number = [0; Fixed::ROOM];
                let cursor = more.then(|| digits(&mut number, next as u64, false));
                let text =
                    pattern!("]<8,\"nextCursor\":\"$8\"><3,\"ttlMs\":0,\"cacheScope\":\"private\">&7&6");
                self.fill(out, text, (None, version), &[cursor])
            }
        }
    }

    /// A JSON-RPC error that the application words.
    pub(super) fn failure(
        &self,
        out: &mut Out<'_>,
        id: &[u8],
        (code, message): (Code, &str),
        data: Option<Raw<'_>>,
    ) -> bool {
        self.error(out, Some(id), (code, Words::Own(message)), Data::None, data)
    }
}

fn say_bad_args(out: &mut Out<'_>, bad: &BadArgs) -> bool {
    bad.say(&mut |text| write_escaped(out, text.as_bytes()))
}

pub(super) fn server_side(slot: Option<&CallSlot>) -> Option<&SlotServer> {
    match slot.map(|s| &s.side) {
        Some(Side::Server(own)) => Some(own),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::mem::Bytes;
    use crate::machine::tx::Tx;
    use crate::server::ServerConfig;
    use crate::server::config::Config;
    use std::vec::Vec;

    /// What is put at once is what the patterns say.
    #[test]
    fn heads_and_tails_are_those_of_the_patterns() {
        let config = ServerConfig::new("n\"", "1");
        let config = Config::Lent(&config);
        let say = Say { config: config.get(), line: &[], around: Around::Line };
        let written = |write: &dyn Fn(&mut Out<'_>) -> bool| -> Vec<u8> {
            let mut buffer = [0; 200];
            let mut tx = Tx::new(Bytes::Lent(&mut buffer));
            let mut out = tx.lend_piece();
            assert!(write(&mut out));
            out.commit();
            tx.output().to_vec()
        };
        for version in Version::ALL {
            for stage in [Stage::Empty, Stage::Blocks] {
                for (has_meta, is_error) in [(false, false), (true, false), (false, true)] {
                    let own = SlotServer { stage, has_meta, is_error, ..SlotServer::new(version) };
                    let tail = written(&|out| say.tail(out, None, &own));
                    assert_eq!(tail, written(&|out| say.tail_of_any(out, None, &own)));
                }
            }
            let id = Some(&b"\"a\""[..]);
            let head = written(&|out| say.head(out, id, version));
            let pattern = pattern!("&0,\"result\":{&3");
            assert_eq!(head, written(&|out| say.fill(out, pattern, (id, version), &[])));
        }
    }
}

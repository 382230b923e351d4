//! Answering a call.
use super::BadArgs;
use super::config::Conf;
use super::jobs::{Around, Data, Kept, Say, To, What};
use super::line::Line;
use super::slot::{Open, Stage};
use crate::json::{Fixed, Kind, Raw, Sink as _, digits, write_raw, write_str_part};
use crate::machine::slots::State;
use crate::machine::tx::Out;
use crate::machine::{CallId, Full};
use crate::mcp::pattern::{fill, pattern};
use crate::mcp::{Content, Refusal, Version, key, write};
use crate::rpc::Code;
use core::fmt;

/// How far a call is, for [`Reply::progress`] and [`Server::progress`](crate::Server::progress).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress<'a> {
    /// Units done; must rise from one report to the next.
    pub done: u64,
    /// Units in all, if known.
    pub total: Option<u64>,
    /// For people (since 2025-03-26; left out for older peers).
    pub message: Option<&'a str>,
}

/// Writes one result.
///
/// **Finish it:** with [`finish`](Self::finish), [`fail`](Self::fail), [`defer`](Self::defer) or one of their kin. What is
/// dropped is settled at the next call on the machine: the peer gets -32603.
///
/// Text, content, structured content and `_meta` may come in any order. Overflow is sticky and told by `finish`.
///
/// ```
/// # use barewire::{Reply, Content, Data, json::Raw};
/// # fn answer(reply: Reply<'_>, png: &[u8]) -> Result<(), barewire::Full> {
/// reply
///     .text("21.5 degrees")
///     .content(&Content::Image { data: Data::Bytes(png), mime: "image/png" })
///     .finish()
/// # }
/// ```
#[must_use = "an unfinished reply becomes an error at the next call on the machine"]
pub struct Reply<'m> {
    pub(super) out: Out<'m>,
    pub(super) slot: Open<'m>,
    pub(super) line: &'m mut Line,
    pub(super) config: Conf<'m>,
    pub(super) id: CallId,
    /// Where its content array began, while its members may still move before it; else 0.
    pub(super) content_at: usize,
    /// Something given after a pause had no room.
    pub(super) lost: bool,
    /// `write_text` or `write_blob` was used: the rest may go out in pieces.
    pub(super) pieces: bool,
}

impl fmt::Debug for Reply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("id", &self.id).finish_non_exhaustive()
    }
}

impl<'m> Reply<'m> {
    /// Names the call, to be answered later.
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.id
    }

    /// Adds a text block.
    pub fn text(mut self, text: &str) -> Self {
        self.block(|out, _| write::text(out, text));
        self
    }

    /// Adds a text block, formatted straight into the buffer.
    pub fn text_fmt(mut self, text: fmt::Arguments<'_>) -> Self {
        self.block(|out, _| {
            out.put(b"{\"type\":\"text\",\"text\":\"")
                && fmt::write(&mut Escaped(out), text).is_ok()
                && out.put(b"\"}")
        });
        self
    }

    /// Adds a content block, as the peer's revision has it.
    pub fn content(mut self, block: &Content<'_>) -> Self {
        self.block(|out, version| write::content(out, block, version));
        self
    }

    /// Gives `structuredContent`, and the same JSON as a text block, as the specification wants it for peers that do not read
    /// the former (2025-06-18, server/tools). Peers of revisions without it, and for any value but an object those before
    /// 2026-07-28, get the text alone.
    pub fn structured(self, json: Raw<'_>) -> Self {
        let mut reply = self.structured_only(json);
        if reply.takes_structured(json) {
            reply.json_text(json);
        }
        reply
    }

    /// Gives `structuredContent` without the text block, where the peer's revision has it; else the text block.
    pub fn structured_only(mut self, json: Raw<'_>) -> Self {
        if self.takes_structured(json) {
            self.member(|out, _| out.put(b"\"structuredContent\":") && write_raw(out, json));
        } else {
            self.json_text(json);
        }
        self
    }

    /// Gives members of the result's `_meta`, an object. Where it names what the machine itself writes there, the machine wins.
    pub fn meta(mut self, object: Raw<'_>) -> Self {
        if object.kind() == Kind::Object && !self.slot.own.has_meta {
            let (name, version) = (self.config.name(), self.config.version());
            self.member(|out, peer| {
                let own = peer.is_stateless();
                out.put(b"\"_meta\":{")
                    && (!own
                        || write::all(out, &["\"", key::SERVER_INFO, "\":"])
                            && write::implementation(out, name, version))
                    && write::members_but(out, object, key::SERVER_INFO, !own)
                    && out.put(b"}")
            });
            self.slot.own.has_meta = true;
        }
        self
    }

    /// The tool failed: `isError` will be true. Say why in a text block.
    pub fn error(self) -> Self {
        self.slot.own.is_error = true;
        self
    }

    /// A whole result object made elsewhere, in place of all else. For stateless peers `resultType` is added if it is missing.
    ///
    /// # Errors
    /// [`Full`] if it did not fit; the peer was told. Always after a [`pause`](Self::pause).
    pub fn result(mut self, object: Raw<'_>) -> Result<(), Full> {
        if self.is_streaming() || object.kind() != Kind::Object {
            self.out.overflow();
            return self.finish();
        }
        self.roll_back();
        let version = self.slot.own.version;
        let say = say(self.config, self.line);
        let add = version.is_stateless() && object.get("resultType").is_none();
        let inside = object.as_bytes().get(1..).unwrap_or(b"}");
        let comma = if object.members().next().is_some() { "," } else { "" };
        let own = [Some(comma.as_bytes()).filter(|_| add)];
        let head = pattern!("&0,\"result\":{<8\"resultType\":\"complete\"$8>");
        let done = say.fill(&mut self.out, head, (Some(self.slot.id.get()), version), &own)
            && write_raw(&mut self.out, Raw::trusted(inside))
            && self.out.put(if say.around == Around::Line { b"}\n" } else { b"}" });
        self.close(done)
    }

    /// Ends the result. After a [`pause`](Self::pause), or once [`write_text`](Self::write_text) was used, the machine sends
    /// what is still missing piece by piece.
    ///
    /// # Errors
    /// [`Full`] if it did not fit: the peer was given -32603 instead, or, after a pause, an end with `isError`.
    pub fn finish(mut self) -> Result<(), Full> {
        if self.is_streaming() || self.pieces {
            return self.finish_stream();
        }
        self.open_content();
        let say = say(self.config, self.line);
        let done = say.tail(&mut self.out, Some(self.slot.id.get()), self.slot.own) && !self.out.is_full();
        self.close(done)
    }

    /// A JSON-RPC error in place of a result: for what is wrong with the request, not for a tool that failed. Always works; what
    /// does not fit its room is said with the code's own text. After a [`pause`](Self::pause) the result ends with `isError` instead.
    pub fn fail(self, code: Code, message: &str) {
        self.fail_with(code, message, None);
    }

    /// The same with `error.data`.
    pub fn fail_with(mut self, code: Code, message: &str, data: Option<Raw<'_>>) {
        if self.is_streaming() {
            self.slot.own.is_error = true;
            let _ = self.finish_stream();
            return;
        }
        self.roll_back();
        let say = say(self.config, self.line);
        if say.failure(&mut self.out, self.slot.id.get(), (code, message), data) {
            let _ = self.close(true);
        } else {
            self.settle_with(What::Failed { code: Kept(code) });
        }
    }

    /// Arguments that do not decode: an `isError` result from 2025-11-25 on, -32602 before.
    pub fn bad_args(mut self, bad: BadArgs) {
        if self.is_streaming() {
            self.fail(Code::INVALID_PARAMS, "");
            return;
        }
        self.settle_with(What::BadArgs { bad });
    }

    /// No such tool: -32602. For dynamic sources; the names of a table are looked up by the machine.
    pub fn unknown(self) {
        self.fail(Code::INVALID_PARAMS, "Unknown tool");
    }

    /// Answers later, by [`Server::resume`](crate::Server::resume); other calls go on. What was written so far is taken back.
    /// After a [`pause`](Self::pause) this is another `pause`.
    pub fn defer(self) -> CallId {
        if self.is_streaming() { self.pause() } else { self.put_off() }
    }

    /// Nothing of it is on the wire: other calls go on.
    pub(super) fn put_off(mut self) -> CallId {
        self.roll_back();
        self.slot.own.rewind();
        *self.slot.state = State::Open;
        self.line.lent = None;
        self.id
    }

    /// Tells the peer how far the call is, if it asked for that: dropped otherwise, and when `done` does not rise. Not
    /// possible once anything of the result is written.
    ///
    /// # Errors
    /// [`Full`] if there is no room now.
    pub fn progress(&mut self, progress: Progress<'_>) -> Result<(), Full> {
        if self.is_streaming() || self.out.end() != self.out.ready() || self.line.batch.is_some() {
            return Err(Full);
        }
        let told = write_progress(&mut self.out, self.slot.token.get(), self.slot.own, progress);
        if !told {
            self.roll_back();
            return Err(Full);
        }
        self.out.commit();
        Ok(())
    }

    pub(super) fn is_streaming(&self) -> bool {
        *self.slot.state == State::Streaming
    }

    fn takes_structured(&mut self, json: Raw<'_>) -> bool {
        let version = self.slot.own.version;
        version.is_stateless() || version.since(Version::V2025_06_18) && json.kind() == Kind::Object
    }

    fn json_text(&mut self, json: Raw<'_>) {
        self.block(|out, _| write::text(out, json.as_str()));
    }

    fn roll_back(&mut self) {
        let mark = self.out.ready();
        self.out.roll_back(mark);
    }

    /// The head, up to the first member.
    fn open(&mut self) {
        let own = &mut *self.slot.own;
        if own.stage == Stage::Start {
            let say = say(self.config, self.line);
            say.head(&mut self.out, Some(self.slot.id.get()), own.version);
            own.stage = Stage::Members;
        }
    }

    fn open_content(&mut self) {
        self.open();
        if self.slot.own.stage == Stage::Members {
            self.content_at = self.out.end();
            let _ = self.out.put(b"\"content\":[");
            self.slot.own.stage = Stage::Empty;
        }
    }

    /// Adds a block that is written whole.
    fn block(&mut self, write: impl FnOnce(&mut Out<'_>, Version) -> bool) {
        let before = self.out.end();
        self.open_content();
        let own = &mut *self.slot.own;
        let say = say(self.config, self.line);
        let closed = say.close_block(&mut self.out, own);
        let comma = own.stage == Stage::Empty || self.out.put(b",");
        if closed && comma && write(&mut self.out, own.version) && !self.out.is_full() {
            (own.stage, own.carried) = (Stage::Blocks, 0);
        } else if self.is_streaming() || self.pieces {
            // What is on the wire must stay valid: this block is left out, and `finish` says so.
            self.out.roll_back(before);
            self.lost = true;
        } else {
            self.out.overflow();
        }
    }

    /// Adds a member before the content; if that is open already, the member is moved there.
    fn member(&mut self, write: impl FnOnce(&mut Out<'_>, Version) -> bool) {
        let movable = !self.is_streaming() && !self.pieces;
        self.open();
        let own = *self.slot.own;
        if own.stage != Stage::Members && !(movable && self.content_at > 0) {
            self.lost = true;
            return;
        }
        let from = self.out.end();
        let done = write(&mut self.out, own.version) && self.out.put(b",");
        if !done {
            self.out.overflow();
        } else if own.stage != Stage::Members {
            let added = self.out.end().wrapping_sub(from);
            self.out.rotate(self.content_at, from);
            self.content_at = self.content_at.wrapping_add(added);
        }
    }

    /// The whole reply is written, or did not fit.
    fn close(&mut self, done: bool) -> Result<(), Full> {
        if done {
            self.out.commit();
            self.line.answered();
            self.slot.free();
            return Ok(());
        }
        let limit = self.out.end().wrapping_add(self.out.room()).wrapping_sub(self.out.ready());
        self.settle_with(What::Error { why: Refusal::ReplyTooLarge, data: Data::Limit(limit) });
        Err(Full)
    }

    /// Takes back what was written and leaves the answer to the machine.
    pub(super) fn settle_with(&mut self, what: What) {
        self.roll_back();
        self.line.lent = None;
        self.line.start(To::Slot(self.id.slot), what);
    }

    /// As much of the tail as there is room for; the machine writes the rest.
    pub(super) fn finish_stream(&mut self) -> Result<(), Full> {
        let lost = self.lost;
        if lost {
            self.slot.own.is_error = true;
        }
        let skip = self.slot.own.head_written();
        let say = say(self.config, self.line);
        let begun = self.out.begin(skip);
        say.tail(&mut self.out, Some(self.slot.id.get()), self.slot.own);
        let (done, written) = self.out.end_piece(begun);
        let at = skip.wrapping_add(written);
        self.out.commit();
        self.line.lent = None;
        self.line.more = false;
        if done {
            self.line.streaming = None;
            self.line.answered();
            self.slot.free();
        } else {
            self.line.streaming = Some(self.id.slot);
            *self.slot.state = State::Streaming;
            self.line.start(To::Slot(self.id.slot), What::Tail);
            self.line.at = at;
        }
        if lost { Err(Full) } else { Ok(()) }
    }
}

pub(super) const fn say<'m>(config: Conf<'m>, line: &Line) -> Say<'m> {
    Say { config, line: &[], around: line.around() }
}

/// One progress notification, if the peer asked and it rises; false if there is no room.
pub(super) fn write_progress(
    out: &mut Out<'_>,
    token: &[u8],
    own: &mut super::SlotServer,
    progress: Progress<'_>,
) -> bool {
    if token.is_empty() || own.progress.is_some_and(|last| progress.done <= last) {
        return true;
    }
    let message = progress.message.filter(|_| own.version.since(Version::V2025_03_26));
    let (mut done, mut total) = ([0; Fixed::ROOM], [0; Fixed::ROOM]);
    let slots = [
        Some(token),
        Some(digits(&mut done, progress.done, false)),
        progress.total.map(|number| digits(&mut total, number, false)),
        message.map(str::as_bytes),
    ];
    let text = pattern!(concat!(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$0",
        ",\"progress\":$1<2,\"total\":$2><3,\"message\":\"@3\">}}\n"
    ));
    let written = fill(out, text, &slots, &[]);
    if written {
        own.progress = Some(progress.done);
    }
    written
}

struct Escaped<'s, 'm>(&'s mut Out<'m>);

impl fmt::Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if write_str_part(self.0, text) { Ok(()) } else { Err(fmt::Error) }
    }
}

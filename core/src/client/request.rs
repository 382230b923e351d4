//! Writing one request.
use super::config::Config;
use super::jobs::{Meta, Method, head};
use super::machine::Line;
use super::slot::{Kind, NEVER, SlotClient};
use crate::json::{self, Object, Raw, SMALL, Sink as _, write_raw, write_str};
use crate::machine::slots::State;
use crate::machine::tx::Out;
use crate::machine::{CallId, Millis};
use crate::mcp::{Level, Version};
use core::fmt;

/// Why a request was not queued. Nothing was written, and nothing else has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SendError {
    /// The session is not open: not yet, or no more.
    NotOpen,
    /// All slots are taken.
    TooManyCalls,
    /// There is no room now; after bytes were sent it may succeed.
    Full,
    /// It is longer than the transmit buffer.
    TooLong,
    /// Arguments, params or `_meta` are no JSON object, a number is not finite, or a part was given twice.
    NotJson,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotOpen => "the session is not open",
            Self::TooManyCalls => "too many calls at once",
            Self::Full => "the transmit buffer is in use; send, then try again",
            Self::TooLong => "the request is longer than the transmit buffer",
            Self::NotJson => "the arguments are no JSON object, or were given twice",
        })
    }
}
impl core::error::Error for SendError {}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    None,
    Open,
    Closed,
}

/// A request being written, straight into the transmit buffer. Taken back unless [`send`](Self::send) is called; what does not fit
/// is told there.
#[must_use = "nothing is sent without `send`"]
pub struct Request<'m> {
    pub(super) out: Out<'m>,
    pub(super) state: &'m mut State,
    pub(super) line: &'m mut Line,
    pub(super) config: &'m Config<'m>,
    pub(super) version: Version,
    pub(super) own: &'m mut SlotClient,
    pub(super) index: u16,
    /// Where it begins, where `params` does, and where more members of that (or of its `_meta`, if that is there) go.
    pub(super) marks: (usize, usize, usize),
    /// Nothing else waited to be sent.
    pub(super) alone: bool,
    pub(super) any: bool,
    pub(super) has_args: bool,
    pub(super) answers: Answers,
    pub(super) meta: Option<Raw<'m>>,
    pub(super) log: Option<Level>,
    pub(super) wrong: bool,
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("id", &self.own.wire).finish_non_exhaustive()
    }
}

impl<'m> Request<'m> {
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn begin(&mut self, method: Method<'_>) {
        let start = self.out.end();
        head(&mut self.out, self.own.wire, method);
        let params = self.out.end();
        self.put(b",\"params\":{");
        let mut first = self.out.end();
        if self.claims_first() {
            self.put(b"\"_meta\":{");
            self.meta_parts().claim(&mut self.out, &self.config.get());
            first = self.out.end();
            self.put(b"}");
            self.any = true;
        }
        self.marks = (start, params, first);
    }

    /// Is what all requests say of themselves written where it stands, before what this one says? Else it is all written by `send`, and moved
    /// there: a program for a small processor has one way.
    fn claims_first(&self) -> bool {
        !SMALL && self.version.is_stateless()
    }

    fn meta_parts(&self) -> Meta<'m> {
        Meta {
            version: self.version,
            token: self.own.progress.then_some(self.own.wire),
            log: self.log,
            more: self.meta,
            meets: false,
        }
    }

    /// A refusal sticks, and is told by `send`.
    fn put(&mut self, bytes: &[u8]) {
        let _ = self.out.put(bytes);
    }

    /// One member of params. `key` with all that stands around it: a comma, which the first member is written without, quotes and
    /// colon.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn part(&mut self, key: &'static str, value: impl FnOnce(&mut Out<'_>) -> bool) {
        self.close_answers();
        let from = usize::from(!core::mem::replace(&mut self.any, true));
        let key = key.as_bytes().get(from..).unwrap_or(&[]);
        let written = self.out.put(key) && value(&mut self.out);
        self.wrong |= !written && !self.out.is_full();
    }

    fn close_answers(&mut self) {
        if self.answers == Answers::Open {
            self.answers = Answers::Closed;
            self.put(b"}");
        }
    }

    /// The arguments of a tool. Without them `{}` is sent: servers are known that want the member.
    pub fn args(mut self, fill: impl FnOnce(&mut Object<'_>)) -> Self {
        self.wrong |= core::mem::replace(&mut self.has_args, true) || self.own.kind != Kind::Call;
        self.part(",\"arguments\":", |out| {
            let mut object = Object::new(out);
            fill(&mut object);
            object.end()
        });
        self
    }

    /// The arguments of a tool, ready-made; an object.
    pub fn args_json(mut self, json: Raw<'_>) -> Self {
        self.wrong |= core::mem::replace(&mut self.has_args, true)
            || self.own.kind != Kind::Call
            || json.kind() != json::Kind::Object;
        self.part(",\"arguments\":", |out| write_raw(out, json));
        self
    }

    /// The params of [`Client::request`](crate::Client::request), an object. Its `_meta` is merged as by [`meta`](Self::meta).
    pub fn params_json(mut self, json: Raw<'m>) -> Self {
        self.wrong |= core::mem::replace(&mut self.has_args, true)
            || self.own.kind != Kind::Json
            || json.kind() != json::Kind::Object;
        self.close_answers();
        for (key, value) in json.members() {
            if key.is("_meta") {
                if !value.is_null() {
                    self = self.meta(value);
                }
                continue;
            }
            let comma: &[u8] = if core::mem::replace(&mut self.any, true) { b",\"" } else { b"\"" };
            let _ = self.out.put(comma)
                && self.out.put(key.raw())
                && self.out.put(b"\":")
                && write_raw(&mut self.out, value);
        }
        self
    }

    /// How long the answer may take, counted from the next poll, for each page anew. With `most`, progress starts `limit` again, but the
    /// whole takes `most` at most; without it progress does not count. (2025-03-26 and later, basic/lifecycle, "Timeouts".)
    pub const fn limit(self, limit: Millis, most: Option<Millis>) -> Self {
        self.own.limit = limit;
        self.own.most = match most {
            Some(most) => most,
            None => NEVER,
        };
        self
    }

    /// Asks for progress. The token is the request's id.
    pub const fn want_progress(self) -> Self {
        self.own.progress = true;
        self
    }

    /// Asks a modern server for log messages of this level and graver (`io.modelcontextprotocol/logLevel`); nothing in a legacy
    /// session, where `logging/setLevel` does that.
    pub const fn log_level(mut self, level: Level) -> Self {
        self.log = Some(level);
        self
    }

    /// More members for `_meta`, an object. The protocol's keys win over equal ones here. Of a list that is followed, only the first page carries it.
    pub fn meta(mut self, meta: Raw<'m>) -> Self {
        self.wrong |= self.meta.is_some() || meta.kind() != json::Kind::Object;
        self.meta = Some(meta);
        self
    }

    /// For making a call again after [`InputRequired`](crate::ClientEvent::InputRequired): its state, a string, byte for byte.
    pub fn state(mut self, state: Raw<'_>) -> Self {
        self.wrong |= state.kind() != json::Kind::String;
        self.part(",\"requestState\":", |out| write_raw(out, state));
        self
    }

    /// For making a call again: the answer to one question, under its key. All answers in a row.
    pub fn answer(mut self, key: &str, json: Raw<'_>) -> Self {
        match self.answers {
            Answers::None => {
                self.part(",\"inputResponses\":", |out| out.put(b"{"));
                self.answers = Answers::Open;
            }
            Answers::Open => {
                self.put(b",");
            }
            Answers::Closed => self.wrong = true,
        }
        let _ = write_str(&mut self.out, key) && self.out.put(b":") && write_raw(&mut self.out, json);
        self
    }

    /// Queues it.
    ///
    /// # Errors
    /// [`SendError`]; nothing is queued then.
    pub fn send(mut self) -> Result<CallId, SendError> {
        self.close_answers();
        if self.own.kind == Kind::Call && !self.has_args {
            self.part(",\"arguments\":", |out| out.put(b"{}"));
        }
        let meta = self.meta_parts();
        let (start, params, first) = self.marks;
        if self.claims_first() {
            if meta.has_more() {
                let from = self.out.end();
                let _ = meta.rest(&mut self.out, false);
                self.out.rotate(first, from);
            }
            self.put(b"}");
        } else if meta.is_needed() {
            let from = self.out.end();
            let _ = self.out.put(b"\"_meta\":{")
                && meta.write(&mut self.out, &self.config.get())
                && self.out.put(if self.any { b"}," } else { b"}" });
            self.out.rotate(first, from);
            self.put(b"}");
        } else if self.any {
            self.put(b"}");
        } else if !self.out.is_full() {
            self.out.roll_back(params);
        }
        self.put(b"}\n");
        let full = self.out.is_full();
        self.line.lent = None;
        if full || self.wrong {
            self.out.roll_back(start);
            *self.state = State::Free;
            return Err(match (self.wrong, self.alone) {
                (true, _) => SendError::NotJson,
                (_, true) => SendError::TooLong,
                _ => SendError::Full,
            });
        }
        self.out.commit();
        self.line.serial = self.line.serial.saturating_add(1);
        self.line.fresh = true;
        *self.state = State::Open;
        Ok(CallId { slot: self.index, serial: self.own.wire })
    }
}

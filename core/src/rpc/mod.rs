//! The JSON-RPC envelope.
//!
//! [`Message::parse`] finds kind, id, method, params, result and error in one pass, whatever the order of the keys (the official
//! TypeScript SDK writes `id` last). It is strict where the specification is: `"jsonrpc":"2.0"`, an id that is a string or
//! an integer, objects for params and result, exactly one of `result` and `error` (all revisions, basic/index, "Messages").
mod envelope;
mod fault;
mod quick;

pub(crate) use envelope::{Bad, Envelope, Read, Shape, complaint, is_id, read, read_as};
pub use fault::{Code, Fault};

use crate::json::Raw;
use crate::machine::mem::Span;

/// One message. Everything in it borrows from the line, as it came.
///
/// ```
/// use barewire::rpc::Message;
/// let line = br#"{"method":"tools/list","params":{"cursor":"x"},"jsonrpc":"2.0","id":7}"#;
/// let Ok(Message::Request { id, method, params }) = Message::parse(line) else { panic!() };
/// assert_eq!((id.as_str(), method.is("tools/list")), ("7", true));
/// assert!(params.and_then(|p| p.get("cursor")).is_some_and(|c| c.is("x")));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Message<'a> {
    /// Wants an answer with the same id.
    Request {
        /// A string or an integer, as it came.
        id: Raw<'a>,
        /// A string; compare with [`Raw::is`].
        method: Raw<'a>,
        /// As it came; `null` counts as absent. Anything but an object is the receiver's to refuse (-32602).
        params: Option<Raw<'a>>,
    },
    /// Is never answered.
    Notification {
        /// A string.
        method: Raw<'a>,
        /// As in a request.
        params: Option<Raw<'a>>,
    },
    /// The result of a request.
    Response {
        /// The request's id.
        id: Raw<'a>,
        /// An object.
        result: Raw<'a>,
    },
    /// A request that failed, or a line that could not be read.
    Error {
        /// The request's id; `None` where it was absent or null.
        id: Option<Raw<'a>>,
        /// The error code.
        code: i64,
        /// A string.
        message: Raw<'a>,
        /// More about it.
        data: Option<Raw<'a>>,
    },
    /// An array of messages, which only revision 2025-03-26 allows; see [`Raw::elements`] and [`Message::parse`] each.
    Batch(Raw<'a>),
}

/// Why a line is no message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Invalid<'a> {
    /// What is wrong.
    pub fault: Fault,
    /// The id, where a valid one was read.
    pub id: Option<Raw<'a>>,
}

impl core::fmt::Display for Invalid<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.fault.fmt(f)
    }
}
impl core::error::Error for Invalid<'_> {}

impl<'a> Message<'a> {
    /// Reads one line, with or without its line feed.
    ///
    /// # Errors
    /// [`Invalid`] with the reason, and the id if there was one.
    pub fn parse(line: &'a [u8]) -> Result<Self, Invalid<'a>> {
        let raw = |at: Span| Raw::trusted(at.of(line));
        let envelope = match read(line) {
            Read::Message(envelope) => envelope,
            Read::Batch(at) => return Ok(Self::Batch(raw(at))),
            Read::Bad(bad) => return Err(Invalid { fault: bad.fault, id: bad.id.map(raw) }),
        };
        let invalid = Invalid { fault: Fault::NotAMessage, id: envelope.id.map(raw) };
        let params = envelope.params.map(raw).filter(|p| !p.is_null());
        let content = raw(envelope.content);
        match envelope.shape {
            Shape::Request => {
                let id = raw(envelope.id.ok_or(invalid)?);
                Ok(Self::Request { id, method: content, params })
            }
            Shape::Notification => Ok(Self::Notification { method: content, params }),
            Shape::Response => Ok(Self::Response { id: raw(envelope.id.ok_or(invalid)?), result: content }),
            Shape::Error => {
                let error = content;
                let code = error.get("code").and_then(Raw::as_i64).ok_or(invalid)?;
                let message = error.get("message").filter(|m| m.as_string().is_some()).ok_or(invalid)?;
                Ok(Self::Error { id: envelope.id.map(raw), code, message, data: error.get("data") })
            }
        }
    }
}

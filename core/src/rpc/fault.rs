//! Error codes, and what a peer can get wrong.
use core::fmt;

/// A JSON-RPC error code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Code(pub i64);

impl Code {
    /// The line is not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// JSON, but no valid message; also: too large, too deep, an id in use.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The method is unknown, or belongs to a feature that is not offered.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// Wrong params: an unknown tool, a missing member, a cursor that was never issued.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The receiver failed, is busy, or its answer is too large.
    pub const INTERNAL: Self = Self(-32603);
    /// 2026-07-28: the client lacks a capability that the request needs.
    pub const MISSING_CAPABILITY: Self = Self(-32021);
    /// 2026-07-28: the version that the request names is not spoken.
    pub const UNSUPPORTED_VERSION: Self = Self(-32022);
    /// 2026-07-28, HTTP: header and body differ.
    pub const HEADER_MISMATCH: Self = Self(-32020);

    /// What the code says, for answers whose own text finds no room.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::PARSE_ERROR => "Parse error",
            Self::INVALID_REQUEST => "Invalid request",
            Self::METHOD_NOT_FOUND => "Method not found",
            Self::INVALID_PARAMS => "Invalid params",
            Self::INTERNAL => "Internal error",
            Self::MISSING_CAPABILITY => "Missing required client capability",
            Self::UNSUPPORTED_VERSION => "Unsupported protocol version",
            _ => "Error",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A peer's mistake. It has been answered already where the protocol allows an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// Not one JSON text; `at` bytes into the line the grammar is broken.
    NotJson {
        /// Bytes since the start of the line.
        at: usize,
    },
    /// Not UTF-8, which all of the line must be.
    NotUtf8 {
        /// Bytes since the start of the line.
        at: usize,
    },
    /// More than 128 containers inside each other, the envelope included.
    TooDeep,
    /// JSON, but no JSON-RPC 2.0 message: no object, no `"jsonrpc":"2.0"`, an id of a wrong type, both or neither of
    /// `result` and `error`.
    NotAMessage,
    /// A member of the envelope, or a reserved key of `_meta`, stands there twice.
    TwiceTheKey,
    /// An array, outside of revision 2025-03-26.
    Batch,
    /// Longer than the receive buffer, or than the limit of a growing one.
    TooLong {
        /// How long it was, in bytes.
        dropped: usize,
    },
    /// The last line was cut off by the end of the input.
    Cut,
    /// The id is longer than a slot keeps (40 bytes in lent slots).
    IdTooLong,
    /// The id names a request that is still being worked on.
    IdInUse,
    /// There was no room for the call.
    Busy,
    /// A response to nothing that was asked.
    UnknownAnswer,
    /// What only the other side, or another revision, may send.
    NotAllowed,
    /// JSON-RPC, but not what the protocol has there: a notification, or a part of a result, with wrong members.
    WrongShape,
    /// A number that was sent as an id came back as a string; the answer is taken all the same.
    IdType,
    /// An error that names no request.
    ErrorWithoutId,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { at } => write!(f, "not JSON, at byte {at}"),
            Self::NotUtf8 { at } => write!(f, "not UTF-8, at byte {at}"),
            Self::TooDeep => f.write_str("nested deeper than 128"),
            Self::NotAMessage => f.write_str("JSON, but not a JSON-RPC 2.0 message"),
            Self::TwiceTheKey => f.write_str("a reserved key stands there twice"),
            Self::Batch => f.write_str("a batch, which only revision 2025-03-26 allows"),
            Self::TooLong { dropped } => write!(f, "message too large, {dropped} bytes"),
            Self::Cut => f.write_str("the last line was cut off by the end of the input"),
            Self::IdTooLong => f.write_str("id too long"),
            Self::IdInUse => f.write_str("the id of a request that is still open"),
            Self::Busy => f.write_str("no room for another call"),
            Self::UnknownAnswer => f.write_str("an answer to nothing that was asked"),
            Self::NotAllowed => f.write_str("a message that this side may not send in this revision"),
            Self::WrongShape => f.write_str("members that are not what the protocol has there"),
            Self::IdType => f.write_str("an answer whose id became a string"),
            Self::ErrorWithoutId => f.write_str("an error that names no request"),
        }
    }
}

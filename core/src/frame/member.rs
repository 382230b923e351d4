//! The keys of an envelope.
use crate::json::{SMALL, Str, find};

/// The members of an envelope that have a meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
}

impl Member {
    /// By the body of a key, however it is escaped.
    pub(crate) fn of_key(body: &[u8]) -> Option<Self> {
        if !SMALL {
            // Comparisons of words, one after the other.
            match body {
                b"jsonrpc" => return Some(Self::Jsonrpc),
                b"id" => return Some(Self::Id),
                b"method" => return Some(Self::Method),
                b"params" => return Some(Self::Params),
                b"result" => return Some(Self::Result),
                b"error" => return Some(Self::Error),
                _ if find(b'\\', body).is_none() => return None,
                _ => {}
            }
        }
        let all = [
            ("id", Self::Id),
            ("jsonrpc", Self::Jsonrpc),
            ("method", Self::Method),
            ("params", Self::Params),
            ("result", Self::Result),
            ("error", Self::Error),
        ];
        let key = Str::trusted(body);
        all.iter().find(|(name, _)| key.is(name)).map(|(_, member)| *member)
    }
}

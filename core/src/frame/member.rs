//! The keys of an envelope.
use crate::json::Str;

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
        Some(match body {
            b"jsonrpc" => Self::Jsonrpc,
            b"id" => Self::Id,
            b"method" => Self::Method,
            b"params" => Self::Params,
            b"result" => Self::Result,
            b"error" => Self::Error,
            _ if body.contains(&b'\\') => {
                let key = Str::trusted(body);
                let all = [
                    ("jsonrpc", Self::Jsonrpc),
                    ("id", Self::Id),
                    ("method", Self::Method),
                    ("params", Self::Params),
                    ("result", Self::Result),
                    ("error", Self::Error),
                ];
                return all.iter().find(|(name, _)| key.is(name)).map(|(_, member)| *member);
            }
            _ => return None,
        })
    }
}

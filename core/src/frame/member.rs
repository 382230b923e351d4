//! The keys of an envelope.
use crate::json::{SMALL, Str, find, which};

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
        const NAMES: &[&str] = &["jsonrpc", "id", "method", "params", "result", "error"];
        match which(Str::trusted(body), NAMES)? {
            0 => Some(Self::Jsonrpc),
            1 => Some(Self::Id),
            2 => Some(Self::Method),
            3 => Some(Self::Params),
            4 => Some(Self::Result),
            _ => Some(Self::Error),
        }
    }
}

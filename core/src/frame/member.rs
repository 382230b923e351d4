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

//! The errors that a machine words itself: what is remembered of one is a byte.
use super::key;
use crate::json::{Sink as _, find};
use crate::machine::tx::Out;
use crate::rpc::Code;

/// The letter of a code, see [`Refusal::code`].
macro_rules! code {
    (PARSE_ERROR) => {
        "p"
    };
    (INVALID_REQUEST) => {
        "r"
    };
    (METHOD_NOT_FOUND) => {
        "m"
    };
    (INVALID_PARAMS) => {
        "a"
    };
    (UNSUPPORTED_VERSION) => {
        "u"
    };
    (INTERNAL) => {
        "i"
    };
}

/// Names, codes and texts in one table, so that none can be without the others. A text's `@` stands for the prefix of the reserved keys.
macro_rules! refusals {
    ($($name:ident $code:ident $text:literal,)*) => {
        /// Why a message gets an error.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Refusal {
            $($name,)*
        }

        /// One line for each: a letter for the code, and the text.
        static ALL: &str = concat!($(code!($code), $text, "\n"),*);
    };
}

refusals! {
    NotJson PARSE_ERROR "Parse error",
    NotARequest INVALID_REQUEST "not a JSON-RPC 2.0 request",
    TwiceTheMember INVALID_REQUEST "a member of the envelope stands there twice",
    TwiceTheKey INVALID_REQUEST "a reserved key of _meta stands there twice",
    TooDeep INVALID_REQUEST "nested deeper than 128",
    TooLarge INVALID_REQUEST "message too large",
    ModernTooLarge INVALID_REQUEST "requests of 2026-07-28 are too large here",
    Batch INVALID_REQUEST "batches are only part of revision 2025-03-26",
    NotInABatch INVALID_REQUEST "not allowed in a batch",
    IdInUse INVALID_REQUEST "the id of a request that is still open",
    IdTooLong INVALID_REQUEST "id too long",
    NoMethod METHOD_NOT_FOUND "Method not found",
    ParamsShape INVALID_PARAMS "params must be an object",
    MetaShape INVALID_PARAMS "params._meta must be an object",
    NoVersion INVALID_PARAMS "params.protocolVersion is missing",
    VersionShape INVALID_PARAMS "params.protocolVersion must be a string",
    NoClaim INVALID_PARAMS "params._meta needs @protocolVersion and @clientCapabilities",
    NoSession INVALID_PARAMS
        "no session: send initialize first, or @protocolVersion and @clientCapabilities in params._meta",
    NoHandshake INVALID_PARAMS "no session: send initialize first",
    ClaimVersion INVALID_PARAMS "_meta: @protocolVersion must be a string",
    ClaimCapabilities INVALID_PARAMS "_meta: @clientCapabilities must be there, an object",
    ClaimOthers INVALID_PARAMS "_meta: clientInfo must be an object, progressToken a string or an integer",
    ClaimLevel INVALID_PARAMS "_meta: @logLevel is no known level",
    Unsupported UNSUPPORTED_VERSION "Unsupported protocol version",
    Cursor INVALID_PARAMS "a cursor that was not issued here",
    NameShape INVALID_PARAMS "params.name must be a string",
    NoTool INVALID_PARAMS "Unknown tool",
    ArgumentsString INVALID_PARAMS "arguments must be an object, got string",
    ArgumentsArray INVALID_PARAMS "arguments must be an object, got array",
    ArgumentsNumber INVALID_PARAMS "arguments must be an object, got number",
    ArgumentsBool INVALID_PARAMS "arguments must be an object, got boolean",
    Busy INTERNAL "busy: too many calls at once",
    NoAnswer INTERNAL "the tool gave no answer",
    NoList INTERNAL "the tools can't be listed now",
    ReplyTooLarge INTERNAL "reply too large",
}

impl Refusal {
    pub(crate) fn code(self) -> Code {
        match self.row().first() {
            Some(b'p') => Code::PARSE_ERROR,
            Some(b'r') => Code::INVALID_REQUEST,
            Some(b'm') => Code::METHOD_NOT_FOUND,
            Some(b'a') => Code::INVALID_PARAMS,
            Some(b'u') => Code::UNSUPPORTED_VERSION,
            _ => Code::INTERNAL,
        }
    }

    /// The text, as a part of a string.
    #[inline(never)]
    pub(crate) fn write(self, out: &mut Out<'_>) -> bool {
        // The texts need no escapes.
        let mut rest = self.row().get(1..).unwrap_or_default();
        while let Some((before, after)) = find(b'@', rest).and_then(|at| rest.split_at_checked(at)) {
            if !out.put(before) || !out.put(key::PREFIX.as_bytes()) {
                return false;
            }
            rest = after.get(1..).unwrap_or_default();
        }
        out.put(rest)
    }

    #[inline(never)]
    fn row(self) -> &'static [u8] {
        ALL.as_bytes().split(|byte| *byte == b'\n').nth(self as usize).unwrap_or_default()
    }
}

//! The errors that a machine words itself: what is remembered of one is a byte.
use super::pattern::{fill, nth, pattern};
use crate::machine::tx::Out;
use crate::rpc::Code;

/// Names, codes and texts in one table, so that none can be without the others.
macro_rules! refusals {
    ($($name:ident $code:ident $text:literal,)*) => {
        /// Why a message gets an error.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Refusal {
            $($name,)*
        }

        static CODES: [i16; [$(Refusal::$name),*].len()] = [$(Code::$code.0 as i16),*];
        /// All texts, each a pattern.
        const TEXTS: &[u8] = pattern!(concat!($($text, "|"),*));
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
    NoClaim INVALID_PARAMS "params._meta needs io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities",
    NoSession INVALID_PARAMS
        "no session: send initialize first, or io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities in params._meta",
    NoHandshake INVALID_PARAMS "no session: send initialize first",
    ClaimVersion INVALID_PARAMS "_meta: io.modelcontextprotocol/protocolVersion must be a string",
    ClaimCapabilities INVALID_PARAMS "_meta: io.modelcontextprotocol/clientCapabilities must be there, an object",
    ClaimOthers INVALID_PARAMS "_meta: clientInfo must be an object, progressToken a string or an integer",
    ClaimLevel INVALID_PARAMS "_meta: io.modelcontextprotocol/logLevel is no known level",
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
        Code(CODES.get(self as usize).map_or(0, |code| i64::from(*code)))
    }

    /// The text, as a part of a string.
    pub(crate) fn write(self, out: &mut Out<'_>) -> bool {
        // The texts need no escapes.
        fill(out, nth(TEXTS, self as usize), &[], &[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_codes_of_the_table() {
        let codes = [
            (Refusal::NotJson, Code::PARSE_ERROR),
            (Refusal::IdTooLong, Code::INVALID_REQUEST),
            (Refusal::NoMethod, Code::METHOD_NOT_FOUND),
            (Refusal::NoTool, Code::INVALID_PARAMS),
            (Refusal::Unsupported, Code::UNSUPPORTED_VERSION),
            (Refusal::ReplyTooLarge, Code::INTERNAL),
        ];
        for (refusal, code) in codes {
            assert_eq!(refusal.code(), code, "{refusal:?}");
        }
    }
}

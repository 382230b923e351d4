//! The errors that a machine words itself: what is remembered of one is a byte.
use super::key;
use crate::json::{Sink as _, find};
use crate::machine::tx::Out;
use crate::rpc::Code;

/// One character for a code: of those that follow on each other the distance from the first; see [`Refusal::code`].
macro_rules! code {
    (PARSE_ERROR) => {
        "p"
    };
    (INVALID_REQUEST) => {
        "0"
    };
    (METHOD_NOT_FOUND) => {
        "1"
    };
    (INVALID_PARAMS) => {
        "2"
    };
    (UNSUPPORTED_VERSION) => {
        "u"
    };
    (INTERNAL) => {
        "3"
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

        /// One line for each: a character for the code, and the text.
        const ALL: &str = concat!($(code!($code), $text, "\n"),*);
        /// Where each begins, and the end of all.
        static STARTS: [u16; [$(Refusal::$name),*].len() + 1] = starts(ALL.as_bytes());
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
        let code = match self.row().first() {
            Some(b'p') => Code::PARSE_ERROR.0,
            Some(b'u') => Code::UNSUPPORTED_VERSION.0,
            digit => Code::INVALID_REQUEST.0.wrapping_sub(digit.map_or(0, |d| i64::from(*d & 3))),
        };
        Code(code)
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
        match STARTS.get(self as usize..) {
            Some([start, end, ..]) => {
                let (start, end) = (usize::from(*start), usize::from(*end).wrapping_sub(1));
                ALL.as_bytes().get(start..end).unwrap_or_default()
            }
            _ => &[],
        }
    }
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // runs in the compiler
const fn starts<const N: usize>(all: &[u8]) -> [u16; N] {
    let mut starts = [0; N];
    let (mut line, mut at) = (0, 0);
    while at < all.len() {
        at += 1;
        if all[at - 1] == b'\n' {
            line += 1;
            starts[line] = at as u16;
        }
    }
    starts
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

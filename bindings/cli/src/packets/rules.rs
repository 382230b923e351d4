//! The rules that traffic is checked against, as a table.
//!
//! Numbers are stable: they are printed, and scripts filter by them.

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Severity {
    /// No rule is broken, but peers are known to break.
    Note,
    /// A SHOULD of the specification is not followed.
    Warning,
    /// A MUST or the schema is broken.
    Error,
}

impl Severity {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    /// Such as `BW401`.
    pub(crate) number: u16,
    pub(crate) severity: Severity,
    /// The page and heading of the specification that it comes from.
    pub(crate) clause: &'static str,
    /// Who refuses such traffic, as far as it was tried.
    pub(crate) refused: Option<&'static str>,
}

/// A rule that was broken, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Finding {
    pub(crate) rule: &'static Rule,
    /// The member at fault, such as `result.tools[0].description`; empty where it is the whole line.
    pub(crate) member: String,
    /// What is wrong and how to mend it.
    pub(crate) text: String,
}

/// The rule of that number. Rules that are checked are in the table; a test holds this.
pub(crate) fn rule(number: u16) -> &'static Rule {
    RULES.iter().find(|rule| rule.number == number).unwrap_or(&RULES[0])
}

use Severity::{Error, Note, Warning};

const fn r(number: u16, severity: Severity, clause: &'static str, refused: Option<&'static str>) -> Rule {
    Rule { number, severity, clause, refused }
}

const STDIO: &str = "basic/transports, stdio: nothing but MCP messages";
const MESSAGES: &str = "basic, Messages";
const LIFECYCLE: &str = "basic/lifecycle, Initialization";
const ALL: Option<&str> = Some("every client that was tried");

/// Every rule that this version checks, by number.
pub(crate) static RULES: &[Rule] = &[
    r(101, Error, STDIO, None),
    r(102, Error, "basic/transports, stdio: no embedded newlines", ALL),
    r(
        103,
        Error,
        "basic/transports: messages are UTF-8",
        Some("Python SDK 1.9-2.3 (ends the session), rmcp 3.11 (drops the line)"),
    ),
    r(104, Note, "not in the specification", Some("Python SDK 1.9-2.3, TypeScript SDK 1.32 and 2.4")),
    r(105, Note, "not in the specification", None),
    r(106, Note, "not in the specification", Some("TypeScript SDK, rmcp (the line is ignored)")),
    r(107, Note, "not in the specification", Some("TypeScript SDK 1.32 and 2.4 (they close the connection)")),
    r(108, Error, "basic, Batching: 2025-03-26 only", ALL),
    r(109, Error, "basic, Batching: no initialize inside, not empty, not mixed", ALL),
    r(110, Error, STDIO, ALL),
    r(111, Note, "not in the specification", Some("Python SDK 1.9-2.3, rmcp 3.11 (the line is dropped)")),
    r(112, Warning, "RFC 8259, section 4", Some("rmcp (refuses double members)")),
    r(201, Error, MESSAGES, ALL),
    r(
        202,
        Error,
        "basic, Requests: the id is a string or an integer, and not null",
        Some("Python SDK 1.30 and 2.3 (fractions)"),
    ),
    r(203, Error, "basic, Requests: the id must not have been used before", None),
    r(204, Error, "basic, Responses: the id is the request's", None),
    r(205, Error, "basic, Responses: each request gets exactly one", None),
    r(
        206,
        Error,
        "basic, Responses: either result or error",
        Some("TypeScript SDK 1.32 and 2.4, rmcp 3.11 (the line is dropped)"),
    ),
    r(207, Error, "basic, Notifications: the receiver must not respond", None),
    r(208, Error, "basic, Responses: code is an integer, message a string", ALL),
    r(209, Error, "schema: params and result are objects", ALL),
    r(210, Error, "2026-07-28, basic, Error codes: -32020 to -32099 are the specification's", None),
    r(213, Warning, "schema: an error's id is a string or an integer", None),
    r(215, Note, "not in the specification", Some("TypeScript SDK 1.32 and 2.4 (the line is dropped)")),
    r(301, Error, LIFECYCLE, None),
    r(302, Error, "basic/utilities/cancellation: initialize must not be cancelled", None),
    r(303, Warning, LIFECYCLE, None),
    r(304, Warning, LIFECYCLE, None),
    r(305, Warning, LIFECYCLE, None),
    r(306, Error, LIFECYCLE, ALL),
    r(307, Error, "basic/lifecycle, Version Negotiation", None),
    r(401, Error, "server/tools, Tool: inputSchema is required, its root an object", ALL),
    r(403, Warning, "server/tools, Tool Names", None),
    r(404, Warning, "server/tools, Tool: description", None),
    r(405, Error, "server/tools, Output Schema: structured results must conform", None),
    r(406, Warning, "server/tools, Structured Content: also as text", None),
    r(407, Error, "server/tools, Structured Content: an object up to 2025-11-25", None),
    r(408, Error, "server/tools, Tool Result: content", ALL),
    r(409, Error, "schema: data and blob are base64", None),
    r(413, Warning, "server/tools, Tool: arguments obey inputSchema", None),
    r(
        421,
        Note,
        "schema: optional members are left out, not null",
        Some("TypeScript SDK 1.32 and 2.4 (the whole result); isError: null also Python SDK 1.9-2.3"),
    ),
    r(501, Error, "2026-07-28, basic, _meta: protocolVersion and clientCapabilities are required", None),
    r(502, Error, "2026-07-28, basic, Responses: resultType is required", None),
    r(503, Error, "2026-07-28, server/utilities/caching: ttlMs and cacheScope are required", None),
    r(504, Error, "2026-07-28, basic, Messages: only clients send requests", None),
    r(508, Error, "2026-07-28, basic/versioning, Unsupported versions", None),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_unique() {
        assert!(RULES.windows(2).all(|pair| pair[0].number < pair[1].number));
    }
}

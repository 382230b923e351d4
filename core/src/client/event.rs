//! What a client's application is told.
use super::ToolDef;
use crate::json::Raw;
use crate::machine::CallId;
use crate::mcp::{Content, Level, Version};
use crate::rpc::{Code, Fault};
use core::fmt;

/// What the application is told. Whatever is lent ends at the next call on the machine.
///
/// Results come element by element, in order, before their [`Ended`](Self::Ended); until then they are provisional. Match the
/// variants with `..`: they may get members.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientEvent<'m> {
    /// Calls are welcome now. Comes when all output has left, so that a first request has the whole transmit buffer.
    /// Fires once for each handshake.
    #[non_exhaustive]
    Opened {
        /// `serverInfo.name`, or nothing. For people alone.
        server: &'m str,
        /// `serverInfo.version`, or nothing.
        server_version: &'m str,
        /// What is spoken.
        version: Version,
        /// How a model should use the server.
        instructions: Option<&'m str>,
        /// What it offers, an object.
        capabilities: Option<Raw<'m>>,
    },
    /// There is no revision in common, or no answer. `Closed` follows.
    NotOpened(End<'m>),
    /// A tool of a list.
    #[non_exhaustive]
    Tool {
        /// The request.
        of: CallId,
        /// Its definition, as received and decoded.
        tool: ToolDef<'m>,
    },
    /// A content block of a tool's result.
    #[non_exhaustive]
    Content {
        /// The request.
        of: CallId,
        /// The block. One that does not decode is [`Content::Other`], whole.
        content: Content<'m>,
    },
    /// The `structuredContent` of a tool's result. In 2026-07-28 it may be any JSON, `null` too.
    #[non_exhaustive]
    Structured {
        /// The request.
        of: CallId,
        /// As received, numbers digit by digit.
        json: Raw<'m>,
    },
    /// The `_meta` of a result or a page.
    #[non_exhaustive]
    Meta {
        /// The request.
        of: CallId,
        /// An object, as received.
        json: Raw<'m>,
    },
    /// The whole result of [`Client::request`](crate::Client::request).
    #[non_exhaustive]
    Json {
        /// The request.
        of: CallId,
        /// An object, as received.
        json: Raw<'m>,
    },
    /// One page is over, and pages are not followed ([`ClientConfig::follow_pages`](crate::ClientConfig::follow_pages)). Copy `next`
    /// and give it to [`Client::list_tools`](crate::Client::list_tools).
    #[non_exhaustive]
    Page {
        /// The request.
        of: CallId,
        /// The cursor, a string as received.
        next: Raw<'m>,
    },
    /// 2026-07-28: the call is over and wants to be made again, with answers (basic/patterns/mrtr). `Ended` with
    /// [`End::InputRequired`] follows. Bound the rounds: a server may ask for ever.
    #[non_exhaustive]
    InputRequired {
        /// The request.
        of: CallId,
        /// `inputRequests`: under each key an object with `method` and `params`. Give each key back with
        /// [`Request::answer`](crate::Request::answer).
        asks: Option<Raw<'m>>,
        /// `requestState`, a string. Give it back with [`Request::state`](crate::Request::state), byte for byte; leave it out if there is none.
        state: Option<Raw<'m>>,
    },
    /// A request is over. Exactly one for each that was sent and not cancelled.
    #[non_exhaustive]
    Ended {
        /// The request.
        of: CallId,
        /// How.
        end: End<'m>,
    },
    /// A request that wanted it goes on.
    #[non_exhaustive]
    Progress {
        /// The request.
        of: CallId,
        /// How much is done.
        done: f64,
        /// Of how much.
        total: Option<f64>,
        /// For people (since 2025-03-26).
        message: Option<&'m str>,
    },
    /// The server logs something.
    #[non_exhaustive]
    Log {
        /// How grave; `None` if it is no level of the protocol.
        level: Option<Level>,
        /// The level as received.
        level_text: &'m str,
        /// Where it comes from.
        logger: Option<&'m str>,
        /// Any JSON.
        data: Raw<'m>,
    },
    /// A list is another now.
    #[non_exhaustive]
    Changed {
        /// Which.
        what: Listed,
    },
    /// A resource is another now.
    #[non_exhaustive]
    Updated {
        /// Which.
        uri: &'m str,
    },
    /// The server erred, which ends no request by itself: junk between messages, an answer to nothing, a broken notification.
    /// A client never answers that.
    #[non_exhaustive]
    Fault {
        /// How.
        fault: Fault,
        /// The line, or the part of it that is wrong, or what is at hand.
        line: &'m [u8],
    },
    /// A notification that the machine has no use for.
    #[non_exhaustive]
    Notified {
        /// Its method.
        method: &'m str,
        /// As received.
        params: Option<Raw<'m>>,
    },
}

/// What can be listed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Listed {
    /// `tools/list`
    Tools,
    /// `prompts/list`
    Prompts,
    /// `resources/list`
    Resources,
}

/// How a request, or the opening of a session, ended.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum End<'m> {
    /// The events before it are the whole result.
    Done {
        /// The tool says that it failed; its content says why.
        is_error: bool,
    },
    /// The server refused.
    Error {
        /// Why; 0 if the server sent no integer.
        code: Code,
        /// Why, in words; empty if the server sent no string.
        message: &'m str,
        /// More about it.
        data: Option<Raw<'m>>,
    },
    /// The time was over. The server has been told, where it may be.
    TimedOut,
    /// The connection ended, not the call.
    Lost,
    /// It has to be made again, with answers.
    InputRequired,
    /// The server broke the protocol; what came before is not to be trusted.
    Invalid(Why),
}

impl fmt::Display for End<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done { is_error: false } => f.write_str("done"),
            Self::Done { is_error: true } => f.write_str("the tool reports an error"),
            Self::Error { code, message: "", .. } => write!(f, "the server answered with error {code}"),
            Self::Error { code, message, .. } => {
                write!(f, "the server answered with error {code}: {message}")
            }
            Self::TimedOut => f.write_str("no answer in time"),
            Self::Lost => f.write_str("the connection ended before the answer came"),
            Self::InputRequired => f.write_str("the server asks for more input before it answers"),
            Self::Invalid(why) => why.fmt(f),
        }
    }
}

/// In which way a server broke the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Why {
    /// The answer lacks what it must have, or has it with a wrong type.
    Shape,
    /// `resultType` is none that this client knows (2026-07-28: such a result is invalid), or not allowed there.
    ResultType,
    /// No revision in common.
    Version,
    /// The server gave a cursor again, so that its list has no end.
    CursorRepeats,
    /// More than 10,000 pages.
    TooManyPages,
    /// The answer is longer than the receive buffer, or than the limit of a growing one.
    TooLong {
        /// How long it was, in bytes.
        dropped: usize,
    },
    /// The answer is nested deeper than 128.
    TooDeep,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => f.write_str("the server's answer is not what the protocol has there"),
            Self::ResultType => {
                f.write_str("the server's answer is of a kind that this client does not know")
            }
            Self::Version => f.write_str("the server speaks no revision that this client speaks"),
            Self::CursorRepeats => f.write_str("the server's list has no end: a cursor repeats"),
            Self::TooManyPages => f.write_str("the server's list has more than 10000 pages"),
            Self::TooLong { dropped } => write!(f, "the server's answer is too large, {dropped} bytes"),
            Self::TooDeep => f.write_str("the server's answer is nested deeper than 128"),
        }
    }
}

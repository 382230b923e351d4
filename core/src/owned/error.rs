//! What can go wrong, each as one sentence that says how to mend it.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::{fmt, time::Duration};
use std::{io, process::ExitStatus};

/// Why no session was opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The command could not be started.
    Spawn {
        /// What was to be started.
        program: String,
        /// The system's reason.
        error: Arc<io::Error>,
    },
    /// The server ended before it had answered the handshake.
    Exited {
        /// How it ended.
        status: ExitStatus,
        /// The last lines of its stderr.
        stderr_tail: String,
        /// Whether this was the second try, without the probe for the newest revision.
        restarted: bool,
        /// The first line on its stdout that was not MCP.
        junk: Option<String>,
    },
    /// No handshake within the time allowed.
    TimedOut {
        /// The time allowed.
        after: Duration,
        /// The last lines of its stderr.
        stderr_tail: String,
        /// The first line on its stdout that was not MCP.
        junk: Option<String>,
    },
    /// It writes `Content-Length` headers, as language servers do.
    ContentLength,
    /// It answered the handshake with an error.
    Refused {
        /// The JSON-RPC code.
        code: i64,
        /// Its words.
        message: String,
    },
    /// It closed the connection before it had answered the handshake.
    Closed {
        /// The first line that was not MCP.
        junk: Option<String>,
    },
    /// Its answer to the handshake cannot be used, for example for a revision that this client does not know.
    Protocol(String),
    /// The system refused something else: a thread, a pipe.
    Io(Arc<io::Error>),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn { program, error } if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "cannot start `{program}`: there is no such program; is it installed and on PATH?")
            }
            Self::Spawn { program, error } => write!(f, "cannot start `{program}`: {error}"),
            Self::Exited { status, stderr_tail, restarted, junk } => {
                write!(f, "the server ended before it answered the handshake ({status}")?;
                f.write_str(if *restarted { ", started twice)" } else { ")" })?;
                write!(f, "{}{}", Tail(stderr_tail), Junk(junk.as_deref()))
            }
            Self::TimedOut { after, stderr_tail, junk } => {
                write!(f, "the server did not answer the handshake within {}", Time(*after))?;
                if stderr_tail.is_empty() && junk.is_none() {
                    f.write_str("; is it an MCP server on stdio, and does it need longer to start?")?;
                }
                write!(f, "{}{}", Tail(stderr_tail), Junk(junk.as_deref()))
            }
            Self::ContentLength => f.write_str(
                "the server speaks Content-Length framing, which MCP does not use: one line is one message",
            ),
            Self::Refused { code, message } => {
                write!(f, "the server refused the handshake: {message} ({code})")
            }
            Self::Closed { junk } => {
                write!(
                    f,
                    "the connection was closed before the handshake was answered{}",
                    Junk(junk.as_deref())
                )
            }
            Self::Protocol(what) => write!(f, "no session could be opened: {what}"),
            Self::Io(error) => write!(f, "the system refused a thread or a pipe: {error}"),
        }
    }
}

impl core::error::Error for StartError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Spawn { error, .. } | Self::Io(error) => Some(&**error),
            _ => None,
        }
    }
}

/// Why a request has no result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The session was not opened.
    NotOpened(StartError),
    /// The server answered with an error.
    Server {
        /// The JSON-RPC code.
        code: i64,
        /// Its words.
        message: String,
        /// What it added, as JSON text.
        data: Option<String>,
    },
    /// No answer within the time allowed. The server has been told to stop working on it.
    TimedOut {
        /// The time that passed.
        after: Duration,
        /// The last lines of its stderr.
        stderr_tail: String,
    },
    /// The server ended while the request was open, or before.
    Exited {
        /// How it ended.
        status: ExitStatus,
        /// The last lines of its stderr.
        stderr_tail: String,
    },
    /// The connection is closed, by this side or by a peer that is no child or lives on.
    Closed,
    /// The answer is not what MCP prescribes; in words.
    Protocol(String),
    /// The server wants answers first: call again with them and with its state.
    InputRequired {
        /// Its questions, a JSON object as text: under each key a method and its params.
        asks: String,
        /// What it wants back as it is, JSON text.
        state: Option<String>,
    },
    /// Ours: what was to be sent is not a JSON object.
    BadArguments(String),
    /// Ours: the request is longer than the limit for messages.
    TooLarge,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpened(error) => error.fmt(f),
            Self::Server { code, message, .. } => {
                write!(f, "the server answered with an error: {message} ({code})")
            }
            Self::TimedOut { after, stderr_tail } => {
                write!(
                    f,
                    "no answer after {}; allow more time if the tool needs it{}",
                    Time(*after),
                    Tail(stderr_tail)
                )
            }
            Self::Exited { status, stderr_tail } => {
                write!(f, "the server ended ({status}) before it answered{}", Tail(stderr_tail))
            }
            Self::Closed => f.write_str("the connection to the server is closed; start it again"),
            Self::Protocol(what) => f.write_str(what),
            Self::InputRequired { .. } => {
                f.write_str("the tool wants answers first; call it again with them")
            }
            Self::BadArguments(what) => write!(f, "the arguments are not a JSON object: {what}"),
            Self::TooLarge => f.write_str("the request is larger than the limit for messages"),
        }
    }
}

impl core::error::Error for CallError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::NotOpened(error) => error.source(),
            _ => None,
        }
    }
}

/// A time as people write it.
struct Time(Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.as_secs(), self.0.subsec_millis()) {
            (0, millis) => write!(f, "{millis}ms"),
            (secs, 0) => write!(f, "{secs}s"),
            (_, _) => write!(f, "{:.1}s", self.0.as_secs_f64()),
        }
    }
}

/// The end of stderr as part of a sentence.
struct Tail<'a>(&'a str);

impl fmt::Display for Tail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<&str> = self.0.lines().collect();
        let last = lines.get(lines.len().saturating_sub(3)..).unwrap_or_default();
        if last.is_empty() { Ok(()) } else { write!(f, "; its stderr ends with: {}", last.join(" | ")) }
    }
}

/// The line that was not MCP, as part of a sentence.
struct Junk<'a>(Option<&'a str>);

impl fmt::Display for Junk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(line) => {
                write!(f, "; the server wrote a line that is not MCP: {line:?}; does it print to stdout?")
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn each_error_is_a_sentence_that_helps() {
        let timed_out = |tail: &str, junk: Option<&str>| {
            let junk = junk.map(String::from);
            StartError::TimedOut { after: Duration::from_secs(60), stderr_tail: tail.into(), junk }
                .to_string()
        };
        assert_eq!(
            timed_out("one\ntwo\nthree\nfour", Some("Listening on 8080")),
            "the server did not answer the handshake within 60s; its stderr ends with: two | three | four; the server \
             wrote a line that is not MCP: \"Listening on 8080\"; does it print to stdout?"
        );
        assert!(timed_out("", None).ends_with("does it need longer to start?"));
        let call = CallError::TimedOut { after: Duration::from_millis(1234), stderr_tail: String::new() };
        assert_eq!(call.to_string(), "no answer after 1.2s; allow more time if the tool needs it");
        let refused = StartError::Refused { code: -32602, message: "no".into() };
        assert_eq!(refused.to_string(), "the server refused the handshake: no (-32602)");
    }
}

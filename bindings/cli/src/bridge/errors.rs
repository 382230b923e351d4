//! Error answers, and why they are given.

use core::fmt;

use barewire::json::{Object, Raw};
use barewire::{Code, Fault};

use super::LIMIT;
use crate::text;

/// Why a connection to the far end is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// The process ended; how, in words.
    Exited(String),
    /// The connection was closed, or broke.
    Closed,
    /// The device started again.
    Restarted,
    /// The serial port is gone.
    Unplugged,
}

impl Reason {
    /// The word for programs.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Exited(_) => "exited",
            Self::Closed => "closed",
            Self::Restarted => "restarted",
            Self::Unplugged => "unplugged",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(how) => write!(f, "the server ended with {how}"),
            Self::Closed => f.write_str("the connection to the server was lost"),
            Self::Restarted => f.write_str("the device restarted"),
            Self::Unplugged => f.write_str("the serial port is gone"),
        }
    }
}

/// An error answer, as a line. `reason` is the stable word in its data.
///
/// The code is that of an internal error: those from -32000 to -32019 must not be given a new meaning (MCP 2026-07-28,
/// basic/index, "Error codes"), and peers know this one.
pub(super) fn failed(id: Raw<'_>, reason: &str, message: &str) -> Vec<u8> {
    error(id, Code::INTERNAL, message, |data| {
        data.str("reason", reason);
    })
}

/// Refuses a request that may not be made.
pub(super) fn refused(id: Raw<'_>, reason: &str, message: &str) -> Vec<u8> {
    error(id, Code::INVALID_REQUEST, message, |data| {
        data.str("reason", reason);
    })
}

/// Refuses a line that is no message.
pub(super) fn no_message(id: Raw<'_>, fault: Fault) -> Vec<u8> {
    refused(id, "invalid", &format!("this is no message that can be passed on: {fault}"))
}

/// Refuses a request that nobody could answer by its id.
pub(super) fn nameless() -> Vec<u8> {
    refused(Raw::NULL, "invalid", "the id of this request is neither a string nor a number")
}

/// For an answer that can't be read.
pub(super) fn unreadable(id: Raw<'_>, fault: Fault) -> Vec<u8> {
    let what = match fault {
        Fault::NotJson { .. } | Fault::NotUtf8 { .. } => "was not valid JSON",
        _ => "was no valid message",
    };
    let message = format!("the server's answer {what} ({fault}); the request may have been carried out");
    failed(id, "unreadable", &message)
}

/// Refuses a message that is too long.
pub(super) fn too_long(id: Raw<'_>, what: &str, dropped: usize) -> Vec<u8> {
    let message = format!("{what} is too large, {dropped} bytes");
    error(id, Code::INVALID_REQUEST, &message, |data| {
        data.str("reason", "too_large");
        data.uint("limit", LIMIT as u64);
    })
}

fn error(id: Raw<'_>, code: Code, message: &str, data: impl Fn(&mut Object<'_>)) -> Vec<u8> {
    let mut line = text::object(|o| {
        o.str("jsonrpc", "2.0");
        o.raw("id", id);
        o.object("error", |e| {
            e.int("code", code.0);
            e.str("message", message);
            e.object("data", &data);
        });
    });
    line.push(b'\n');
    line
}

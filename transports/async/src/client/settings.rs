//! What can be chosen about a connection, and what can be watched of it.

use barewire::{Fault, Limits, Listed, Millis};
use core::time::Duration;
use std::process::ExitStatus;

/// One thing that happened on the connection.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Trace<'a> {
    /// Bytes on their way to the peer: several messages, or a part of one. Told before they are written, so before any answer.
    Sent(&'a [u8]),
    /// The bytes of one read: several messages, or a part of one.
    Received(&'a [u8]),
    /// The bytes of one read of a child's stderr.
    Stderr(&'a [u8]),
    /// A child was started.
    Started {
        /// Its process, which on Unix is also its group.
        pid: u32,
    },
    /// The child has ended, and what it left in its pipes has been read.
    Exited(ExitStatus),
    /// The child ended on the probe for the newest revision, and is started once more without it.
    Restarted,
    /// A line that is not MCP. It has been skipped.
    Junk {
        /// What of the line is at hand.
        line: &'a [u8],
        /// What is wrong with it.
        fault: Fault,
    },
    /// A list of the server's is another now.
    Changed(Listed),
    /// A log message of the server's.
    Log {
        /// How grave, as the server wrote it.
        level: &'a str,
        /// Where it comes from.
        logger: Option<&'a str>,
        /// What it says, as JSON text.
        data: &'a str,
    },
    /// A notification of another kind.
    Notified {
        /// Its method.
        method: &'a str,
        /// As JSON text.
        params: Option<&'a str>,
    },
}

/// How a connection behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) timeout: Duration,
    pub(crate) max_timeout: Duration,
    pub(crate) start_timeout: Duration,
    pub(crate) grace: Duration,
    pub(crate) limits: Limits,
}

impl Settings {
    pub(crate) fn new() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            max_timeout: Duration::from_secs(600),
            start_timeout: Duration::from_secs(60),
            grace: Duration::from_secs(2),
            limits: Limits::default(),
        }
    }
}

pub(crate) fn millis(time: Duration) -> Millis {
    Millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// Nobody watches.
pub(crate) fn unwatched(_: Trace<'_>) {}

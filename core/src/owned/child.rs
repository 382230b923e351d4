//! How a server that is a child process ended, and what is remembered of its stderr.

use alloc::{collections::VecDeque, string::String, vec::Vec};
use std::process::ExitStatus;

/// What becomes of a child's stderr. It is always read, so that the child never waits for it, and its last lines are
/// always kept for error messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stderr {
    /// Passed on to this process's stderr.
    #[default]
    Pass,
    /// Kept, this many bytes of its end, for the client's `stderr()`.
    Keep(usize),
    /// Dropped.
    Drop,
}

/// How a connection ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExitReport {
    /// The child's status; `None` if there was no child, or if the system will not give it up.
    pub status: Option<ExitStatus>,
    /// What it took.
    pub how: Ended,
    /// The last lines of its stderr.
    pub stderr_tail: String,
}

impl ExitReport {
    /// One of these parts.
    #[must_use]
    pub const fn new(status: Option<ExitStatus>, how: Ended, stderr_tail: String) -> Self {
        Self { status, how, stderr_tail }
    }
}

/// How a child came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Ended {
    /// It exited, after its input was closed or before.
    ByItself,
    /// It did not exit when its input was closed, and was sent SIGTERM.
    Terminated,
    /// It did not exit on SIGTERM either, or its driver was dropped: it was killed.
    Killed,
    /// There was none: the connection is over a pair of streams.
    NoChild,
}

/// Bytes and lines of the end that every error message may show, whatever the mode.
const TAIL: usize = 4096;
const LINES: usize = 10;

/// The end of what a child wrote to its stderr, for error messages and for whoever wants to see it.
#[derive(Debug)]
pub struct StderrLog {
    kept: VecDeque<u8>,
    bound: usize,
    cut: bool,
}

impl StderrLog {
    /// Keeps what `mode` says, and what error messages need (4 KiB) in any case.
    #[must_use]
    pub fn new(mode: Stderr) -> Self {
        let bound = match mode {
            Stderr::Keep(bound) => bound.max(TAIL),
            Stderr::Pass | Stderr::Drop => TAIL,
        };
        Self { kept: VecDeque::new(), bound, cut: false }
    }

    /// Takes the bytes of one read.
    pub fn add(&mut self, bytes: &[u8]) {
        let bytes = bytes.get(bytes.len().saturating_sub(self.bound)..).unwrap_or_default();
        let over = self.kept.len().saturating_add(bytes.len()).saturating_sub(self.bound);
        self.cut |= over > 0;
        self.kept.drain(..over);
        self.kept.extend(bytes);
    }

    /// All that is kept, as it came.
    #[must_use]
    pub fn kept(&self) -> Vec<u8> {
        self.kept.iter().copied().collect()
    }

    /// The last lines, ten at most, blank ones left out; a line whose start was lost comes only if it is the only one.
    #[must_use]
    pub fn tail(&self) -> String {
        let from = self.kept.len().saturating_sub(TAIL);
        let bytes: Vec<u8> = self.kept.iter().skip(from).copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        // A carriage return ends a line too: that is how progress bars are drawn.
        let lines = text.split(['\n', '\r']).map(str::trim_end);
        let mut lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        if (self.cut || from > 0) && lines.len() > 1 {
            lines.remove(0);
        }
        lines.split_off(lines.len().saturating_sub(LINES)).join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn keeps_the_end_within_the_bound() {
        let mut log = StderrLog::new(Stderr::Keep(5000));
        for i in 0..10_000 {
            log.add(format!("line {i}\n").as_bytes());
        }
        assert_eq!(log.kept().len(), 5000);
        assert!(log.kept().ends_with(b"line 9999\n"));
        let tail = log.tail();
        assert_eq!(tail.lines().count(), LINES);
        assert!(tail.starts_with("line 9990\n") && tail.ends_with("line 9999"));
    }

    #[test]
    fn one_endless_line_is_shown_in_part() {
        let mut log = StderrLog::new(Stderr::Drop);
        log.add(&[b'x'; 10_000]);
        log.add(b"\xff end");
        assert_eq!(log.tail().chars().count(), TAIL);
        assert!(log.tail().ends_with("\u{fffd} end"));
    }

    #[test]
    fn blank_lines_are_left_out() {
        let mut log = StderrLog::new(Stderr::Drop);
        log.add(b"a\r\n\n  \nb\n\n");
        assert_eq!(log.tail(), "a\nb");
        log.add(b"10%\r20%\r");
        assert_eq!(log.tail(), "a\nb\n10%\n20%");
    }
}

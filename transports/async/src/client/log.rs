//! What is remembered of a child's stderr. Over other streams it stays empty.

use std::collections::VecDeque;

/// Bytes and lines of the end that every error message may show, whatever the mode.
const TAIL: usize = 4096;
const LINES: usize = 10;

#[cfg_attr(not(feature = "process"), allow(dead_code))] // only children have one
pub(crate) struct Log {
    kept: VecDeque<u8>,
    bound: usize,
    cut: bool,
}

#[cfg_attr(not(feature = "process"), allow(dead_code))]
impl Log {
    /// Keeps the last `bound` bytes, and what error messages need in any case.
    pub(crate) fn new(bound: usize) -> Self {
        Self { kept: VecDeque::new(), bound: bound.max(TAIL), cut: false }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let bytes = bytes.get(bytes.len().saturating_sub(self.bound)..).unwrap_or_default();
        let over = (self.kept.len() + bytes.len()).saturating_sub(self.bound);
        self.cut |= over > 0;
        self.kept.drain(..over);
        self.kept.extend(bytes);
    }

    pub(crate) fn kept(&self) -> Vec<u8> {
        self.kept.iter().copied().collect()
    }

    /// The last lines, blank ones left out; a line whose start was lost comes only if it is the only one.
    pub(crate) fn tail(&self) -> String {
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

    #[test]
    fn keeps_the_end_within_the_bound() {
        let mut log = Log::new(5000);
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
        let mut log = Log::new(0);
        log.add(&[b'x'; 10_000]);
        log.add(b"\xff end");
        assert_eq!(log.tail().chars().count(), TAIL);
        assert!(log.tail().ends_with("\u{fffd} end"));
    }

    #[test]
    fn blank_lines_are_left_out() {
        let mut log = Log::new(0);
        log.add(b"a\r\n\n  \nb\n\n");
        assert_eq!(log.tail(), "a\nb");
        log.add(b"10%\r20%\r");
        assert_eq!(log.tail(), "a\nb\n10%\n20%");
    }
}

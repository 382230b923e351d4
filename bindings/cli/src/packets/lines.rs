//! Bytes to lines, one stream at a time.

use crate::capture::{Micros, Stream};

/// How a line ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// With LF, as it should.
    Lf,
    /// With CR LF.
    CrLf,
    /// Not at all: the input was over.
    Nothing,
}

/// One line of one stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// Its stream.
    pub(crate) stream: Stream,
    /// When its last byte was read.
    pub(crate) at: Option<Micros>,
    /// Without its end.
    pub(crate) bytes: Vec<u8>,
    /// How it ended.
    pub(crate) end: End,
}

impl Line {
    /// Bytes on the wire, the line's end included.
    pub(crate) const fn size(&self) -> usize {
        self.bytes.len()
            + match self.end {
                End::Lf => 1,
                End::CrLf => 2,
                End::Nothing => 0,
            }
    }
}

/// Collects the reads of one stream into lines; scans no byte twice.
pub(crate) struct Assembler {
    stream: Stream,
    /// The longest line that is kept whole: one may never end.
    limit: usize,
    partial: Vec<u8>,
    at: Option<Micros>,
}

impl Assembler {
    pub(crate) const fn new(stream: Stream, limit: usize) -> Self {
        Self { stream, limit, partial: Vec::new(), at: None }
    }

    /// What is there of a line that has not ended.
    pub(crate) fn partial(&self) -> &[u8] {
        &self.partial
    }

    /// Takes one read and hands out the lines that it completed.
    pub(crate) fn push(&mut self, mut bytes: &[u8], at: Option<Micros>) -> Vec<Line> {
        let mut lines = Vec::new();
        self.at = at;
        while let Some(lf) = bytes.iter().position(|&b| b == b'\n') {
            self.keep(&bytes[..lf]);
            bytes = &bytes[lf + 1..];
            lines.push(self.line(End::Lf));
        }
        self.keep(bytes);
        lines
    }

    /// The line that never ended, if there is one.
    pub(crate) fn finish(&mut self) -> Option<Line> {
        (!self.partial.is_empty()).then(|| self.line(End::Nothing))
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.limit - self.partial.len();
        self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn line(&mut self, mut end: End) -> Line {
        let mut bytes = core::mem::take(&mut self.partial);
        if end == End::Lf && bytes.last() == Some(&b'\r') {
            bytes.pop();
            end = End::CrLf;
        }
        Line { stream: self.stream, at: self.at, bytes, end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_split_gives_the_same_lines() {
        let text = b"{\"a\":1}\r\n\nx\ny";
        let mut whole = Assembler::new(Stream::S2c, 64);
        let mut expected = whole.push(text, Some(3));
        expected.extend(whole.finish());
        assert_eq!(
            expected.iter().map(|l| l.end).collect::<Vec<_>>(),
            [End::CrLf, End::Lf, End::Lf, End::Nothing]
        );
        assert_eq!(expected.iter().map(Line::size).sum::<usize>(), text.len());
        for cut in 0..text.len() {
            let mut split = Assembler::new(Stream::S2c, 64);
            let mut lines = split.push(&text[..cut], Some(3));
            lines.extend(split.push(&text[cut..], Some(3)));
            lines.extend(split.finish());
            assert_eq!(lines, expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_line_that_never_ends_is_kept_in_part() {
        let mut lines = Assembler::new(Stream::S2c, 5);
        for _ in 0..100 {
            assert!(lines.push(b"abc", None).is_empty());
            assert!(lines.partial.capacity() < 64);
        }
        assert_eq!(lines.partial(), b"abcab");
        let ended = lines.push(b"d\nabcdef\n", None);
        assert_eq!(ended.iter().map(|l| l.bytes.as_slice()).collect::<Vec<_>>(), [b"abcab", b"abcde"]);
    }
}

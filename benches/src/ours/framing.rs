use barewire::frame::{Frame, Lines};

use crate::{Contender, Corpus, Digest, Seen};

/// What one read gives.
pub(crate) const READ: usize = 8 * 1024;

pub(super) struct Framing {
    buffer: Vec<u8>,
}

impl Framing {
    pub(super) fn new(corpus: &Corpus) -> Self {
        let longest =
            corpus.messages.iter().flat_map(|stream| stream.split(|&b| b == b'\n')).map(<[u8]>::len).max();
        Self { buffer: vec![0; longest.unwrap_or(0) + 4 * READ] }
    }
}

impl Contender for Framing {
    fn read(&mut self, stream: &[u8]) -> Digest {
        let (mut lines, mut seen) = (Lines::new(&mut self.buffer), Seen::EMPTY);
        for read in stream.chunks(READ) {
            let mut rest = read;
            loop {
                match lines.next() {
                    Frame::Line(line) => seen.add(line),
                    Frame::TooLong { .. } => return Digest::REFUSED,
                    Frame::More if rest.is_empty() => break,
                    Frame::More => rest = &rest[lines.feed(rest)..],
                }
            }
        }
        Digest::of(seen)
    }
}

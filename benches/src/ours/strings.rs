use barewire::json::{Raw, Writer, write_str};

use super::room;
use crate::{Contender, Corpus, Digest, Seen, Turns};

pub(super) struct Escape {
    texts: Turns<String>,
    buffer: Vec<u8>,
}

impl Escape {
    pub(super) fn new(corpus: &Corpus) -> Self {
        // Twice suffices for our corpora.
        let longest = room(corpus, 0).len();
        Self { texts: Turns::texts(corpus), buffer: vec![0; 2 * longest + 64] }
    }
}

impl Contender for Escape {
    fn read(&mut self, _: &[u8]) -> Digest {
        let mut out = Writer::new(&mut self.buffer);
        if write_str(&mut out, self.texts.next()) {
            Digest::of(Seen::of(out.written()))
        } else {
            Digest::REFUSED
        }
    }
}

pub(super) struct Unescape {
    buffer: Vec<u8>,
}

impl Unescape {
    pub(super) fn new(corpus: &Corpus) -> Self {
        Self { buffer: room(corpus, 0) }
    }
}

impl Contender for Unescape {
    fn read(&mut self, json: &[u8]) -> Digest {
        let body = Raw::from_bytes(json).ok().and_then(Raw::as_string);
        let text = body.and_then(|body| body.decode_into(&mut self.buffer));
        text.map_or(Digest::REFUSED, |text| Digest::of(Seen::of(text.as_bytes())))
    }
}

use std::io::{BufRead, BufReader};

use crate::{Contender, Digest, Seen};

#[derive(Default)]
pub(super) struct ReadUntil {
    line: Vec<u8>,
}

impl Contender for ReadUntil {
    fn read(&mut self, stream: &[u8]) -> Digest {
        let (mut reader, mut seen) = (BufReader::with_capacity(8 * 1024, stream), Seen::EMPTY);
        loop {
            self.line.clear();
            match reader.read_until(b'\n', &mut self.line) {
                Ok(0) => return Digest::of(seen),
                Ok(_) => seen.add(self.line.strip_suffix(b"\n").unwrap_or(&self.line)),
                Err(_) => return Digest::REFUSED,
            }
        }
    }
}

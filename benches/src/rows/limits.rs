//! What bounds everybody: finding a byte, and moving bytes.

use crate::ours::room;
use crate::{Contender, Digest, Group, Row, Seen, Turns, row};

pub(super) const MEMCHR: &str = "2.8.3";

pub(super) fn rows() -> Vec<Row> {
    let copy = |group| row(group, "limit: memcpy", "", |corpus| Some(Copy(room(corpus, 0)))).limit();
    vec![
        row(Group::Framing, "limit: memchr", MEMCHR, |_| Some(Lines))
            .limit()
            .note("finds the line feeds, moves nothing"),
        copy(Group::Framing),
        row(Group::Read, "limit: memchr", MEMCHR, |_| Some(End)).limit().note("looks for a line feed"),
        copy(Group::Read),
        copy(Group::Typed),
        row(Group::Write, "limit: memcpy", "", |corpus| {
            let ready = corpus.messages.clone();
            Some(CopyOut { ready: Turns::new(ready), to: room(corpus, 0) })
        })
        .limit()
        .note("copies the finished message"),
        copy(Group::Escape),
        copy(Group::Unescape),
        copy(Group::RoundTrip),
    ]
}

struct Lines;

impl Contender for Lines {
    fn read(&mut self, stream: &[u8]) -> Digest {
        let (mut seen, mut start) = (Seen::EMPTY, 0);
        for end in memchr::memchr_iter(b'\n', stream) {
            seen.add(&stream[start..end]);
            start = end + 1;
        }
        Digest::of(seen)
    }
}

struct End;

impl Contender for End {
    fn read(&mut self, message: &[u8]) -> Digest {
        Digest::of(Seen::of(&message[..memchr::memchr(b'\n', message).unwrap_or(message.len())]))
    }
}

struct Copy(Vec<u8>);

impl Contender for Copy {
    fn read(&mut self, message: &[u8]) -> Digest {
        self.0[..message.len()].copy_from_slice(message);
        Digest::of(Seen::of(core::hint::black_box(&self.0[..message.len()])))
    }
}

struct CopyOut {
    ready: Turns<Vec<u8>>,
    to: Vec<u8>,
}

impl Contender for CopyOut {
    fn read(&mut self, _: &[u8]) -> Digest {
        let message = self.ready.next();
        let to = &mut self.to[..message.len()];
        to.copy_from_slice(message);
        Digest::of(Seen::of(core::hint::black_box(to)))
    }
}

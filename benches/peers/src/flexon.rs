//! flexon, in place.

use barewire_benches::{Contender, Digest, Group, Row, Seen, row};

use crate::id::{Copy, Skipping, Typed};

const VERSION: &str = "0.4.9";

pub(crate) fn rows() -> Vec<Row> {
    vec![
        row(Group::Read, "flexon in place", VERSION, |corpus| Some(Read(Copy::new(corpus))))
            .note("a derived struct by from_mut_slice; no raw spans; with one memcpy"),
        row(Group::Typed, "flexon in place", VERSION, |corpus| Some(Values(Copy::new(corpus))))
            .note("&str; schemas are passed over; with one memcpy"),
        row(Group::Unescape, "flexon in place", VERSION, |corpus| Some(Unescape(Copy::new(corpus))))
            .note("from_mut_slice to &str; with one memcpy"),
    ]
}

struct Read(Copy);

impl Contender for Read {
    fn read(&mut self, message: &[u8]) -> Digest {
        flexon::from_mut_slice::<Skipping<'_>>(self.0.of(message)).map_or(Digest::REFUSED, Skipping::digest)
    }
}

struct Values(Copy);

impl Contender for Values {
    fn read(&mut self, message: &[u8]) -> Digest {
        flexon::from_mut_slice::<Typed<'_>>(self.0.of(message)).map_or(Digest::REFUSED, |read| read.digest())
    }
}

struct Unescape(Copy);

impl Contender for Unescape {
    fn read(&mut self, json: &[u8]) -> Digest {
        flexon::from_mut_slice::<&str>(self.0.of(json))
            .map_or(Digest::REFUSED, |text| Digest::of(Seen::of(text.as_bytes())))
    }
}

//! Frames: one line each, printable, with a checksum. [`format`](crate::format) is their description.
use super::Role;
use core::ops::Range;
use crc::{CRC_32_ISO_HDLC, Crc};

/// The checksum of gzip, PNG and Ethernet.
pub(super) const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// Starts a frame.
pub(super) const START: u8 = b'~';
/// Start, kind, generation, offset, acknowledgement.
pub(super) const HEAD: usize = 9;
/// The checksum.
pub(super) const SUM: usize = 6;
/// What a frame adds to its payload, the line feed included.
pub const OVERHEAD: usize = HEAD + SUM + 1;
/// Version, how it starts, nonce, longest payload, window.
pub(super) const OPENING: usize = 11;
const VERSION: u8 = b'1';
/// Digits stand for 6 bits each and start here.
const ZERO: u8 = b'0';
/// Candidates for the start of a frame that are looked at in one line.
const TRIES: usize = 16;

/// A place in the stream of one direction: 18 bits, wrapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Offset(u32);

impl Offset {
    const MASK: u32 = (1 << 18) - 1;
    /// Places less than this apart have an order.
    pub(super) const HALF: usize = 1 << 17;

    pub(super) const fn new() -> Self {
        Self(0)
    }

    pub(super) const fn plus(self, n: usize) -> Self {
        Self(self.0.wrapping_add(n as u32) & Self::MASK)
    }

    /// How far behind `other` this is; at least `HALF` if it is before it.
    pub(super) const fn since(self, other: Self) -> usize {
        (self.0.wrapping_sub(other.0) & Self::MASK) as usize
    }
}

/// What a frame is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A part of a message that goes on in the next frame.
    Piece,
    /// The rest of a message; a line feed follows it in the stream.
    End,
    /// Nothing but the acknowledgement.
    Ack,
    /// The same, and all from there on is to be sent again.
    Resend,
    /// Starts a session, or answers that.
    Open,
    /// There is no session.
    Reset,
    /// The sender has just started.
    Hello,
}

impl Kind {
    const LETTERS: [(u8, Self); 7] = [
        (b'D', Self::Piece),
        (b'E', Self::End),
        (b'A', Self::Ack),
        (b'N', Self::Resend),
        (b'S', Self::Open),
        (b'X', Self::Reset),
        (b'H', Self::Hello),
    ];

    fn letter(self, role: Role) -> u8 {
        let upper = Self::LETTERS.iter().find(|(_, kind)| *kind == self).map_or(b'H', |(letter, _)| *letter);
        if role == Role::Server { upper.to_ascii_lowercase() } else { upper }
    }

    fn read(letter: u8) -> Option<(Self, Role)> {
        let role = if letter.is_ascii_lowercase() { Role::Server } else { Role::Client };
        let upper = letter.to_ascii_uppercase();
        Self::LETTERS.iter().find(|(l, _)| *l == upper).map(|(_, kind)| (*kind, role))
    }
}

/// The fixed part of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    pub(super) kind: Kind,
    pub(super) role: Role,
    /// How often the sender went back, modulo 64; in `Resend` that of the peer, as it was last seen.
    pub(super) generation: u8,
    /// Where the payload starts.
    pub(super) offset: Offset,
    /// What is expected next of the other direction.
    pub(super) ack: Offset,
}

impl Head {
    pub(super) fn write(&self) -> [u8; HEAD] {
        let [s0, s1, s2] = digits(self.offset.0);
        let [a0, a1, a2] = digits(self.ack.0);
        let [generation] = digits(u32::from(self.generation));
        [START, self.kind.letter(self.role), generation, s0, s1, s2, a0, a1, a2]
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let [START, letter, generation, s0, s1, s2, a0, a1, a2] = *bytes.first_chunk()? else { return None };
        let (kind, role) = Kind::read(letter)?;
        Some(Self {
            kind,
            role,
            generation: value(&[generation])? as u8,
            offset: Offset(value(&[s0, s1, s2])?),
            ack: Offset(value(&[a0, a1, a2])?),
        })
    }
}

/// The checksum as it ends a frame.
pub(super) fn sum(crc: u32) -> [u8; SUM] {
    digits(crc)
}

/// The frame that ends where `line` ends, and where its payload stands. What stands before it is ignored: boot text, or a
/// frame whose line feed was lost.
pub(super) fn find(line: &[u8]) -> Option<(Head, Range<usize>)> {
    let starts = line.iter().enumerate().filter(|(_, b)| **b == START).map(|(at, _)| at);
    starts.filter_map(|at| Some((at, Head::read(line.get(at..)?)?))).take(TRIES).find_map(|(at, head)| {
        let end = line.len().checked_sub(SUM)?;
        let start = at + HEAD;
        let told = value(line.get(end..)?)?;
        let covered = line.get(at + 1..end)?;
        (start <= end && CRC.checksum(covered) == told).then_some((head, start..end))
    })
}

/// What the ends tell each other when a session starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Opening {
    /// There is no MCP session yet: whatever the server remembers is over.
    pub(super) fresh: bool,
    pub(super) nonce: u32,
    /// The longest payload that the sender of this takes.
    pub(super) frame: usize,
    /// The most unacknowledged bytes that it wants under way.
    pub(super) window: usize,
}

impl Opening {
    pub(super) fn write(&self) -> [u8; OPENING] {
        let most = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).min(Offset::HALF as u32 - 1);
        let [n0, n1, n2] = digits(self.nonce);
        let [f0, f1, f2] = digits(most(self.frame));
        let [w0, w1, w2] = digits(most(self.window));
        [VERSION, if self.fresh { b'1' } else { b'0' }, n0, n1, n2, f0, f1, f2, w0, w1, w2]
    }

    /// Longer ones than ours may come from later versions.
    pub(super) fn read(payload: &[u8]) -> Option<Self> {
        let [VERSION, fresh, n0, n1, n2, f0, f1, f2, w0, w1, w2] = *payload.first_chunk()? else {
            return None;
        };
        let frame = value(&[f0, f1, f2])? as usize;
        let window = value(&[w0, w1, w2])? as usize;
        let fits = frame > 0 && window >= frame && window < Offset::HALF;
        fits.then_some(Self { fresh: fresh == b'1', nonce: value(&[n0, n1, n2])?, frame, window })
    }
}

/// The low bits of `value`, most significant digit first.
pub(super) fn digits<const N: usize>(value: u32) -> [u8; N] {
    let mut out = [ZERO; N];
    let mut rest = value;
    for digit in out.iter_mut().rev() {
        *digit = ZERO + (rest & 63) as u8;
        rest >>= 6;
    }
    out
}

/// At most six digits. `None`: another character, or more than 32 bits.
fn value(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0u32, |value, digit| {
        let digit = digit.checked_sub(ZERO).filter(|d| *d < 64)?;
        (value < 1 << 26).then(|| value << 6 | u32::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_back() {
        for n in [0, 1, 63, 64, 0x3_FFFF, u32::MAX] {
            assert_eq!(value(&digits::<6>(n)), Some(n));
        }
        assert_eq!(digits::<3>(0x3_FFFF), *b"ooo");
        assert_eq!(value(b"oooooo"), None, "more than 32 bits");
        assert_eq!(value(b"0/0"), None);
    }

    #[test]
    fn offsets_wrap() {
        let near_end = Offset(Offset::MASK);
        assert_eq!(near_end.plus(3), Offset(2));
        assert_eq!(Offset(2).since(near_end), 3);
        assert!(near_end.since(Offset(2)) > Offset::HALF);
    }

    /// The example in the description of the format.
    #[test]
    fn documented_example() {
        let head = Head {
            kind: Kind::End,
            role: Role::Client,
            generation: 0,
            offset: Offset::default(),
            ack: Offset(70),
        };
        let mut line = head.write().to_vec();
        line.extend_from_slice(b"{}");
        let crc = CRC.checksum(&line[1..]);
        line.extend_from_slice(&sum(crc));
        assert_eq!(core::str::from_utf8(&line).unwrap(), include_str!("../example.txt").trim_end());
        assert_eq!(find(&line), Some((head, 9..11)));
        let mut glued = b"boot~text~D".to_vec();
        glued.extend_from_slice(&line);
        assert_eq!(find(&glued).map(|(h, at)| (h, glued[at].to_vec())), Some((head, b"{}".to_vec())));
        for at in 0..line.len() {
            let mut bad = line.clone();
            bad[at] ^= 1;
            assert_eq!(find(&bad), None, "{at}");
            bad.remove(at);
            assert_eq!(find(&bad), None, "{at}");
        }
    }
}

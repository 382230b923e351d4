//! Numbers with a fixed point.
use super::{SMALL, utf8};
use core::fmt;

/// A number with a fixed point: `Fixed(-215, 1)` is -21.5, `Fixed(42, 0)` is 42.
///
/// For programs without floats, and for those that must not panic: the standard library's way to print an integer leaves a
/// check of bounds in the image, which no optimiser removes at `opt-level = "s"`; this one has none.
/// ```
/// # use barewire::{Fixed, Full, Reply};
/// # fn answer(reply: Reply<'_>, tenths: i16) -> Result<(), Full> {
/// reply.text_fmt(format_args!("{} degrees", Fixed(tenths.into(), 1))).finish()
/// # }
/// # fn shorter(reply: Reply<'_>, tenths: i16) -> Result<(), Full> {
/// // The number alone, and no `core::fmt` in the image:
/// reply.text(Fixed(tenths.into(), 1).text(&mut [0; Fixed::ROOM])).finish()
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fixed(
    /// All digits.
    pub i64,
    /// How many of them come after the point, 19 at most.
    pub u8,
);

impl Fixed {
    /// The bytes that any of them fits.
    pub const ROOM: usize = 24;

    /// The number as text, in `room`.
    pub fn text(self, room: &mut [u8; Self::ROOM]) -> &str {
        let text = decimal(room, self.0.unsigned_abs(), self.0 < 0, self.1.min(19));
        utf8::known(text)
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text(&mut [0; Self::ROOM]))
    }
}

/// The digits of an integer.
pub(crate) fn digits(room: &mut [u8; Fixed::ROOM], value: u64, negative: bool) -> &[u8] {
    decimal(room, value, negative, 0)
}

/// Writes into the end of `room`, from right to left.
pub(super) fn decimal(room: &mut [u8; Fixed::ROOM], mut value: u64, negative: bool, places: u8) -> &[u8] {
    let mut at = room.len();
    let mut put = |byte| {
        at = at.saturating_sub(1);
        if let Some(place) = room.get_mut(at) {
            *place = byte;
        }
    };
    let mut written = 0u8;
    loop {
        let (tenth, digit) = divide(value, 10);
        put(b'0'.wrapping_add(digit as u8));
        value = tenth;
        written = written.saturating_add(1);
        if value == 0 && written > places {
            break;
        }
        if written == places {
            put(b'.');
        }
    }
    if negative {
        put(b'-');
    }
    room.get(at..).unwrap_or_default()
}

/// `value` divided by `by`, and what remains; by zero it means nothing.
///
/// On small processors it is done as on paper, bit by bit: those without a division of their own would get a function of a quarter
/// kilobyte, and of half a one for 64 bits.
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) fn divide(mut value: u64, by: u32) -> (u64, u32) {
    if !SMALL {
        let by = u64::from(by);
        return (value.checked_div(by).unwrap_or(0), value.checked_rem(by).unwrap_or(value) as u32);
    }
    let mut bits = 64u8;
    if value >> 32 == 0 {
        value <<= 32;
        bits = 32;
    }
    let (by, mut rest) = (u64::from(by), 0u64);
    while bits > 0 {
        rest = rest << 1 | value >> 63;
        value <<= 1;
        if rest >= by {
            rest = rest.wrapping_sub(by);
            value |= 1;
        }
        bits = bits.wrapping_sub(1);
    }
    (value, rest as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn divides() {
        let powers = (0..20).map(|n| 10u64.pow(n)).chain((0..64).map(|n| 1 << n));
        for value in powers.flat_map(|p| [p - 1, p, p + 1, !p]).chain([u64::MAX]) {
            for by in [1, 2, 3, 10, 1000, 65_535, u32::MAX] {
                let theirs = (value / u64::from(by), (value % u64::from(by)) as u32);
                assert_eq!(divide(value, by), theirs, "{value} {by}");
            }
        }
    }

    #[test]
    fn has_a_point() {
        let said = |value, places| Fixed(value, places).to_string();
        for (value, places, text) in [
            (0, 0, "0"),
            (0, 1, "0.0"),
            (42, 0, "42"),
            (-215, 1, "-21.5"),
            (-5, 1, "-0.5"),
            (100, 2, "1.00"),
            (7, 3, "0.007"),
            (10, 1, "1.0"),
            (i64::MIN, 0, "-9223372036854775808"),
            (i64::MIN, 19, "-0.9223372036854775808"),
            (-1, 19, "-0.0000000000000000001"),
            (1, 255, "0.0000000000000000001"),
            (i64::MAX, 1, "922337203685477580.7"),
        ] {
            assert_eq!(said(value, places), text);
        }
    }
}

//! Numbers that are known to be valid JSON, without loss.
use super::SMALL;
#[cfg(feature = "serde")]
use super::nearest::Single;
use super::nearest::{self, Double};

/// A number in scientific form: its digits without zeros at either end, times a power of ten.
struct Decimal<'a> {
    negative: bool,
    /// From the first digit that is not zero to the last one, maybe with a point between. Empty: zero.
    significant: &'a [u8],
    /// The power of ten of the last of them; `None` if it has too many digits.
    power: Option<i64>,
}

impl<'a> Decimal<'a> {
    fn new(text: &'a [u8]) -> Self {
        let (mut dot, mut first, mut end, mut e) = (None, None, 0usize, text.len());
        for (i, byte) in text.iter().enumerate() {
            match byte {
                b'.' => dot = Some(i),
                b'e' | b'E' => {
                    e = i;
                    break;
                }
                b'1'..=b'9' => {
                    first = first.or(Some(i));
                    end = i.wrapping_add(1);
                }
                _ => {}
            }
        }
        let (dot, first) = (dot.unwrap_or(e), first.unwrap_or(end));
        // Lengths of slices are far below 2^62, and so is the exponent. The point itself is no place.
        let places = (dot as isize).wrapping_sub(end as isize);
        let places = if places < 0 { places.wrapping_add(1) } else { places };
        Self {
            negative: text.first() == Some(&b'-'),
            significant: text.get(first..end).unwrap_or_default(),
            power: exponent_value(text.get(e..).unwrap_or_default())
                .map(|value| value.wrapping_add(places as i64)),
        }
    }

    const fn is_zero(&self) -> bool {
        self.significant.is_empty()
    }

    /// Whether both have the same value; those whose powers have too many digits are not compared.
    fn same(&self, other: &Decimal<'_>) -> bool {
        if self.is_zero() || other.is_zero() {
            return self.is_zero() == other.is_zero();
        }
        self.power.is_some()
            && self.power == other.power
            && self.negative == other.negative
            && self.digits().eq(other.digits())
    }

    /// How many digits are significant.
    fn count(&self) -> usize {
        self.significant.len().wrapping_sub(usize::from(self.significant.contains(&b'.')))
    }

    /// The power of the last digit, if the number, written as `text`, is within what an `f64` may be rounded from; `Some(None)` if it
    /// is zero or rounds to it, `None` if it overflows.
    fn small(&self, text: &[u8]) -> Option<Option<i32>> {
        let Some(power) = self.power else {
            let tiny = self.is_zero() || has_negative_exponent(text);
            return tiny.then_some(None);
        };
        let top = power.saturating_add(self.count() as i64);
        if self.is_zero() || top < -324 {
            return Some(None);
        }
        if top > 310 { None } else { i32::try_from(power).ok().map(Some) }
    }

    fn digits(&self) -> impl Iterator<Item = u8> + use<'a> {
        self.significant.iter().copied().filter(|b| *b != b'.')
    }
}

/// Whether the value is an integer, of any size.
pub(super) fn is_integer(text: &[u8]) -> bool {
    if !SMALL && text.iter().all(u8::is_ascii_digit) {
        return true;
    }
    let number = Decimal::new(text);
    number.is_zero() || number.power.map_or_else(|| !has_negative_exponent(text), |power| power >= 0)
}

/// Whether both have the same value. Ids are nearly always digits alone, which then are the same or mean something else.
pub(super) fn same(a: &[u8], b: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    a == b || (SMALL || !(digits(a) && digits(b))) && Decimal::new(a).same(&Decimal::new(b))
}

/// The integer that a number is, if it is one and in range.
#[inline]
pub(super) fn signed(text: &[u8]) -> Option<i64> {
    if !SMALL && let Some(value) = plain(text) {
        return Some(value);
    }
    let (negative, value) = magnitude(text)?;
    let most = i64::MAX.unsigned_abs().wrapping_add(u64::from(negative));
    let signed = if negative { value.wrapping_neg() } else { value };
    (value <= most).then_some(signed.cast_signed())
}

/// The same for numbers that are not negative.
#[inline]
pub(super) fn unsigned(text: &[u8]) -> Option<u64> {
    if !SMALL && let Some(value) = plain(text) {
        return u64::try_from(value).ok();
    }
    magnitude(text).filter(|(negative, _)| !negative).map(|(_, value)| value)
}

/// The nearest finite `f64`.
pub(super) fn float(text: &[u8]) -> Option<f64> {
    let number = Decimal::new(text);
    let value = match number.small(text)? {
        None => 0.0,
        Some(power) => match nearest::exact(number.digits(), number.count(), power) {
            Some(value) => value,
            None => {
                let guess = nearest::guess(number.digits(), power);
                let bits =
                    nearest::correct::<Double>(number.digits(), number.count(), power, guess.to_bits());
                f64::from_bits(bits)
            }
        },
    };
    Some(if number.negative { -value } else { value }).filter(|f| f.is_finite())
}

/// The nearest finite `f32`.
#[cfg(feature = "serde")]
pub(super) fn float32(text: &[u8]) -> Option<f32> {
    let number = Decimal::new(text);
    let value = match number.small(text)? {
        None => 0.0,
        Some(power) => {
            #[allow(clippy::cast_possible_truncation)]
            let guess = u64::from((nearest::guess(number.digits(), power) as f32).to_bits());
            let bits = nearest::correct::<Single>(number.digits(), number.count(), power, guess);
            f32::from_bits(u32::try_from(bits).unwrap_or(u32::MAX))
        }
    };
    Some(if number.negative { -value } else { value }).filter(|f| f.is_finite())
}

/// Up to 18 digits without fraction and exponent, as nearly all numbers are; zeros in front, which only exponents have, do not count.
#[inline]
fn plain(text: &[u8]) -> Option<i64> {
    let (negative, mut digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    while let [b'0', rest @ ..] = digits {
        digits = rest;
    }
    if digits.len() > 18 {
        return None;
    }
    let mut value = 0i64;
    for b in digits {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
    }
    Some(if negative { value.wrapping_neg() } else { value })
}

/// Whether an integer is negative, and its size; `None` if it is no integer or has more than 64 bits.
fn magnitude(text: &[u8]) -> Option<(bool, u64)> {
    let number = Decimal::new(text);
    if number.is_zero() {
        return Some((false, 0));
    }
    // A product of more than 20 digits is out of range, so the zeros of any power end soon.
    let zeros = usize::try_from(number.power?).ok()?;
    let mut value = 0u64;
    for place in 0..number.significant.len().saturating_add(zeros) {
        let digit = match number.significant.get(place) {
            Some(b'.') => continue,
            Some(digit) => digit.wrapping_sub(b'0'),
            None => 0,
        };
        if value > u64::MAX / 10 {
            return None;
        }
        value = value.wrapping_mul(10).checked_add(u64::from(digit))?;
    }
    Some((number.negative, value))
}

/// The same for 128 bits.
#[cfg(feature = "serde")]
pub(super) fn wide_magnitude(text: &[u8]) -> Option<(bool, u128)> {
    let number = Decimal::new(text);
    if number.is_zero() {
        return Some((false, 0));
    }
    let power = u32::try_from(number.power?).ok()?;
    let mut value = 0u128;
    for b in number.digits() {
        value = value.checked_mul(10)?.checked_add(u128::from(b.wrapping_sub(b'0')))?;
    }
    Some((number.negative, value.checked_mul(10u128.checked_pow(power)?)?))
}

/// The value of `e+12`; 0 if there is no exponent, `None` if it has more than 18 digits.
fn exponent_value(text: &[u8]) -> Option<i64> {
    match text {
        [] => Some(0),
        [_, b'+', digits @ ..] | [_, digits @ ..] => plain(digits),
    }
}

fn has_negative_exponent(text: &[u8]) -> bool {
    text.windows(2).any(|pair| matches!(pair, [b'e' | b'E', b'-']))
}

//! Numbers that are known to be valid JSON, without loss.
#[cfg(feature = "serde")]
use super::nearest::Single;
use super::nearest::{self, Double};

/// A number in scientific form: its digits without zeros at either end, times a power of ten.
pub(super) struct Decimal<'a> {
    text: &'a [u8],
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// The power of ten of the last digit that is not zero; `None` if it has too many digits.
    power: Option<i128>,
    /// Zeros before the first other digit, and digits from it to the last other one. No digits: zero.
    skip: usize,
    digits: usize,
}

impl<'a> Decimal<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let (negative, unsigned) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let e = unsigned.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(unsigned.len());
        let (mantissa, exponent) = unsigned.split_at_checked(e).unwrap_or((unsigned, &[]));
        let dot = mantissa.iter().position(|&b| b == b'.').unwrap_or(mantissa.len());
        let (whole, fraction) = mantissa.split_at_checked(dot).unwrap_or((mantissa, &[]));
        let fraction = fraction.get(1..).unwrap_or_default();
        let all = || whole.iter().chain(fraction);
        let total = whole.len().wrapping_add(fraction.len());
        let skip = all().position(|&b| b != b'0').unwrap_or(total);
        let tail = if skip == total { 0 } else { all().rev().position(|&b| b != b'0').unwrap_or(0) };
        let power = exponent_value(exponent).map(|value| {
            // Lengths of slices are far below 2^126, and so is the exponent.
            value.wrapping_add(tail as i128).wrapping_sub(fraction.len() as i128)
        });
        Self {
            text,
            negative,
            whole,
            fraction,
            power,
            skip,
            digits: total.saturating_sub(skip).saturating_sub(tail),
        }
    }

    pub(super) fn is_integer(&self) -> bool {
        match self.power {
            Some(power) => self.digits == 0 || power >= 0,
            None => self.digits == 0 || !has_negative_exponent(self.text),
        }
    }

    /// Whether both have the same value.
    pub(super) fn same(&self, other: &Decimal<'_>) -> bool {
        if self.digits == 0 || other.digits == 0 {
            return self.digits == other.digits;
        }
        if self.power.is_none() || other.power.is_none() {
            return self.text == other.text;
        }
        self.negative == other.negative && self.power == other.power && self.digits().eq(other.digits())
    }

    /// The power of the last digit, if the number is within what an `f64` may be rounded from; `Some(None)` if it is zero
    /// or rounds to it, `None` if it overflows.
    fn small(&self) -> Option<Option<i32>> {
        let Some(power) = self.power else {
            let tiny = self.digits == 0 || has_negative_exponent(self.text);
            return tiny.then_some(None);
        };
        let top = power.saturating_add(self.digits as i128);
        if self.digits == 0 || top < -324 {
            return Some(None);
        }
        if top > 310 { None } else { i32::try_from(power).ok().map(Some) }
    }

    fn bytes(&self) -> impl Iterator<Item = u8> + use<'a> {
        self.digits().copied()
    }

    fn digits(&self) -> impl Iterator<Item = &'a u8> + use<'a> {
        self.whole.iter().chain(self.fraction).skip(self.skip).take(self.digits)
    }
}

/// The integer that a number is, if it is one and in range.
#[inline]
pub(super) fn integer<T: TryFrom<i64> + TryFrom<i128>>(text: &[u8]) -> Option<T> {
    if let Some(value) = plain(text) {
        return T::try_from(value).ok();
    }
    let value = match magnitude(text)? {
        (false, value) => i128::try_from(value).ok()?,
        (true, value) => 0i128.checked_sub_unsigned(value)?,
    };
    T::try_from(value).ok()
}

/// The nearest finite `f64`.
pub(super) fn float(text: &[u8]) -> Option<f64> {
    let number = Decimal::new(text);
    let value = match number.small()? {
        None => 0.0,
        Some(power) => match nearest::exact(number.bytes(), number.digits, power) {
            Some(value) => value,
            None => {
                let guess = nearest::guess(number.bytes(), power);
                let bits = nearest::correct::<Double>(number.bytes(), number.digits, power, guess.to_bits());
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
    let value = match number.small()? {
        None => 0.0,
        Some(power) => {
            #[allow(clippy::cast_possible_truncation)]
            let guess = u64::from((nearest::guess(number.bytes(), power) as f32).to_bits());
            let bits = nearest::correct::<Single>(number.bytes(), number.digits, power, guess);
            f32::from_bits(u32::try_from(bits).unwrap_or(u32::MAX))
        }
    };
    Some(if number.negative { -value } else { value }).filter(|f| f.is_finite())
}

/// Up to 18 digits without fraction and exponent, as nearly all numbers are.
#[inline]
fn plain(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
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

/// Whether an integer is negative, and its size; `None` if it is no integer or has more than 128 bits.
pub(super) fn magnitude(text: &[u8]) -> Option<(bool, u128)> {
    let number = Decimal::new(text);
    if number.digits == 0 {
        return Some((false, 0));
    }
    let power = u32::try_from(number.power?).ok()?;
    let mut value = 0u128;
    for b in number.digits() {
        value = value.checked_mul(10)?.checked_add(u128::from(b.wrapping_sub(b'0')))?;
    }
    Some((number.negative, value.checked_mul(10u128.checked_pow(power)?)?))
}

/// The value of `e+12`; 0 if there is no exponent, `None` if it has more than 37 digits.
fn exponent_value(text: &[u8]) -> Option<i128> {
    let (negative, digits) = match text {
        [] => return Some(0),
        [_, b'-', digits @ ..] => (true, digits),
        [_, b'+', digits @ ..] | [_, digits @ ..] => (false, digits),
    };
    let zeros = digits.iter().position(|&b| b != b'0').unwrap_or(digits.len());
    let digits = digits.get(zeros..).unwrap_or_default();
    if digits.len() > 37 {
        return None;
    }
    let value =
        digits.iter().fold(0i128, |v, b| v.wrapping_mul(10).wrapping_add(i128::from(b.wrapping_sub(b'0'))));
    Some(if negative { value.wrapping_neg() } else { value })
}

fn has_negative_exponent(text: &[u8]) -> bool {
    text.windows(2).any(|pair| matches!(pair, [b'e' | b'E', b'-']))
}

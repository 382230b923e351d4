//! The nearest binary number to a decimal one. The standard library's reader keeps panic paths in an optimised program;
//! this has none: a guess is corrected by exact comparison, which takes few steps because the guess is good.
use core::cmp::Ordering;

/// Digits that can matter: half a step between two `f64` has at most 767 of them.
const DIGITS: usize = 780;
/// 32-bit words for those digits, or for a power of five of the same size.
const WORDS: usize = 92;

/// A binary format: `m * 2^e` of its positive values, whose bits count upwards with them.
pub(super) trait Binary {
    const INFINITY: u64;
    const MANTISSA: u32;
    /// The exponent of the smallest positive value.
    const LEAST: i32;
}

pub(super) struct Double;
impl Binary for Double {
    const INFINITY: u64 = 0x7ff0_0000_0000_0000;
    const MANTISSA: u32 = 52;
    const LEAST: i32 = -1074;
}

#[cfg(feature = "serde")]
pub(super) struct Single;
#[cfg(feature = "serde")]
impl Binary for Single {
    const INFINITY: u64 = 0x7f80_0000;
    const MANTISSA: u32 = 23;
    const LEAST: i32 = -149;
}

/// `digits` (ASCII, no zero in front) times ten to `power`, roughly: some units in the last place off.
pub(super) fn guess(digits: impl Iterator<Item = u8>, power: i32) -> f64 {
    let (mut value, mut power) = (0u64, power);
    for digit in digits {
        match value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit.wrapping_sub(b'0')))) {
            Some(more) if power_room(value) => value = more,
            _ => power = power.saturating_add(1),
        }
    }
    #[allow(clippy::cast_precision_loss)]
    let mut value = value as f64;
    while power >= 22 {
        value *= 1e22;
        power = power.wrapping_sub(22);
    }
    while power <= -22 {
        value /= 1e22;
        power = power.wrapping_add(22);
    }
    let step = TENS.get(power.unsigned_abs() as usize).copied().unwrap_or(1.0);
    if power < 0 { value / step } else { value * step }
}

/// Once a digit was left out, all later ones are.
const fn power_room(value: u64) -> bool {
    value < 1_000_000_000_000_000_000
}

#[rustfmt::skip]
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The exact result, if up to 15 digits and a small power of ten make one: then one operation rounds once.
pub(super) fn exact(digits: impl Iterator<Item = u8>, count: usize, power: i32) -> Option<f64> {
    if count > 15 || !(-22..=22).contains(&power) {
        return None;
    }
    let value = digits.fold(0u64, |v, d| v.wrapping_mul(10).wrapping_add(u64::from(d.wrapping_sub(b'0'))));
    let step = TENS.get(power.unsigned_abs() as usize)?;
    #[allow(clippy::cast_precision_loss)]
    let value = value as f64;
    Some(if power < 0 { value / step } else { value * step })
}

/// From the bits of a guess to those of the nearest value, ties to even; [`Binary::INFINITY`] if it overflows. `power` is that
/// of the last of all `count` digits.
pub(super) fn correct<B: Binary>(
    digits: impl Iterator<Item = u8>,
    count: usize,
    power: i32,
    guess: u64,
) -> u64 {
    let (kept, cut) = (count.min(DIGITS), count.saturating_sub(DIGITS));
    let power = power.saturating_add(i32::try_from(cut).unwrap_or(i32::MAX));
    let mut number = Big::new(0);
    for digit in digits.take(kept) {
        number.scale(10, u32::from(digit.wrapping_sub(b'0')));
    }
    if power > 0 {
        number.fives(power.unsigned_abs());
    }
    let mut bits = guess.min(B::INFINITY);
    // The guess is a few steps off; the bound is there so that no input can make this long.
    for _ in 0..1000 {
        let above = number.compare::<B>(power, cut > 0, bits);
        if above == Ordering::Greater && bits < B::INFINITY {
            bits = bits.wrapping_add(1);
            continue;
        }
        if above == Ordering::Equal {
            return bits.wrapping_add(bits & 1);
        }
        if bits == 0 {
            return 0;
        }
        match number.compare::<B>(power, cut > 0, bits.wrapping_sub(1)) {
            Ordering::Greater => return bits,
            Ordering::Equal => return bits.wrapping_sub(bits & 1),
            Ordering::Less => bits = bits.wrapping_sub(1),
        }
    }
    bits
}

/// A large natural number.
struct Big {
    words: [u32; WORDS],
    len: usize,
}

impl Big {
    fn new(value: u64) -> Self {
        let mut big = Self { words: [0; WORDS], len: 0 };
        for half in [value >> 32, value & 0xffff_ffff] {
            big.shift(32);
            big.scale(1, half as u32);
        }
        big
    }

    /// Times `by` plus `add`.
    fn scale(&mut self, by: u32, add: u32) {
        let mut carry = u64::from(add);
        for word in self.words.iter_mut().take(self.len) {
            carry = u64::from(*word).wrapping_mul(u64::from(by)).wrapping_add(carry);
            *word = carry as u32;
            carry >>= 32;
        }
        if carry > 0
            && let Some(word) = self.words.get_mut(self.len)
        {
            *word = carry as u32;
            self.len = self.len.wrapping_add(1);
        }
    }

    /// Times five to `n`.
    fn fives(&mut self, mut n: u32) {
        while n >= 13 {
            self.scale(1_220_703_125, 0);
            n = n.wrapping_sub(13);
        }
        self.scale(5u32.wrapping_pow(n), 0);
    }

    /// Times two to `n`.
    fn shift(&mut self, mut n: u32) {
        while n > 0 {
            let step = n.min(31);
            self.scale(1 << step, 0);
            n = n.wrapping_sub(step);
        }
    }

    /// Compares `self * 2^power * (5^power, if negative)`, of which `more` says that digits were cut off, with the middle between
    /// the values of `bits` and of the next ones.
    fn compare<B: Binary>(&self, power: i32, more: bool, bits: u64) -> Ordering {
        let raw = i32::try_from(bits >> B::MANTISSA).unwrap_or(i32::MAX);
        let hidden = if raw == 0 { 0 } else { 1u64 << B::MANTISSA };
        let mantissa = hidden | bits & (1u64 << B::MANTISSA).wrapping_sub(1);
        let mut middle = Self::new(mantissa.wrapping_mul(2).wrapping_add(1));
        if power < 0 {
            middle.fives(power.unsigned_abs());
        }
        // Both have a power of two: what they share need not be multiplied out.
        let twos = raw.max(1).wrapping_sub(1).wrapping_add(B::LEAST).wrapping_sub(1).wrapping_sub(power);
        if twos > 0 {
            middle.shift(twos.unsigned_abs());
            return self.order(&middle, more);
        }
        let mut own = Self { words: self.words, len: self.len };
        own.shift(twos.unsigned_abs());
        own.order(&middle, more)
    }

    fn order(&self, other: &Self, more: bool) -> Ordering {
        let words = |big: &Self| big.words.into_iter().take(big.len).rev();
        let order = self.len.cmp(&other.len).then_with(|| words(self).cmp(words(other)));
        if more { order.then(Ordering::Greater) } else { order }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use crate::json::number::float;
    use std::{format, string::String};

    fn same(text: &str) {
        let wanted = text.parse::<f64>().ok().filter(|f| f.is_finite());
        let got = float(text.as_bytes());
        assert_eq!(got.map(f64::to_bits), wanted.map(f64::to_bits), "{text}: {got:?}, not {wanted:?}");
    }

    #[test]
    fn agrees_with_the_standard_library() {
        for text in [
            "0",
            "-0",
            "0.0",
            "1",
            "-1.5",
            "0.1",
            "0.3",
            "1e23",
            "9007199254740993",
            "9007199254740992.5",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1e309",
            "1e400",
            "-1e400",
            "5e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "4.9e-324",
            "1e-400",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "123456789012345678901234567890",
            "8.5e-320",
            "1e99999999999999999999999999999999999999999",
            "1e-99999999999999999999999999999999999999999",
            "0e999999999999999999999999999999999999999999",
            "23.875114784205696",
            "9.5367431640625e-7",
        ] {
            same(text);
        }
        // Exactly half way, and a hair beside it, with many digits.
        let half = "2225073858507201136057409796709131975934819546351645648023426109724822222021076945516529523908135087914149158913039621106870086438694594645527657207407820621743379988141063267329253552286881372149012981122451451889849057222307285255133155755015914397476397983411801999323962548289017107081850690630666655994938275772572015763062690663332647565300009245888316433037779791869612049497390377829704905051080609940730262937128958950003583799967207254304360284078895771796150945516748243471030702609144621572289880258182545180325707018860872113128079512233426288368622321503775666622503982534335974568884423900265498198385487948292206894721689831099698365846814022854243330660339850886445804001034933970427567186443383770486037861622771738545623065874679014086723327636718751234567890123456789012345678901e-308";
        let shifted = |zeros: usize| format!("0.{}{half}", "0".repeat(zeros));
        same(half);
        same(&format!("{}5{}1e-1000", "4".repeat(17), "0".repeat(900)));
        same(&format!("{}e-2000", "7".repeat(2300)));
        for zeros in [0, 1, 40, 300] {
            same(&shifted(zeros));
        }
        for shift in 1..1074 {
            // The middle between two neighbours, exact, and the digits around it.
            let value = f64::from_bits(1u64 << 52 | shift) * 2f64.powi(-(shift as i32 % 900));
            same(&format!("{value:?}"));
            same(&format!("{value:e}"));
        }
        for n in [53u32, 54, 60, 64, 100, 127] {
            for d in [-1i128, 0, 1] {
                same(&format!("{}", (1i128 << (n - 1)) + (1i128 << (n.saturating_sub(54))) + d));
            }
        }
    }

    #[test]
    fn agrees_on_random_numbers() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..30_000 {
            let bits = random();
            let value = f64::from_bits(bits);
            if value.is_finite() {
                same(&format!("{value:?}"));
                same(&format!("{value:.17e}"));
            }
            let digits = format!("{}{}", random(), random());
            let text: String = digits.chars().take(1 + (random() % 38) as usize).collect();
            let text = text.trim_start_matches('0');
            if !text.is_empty() {
                same(&format!("{text}e{}", (random() % 700) as i64 - 350));
                same(&format!("0.{text}e{}", (random() % 60) as i64 - 30));
            }
        }
    }
}

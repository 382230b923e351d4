//! Faults as text.

use super::Faults;
use core::{fmt, str::FromStr, time::Duration};

/// Why a text does not say which faults, or which claims, are meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError {
    part: String,
    expected: &'static str,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not {}", self.part, self.expected)
    }
}

impl core::error::Error for SpecError {}

const PART: &str =
    "one of seed=, drop=, corrupt=, duplicate=, delay=RATE:TIME, split=, stall=BYTES:TIME, reset=";
const RATE: &str = "a rate from 0 to 1, such as 0.001 or 1/1000";
const TIME: &str = "a time such as 500us, 20ms or 2s";
const NUMBER: &str = "a whole number; 4k is 4,096 and 1M 1,048,576";
const PAIR: &str = "two values with a colon between";

impl FromStr for Faults {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut faults = Self::new(0);
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((key, value)) = part.split_once('=') else { return Err(wrong(part, PART)) };
            faults = match key {
                "seed" => faults.seed(number(value)?),
                "drop" => faults.drop(rate(value)?),
                "corrupt" => faults.corrupt(rate(value)?),
                "duplicate" => faults.duplicate(rate(value)?),
                "delay" => {
                    let (a, b) = pair(value)?;
                    faults.delay(rate(a)?, time(b)?)
                }
                "split" => faults.split(usize::try_from(number(value)?).map_err(|_| wrong(value, NUMBER))?),
                "stall" => {
                    let (at, b) = pair(value)?;
                    faults.stall(number(at)?, time(b)?)
                }
                "reset" => faults.reset(number(value)?),
                _ => return Err(wrong(part, PART)),
            };
        }
        Ok(faults)
    }
}

/// The text that parses to the same faults.
impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed={}", self.seed)?;
        for (key, rate) in [("drop", self.drop), ("corrupt", self.corrupt), ("duplicate", self.duplicate)] {
            if rate > 0.0 {
                write!(f, ",{key}={rate}")?;
            }
        }
        if let Some((rate, time)) = self.delay {
            write!(f, ",delay={rate}:{}ns", time.as_nanos())?;
        }
        if let Some(longest) = self.split {
            write!(f, ",split={longest}")?;
        }
        if let Some((at, time)) = self.stall {
            write!(f, ",stall={at}:{}ns", time.as_nanos())?;
        }
        self.reset.map_or(Ok(()), |at| write!(f, ",reset={at}"))
    }
}

pub(crate) fn wrong(part: &str, expected: &'static str) -> SpecError {
    SpecError { part: part.to_owned(), expected }
}

fn pair(text: &str) -> Result<(&str, &str), SpecError> {
    text.split_once(':').ok_or_else(|| wrong(text, PAIR))
}

fn rate(text: &str) -> Result<f64, SpecError> {
    let parse = |text: &str| text.parse::<f64>().map_err(|_| wrong(text, RATE));
    let rate = match text.split_once('/') {
        Some((a, b)) => parse(a)? / parse(b)?,
        None => parse(text)?,
    };
    if (0.0..=1.0).contains(&rate) { Ok(rate) } else { Err(wrong(text, RATE)) }
}

pub(crate) fn number(text: &str) -> Result<u64, SpecError> {
    let (digits, unit) = match text.strip_suffix('k') {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix('M').map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(|| wrong(text, NUMBER))
}

fn time(text: &str) -> Result<Duration, SpecError> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let n: u64 = digits.parse().map_err(|_| wrong(text, TIME))?;
    Ok(match unit {
        "ns" => Duration::from_nanos(n),
        "us" => Duration::from_micros(n),
        "ms" => Duration::from_millis(n),
        "s" => Duration::from_secs(n),
        _ => return Err(wrong(text, TIME)),
    })
}

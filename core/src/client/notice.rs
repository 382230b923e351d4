//! Notifications. One that does not decode is told as a fault and dropped: it never ends anything.
use super::Listed;
use super::decode::place as place_of;
use super::lend::Step;
use super::machine::Client;
use super::message::wire_id;
use super::slot::own_mut;
use crate::json::{Kind, Raw};
use crate::machine::mem::Span;
use crate::mcp::Level;
use crate::rpc::{Envelope, Fault};

impl Client<'_> {
    pub(super) fn notice(&mut self, place: Span, envelope: &Envelope) -> Step {
        let bytes = self.rx.bytes();
        let method = envelope.method.unwrap_or_default().shifted(place.start);
        let params = envelope.params.map(|p| p.shifted(place.start));
        let name = Raw::trusted(method.of(bytes));
        let json = params.map(|p| Raw::trusted(p.of(bytes)));
        let get = |key: &str| json.and_then(|p| p.get(key)).filter(|v| !v.is_null());
        let text = |key: &str| get(key).filter(|v| v.kind() == Kind::String).map(|v| place_of(bytes, v));
        let step = if name.is("notifications/progress") {
            let token = get("progressToken").and_then(wire_id);
            let (done, total) = (get("progress").and_then(amount), get("total").and_then(amount));
            match (get("progressToken"), done) {
                (Some(_), Some(done)) => {
                    let message = text("message");
                    token
                        .and_then(|(wire, _)| self.progress(wire, done, total, message))
                        .unwrap_or(Step::Again)
                }
                _ => Step::Fault(Fault::WrongShape, place),
            }
        } else if name.is("notifications/message") {
            // `data` may be null, but must be there.
            match (text("level"), json.and_then(|p| p.get("data"))) {
                (Some(level), Some(data)) => Step::Log {
                    level: Level::read(Raw::trusted(level.of(bytes))),
                    name: level,
                    logger: text("logger"),
                    data: place_of(bytes, data),
                },
                _ => Step::Fault(Fault::WrongShape, place),
            }
        } else if name.is("notifications/tools/list_changed") {
            Step::Changed(Listed::Tools)
        } else if name.is("notifications/prompts/list_changed") {
            Step::Changed(Listed::Prompts)
        } else if name.is("notifications/resources/list_changed") {
            Step::Changed(Listed::Resources)
        } else if name.is("notifications/resources/updated") {
            text("uri").map_or(Step::Fault(Fault::WrongShape, place), Step::Updated)
        } else if name.is("notifications/cancelled") {
            // What it asked is answered already.
            Step::Again
        } else {
            Step::Notified { method, params }
        };
        self.next_message();
        step
    }

    /// Of a request that is over, or that did not want it, it is no news: races are normal.
    fn progress(&mut self, wire: u32, done: f64, total: Option<f64>, message: Option<Span>) -> Option<Step> {
        let of = self.waiting(wire)?;
        let now = self.now;
        let own = self.slots.of(of).and_then(own_mut).filter(|own| own.progress)?;
        own.goes_on(now);
        Some(Step::Progress { of, done, total, message })
    }
}

const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// A number of a progress notification. Exact for what progress is made of (15 digits, a power of ten up to 22); beyond that the last
/// digits may differ from [`Raw::as_f64`], whose tables and panic paths a small client would carry for nothing.
fn amount(value: Raw<'_>) -> Option<f64> {
    let digits = Some(value).filter(|v| v.kind() == Kind::Number)?.as_bytes();
    let (mut mantissa, mut scale, mut fraction) = (0u64, 0i32, false);
    let mut rest = digits.iter();
    let mut exponent = 0i32;
    for byte in rest.by_ref() {
        match byte {
            b'0'..=b'9' if mantissa < 100_000_000_000_000_000 => {
                mantissa = mantissa.saturating_mul(10).saturating_add(u64::from(byte & 15));
                scale = scale.saturating_sub(i32::from(fraction));
            }
            b'0'..=b'9' => scale = scale.saturating_add(i32::from(!fraction)),
            b'.' => fraction = true,
            b'e' | b'E' => {
                let mut size = 0i32;
                let text = rest.as_slice();
                for byte in text.iter().filter(|b| b.is_ascii_digit()) {
                    size = size.saturating_mul(10).saturating_add(i32::from(byte & 15));
                }
                exponent = if text.starts_with(b"-") { size.saturating_neg() } else { size };
                break;
            }
            _ => {}
        }
    }
    let scale = scale.saturating_add(exponent).clamp(-800, 800);
    let mut value = mantissa as f64;
    let mut left = scale.unsigned_abs() as usize;
    while left > 0 {
        let step = left.min(22);
        let ten = TENS.get(step)?;
        value = if scale < 0 { value / ten } else { value * ten };
        left = left.saturating_sub(step);
    }
    let value = if digits.starts_with(b"-") { -value } else { value };
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_what_they_say() {
        for text in [
            "0",
            "-0",
            "1",
            "3.0",
            "0.1",
            "1.5",
            "-2.25e2",
            "1e3",
            "1E+22",
            "12345678.125",
            "0.000001",
            "1e-7",
            "100000000000000000000",
            "123456789012345",
            "0e99999999999",
            "33.333333333333336",
        ] {
            let raw = Raw::new(text).unwrap();
            assert_eq!(amount(raw), raw.as_f64(), "{text}");
        }
        for text in
            ["123456789012345678901234567890", "1e300", "2.2250738585072014e-308", "1e308", "1.7e-300"]
        {
            let raw = Raw::new(text).unwrap();
            let (a, b) = (amount(raw).unwrap(), raw.as_f64().unwrap());
            assert!(((a - b) / b).abs() < 1e-13, "{text}: {a} {b}");
        }
        assert_eq!(amount(Raw::new("1e-400").unwrap()), Some(0.0));
        for text in ["1e400", "\"1\"", "null", "1e9999999999999"] {
            assert_eq!(amount(Raw::new(text).unwrap()), None, "{text}");
        }
    }
}

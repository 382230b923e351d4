//! What readers let pass that is no message: speed without a check is no speed.

use crate::contender::proving;
use crate::corpora::Corpus;
use crate::{Group, Kind, Row};

/// What is wrong, and a message with it.
fn faults() -> Vec<(&'static str, Vec<u8>)> {
    let call = |id: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#).into_bytes()
    };
    let mut utf8 = call("1", r#"{"name":"a?b"}"#);
    utf8.iter_mut().filter(|b| **b == b'?').for_each(|b| *b = 0xff);
    let mut trailing = call("1", "{}");
    trailing.extend_from_slice(b" x");
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(1_000), "]".repeat(1_000));
    vec![
        ("bad UTF-8", utf8),
        ("bad literals", call("1", r#"{"a":trve}"#)),
        ("missing commas", call("1", r#"{"a":1 "b":2}"#)),
        ("wrong brackets", call("1", r#"{"a":[1}}"#)),
        ("control characters", call("1", "{\"a\":\"x\u{1}y\"}")),
        ("bad escapes", call("1", r#"{"a":"\q"}"#)),
        ("leading zeros", call("1", r#"{"a":01}"#)),
        ("trailing bytes", trailing),
        ("double ids", br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#.to_vec()),
        ("depth 1,000", call("1", &deep)),
        ("another jsonrpc", br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.to_vec()),
        ("id {}", call("{}", "{}")),
    ]
}

/// How many kinds of faults there are.
#[must_use]
pub fn kinds() -> usize {
    faults().len()
}

/// The faults that a reader lets pass, in words; `None` where that cannot be told.
#[must_use]
pub fn lets_pass(row: &Row) -> Option<Vec<&'static str>> {
    if row.group != Group::Read || row.limit {
        return None;
    }
    proving(|| {
        let mut passed = Vec::new();
        for (fault, message) in faults() {
            let mut contender = row.ready(&Corpus::new("faults", vec![message.clone()]))?;
            if contender.one(&message).kind != Kind::Refused {
                passed.push(fault);
            }
        }
        Some(passed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_lets_nothing_pass() {
        for row in crate::ours::rows().iter().filter(|row| row.group == Group::Read) {
            assert_eq!(lets_pass(row), Some(vec![]), "{row:?}");
        }
    }

    #[test]
    fn limits_are_not_judged() {
        for row in crate::rows::light().iter().filter(|row| row.limit) {
            assert_eq!(lets_pass(row), None, "{row:?}");
        }
    }
}

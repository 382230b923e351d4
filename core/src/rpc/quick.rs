//! The usual envelope, read in blocks: only the six known keys, unescaped, and spaces alone between tokens. It may only say yes.
use super::envelope::Found;
use crate::frame::Member;
use crate::json::Whole;
use crate::machine::mem::Span;

/// How most messages start, taken in one go.
const USUAL: &[u8; 17] = b"{\"jsonrpc\":\"2.0\",";

/// Finds the members of a valid object; `None`: not sure, ask the scanner. They are then of no use.
#[inline(always)]
pub(super) fn read(line: &[u8], found: &mut Found) -> Option<()> {
    let mut whole = Whole::new(line);
    let mut at = byte(line, 0, b'{')?;
    if line.starts_with(USUAL) {
        at = USUAL.len();
        found.put(Member::Jsonrpc, Span::new(11, 16));
    }
    loop {
        let (member, key) = member(line.get(at..)?)?;
        let from = spaces(line, byte(line, spaces(line, at.wrapping_add(key)), b':')?);
        let end = whole.value(from)?;
        found.put(member, Span::new(from, end));
        at = spaces(line, end);
        match line.get(at)? {
            b',' => at = spaces(line, at.wrapping_add(1)),
            b'}' => break,
            _ => return None,
        }
    }
    // A carriage return may stand before the line feed, and the line feed may be there.
    let rest = line.get(at.wrapping_add(1)..)?;
    found.all_met();
    rest.iter().all(|b| matches!(b, b' ' | b'\r' | b'\n')).then_some(())
}

/// A known key, and its length with its quotes.
#[inline(always)]
fn member(rest: &[u8]) -> Option<(Member, usize)> {
    Some(match rest.get(1)? {
        b'j' if rest.starts_with(b"\"jsonrpc\"") => (Member::Jsonrpc, 9),
        b'i' if rest.starts_with(b"\"id\"") => (Member::Id, 4),
        b'm' if rest.starts_with(b"\"method\"") => (Member::Method, 8),
        b'p' if rest.starts_with(b"\"params\"") => (Member::Params, 8),
        b'r' if rest.starts_with(b"\"result\"") => (Member::Result, 8),
        b'e' if rest.starts_with(b"\"error\"") => (Member::Error, 7),
        _ => return None,
    })
}

/// The index behind the byte at `at`, if it is `want`.
#[inline(always)]
fn byte(line: &[u8], at: usize, want: u8) -> Option<usize> {
    (line.get(at)? == &want).then(|| at.wrapping_add(1))
}

#[inline(always)]
fn spaces(line: &[u8], mut at: usize) -> usize {
    while line.get(at) == Some(&b' ') {
        at = at.wrapping_add(1);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::FAST;

    /// That both roads agree is tested from outside (`tests/roads.rs`); here, that the quick one is taken.
    #[test]
    fn takes_what_peers_send() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"method":"tools/call","params":{"name":"x","arguments":{"state":"TX"}},"jsonrpc":"2.0","id":17}"#,
            r#"{"jsonrpc": "2.0", "id": "a-1", "method": "tools/call", "params": {"name": "x", "arguments": {"a": [1, 2.5], "b": []}}}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"São Paulo:\n\"21°\" \u00e9"}],"isError":false}}"#,
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}"#,
        ] {
            for end in ["", "\r", "\r\n"] {
                let line = [line, end].concat();
                assert!(!FAST || read(line.as_bytes(), &mut Found::default()).is_some(), "{line}");
            }
        }
    }
}

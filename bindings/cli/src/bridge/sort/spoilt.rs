//! Looking for messages in a line that is none.
//!
//! A server that writes `NaN`, a raw tab in a string, or two messages without a line feed between them has answered all the
//! same, and somebody waits. This takes such a line apart by its brackets, quotes and commas alone, whatever else is wrong in
//! it, without recursion and without keeping anything: what is whole can pass, and who waits for the rest can be told.

use barewire::json::{Kind, Raw};

/// An object at the top of a line, or of the array that the line is.
#[derive(Clone, Copy, Debug)]
pub(in crate::bridge) struct Part<'a> {
    /// As it came; up to the end of the line, if it does not end.
    pub(in crate::bridge) text: &'a [u8],
    /// The id of the request that it seems to answer.
    pub(in crate::bridge) answers: Option<Raw<'a>>,
}

/// Goes through a line that begins with an object, or an array of them. Between two objects there may be nothing but commas,
/// blanks, NULs and byte order marks, and in an array other values.
#[derive(Debug)]
pub(in crate::bridge) struct Parts<'a> {
    rest: &'a [u8],
    in_array: bool,
}

impl<'a> Parts<'a> {
    pub(in crate::bridge) fn of(line: &'a [u8]) -> Self {
        let rest = skip(line);
        match rest.strip_prefix(b"[") {
            Some(elements) => Self { rest: elements, in_array: true },
            None => Self { rest, in_array: false },
        }
    }

    /// The line is an array, or began as one.
    pub(in crate::bridge) const fn in_array(&self) -> bool {
        self.in_array
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        loop {
            self.rest = skip(self.rest);
            match self.rest.first()? {
                b'{' => {
                    let (part, length) = object(self.rest);
                    self.rest = &self.rest[length..];
                    return Some(part);
                }
                b']' => return None,
                _ if !self.in_array => return None,
                _ => self.rest = &self.rest[value(self.rest)..],
            }
        }
    }
}

/// Leaves out what may be between two messages.
fn skip(mut text: &[u8]) -> &[u8] {
    loop {
        text = match text {
            [b' ' | b'\t' | b'\r' | b',' | 0, rest @ ..] | [0xef, 0xbb, 0xbf, rest @ ..] => rest,
            _ => return text,
        };
    }
}

/// How long the token at the front is: a string, a bracket, a colon, a comma, a blank, or a run of anything else.
fn token(text: &[u8]) -> usize {
    const ENDS: &[u8] = b"\"[]{}:, \t\r";
    match text.first() {
        None => 0,
        Some(b'"') => {
            let mut at = 1;
            loop {
                match text.get(at) {
                    Some(b'\\') => at += 2,
                    Some(b'"') => return at + 1,
                    Some(_) => at += 1,
                    None => return text.len(),
                }
            }
        }
        Some(byte) if ENDS.contains(byte) => 1,
        Some(_) => text.iter().position(|byte| ENDS.contains(byte)).unwrap_or(text.len()),
    }
}

/// How long the value at the front is, up to the end of its last bracket.
fn value(text: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0usize);
    while at < text.len() {
        let length = token(&text[at..]);
        match text[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += length;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Reads the object at the front as far as it can be made out, and says how long it is.
fn object(text: &[u8]) -> (Part<'_>, usize) {
    let (mut at, mut depth) = (0, 0usize);
    let (mut key, mut is_value): (&[u8], bool) = (b"", false);
    let (mut asks, mut says, mut id, mut is_clear) = (false, false, None, true);
    while at < text.len() {
        let length = token(&text[at..]);
        let word = &text[at..at + length];
        at += length;
        if depth == 1 && is_value && key == b"\"id\"" && !word.trim_ascii().is_empty() {
            let found = Raw::from_bytes(word).ok();
            let found = found.filter(|id| matches!(id.kind(), Kind::String | Kind::Number));
            // Two different ones: nobody can tell which is meant.
            is_clear &= match (id, found) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(one), Some(other)) => other.same_id(one),
            };
            id = found;
            key = b"";
        }
        match word[0] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b':' if depth == 1 => is_value = true,
            b',' if depth == 1 => is_value = false,
            b'"' if depth == 1 && !is_value => {
                key = word;
                asks |= key == b"\"method\"";
                says |= matches!(key, b"\"jsonrpc\"" | b"\"result\"" | b"\"error\"");
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    (Part { text: &text[..at], answers: id.filter(|_| is_clear && says && !asks) }, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_found_whatever_is_wrong_with_them() {
        for (line, found) in [
            (&br#"{"jsonrpc":"2.0","id":7,"result":{"x":NaN}}"#[..], &["7"][..]),
            (br#"{"result":{"x":0123,"id":8},"id":"a"}"#, &["\"a\""]),
            (b"{\"id\" : 7 ,\"result\":\"\xff\xfe\"}", &["7"]),
            (b"{\"id\":7,\"result\":\"a\tb\x00\\\"}\"}", &["7"]),
            (br#"{"id":7,"id":7.0,"result":{}}"#, &["7.0"]),
            (br#"{"id":7,"id":8,"result":{}}"#, &["-"]),
            (br#"{"id":null,"error":{}}"#, &["-"]),
            (br#"{"id":01,"error":{}}"#, &["-"]),
            (br#"{"jsonrpc":"2.0","id":7}"#, &["7"]),
            (br#"{"id":7}"#, &["-"]),
            (br#"{"id":7,"method":"m","result":NaN}"#, &["-"]),
            (br#"{"id":7,"result":{"a":"b"#, &["7"]),
            (br#"{"id":7,"result":{}} {"id":8,"result":{}}, xx {"id":9,"result":{}}"#, &["7", "8"]),
            (b"{\"id\":7,\"result\":{}}\0\0", &["7"]),
            (b"\xef\xbb\xbf{\"id\":7,\"result\":{}}", &["7"]),
            (
                br#"[5,{"id":7,"result":NaN},"{",[{"id":1,"result":{}}],x {"id":8,"result":{}}] {"#,
                &["7", "8"],
            ),
            (br#"I (31) tx: {"id":7,"result":{}}"#, &[]),
            (b"]", &[]),
            (b"[", &[]),
            (b"{", &["-"]),
            (b"", &[]),
        ] {
            let text = |part: Part<'_>| part.answers.map_or("-".into(), |id| id.as_str().to_owned());
            let parts: Vec<String> = Parts::of(line).map(text).collect();
            assert_eq!(parts, found, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn depth_is_counted_and_not_climbed() {
        let deep = [&b"{\"a\":"[..], &b"[".repeat(1 << 20), b"\"", &b"]".repeat(1 << 20), b"}"].concat();
        assert_eq!(Parts::of(&deep).next().map(|part| part.text.len()), Some(deep.len()));
    }
}

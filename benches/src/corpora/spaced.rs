//! JSON as Python's `json.dumps` writes it.

use std::fmt::Write as _;

/// The same JSON with a space after each comma and colon, and all but ASCII as `\u` escapes: what Python's `json.dumps` writes.
#[must_use]
pub fn spaced(compact: &str) -> String {
    let (mut out, mut inside, mut escaped) = (String::with_capacity(compact.len() * 2), false, false);
    for c in compact.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = inside,
            '"' => inside = !inside,
            ',' | ':' if !inside => out.push(' '),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn as_json_dumps() {
        // python3 -c 'import json; print(json.dumps({"a": [1, {"b": "x,\"y:é😀\\"}], "c": None}))'
        let compact = r#"{"a":[1,{"b":"x,\"y:é😀\\"}],"c":null}"#;
        let python = r#"{"a": [1, {"b": "x,\"y:\u00e9\ud83d\ude00\\"}], "c": null}"#;
        assert_eq!(super::spaced(compact), python);
    }
}

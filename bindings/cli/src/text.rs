//! JSON and numbers as text: small helpers over barewire's writer.

use barewire::json::{Object, Sink};

/// A growing buffer that JSON is written into.
#[derive(Default)]
pub(crate) struct Buffer(pub(crate) Vec<u8>);

impl Sink for Buffer {
    fn put(&mut self, bytes: &[u8]) -> bool {
        self.0.extend_from_slice(bytes);
        true
    }
}

/// Writes one object and hands out its text, without a line break.
pub(crate) fn object(build: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
    let mut buffer = Buffer::default();
    let mut object = Object::new(&mut buffer);
    build(&mut object);
    let _ = object.end();
    buffer.0
}

/// A whole number with a comma every three digits.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Time between two packets, in the unit that reads best.
pub(crate) fn span(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..100_000 => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
        100_000..1_000_000 => format!("{} ms", micros / 1_000),
        1_000_000..120_000_000 => format!("{}.{} s", micros / 1_000_000, micros % 1_000_000 / 100_000),
        120_000_000..7_200_000_000 => format!("{} min", micros / 60_000_000),
        7_200_000_000..172_800_000_000 => format!("{} h", micros / 3_600_000_000),
        _ => format!("{} days", micros / 86_400_000_000),
    }
}

/// `text` with everything that could move a terminal's cursor made visible.
pub(crate) fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => clean.push_str("\\t"),
            '\n' => clean.push_str("\\n"),
            '\r' => clean.push_str("\\r"),
            '\u{1b}' => clean.push_str("\\e"),
            c if c.is_control() || is_direction_mark(c) => {
                clean.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => clean.push(c),
        }
    }
    clean
}

/// Characters that reorder text on the screen, which a peer could use to show what was not sent.
const fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// At most `limit` characters of `text`, with an ellipsis where some are left out.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some(_) => {
            let end = text.char_indices().nth(limit.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}…", text[..end].trim_end())
        }
    }
}

/// How many columns of a terminal a text takes: wide East Asian characters take two.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

fn width(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200b..=0x200d | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// `text` in lines of at most `limit` columns, broken at spaces where there are some. Line breaks stay.
pub(crate) fn wrapped(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(10);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && columns(&line) + 1 + columns(word) > limit {
                lines.push(core::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            for c in word.chars() {
                if columns(&line) + width(c) > limit {
                    lines.push(core::mem::take(&mut line));
                }
                line.push(c);
            }
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times() {
        assert_eq!(
            [grouped(0), grouped(999), grouped(1000), grouped(1234567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [7, 1_250, 250_000, 61_250_000, 3_600_000_000].map(span),
            ["7 µs", "1.2 ms", "250 ms", "61.2 s", "60 min"]
        );
    }

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(printable("a\x1b[2Jb\r\u{202e}c\u{7}"), "a\\e[2Jb\\r\\u{202e}c\\u{7}");
    }

    #[test]
    fn lines_are_broken_by_width() {
        assert_eq!(wrapped("one two three four", 10), ["one two", "three four"]);
        assert_eq!(wrapped("天气预报天气预报", 10), ["天气预报天", "气预报"]);
        assert_eq!(wrapped("a\n\nb", 10), ["a", "", "b"]);
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}

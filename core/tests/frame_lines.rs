//! Lines against a naive oracle, whatever the chunks and the buffer.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
use barewire::frame::{Frame, Lines};
use barewire::json::Raw;
use proptest::prelude::*;

#[derive(Debug, PartialEq)]
enum Got {
    Line(Vec<u8>),
    Long(usize, Option<String>),
}

/// What the documentation says, over the whole input at once.
fn oracle(input: &[u8], size: usize) -> Vec<Got> {
    let input = input.strip_prefix(b"\xef\xbb\xbf").map_or((input, 3), |rest| (rest, 0)).0;
    let mut lines: Vec<&[u8]> = input.split(|b| *b == b'\n').collect();
    let last = lines.pop().unwrap();
    let long = |line: &[u8]| {
        let id = core::str::from_utf8(line).ok().and_then(Raw::new).and_then(|r| r.get("id"));
        let id = id.filter(|id| id.as_string().is_some() || id.is_integer());
        Got::Long(line.len(), id.map(|id| id.as_str().to_owned()))
    };
    let blank = |line: &[u8]| line.iter().all(|b| b" \t\r".contains(b));
    let got = lines.into_iter().filter(|line| !blank(line) || line.len() >= size);
    let mut all: Vec<Got> =
        got.map(|line| if line.len() < size { Got::Line(line.to_vec()) } else { long(line) }).collect();
    // A last line without line feed counts once the input is over.
    if !blank(last) || last.len() >= size {
        all.push(if last.len() < size { Got::Line(last.to_vec()) } else { long(last) });
    }
    all
}

fn split(input: &[u8], size: usize, chunks: &[usize]) -> Vec<Got> {
    let mut memory = vec![0; size];
    let mut lines = Lines::new(&mut memory);
    let mut all = vec![];
    let drain = |lines: &mut Lines<'_>, all: &mut Vec<Got>| loop {
        match lines.next() {
            Frame::Line(line) => all.push(Got::Line(line.to_vec())),
            Frame::TooLong { dropped, id, .. } => {
                all.push(Got::Long(dropped, id.map(|i| i.as_str().to_owned())));
            }
            Frame::More => break,
        }
    };
    let (mut rest, mut turn) = (input, 0);
    while !rest.is_empty() {
        let n = chunks[turn % chunks.len()].clamp(1, rest.len());
        turn += 1;
        let taken = lines.feed(&rest[..n]);
        assert!(taken > 0, "space is never empty after More");
        rest = &rest[taken..];
        drain(&mut lines, &mut all);
    }
    lines.end_of_input();
    drain(&mut lines, &mut all);
    all
}

#[test]
fn byte_order_mark_blank_lines_and_carriage_returns() {
    let input = b"\xef\xbb\xbf{}\r\n\r\n \t\n[1]\nlast";
    let line = |s: &str| Got::Line(s.as_bytes().to_vec());
    let expected = [line("{}\r"), line("[1]"), line("last")];
    for chunk in 1..input.len() {
        assert_eq!(split(input, 64, &[chunk]), expected);
    }
}

#[test]
fn the_id_of_what_is_too_long_wherever_it_stands() {
    let pad = "x".repeat(100);
    let cases = [
        (format!(r#"{{"id":7,"pad":"{pad}"}}"#), Some("7")),
        (format!(r#"{{"pad":"{pad}","id":"a\"b"}}"#), Some(r#""a\"b""#)),
        (
            format!(r#"{{"pad":"{pad}", "\u0069d" : -12345678901234567890 ,"z":["{pad}"]}}"#),
            Some("-12345678901234567890"),
        ),
        (format!(r#"{{"pad":{{"id":1,"pad":"{pad}"}}}}"#), None),
        (format!(r#"{{"id":1,"pad":"{pad}","id":2}}"#), None),
        (format!(r#"{{"id":1.5,"pad":"{pad}"}}"#), None),
        (format!(r#"{{"id":null,"pad":"{pad}"}}"#), None),
        (format!(r#"[{{"id":1}},"{pad}"]"#), None),
    ];
    for (line, id) in cases {
        let input = format!("{line}\n{{}}\n");
        for chunk in [1, 2, 3, 7, 31, 63, 64, 200] {
            let got = split(input.as_bytes(), 64, &[chunk]);
            let expected = [Got::Long(line.len(), id.map(str::to_owned)), Got::Line(b"{}".to_vec())];
            assert_eq!(got, expected, "{line} in chunks of {chunk}");
        }
    }
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b" \r\n\t".to_vec()),
        Just(b"{\"id\":\"x\",\"a\":[1,2]}\n".to_vec()),
        "[a-z]{0,40}".prop_map(String::into_bytes),
        (0..90usize, 0..1000u32)
            .prop_map(|(n, id)| format!("{{\"p\":\"{}\",\"id\":{id}}}\n", "q".repeat(n)).into_bytes()),
        prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn as_the_oracle(input in text(), bom in any::<bool>(), size in 48..100usize, chunks in prop::collection::vec(1..40usize, 1..5)) {
        let mut all = if bom { b"\xef\xbb\xbf".to_vec() } else { vec![] };
        all.extend(input);
        let (got, expected) = (split(&all, size, &chunks), oracle(&all, size));
        // An id that was read before the line turned out to be no JSON is still given: the oracle has none there.
        prop_assert_eq!(got.len(), expected.len());
        for (got, expected) in got.iter().zip(&expected) {
            match (got, expected) {
                (Got::Long(n, _), Got::Long(m, None)) => prop_assert_eq!(n, m),
                _ => prop_assert_eq!(got, expected),
            }
        }
    }
}

//! The scanner against serde_json, and its steps.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]

mod json_common;

use barewire::json::{ScanError, ScanFault, Scanner, Step};
use json_common::{is_valid, same_at_every_split, steps};
use std::ops::Range;

#[test]
fn stops_at_the_outermost_members() {
    let text = br#" {"a" : 1 ,"b":{"c":[2]}, "\u0064":"x"} "#;
    let spans = |range: Range<usize>| std::str::from_utf8(&text[range]).unwrap();
    let (steps, end) = steps([&text[..]]);
    let seen: Vec<_> = steps
        .iter()
        .map(|step| match *step {
            Step::Key { start, end } => ("key", spans(start..end)),
            Step::Value { start, end } => ("value", spans(start..end)),
            Step::End { start, end } => ("end", spans(start..end)),
            Step::More => unreachable!(),
        })
        .collect();
    let whole = std::str::from_utf8(text).unwrap().trim();
    assert_eq!(
        seen,
        [
            ("key", "a"),
            ("value", "1"),
            ("key", "b"),
            ("value", r#"{"c":[2]}"#),
            ("key", r"\u0064"),
            ("value", r#""x""#),
            ("end", whole)
        ]
    );
    assert_eq!(end, Ok(1..text.len() - 1));
}

#[test]
fn the_limit_of_depth_counts_the_outermost_container() {
    let nested = |n: usize| [vec![b'['; n], vec![b']'; n]].concat();
    assert!(steps([&nested(128)[..]]).1.is_ok());
    assert_eq!(steps([&nested(129)[..]]).1, Err(ScanError { fault: ScanFault::Depth, at: 128 }));
}

/// All steps of a text in such pieces, going on after faults of depth; and how many of those there were.
fn steps_beyond_depth(text: &[u8], size: usize) -> (Vec<Step>, usize, Result<Range<usize>, ScanError>) {
    let (mut scanner, mut steps, mut faults) = (Scanner::new(), Vec::new(), 0);
    for end in (size..text.len() + size).step_by(size) {
        loop {
            match scanner.step(&text[scanner.position()..end.min(text.len())]) {
                Ok((_, Step::More)) => break,
                Ok((_, step)) => steps.push(step),
                Err(error) if error.fault == ScanFault::Depth => faults += 1,
                Err(error) => return (steps, faults, Err(error)),
            }
        }
    }
    (steps, faults, scanner.finish())
}

#[test]
fn the_scan_goes_on_after_too_much_depth() {
    for levels in [127, 128, 140, 1000] {
        let deep = format!("{}{{\"]\":\"\\\"[\\u005d é\"}}{}", "[".repeat(levels), ",[{}] ]".repeat(levels));
        let text = format!("{{\"params\":{deep},\"id\" :7,\"x\":[[]]}}");
        let (steps, faults, end) = steps_beyond_depth(text.as_bytes(), text.len());
        let seen: Vec<_> = steps
            .iter()
            .map(|step| match *step {
                Step::Key { start, end } | Step::Value { start, end } | Step::End { start, end } => {
                    &text[start..end]
                }
                Step::More => unreachable!(),
            })
            .collect();
        assert_eq!(seen, ["params", &deep, "id", "7", "x", "[[]]", &text]);
        assert_eq!(faults, 1);
        assert_eq!(end.clone().map_err(|e| e.fault), Err(ScanFault::Depth));
        for size in [1, 2, 3, 7, 200] {
            assert_eq!(steps_beyond_depth(text.as_bytes(), size), (steps.clone(), faults, end.clone()));
        }
        // What is wrong beyond the limit is still found where strings are concerned, and always at its outside.
        for (from, to) in [("\\u005d", "\\u00"), ("\"id\" :7", "\"id\" 7"), ("[[]]}", "[[]}")] {
            let wrong = text.replacen(from, to, 1);
            let (_, _, end) = steps_beyond_depth(wrong.as_bytes(), 5);
            assert_eq!(end.map_err(|e| e.fault), Err(ScanFault::Syntax), "{to}");
        }
    }
}

#[test]
fn faults_stay() {
    let mut scanner = Scanner::new();
    let error = scanner.step(b"[[1,]]").unwrap_err();
    assert_eq!(error, ScanError { fault: ScanFault::Syntax, at: 4 });
    assert_eq!(scanner.step(b"2]"), Err(error));
    assert_eq!(scanner.finish(), Err(error));
}

#[test]
fn agrees_with_serde_json_at_every_split() {
    let cases: &[&[u8]] = &[
        b"1",
        b"-0",
        b"1e5",
        b"1E+5",
        b"1.5e-3",
        b"[]",
        b"{}",
        b"[1,2]",
        b"{\"a\":1}",
        b"\"\\ud83d\\ude00\"",
        b"007",
        b"[1,]",
        b"{,}",
        b"{\"a\"}",
        b"[1}",
        b"{\"a\":1]",
        b"nul",
        b"nulll",
        b"\"\x01\"",
        b"1 2",
        b"",
        b" ",
        b"[",
        b"]",
        b"\"",
        b"-",
        b"1.",
        b"1e",
        b"1e+",
        b".5",
        b"+1",
        b"{\"a\":1,}",
        b"[[],{}]",
        b" true ",
        b"\"\\x\"",
        b"01",
        b"[tru]",
        b"[-]",
        b"[1.5e+3,null]",
        b"{\"a\":[{\"b\":\"c\\\"d\"}]}",
        b"[1 2]",
        b"[,1]",
        b"{\"a\" 1}",
        b"{a:1}",
        b"{1:1}",
        b"\"a\nb\"",
        b"\"\\u12\"",
        b"\"\\u12G4\"",
        b"\xef\xbb\xbf1",
        b"[false,true,null]",
        b"falsy",
        "\"\u{e9}\u{20ac}\u{1f600}\"".as_bytes(),
        b"\"\xc0\x80\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xf4\x90\x80\x80\"",
        b"\"\xe2\x82\"",
        b"\"\x80\"",
        b"\"\xff\"",
        b"\"\xf0\x8f\xbf\xbf\"",
        b"\"\xe0\x9f\xbf\"",
        b"{\"a\":1}}",
        b"\x00",
        b"\"\x7f\"",
        b"[1]\x0b",
        b"\"0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz\"",
    ];
    for case in cases {
        let (_, end) = same_at_every_split(case);
        assert_eq!(end.is_ok(), is_valid(case), "{:?}", String::from_utf8_lossy(case));
    }
}

/// Every text of up to `left` more of these tokens.
fn every_text(text: &mut Vec<u8>, left: usize, check: &mut impl FnMut(&[u8])) {
    check(text);
    if left > 0 {
        for token in ["{", "}", "[", "]", ",", ":", "\"a\"", "1"] {
            let len = text.len();
            text.extend_from_slice(token.as_bytes());
            every_text(text, left - 1, check);
            text.truncate(len);
        }
    }
}

#[test]
fn the_grammar_is_right_for_every_short_text() {
    let mut valid = 0;
    // Within two containers, so that the inner loop has them, and alone.
    for (before, after) in [("", ""), ("[[", "]]"), ("{\"k\":{\"a\":", "}}")] {
        every_text(&mut Vec::new(), 5, &mut |text| {
            let text = [before.as_bytes(), text, after.as_bytes()].concat();
            let agreed = steps([&text[..]]).1.is_ok();
            assert_eq!(agreed, is_valid(&text), "{}", String::from_utf8_lossy(&text));
            assert_eq!(steps(text.chunks(1)).1.is_ok(), agreed, "{}", String::from_utf8_lossy(&text));
            valid += usize::from(agreed);
        });
    }
    assert!(valid > 100, "{valid}");
}

#[test]
fn every_byte_within_a_string_and_after_a_backslash() {
    for byte in 0..=0xff {
        for around in [("\"", "\""), ("\"\\", "\""), ("[\"\\", "x\"]"), ("[\"\\u00", "0\"]"), ("[\"x", "\"]")]
        {
            let text = [around.0.as_bytes(), &[byte], around.1.as_bytes()].concat();
            let (_, end) = same_at_every_split(&text);
            assert_eq!(end.is_ok(), is_valid(&text), "{byte:#x} in {around:?}");
        }
    }
}

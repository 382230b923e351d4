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

#[test]
fn the_scan_goes_on_after_too_much_depth() {
    let deep = format!("{}{{\"]\":\"\\\"[\"}}{}", "[".repeat(140), "]".repeat(140));
    let text = format!(r#"{{"params":{deep},"id":7}}"#);
    let (mut scanner, mut seen, mut faults) = (Scanner::new(), Vec::new(), 0);
    loop {
        match scanner.step(&text.as_bytes()[scanner.position()..]) {
            Ok((_, Step::More)) => break,
            Ok((_, Step::Key { start, end } | Step::Value { start, end })) => seen.push(&text[start..end]),
            Ok((_, Step::End { .. })) => {}
            Err(error) => {
                assert_eq!(error.fault, ScanFault::Depth);
                faults += 1;
            }
        }
    }
    assert_eq!(seen, ["params", &deep, "id", "7"]);
    assert_eq!(faults, 1);
    assert_eq!(scanner.finish().map_err(|e| e.fault), Err(ScanFault::Depth));
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

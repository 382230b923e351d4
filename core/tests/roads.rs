//! The two roads through a line hold together: what the one in blocks of 64 bytes accepts, the scanner accepts, with the same
//! members; where it doesn't answer, it is as if it weren't there.
//!
//! The road in blocks starts at a `{` alone. So a tab before it sends the same line down the other road.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]

mod json_common;

use barewire::json::Raw;
use barewire::rpc::{Fault, Invalid, Message};
use json_common::{accepts, cases, mutated, steps, suite, text, valid, value};
use proptest::prelude::*;

/// Both roads on one line; whether it is a message.
fn agree(line: &[u8]) -> bool {
    let other = [b"\t", line].concat();
    let before = |fault| match fault {
        Fault::NotJson { at } => Fault::NotJson { at: at - 1 },
        Fault::NotUtf8 { at } => Fault::NotUtf8 { at: at - 1 },
        other => other,
    };
    let scanned = Message::parse(&other).map_err(|e| Invalid { fault: before(e.fault), ..e });
    let found = Message::parse(line);
    assert_eq!(found, scanned, "{}", String::from_utf8_lossy(line));
    // An oracle that shares nothing with either road.
    if found.is_ok() {
        assert!(serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok(), "{}", line.escape_ascii());
    }
    found.is_ok()
}

/// The same for a text that is no message: the value that it is, or the fault.
fn agree_on_value(text: &[u8]) {
    let (_, end) = steps([text]);
    assert_eq!(
        Raw::from_bytes(text).map(Raw::as_bytes),
        end.map(|span| &text[span]),
        "{}",
        text.escape_ascii()
    );
}

/// `value` where a line has one, `pad` bytes further from the line's start than need be.
fn lines(value: &[u8], pad: usize) -> [Vec<u8>; 4] {
    let pad = "p".repeat(pad);
    let join = |before: String, after: &str| [before.as_bytes(), value, after.as_bytes()].concat();
    [
        join(format!(r#"{{"jsonrpc":"2.0","id":"{pad}","result":{{"a":"#), "}}"),
        join(format!(r#"{{"jsonrpc":"2.0","method":"{pad}","params":["#), r#"],"id":1}"#),
        join(
            format!(r#"{{"jsonrpc": "2.0", "id": "{pad}", "error": {{"code": -1, "message": "m", "data": "#),
            "}}",
        ),
        join(format!(r#"{{"jsonrpc":"2.0","id":"{pad}","method":"m","params":"#), "}\r\n"),
    ]
}

/// The members of an envelope and others, in any order, with any values, some of them twice.
fn envelope() -> impl Strategy<Value = Vec<u8>> {
    let key = prop::sample::select(vec![
        r#""jsonrpc""#,
        r#""id""#,
        r#""method""#,
        r#""params""#,
        r#""result""#,
        r#""error""#,
        r#""i\u0064""#,
        r#""other""#,
        r#""""#,
    ]);
    let own = prop::sample::select(vec![
        r#""2.0""#,
        "1",
        "-0",
        "01",
        "1.0",
        "1e2",
        "1.",
        "\"x\"",
        "{}",
        "[]",
        "null",
        "nul",
        "true",
        r#"{"code":1,"message":"m"}"#,
        r#""2\u002e0""#,
        "\"é\"",
        "\"\\\"",
        "{\"a\":[1,2]}",
        "{ }",
        "[ ]",
        "[1 ,2]",
        "{\"a\" :1}",
    ]);
    let value = prop_oneof![3 => own.prop_map(str::to_owned), 1 => value().prop_map(|v| v.to_string())];
    let mark = |usual: &'static str| prop_oneof![8 => Just(usual.to_owned()), 1 => prop::sample::select(vec![" ", "  ", "\t", "", ",", ":"]).prop_map(move |s| format!("{usual}{s}"))];
    let member =
        (key, mark(":"), value, mark("")).prop_map(|(k, colon, v, end)| format!("{k}{colon}{v}{end}"));
    let usual = prop::sample::select(vec![
        r#""jsonrpc":"2.0","id":1,"method":"m""#,
        r#""jsonrpc":"2.0","id":1,"result":{}"#,
        r#""jsonrpc":"2.0","method":"m""#,
    ]);
    (usual, prop::collection::vec(member, 0..4), mark(","), mark("}")).prop_map(
        |(usual, more, comma, end)| {
            let all: Vec<String> = std::iter::once(usual.to_owned()).chain(more).collect();
            format!("{{{}{end}", all.join(&comma)).into_bytes()
        },
    )
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn on_valid_values(value in valid(), pad in 0..140usize) {
        agree_on_value(&value);
        for line in lines(&value, pad) {
            agree(&line);
        }
    }

    #[test]
    fn on_broken_values(value in mutated(), pad in 0..140usize) {
        agree_on_value(&value);
        for line in lines(&value, pad) {
            agree(&line);
        }
    }

    #[test]
    fn on_texts(text in text(), pad in 0..140usize) {
        let value = serde_json::to_string(&text).unwrap();
        let [line, ..] = lines(value.as_bytes(), pad);
        prop_assert!(agree(&line));
        agree_on_value(value.as_bytes());
        agree_on_value(format!("\"{}{text}\"", "a".repeat(pad)).as_bytes());
        // Unescaped, and thus perhaps wrong.
        let [line, ..] = lines(format!("\"{text}\"").as_bytes(), pad);
        agree(&line);
    }

    #[test]
    fn on_envelopes(line in envelope()) {
        agree(&line);
    }

    /// Few bytes, all of which mean something: most combinations of neighbours come up.
    #[test]
    fn on_structure(text in "[\\[\\]{}:,\" 1\\\\ntrue\t\n]{0,24}", pad in 0..130usize) {
        for line in lines(text.as_bytes(), pad) {
            agree(&line);
        }
        agree_on_value(format!("[{text}]").as_bytes());
    }
}

/// Every place of every file of the suite, against the edges of blocks.
#[test]
fn on_the_json_test_suite() {
    let Some(files) = suite() else { return };
    for (name, text) in files {
        agree_on_value(&text);
        if text.len() > 2000 {
            continue;
        }
        let is_valid = accepts(&text);
        for pad in 0..130 {
            let [in_object, in_array, ..] = lines(&text, pad);
            assert_eq!(agree(&in_object), is_valid, "{name} {pad}");
            if is_valid {
                assert!(agree(&in_array), "{name} {pad}");
            }
        }
    }
}

#[test]
fn at_every_depth() {
    for depth in (1..140).chain([5000]) {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[1,{\"a\":[", "]}]")] {
            let value = [open.repeat(depth).as_str(), "1", &close.repeat(depth)].concat();
            agree_on_value(value.as_bytes());
            for line in lines(value.as_bytes(), 0) {
                agree(&line);
            }
        }
    }
}

/// Every byte instead of every byte of a line that the road in blocks takes.
#[test]
fn with_every_byte_changed() {
    let line = r#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"a\n\u00e9é","list":[1.5e3,-2,{},[]],"x": {"deep":[true,false,null]} , "rest":"语言 é and more text to get over one block's edge"}}"#;
    assert!(agree(line.as_bytes()));
    for at in 0..line.len() {
        for byte in 0..=255 {
            let mut changed = line.as_bytes().to_vec();
            changed[at] = byte;
            agree(&changed);
        }
        agree(&line.as_bytes()[..at]);
    }
}

//! What the tests of the JSON layer share: how to run the scanner, and where texts come from.
#![allow(dead_code)] // each test uses its part

use barewire::json::{ScanError, Scanner, Step};
use proptest::prelude::*;
use serde_json::Value;
use std::ops::Range;
use std::path::PathBuf;

/// The files of JSONTestSuite by name, where they are present; where not, that is said.
pub(crate) fn suite() -> Option<Vec<(String, Vec<u8>)>> {
    let shared = std::env::var_os("BAREWIRE_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let folder = shared.join("data/json-test-suite/test_parsing");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no JSONTestSuite at {}", folder.display());
        return None;
    };
    let read = |path: PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
    };
    Some(files.map(|file| read(file.unwrap().path())).collect())
}

/// So many cases, or that times `BAREWIRE_CASES`; failures are printed, not written to files.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let times = std::env::var("BAREWIRE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    ProptestConfig {
        cases: cases.saturating_mul(times),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// All steps of a text that comes in these pieces, and its end.
pub(crate) type Steps = (Vec<Step>, Result<Range<usize>, ScanError>);

pub(crate) fn steps<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Steps {
    let (mut scanner, mut steps) = (Scanner::new(), Vec::new());
    for piece in pieces {
        let mut input = piece;
        loop {
            match scanner.step(input) {
                Ok((taken, step)) => {
                    input = &input[taken..];
                    if step == Step::More {
                        assert!(input.is_empty(), "More with input left");
                        break;
                    }
                    steps.push(step);
                }
                Err(error) => return (steps, Err(error)),
            }
        }
    }
    (steps, scanner.finish())
}

pub(crate) fn accepts(text: &[u8]) -> bool {
    steps([text]).1.is_ok()
}

/// Checks that steps and faults are the same however the text is cut in two, or into pieces of one to nine bytes.
pub(crate) fn same_at_every_split(text: &[u8]) -> Steps {
    let whole = steps([text]);
    let shown = || String::from_utf8_lossy(text).into_owned();
    // Long texts at some of the places only: the test is quadratic.
    for cut in (0..=text.len()).step_by(1 + text.len() / 400) {
        let (a, b) = text.split_at(cut);
        assert_eq!(steps([a, b]), whole, "{:?} cut at {cut}", shown());
    }
    for size in 1..10 {
        assert_eq!(steps(text.chunks(size)), whole, "{:?} in pieces of {size}", shown());
    }
    whole
}

/// What the oracle says: UTF-8, JSON by serde_json (whose skipping has no limit of depth), and 128 levels at most.
pub(crate) fn is_valid(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok()
        && serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
        && depth(text) <= 128
}

/// How deep a valid text is.
fn depth(text: &[u8]) -> usize {
    let (mut open, mut most, mut in_string, mut escaped) = (0usize, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                open += 1;
                most = most.max(open);
            }
            b']' | b'}' if !in_string => open -= 1,
            _ => {}
        }
    }
    most
}

/// Text with all that has to be escaped in it.
pub(crate) fn text() -> impl Strategy<Value = String> {
    // Runs that are long enough for words and wider pieces, between what ends them.
    let runs = prop::collection::vec((0..150usize, "[\\\\\"\n\u{1}é😀]{0,2}"), 0..4)
        .prop_map(|runs| runs.into_iter().map(|(len, end)| "x".repeat(len) + &end).collect());
    prop_oneof![
        4 => any::<String>(),
        4 => "[\\\\\"a\n\u{1}\u{7f}/é€😀]{0,40}",
        4 => "[a-z ]{0,90}",
        4 => "\\PC{0,20}",
        1 => runs,
        1 => "[é€語😀a]{60,120}",
    ]
}

/// Values whose floats serde_json reads exactly (of longer ones it may miss the last digit).
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 64.0)),
        text().prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(text(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A valid text, compact or spaced, sometimes with every other character escaped.
pub(crate) fn valid() -> impl Strategy<Value = Vec<u8>> {
    (value(), 0..4u8, 0..140usize).prop_map(|(value, style, deep)| {
        let text = match style {
            0 => serde_json::to_string_pretty(&value).unwrap(),
            1 => format!("{}{value}{}", "[".repeat(deep), "]".repeat(deep)),
            2 => format!(" \t\r\n{}\n", value.to_string().replace(',', " ,\t").replace(':', "\n: ")),
            _ => value.to_string(),
        };
        text.into_bytes()
    })
}

/// A valid text with a few bytes changed, removed, doubled or put in; often still valid.
pub(crate) fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        prop::sample::select(&b"{}[]\":,\\/ \n\t0123456789-+.eEtrufalsnbu\x00\x1f\x7f"[..]),
        prop::sample::select(
            &b"\x80\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xef\xf0\xf1\xf4\xf5\xff\xa0\x9f\x90\x8f"[..]
        ),
        any::<u8>(),
    ];
    let change = (any::<prop::sample::Index>(), 0..4u8, byte);
    (valid(), prop::collection::vec(change, 1..4)).prop_map(|(mut text, changes)| {
        for (at, how, byte) in changes {
            let at = at.index(text.len() + 1);
            match (how, text.get(at).copied()) {
                (0, Some(_)) => text[at] = byte,
                (1, Some(_)) => drop(text.remove(at)),
                (2, Some(old)) => text.insert(at, old),
                (3, Some(_)) if byte < 32 => text.truncate(at),
                _ => text.insert(at, byte),
            }
        }
        text
    })
}

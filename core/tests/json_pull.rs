//! The reader that goes down and comes back, against the scanner (what is valid, and which fault it is) and the views (what is there).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]

mod json_common;

use barewire::json::{DEPTH, Kind, Pull, PullValue, Raw, ScanError, ScanFault};
use json_common::{cases, mutated, suite, text, valid};
use proptest::prelude::*;

/// What to do next; the same numbers make the same walk. Over and over from the start.
struct Whims<'a> {
    all: &'a [u8],
    at: usize,
}

impl Whims<'_> {
    fn next(&mut self) -> u8 {
        self.at += 1;
        self.all.get((self.at - 1) % self.all.len().max(1)).copied().unwrap_or(0)
    }
}

const SKIP: u8 = 0;
const TAKE: u8 = 1;
/// In front of a member or element: leave the container.
const LEAVE: u8 = 7;

/// Walks through a value, and writes down what is met.
fn pulled(
    value: PullValue<'_, '_>,
    whims: &mut Whims<'_>,
    notes: &mut Vec<Vec<u8>>,
) -> Result<(), ScanError> {
    match whims.next() {
        SKIP => {}
        TAKE => notes.push(value.raw()?.as_bytes().to_vec()),
        2 => notes.push(value.string()?.map_or(b"no string".to_vec(), |body| body.raw().to_vec())),
        3 => match value.elements()? {
            None => notes.push(b"no array".to_vec()),
            Some(mut list) => {
                while whims.next() != LEAVE
                    && let Some(value) = list.next()?
                {
                    pulled(value, whims, notes)?;
                }
            }
        },
        _ => match value.members()? {
            None => notes.push(b"no object".to_vec()),
            Some(mut object) => {
                while whims.next() != LEAVE
                    && let Some((key, value)) = object.next()?
                {
                    notes.push(key.raw().to_vec());
                    pulled(value, whims, notes)?;
                }
            }
        },
    }
    Ok(())
}

/// The same walk through a value that was checked.
fn viewed(value: Raw<'_>, whims: &mut Whims<'_>, notes: &mut Vec<Vec<u8>>) {
    match whims.next() {
        SKIP => {}
        TAKE => notes.push(value.as_bytes().to_vec()),
        2 => notes.push(value.as_string().map_or(b"no string".to_vec(), |body| body.raw().to_vec())),
        3 if value.kind() != Kind::Array => notes.push(b"no array".to_vec()),
        3 => {
            let mut list = value.elements();
            while whims.next() != LEAVE
                && let Some(value) = list.next()
            {
                viewed(value, whims, notes);
            }
        }
        _ if value.kind() != Kind::Object => notes.push(b"no object".to_vec()),
        _ => {
            let mut object = value.members();
            while whims.next() != LEAVE
                && let Some((key, value)) = object.next()
            {
                notes.push(key.raw().to_vec());
                viewed(value, whims, notes);
            }
        }
    }
}

fn walk(text: &[u8], whims: &[u8]) -> Result<Vec<Vec<u8>>, ScanError> {
    let mut notes = Vec::new();
    let mut pull = Pull::new(text);
    if let Err(error) = pulled(pull.value(), &mut Whims { all: whims, at: 0 }, &mut notes) {
        // Said again from then on.
        assert_eq!(pull.value().raw().err(), Some(error));
        assert_eq!(pull.value().members().err(), Some(error));
        assert_eq!(pull.end(), Err(error));
        return Err(error);
    }
    pull.end().map(|()| notes)
}

/// Both ways agree on a text, valid or not.
fn agrees(text: &[u8], whims: &[u8]) {
    let want = Raw::from_bytes(text).map(|value| {
        let mut notes = Vec::new();
        viewed(value, &mut Whims { all: whims, at: 0 }, &mut notes);
        notes
    });
    assert_eq!(walk(text, whims), want, "{:?} by {whims:?}", String::from_utf8_lossy(text));
}

/// Everything is skipped, taken, or entered as far as it goes.
const WALKS: [&[u8]; 5] = [&[SKIP], &[TAKE], &[2], &[3], &[4]];

fn whims() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0..8u8, 1..40)
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn agrees_on_valid_texts(text in valid(), whims in whims()) {
        agrees(&text, &whims);
    }

    #[test]
    fn agrees_on_what_was_changed(text in mutated(), whims in whims()) {
        agrees(&text, &whims);
        WALKS.iter().for_each(|whims| agrees(&text, whims));
    }

    #[test]
    fn agrees_on_what_was_cut_off(text in valid(), whims in whims()) {
        for end in 0..text.len() {
            agrees(&text[..end], &whims);
        }
    }

    #[test]
    fn agrees_on_any_bytes(text in text(), whims in whims()) {
        agrees(text.as_bytes(), &whims);
    }
}

#[test]
fn agrees_on_the_suite() {
    for (_, text) in suite().unwrap_or_default() {
        for whims in WALKS.into_iter().chain([&[3, 4, 1][..], &[4, 0, 3, 0, 0]]) {
            agrees(&text, whims);
        }
    }
}

#[test]
fn agrees_at_every_depth() {
    for depth in 1..DEPTH + 3 {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            for inner in ["1", "[]", "\"é\\u00e9\"", "[[],{\"b\":[{}]}]", "01"] {
                for after in ["", "x"] {
                    let text = [&open.repeat(depth), inner, &close.repeat(depth), after].concat();
                    for enter in [0, 1, 2, 60, 61, 62, 63, 64, 65, 126, 127, 128, 129, 130] {
                        // So many are entered, then it is taken or skipped.
                        for then in [SKIP, TAKE] {
                            let step = if open == "[" { [3, 0] } else { [4, 0] };
                            let whims: Vec<u8> = step.repeat(enter).into_iter().chain([then; 300]).collect();
                            agrees(text.as_bytes(), &whims);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_fault_behind_what_was_read_is_found_at_the_end() {
    let text = b"{\"a\":1,\"b\":[1,\"\xff\"]}";
    let mut pull = Pull::new(text);
    let mut members = pull.value().members().unwrap().unwrap();
    let (key, value) = members.next().unwrap().unwrap();
    assert_eq!((key.raw(), value.raw().unwrap().as_u64()), (&b"a"[..], Some(1)));
    assert_eq!(pull.end(), Err(ScanError { fault: ScanFault::Utf8, at: 15 }));
}

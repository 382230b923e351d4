//! The scanner agrees with serde_json about what is one JSON text, however it is cut, and its spans are right.
#![no_main]

use barewire::json::{DEPTH, Raw, ScanError, ScanFault, Scanner, Step};
use barewire_fuzz::Cuts;
use libfuzzer_sys::fuzz_target;
use serde::Deserialize;
use serde::de::IgnoredAny;

fuzz_target!(|data: &[u8]| {
    let Some(mut cuts) = Cuts::new(data) else { return };
    let input = cuts.input;
    let whole = scan(input, |n| n);
    let split = scan(input, |n| cuts.to_read(n));
    assert_eq!(whole, split, "the same however it is cut");
    match whole.1 {
        Ok(()) => {
            assert!(depth(input) <= DEPTH);
            assert!(is_json(input), "serde_json refuses it");
        }
        Err(ScanError { fault: ScanFault::Depth, .. }) => assert!(depth(input) > DEPTH),
        Err(e) => {
            assert!(!is_json(input), "serde_json takes it: {e:?}");
            assert!(e.at <= input.len());
        }
    }
    let raw = Raw::from_bytes(input);
    assert_eq!(raw.is_ok(), whole.1.is_ok());
    if let Ok(raw) = raw {
        // Members and elements are what the scanner found.
        let inner: Vec<&[u8]> =
            raw.members().map(|(_, v)| v).chain(raw.elements()).map(Raw::as_bytes).collect();
        let found: Vec<&[u8]> =
            whole.0.iter().filter(|(kind, ..)| *kind == 'v').map(|(_, a, b)| &input[*a..*b]).collect();
        assert_eq!(inner, found);
    }
});

/// Spans of keys ('k'), values ('v') and the whole ('e'), and how it ended.
type Scan = (Vec<(char, usize, usize)>, Result<(), ScanError>);

fn scan(input: &[u8], mut piece: impl FnMut(usize) -> usize) -> Scan {
    let (mut scanner, mut found, mut rest) = (Scanner::new(), Vec::new(), input);
    while !rest.is_empty() {
        let n = piece(rest.len());
        let (mut part, after) = rest.split_at(n);
        rest = after;
        while !part.is_empty() {
            match scanner.step(part) {
                Ok((n, step)) => {
                    part = &part[n..];
                    match step {
                        Step::More => assert!(part.is_empty(), "More only when all is consumed"),
                        Step::Key { start, end } => found.push(('k', start, end)),
                        Step::Value { start, end } => found.push(('v', start, end)),
                        Step::End { start, end } => found.push(('e', start, end)),
                    }
                }
                Err(e) => return (found, Err(e)),
            }
        }
    }
    let end = scanner.finish();
    if let (Ok(range), None) = (&end, found.iter().find(|(kind, ..)| *kind == 'e')) {
        found.push(('e', range.start, range.end));
    }
    (found, end.map(drop))
}

fn is_json(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    IgnoredAny::deserialize(&mut reader).is_ok() && reader.end().is_ok()
}

/// The most containers open at once, up to where brackets no longer pair up.
fn depth(input: &[u8]) -> usize {
    let (mut open, mut most, mut string, mut escaped) = (0usize, 0, false, false);
    for byte in input {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if string => escaped = true,
            b'"' => string = !string,
            b'[' | b'{' if !string => {
                open += 1;
                most = most.max(open);
            }
            b']' | b'}' if !string => open = open.saturating_sub(1),
            _ => {}
        }
    }
    most
}

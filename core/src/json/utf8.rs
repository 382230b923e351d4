//! Checking UTF-8: the standard library's way, preceded by one that compilers turn into vector instructions.

#[cfg(not(all(
    feature = "simd",
    any(feature = "std", target_feature = "sse4.2", target_arch = "aarch64")
)))]
use core::str::{from_utf8 as fast, from_utf8_mut as fast_mut};
/// The vectorised check that there is, with the same meaning as the standard library's. Without the operating system's library that
/// crate can't ask what the processor has, and is as slow as `core` is.
#[cfg(all(feature = "simd", any(feature = "std", target_feature = "sse4.2", target_arch = "aarch64")))]
use simdutf8::basic::{from_utf8 as fast, from_utf8_mut as fast_mut};

const VECTORS: bool =
    cfg!(all(feature = "simd", any(feature = "std", target_feature = "sse4.2", target_arch = "aarch64")));

/// Whether it is all UTF-8.
#[inline]
pub(super) fn is_valid(text: &[u8]) -> bool {
    if VECTORS { fast(text).is_ok() } else { check(text).is_ok() }
}

/// The text, if it is UTF-8.
#[inline]
pub(super) fn text(bytes: &[u8]) -> Option<&str> {
    fast(bytes).ok()
}

/// The same, to change.
#[inline]
pub(super) fn text_mut(bytes: &mut [u8]) -> Option<&mut str> {
    fast_mut(bytes).ok()
}

/// Checks text that starts at a character; else how much of it is valid.
pub(super) fn check(text: &[u8]) -> Result<(), usize> {
    let start = boundary(text, skim(text));
    let rest = text.get(start..).unwrap_or_default();
    str::from_utf8(rest).map(|_| ()).map_err(|error| start.wrapping_add(error.valid_up_to()))
}

/// `at`, or the start of the character before it that needs bytes from there on.
fn boundary(text: &[u8], at: usize) -> usize {
    let due = [(1usize, 0xc0), (2, 0xe0), (3, 0xf0)];
    for (back, least) in due {
        let start = at.wrapping_sub(back);
        if text.get(start).is_some_and(|&lead| lead >= least) {
            return start;
        }
    }
    at
}

/// Controllers have no vectors: there the standard library alone is smaller and faster.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn skim(_: &[u8]) -> usize {
    0
}

/// How many bytes are sure to be valid, but for a character at their end that may not be over.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn skim(text: &[u8]) -> usize {
    let mut at = 0usize;
    let mut first = [0; 67];
    let (Some(room), Some(chunk)) = (first.get_mut(3..), text.first_chunk::<64>()) else { return 0 };
    room.copy_from_slice(chunk);
    let mut window = Some(&first);
    while let Some(bytes) = window
        && block(bytes)
    {
        at = at.wrapping_add(64);
        window = text.get(at.wrapping_sub(3)..).and_then(|rest| rest.first_chunk::<67>());
    }
    at
}

/// Whether 64 bytes follow well on each other and on the three before them.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn block(window: &[u8; 67]) -> bool {
    // Each byte beside the three before it. Plain comparisons without branches, so that they become vector code.
    let lanes = || {
        let [_, one @ ..] = window;
        let [_, two @ ..] = one;
        let [_, three @ ..] = two;
        three.iter().zip(two).zip(one).zip(window).map(|(((&d, &c), &b), &a)| (a, b, c, d))
    };
    let (mut wrong, mut rare) = (0u8, 0u8);
    for (a, b, c, d) in lanes() {
        let due = u8::from(c >= 0xc0) | u8::from(b >= 0xe0) | u8::from(a >= 0xf0);
        wrong |= due ^ u8::from(d & 0xc0 == 0x80);
        rare |= u8::from(c == 0xe0) | u8::from(c == 0xed) | u8::from(c >= 0xf0) | u8::from(c & 0xfe == 0xc0);
    }
    if rare != 0 {
        // Overlong forms, surrogates, and what is over U+10FFFF.
        for (_, _, c, d) in lanes() {
            wrong |= u8::from(c == 0xe0) & u8::from(d < 0xa0)
                | u8::from(c == 0xed) & u8::from(d >= 0xa0)
                | u8::from(c == 0xf0) & u8::from(d < 0x90)
                | u8::from(c == 0xf4) & u8::from(d >= 0x90)
                | u8::from(c & 0xfe == 0xc0)
                | u8::from(c >= 0xf5);
        }
    }
    wrong == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::String;
    use std::vec::Vec;

    fn agrees(text: &[u8]) {
        assert_eq!(check(text), core::str::from_utf8(text).map(|_| ()).map_err(|e| e.valid_up_to()));
    }

    #[test]
    fn every_lead_and_second_byte_at_every_place_in_a_block() {
        for lead in 0x80..=0xff {
            for second in [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff] {
                for before in (58..68).chain(122..132) {
                    for tail in [&b""[..], b"\x80", b"\x80\x80", b"\x80\x80\x80"] {
                        let mut text = std::vec![b'a'; before];
                        text.extend([lead, second]);
                        text.extend(tail);
                        agrees(&text);
                        text.extend([b'a'; 70]);
                        agrees(&text);
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn agrees_with_the_standard_library(
            text in "[aé€語😀\u{7ff}\u{800}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}]{0,90}",
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        ) {
            let mut bytes: Vec<u8> = String::into_bytes(text);
            for (at, byte) in changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                }
            }
            agrees(&bytes);
        }
    }
}

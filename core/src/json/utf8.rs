//! Checking UTF-8, 64 bytes at a time as masks; what is wrong where is the standard library's to say.

use super::bytes::{FAST, SMALL};
use super::masks;
use super::quoted::View;
#[cfg(not(feature = "simdutf8"))]
use core::str::{from_utf8, from_utf8_mut};
/// Only a crate with unsafe code can do faster than the standard library what has to end in a `str`.
#[cfg(feature = "simdutf8")]
use simdutf8::basic::{from_utf8, from_utf8_mut};

/// The text, if it is UTF-8.
#[inline]
pub(super) fn text(bytes: &[u8]) -> Option<&str> {
    if SMALL {
        // Half of the code, as it reads no words.
        return match bytes.utf8_chunks().next() {
            Some(chunk) => Some(chunk.valid()).filter(|text| text.len() == bytes.len()),
            None => Some(""),
        };
    }
    from_utf8(bytes).ok()
}

/// The text that `bytes` are known to be.
#[cfg_attr(not(target_os = "none"), inline)]
pub(crate) fn known(bytes: &[u8]) -> &str {
    text(bytes).unwrap_or_default()
}

/// The same as [`text`], to change.
#[inline]
pub(super) fn text_mut(bytes: &mut [u8]) -> Option<&mut str> {
    from_utf8_mut(bytes).ok()
}

/// Whether it is all UTF-8.
#[inline]
pub(super) fn is_valid(text: &[u8]) -> bool {
    skim(text).is_none()
}

/// Checks text that starts at a character; else how much of it is valid.
pub(super) fn check(text: &[u8]) -> Result<(), usize> {
    let start = if FAST {
        match skim(text) {
            Some(at) => boundary(text, at),
            None => return Ok(()),
        }
    } else {
        0
    };
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

/// Where the first block is that is wrong, or begins with what is wrong with a character before it; `None`: all is valid.
#[inline(never)]
fn skim(text: &[u8]) -> Option<usize> {
    let mut before = Before { due: 0, last: 0, plain: 0 };
    let mut at = 0usize;
    while let Some(block) = text.get(at..)?.first_chunk() {
        if !before.block(View::all(block)) {
            return Some(at);
        }
        at = at.wrapping_add(masks::WIDTH);
        if before.plain >= 2 {
            at = plain(text, at);
            before = Before::behind(text, at);
        }
    }
    let mut room = None;
    let is_valid = match View::last(text, at, &mut room) {
        Some(view) => before.block(view),
        None => before.due == 0,
    };
    (!is_valid).then_some(at)
}

/// Where whole windows of plain text end, from `at` on, which is behind a plain block. All before is valid, but for what is due there.
#[inline(always)]
fn plain(text: &[u8], mut at: usize) -> usize {
    while let Some(window) = text.get(at.wrapping_sub(2)..).and_then(<[u8]>::first_chunk)
        && masks::is_plain_text(window)
    {
        at = at.wrapping_add(2 * masks::WIDTH);
    }
    at
}

/// What a block leaves to the next one.
struct Before {
    /// The bytes that have to continue a character.
    due: u64,
    /// The byte before it, if it may want more of what follows than that.
    last: u8,
    /// How many blocks in a row were plain, as [`masks::is_plain_text`] means it: it is worth a look only behind two of them.
    plain: u8,
}

impl Before {
    /// Behind plain text.
    fn behind(text: &[u8], at: usize) -> Self {
        let is_lead = |back| text.get(at.wrapping_sub(back)).is_some_and(|byte| *byte >= 0xe0);
        let due = if is_lead(1) { 3 } else { u64::from(is_lead(2)) };
        Self { due, last: 0, plain: 0 }
    }

    /// Whether a block is valid, but for what is due of the next one.
    #[inline(always)]
    fn block(&mut self, view: View<'_>) -> bool {
        let high = masks::high(view.block) >> view.shift;
        self.plain = self.plain.wrapping_add(1);
        if high | self.due == 0 {
            return true;
        }
        let continuing = masks::continuing(view.block) >> view.shift;
        let leads = high & !continuing;
        if self.last != 0 || masks::has_odd_lead(view.block) {
            return self.any(view, leads, continuing);
        }
        // Characters of three bytes.
        let expected = leads << 1 | leads << 2 | self.due;
        self.due = leads >> 63 | leads >> 62;
        expected == continuing
    }

    /// The same with characters of any length.
    #[inline(always)]
    fn any(&mut self, view: View<'_>, leads: u64, continuing: u64) -> bool {
        self.plain = 0;
        let three = masks::at_least(view.block, 0xe0) >> view.shift;
        let four = masks::at_least(view.block, 0xf0) >> view.shift;
        let expected = leads << 1 | three << 2 | four << 3 | self.due;
        self.due = leads >> 63 | three >> 62 | four >> 61;
        let last = core::mem::replace(
            &mut self.last,
            *view.block.last().filter(|byte| **byte >= 0xe0).unwrap_or(&0),
        );
        // Overlong forms, surrogates, and what is over U+10FFFF.
        let behind = |lead| view.eq(lead) << 1 | u64::from(last == lead);
        let least = |byte| masks::at_least(view.block, byte) >> view.shift;
        let mut wrong = expected ^ continuing | view.eq(0xc0) | view.eq(0xc1);
        if three != 0 || last >= 0xe0 {
            wrong |= behind(0xe0) & !least(0xa0) | behind(0xed) & least(0xa0);
        }
        if four != 0 || last >= 0xf0 {
            wrong |= behind(0xf0) & !least(0x90) | behind(0xf4) & least(0x90) | least(0xf5);
        }
        wrong == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::String;
    use std::vec::Vec;

    fn agrees(text: &[u8]) {
        let due = str::from_utf8(text).map(|_| ()).map_err(|e| e.valid_up_to());
        assert_eq!(skim(text).is_none(), due.is_ok(), "{}", text.escape_ascii());
        assert_eq!(check(text), due);
    }

    /// Over the edge of a block, in front of more and at the end.
    fn agrees_at_edges(sequence: &[u8]) {
        let mut text = [b'a'; 140];
        for at in (59..65).chain([0, 128]) {
            let end = at + sequence.len();
            text[at..end].copy_from_slice(sequence);
            agrees(&text);
            agrees(&text[..end]);
            // Among others of three bytes, where nothing is looked at twice.
            text[end..end + 6].copy_from_slice("语言".as_bytes());
            agrees(&text);
            text = [b'a'; 140];
        }
    }

    #[test]
    fn every_sequence() {
        for lead in 0x7f..=0xff {
            for second in 0..=0xff {
                agrees_at_edges(&[lead, second]);
                if lead >= 0xe0 && (0x7f..=0xc0).contains(&second) {
                    for third in [0x7f, 0x80, 0xbf, 0xc0] {
                        agrees_at_edges(&[lead, second, third]);
                        agrees_at_edges(&[lead, second, third, 0x80]);
                        agrees_at_edges(&[lead, second, third, 0xc0]);
                    }
                }
            }
        }
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

    #[test]
    fn every_byte_at_every_place_in_plain_text_over_windows() {
        let plain = "plain 语言文字。\u{1000}\u{cfff}\u{e000}\u{ffff}".repeat(24).into_bytes();
        for at in 0..plain.len() {
            for byte in
                [0x00, 0x7f, 0x80, 0xbf, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf4, 0xff]
            {
                let mut text = plain.clone();
                text[at] = byte;
                agrees(&text);
            }
            agrees(&plain[..at]);
            agrees(&plain[at..]);
            for other in ["é", "ก", "퟿", "😀", "\u{800}"] {
                let mut text = plain[..at].to_vec();
                text.extend(other.as_bytes());
                text.extend(&plain[at..]);
                agrees(&text);
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

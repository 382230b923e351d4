//! Passing over values that were checked before: only quotes, backslashes and brackets count.

use super::bytes::FAST;
use super::{lanes, masks};

/// The length of the container at the start of `bytes`: counts brackets outside strings.
pub(super) fn container(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut open) = (0, 0);
    if FAST {
        match blocks(bytes)? {
            Passed::All(len) => return Some(len),
            Passed::Until { place, depth } => (at, open) = (place, depth),
        }
    }
    // Byte by byte, as there are only a few between two strings; within strings it goes by words.
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at.wrapping_add(1))?;
                continue;
            }
            b'{' | b'[' => open = open.wrapping_add(1),
            b'}' | b']' => {
                open = open.wrapping_sub(1);
                if open == 0usize {
                    return Some(at.wrapping_add(1));
                }
            }
            b'\n' => {
                // Indented text: most of the white space at once.
                while bytes.get(at.wrapping_add(1)..)?.starts_with(b"        ") {
                    at = at.wrapping_add(8);
                }
            }
            _ => {}
        }
        at = at.wrapping_add(1);
    }
}

/// The index after the closing quote of the string whose body goes on at `at`.
#[inline]
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = lanes::quote_or_slash(bytes, at);
        match bytes.get(at)? {
            b'"' => return Some(at.wrapping_add(1)),
            // One escape is mostly not the last.
            _ if FAST => match escaped_end(bytes, at)? {
                Ended::At(end) => return Some(end),
                Ended::Not(rest) => at = rest,
            },
            _ => at = at.wrapping_add(2),
        }
    }
}

enum Ended {
    At(usize),
    /// It goes on from here, and not with an escaped byte.
    Not(usize),
}

/// The same from a backslash on, as far as there are whole blocks.
#[inline(never)]
fn escaped_end(bytes: &[u8], mut at: usize) -> Option<Ended> {
    let mut carry = 0;
    while let Some(block) = bytes.get(at..)?.first_chunk::<64>() {
        if carry != 0 || masks::has_quote_or_slash(block) {
            let quotes = masks::eq(block, b'"') & !masks::escaped(masks::eq(block, b'\\'), &mut carry);
            if quotes != 0 {
                return Some(Ended::At(at.wrapping_add(quotes.trailing_zeros() as usize).wrapping_add(1)));
            }
        }
        at = at.wrapping_add(64);
    }
    at = at.wrapping_add(carry as usize);
    // The few bytes that are left, from escape to escape.
    while bytes.get(at)? == &b'\\' {
        at = at.wrapping_add(2);
    }
    Some(Ended::Not(at))
}

enum Passed {
    /// All of it, which is so long.
    All(usize),
    /// Whole blocks, up to this place outside of strings, where so many containers are open.
    Until { place: usize, depth: usize },
}

/// Goes in blocks of 64 bytes as far as there are whole ones.
#[inline]
fn blocks(bytes: &[u8]) -> Option<Passed> {
    let (mut at, mut depth) = (0usize, 0usize);
    let (mut in_string, mut carry) = (0u64, 0u64);
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<64>) {
        if in_string != 0 && carry == 0 && !masks::has_quote_or_slash(block) {
            at = at.wrapping_add(64);
            continue;
        }
        let mut quotes = masks::eq(block, b'"');
        let slashes = masks::eq(block, b'\\');
        if slashes | carry != 0 {
            quotes &= !masks::escaped(slashes, &mut carry);
        }
        let strings = masks::parity(quotes) ^ in_string;
        in_string = (strings >> 63).wrapping_neg();
        let opening = masks::opening(block) & !strings;
        let mut closing = masks::closing(block) & !strings;
        let (opens, closes) = (opening.count_ones() as usize, closing.count_ones() as usize);
        if closes < depth || closes == 0 {
            depth = depth.wrapping_add(opens).wrapping_sub(closes);
            at = at.wrapping_add(64);
            continue;
        }
        // The last container may end in this block: how many are open behind each bracket that closes one?
        let mut closed = 0usize;
        while closing != 0 {
            let bit = closing & closing.wrapping_neg();
            closed = closed.wrapping_add(1);
            let opened = (opening & bit.wrapping_sub(1)).count_ones() as usize;
            if depth.wrapping_add(opened) <= closed {
                return Some(Passed::All(at.wrapping_add(bit.trailing_zeros() as usize).wrapping_add(1)));
            }
            closing &= closing.wrapping_sub(1);
        }
        depth = depth.wrapping_add(opens).wrapping_sub(closes);
        at = at.wrapping_add(64);
    }
    if in_string != 0 {
        at = string_end(bytes, at.wrapping_add(carry as usize))?;
    }
    Some(Passed::Until { place: at, depth })
}

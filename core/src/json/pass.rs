//! Passing over values that were checked before: only quotes, backslashes and brackets count.

use super::bytes::FAST;
use super::{lanes, masks};

/// The length of the container at the start of `bytes`: counts brackets outside strings.
pub(super) fn container(bytes: &[u8]) -> Option<usize> {
    if FAST {
        if let [b'{', b'}', ..] | [b'[', b']', ..] = bytes {
            return Some(2);
        }
        if let Some(last) = bytes.last_chunk() {
            return blocks(bytes, last);
        }
    }
    let (mut at, mut open) = (0usize, 0usize);
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
                if open == 0 {
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

/// What is known between two blocks.
#[derive(Default)]
struct Blocks {
    /// So many containers are open.
    depth: usize,
    /// All ones within a string.
    in_string: u64,
    /// A backslash escapes the first byte of the next block.
    carry: u64,
}

/// The length of the container at the start of at least 64 bytes.
#[inline]
fn blocks(bytes: &[u8], last: &[u8; 64]) -> Option<usize> {
    let (mut pass, mut at) = (Blocks::default(), 0usize);
    while let Some(block) = bytes.get(at..)?.first_chunk::<64>() {
        if let Some(end) = pass.end_in(block, 0) {
            return Some(at.wrapping_add(end));
        }
        at = at.wrapping_add(64);
    }
    // What is left is less than a block: the last one, without what was passed already.
    let again = at.wrapping_add(64).wrapping_sub(bytes.len());
    let end = if again < 64 { pass.end_in(last, again) } else { None };
    end.map(|end| at.wrapping_add(end))
}

impl Blocks {
    /// Where the container ends in `block`, whose first `again` bytes were passed and do not count.
    #[inline(always)]
    fn end_in(&mut self, block: &[u8; 64], again: usize) -> Option<usize> {
        if self.in_string != 0 && self.carry == 0 && !masks::has_quote_or_slash(block) {
            return None;
        }
        let new = |mask: u64| mask >> (again & 63);
        let mut quotes = new(masks::eq(block, b'"'));
        let slashes = new(masks::eq(block, b'\\'));
        if slashes | self.carry != 0 {
            quotes &= !masks::escaped(slashes, &mut self.carry);
        }
        let strings = masks::parity(quotes) ^ self.in_string;
        self.in_string = (strings >> 63).wrapping_neg();
        let opening = new(masks::opening(block)) & !strings;
        let mut closing = new(masks::closing(block)) & !strings;
        let (opens, closes) = (opening.count_ones() as usize, closing.count_ones() as usize);
        if closes >= self.depth && closes != 0 {
            // The last container may end in this block: how many are open behind each bracket that closes one?
            let mut closed = 0usize;
            while closing != 0 {
                let bit = closing & closing.wrapping_neg();
                closed = closed.wrapping_add(1);
                let opened = (opening & bit.wrapping_sub(1)).count_ones() as usize;
                if self.depth.wrapping_add(opened) <= closed {
                    return Some((bit.trailing_zeros() as usize).wrapping_add(1));
                }
                closing &= closing.wrapping_sub(1);
            }
        }
        self.depth = self.depth.wrapping_add(opens).wrapping_sub(closes);
        None
    }
}

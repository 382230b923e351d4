//! Escaping long texts, 64 bytes at a time. Long clean runs go to the sink as they are; what has escapes in it is put together in a
//! small buffer first, so that the sink is called once for several hundred bytes.

use super::Sink;
use super::masks::{self, Block, WIDTH};

/// Shorter texts are not worth a buffer.
pub(super) const WORTH: usize = 2 * WIDTH;

const ROOM: usize = 1024;
/// What a block may become: six bytes for each, the clean run behind it, and the piece that is stored behind the last one.
const WORST: usize = 6 * WIDTH + LONG + WIDTH;
/// Clean runs of so many bytes are not copied twice.
const LONG: usize = 4 * WIDTH;

/// Text on its way to a sink.
struct Gathered<'s, S: ?Sized> {
    sink: &'s mut S,
    bytes: [u8; ROOM],
    len: usize,
}

/// Writes what it can of `text`, which is all but less than [`WORTH`] bytes at the end; returns where the rest starts, or `None` if the
/// sink refused.
pub(super) fn write(sink: &mut (impl Sink + ?Sized), text: &[u8]) -> Option<usize> {
    let mut out = Gathered { sink, bytes: [0; ROOM], len: 0 };
    // Clean since `clean`.
    let (mut clean, mut at) = (0usize, 0usize);
    while let Some((block, _)) = two_blocks(text, at) {
        let specials = masks::specials(block);
        if specials != 0 {
            out.clean(text.get(clean..at)?)?;
            out.escape(block, specials, text.get(at..)?)?;
            clean = at.wrapping_add(WIDTH);
        }
        at = at.wrapping_add(WIDTH);
    }
    out.clean(text.get(clean..at)?)?;
    out.flush()?;
    Some(at)
}

/// The block at `at`, if another one follows.
#[inline(always)]
fn two_blocks(text: &[u8], at: usize) -> Option<(&Block, &Block)> {
    let (block, rest) = text.get(at..)?.split_first_chunk()?;
    Some((block, rest.first_chunk()?))
}

impl<S: Sink + ?Sized> Gathered<'_, S> {
    /// Whole blocks with nothing to escape.
    #[inline(always)]
    fn clean(&mut self, run: &[u8]) -> Option<()> {
        if run.len() >= LONG {
            self.flush()?;
            return self.sink.put(run).then_some(());
        }
        for block in run.as_chunks::<WIDTH>().0 {
            *self.bytes.get_mut(self.len..)?.first_chunk_mut()? = *block;
            self.len = self.len.wrapping_add(WIDTH);
        }
        Some(())
    }

    /// The block that `text` starts with; at least as many bytes follow. It is copied whole, and from each special byte on once more, as far behind
    /// as the escapes are longer: that is some ten instructions, where a copy of the bytes between two of them would ask for its length.
    #[inline(always)]
    fn escape(&mut self, block: &Block, mut specials: u64, text: &[u8]) -> Option<()> {
        if self.len > ROOM - WORST {
            self.flush()?;
        }
        let text = text.first_chunk::<{ 2 * WIDTH }>()?;
        // Where the block's first byte would stand, if it had been written behind all escapes.
        let mut base = self.len;
        *self.bytes.get_mut(base..)?.first_chunk_mut()? = *block;
        while specials != 0 {
            let place = specials.trailing_zeros() as usize & 63;
            specials &= specials.wrapping_sub(1);
            let byte = *text.get(place)?;
            let rest = text.get(place.wrapping_add(1)..)?.first_chunk::<WIDTH>()?;
            let room = self.bytes.get_mut(base.wrapping_add(place)..)?;
            let letter = *LETTERS.get(usize::from(byte))?;
            if letter != 0 {
                let (escape, room) = room.split_first_chunk_mut()?;
                *escape = [b'\\', letter];
                *room.first_chunk_mut()? = *rest;
                base = base.wrapping_add(1);
            } else {
                let (escape, room) = room.split_first_chunk_mut()?;
                *escape = super::write::unicode_escape(byte);
                *room.first_chunk_mut()? = *rest;
                base = base.wrapping_add(5);
            }
        }
        self.len = base.wrapping_add(WIDTH);
        Some(())
    }

    #[inline]
    fn flush(&mut self) -> Option<()> {
        let all = self.bytes.get(..self.len)?;
        self.len = 0;
        (all.is_empty() || self.sink.put(all)).then_some(())
    }
}

/// What stands behind the backslash where that is one letter: for quotes, backslashes, BS, HT, LF, FF, CR.
const LETTERS: &[u8; 256] = &letters();

#[allow(clippy::indexing_slicing)] // runs in the compiler
const fn letters() -> [u8; 256] {
    let mut letters = [0; 256];
    (letters[b'"' as usize], letters[b'\\' as usize]) = (b'"', b'\\');
    (letters[0x08], letters[b'\t' as usize], letters[b'\n' as usize]) = (b'b', b't', b'n');
    (letters[0x0c], letters[b'\r' as usize]) = (b'f', b'r');
    letters
}

#[cfg(test)]
mod tests {
    use crate::json::{Writer, write_str_part};
    use std::{format, string::String};

    /// Byte by byte, as RFC 8259 has it.
    fn naive(text: &str) -> String {
        let escaped = |c| match c {
            '"' | '\\' => format!("\\{c}"),
            '\n' => "\\n".into(),
            '\t' => "\\t".into(),
            '\r' => "\\r".into(),
            '\u{8}' => "\\b".into(),
            '\u{c}' => "\\f".into(),
            ' '.. => String::from(c),
            _ => format!("\\u{:04x}", u32::from(c)),
        };
        text.chars().map(escaped).collect()
    }

    /// Into a vector, and into a room that it just fits, and into one too small.
    fn check(text: &str) {
        let expected = naive(text);
        let mut room = std::vec![0; expected.len()];
        let mut out = Writer::new(&mut room);
        assert!(write_str_part(&mut out, text));
        assert_eq!(core::str::from_utf8(out.written()), Ok(expected.as_str()));
        let mut out = Writer::new(room.split_last_mut().unwrap().1);
        assert!(!write_str_part(&mut out, text));
    }

    #[test]
    fn long_texts() {
        let byte = |b: u8| String::from(char::from(b));
        for b in 0..=0x80 {
            // Everywhere, in each place of a block, and every few bytes.
            check(&byte(b).repeat(300));
            for at in 0..130 {
                check(&format!("{}{}{}", "x".repeat(at), byte(b), "é".repeat(100)));
            }
            for every in [2, 3, 7, 31, 64, 65] {
                check(&format!("{}{}", "y".repeat(every), byte(b)).repeat(600 / every));
            }
        }
        let mixed: String = (0..2000u32).filter_map(|n| char::from_u32(n.wrapping_mul(37) % 96)).collect();
        check(&mixed);
        check(&format!("{}{mixed}{}", "clean".repeat(500), "clean".repeat(500)));
    }
}

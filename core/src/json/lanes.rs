//! Finding the next byte that matters: 16 bytes at a time with the processor's own instructions (feature `simd`), else a machine word
//! at a time, in safe portable code. Where code must be small it is a plain loop.
//!
//! The mask of a word has the top bit of a byte set where that byte matches. Bits above the lowest set one may be wrong (a borrow can
//! run through them); the lowest one never is.

use super::bytes::SMALL;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use super::masks;

const BYTES: usize = size_of::<usize>();
/// 0x01 and 0x80 in each byte.
const LOW: usize = usize::MAX / 0xff;
const HIGH: usize = LOW << 7;

/// The first byte at or after `from` that is a quote, a backslash, a control character or not ASCII.
#[inline]
pub(super) fn plain(bytes: &[u8], from: usize) -> usize {
    find(bytes, from, Plain)
}

/// The first byte at or after `from` that is a quote, a backslash or a control character.
#[inline]
pub(super) fn special(bytes: &[u8], from: usize) -> usize {
    find(bytes, from, Special)
}

/// Whether no byte of a short text is a quote, a backslash or a control character; `None` if it has more than 16. Without a loop, whose last turn
/// no processor foresees.
#[inline]
pub(super) fn short_is_plain(bytes: &[u8]) -> Option<bool> {
    const FILL: u64 = 0x6161_6161_6161_6161;
    let half = |word: &[u8; 4]| u64::from(u32::from_le_bytes(*word)) | FILL << 32;
    let [a, b] = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        if bytes.len() > 16 {
            return None;
        }
        [u64::from_le_bytes(*first), u64::from_le_bytes(*last)]
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        [half(first), half(last)]
    } else {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(b'a');
        [half(&[byte(0), byte(1), byte(2), b'a']), FILL]
    };
    const ONES: u64 = u64::MAX / 0xff;
    const QUOTES: u64 = ONES.wrapping_mul(b'"' as u64);
    const SLASHES: u64 = ONES.wrapping_mul(b'\\' as u64);
    let zero = |w: u64| w.wrapping_sub(ONES) & !w;
    let special = |w: u64| zero(w ^ QUOTES) | zero(w ^ SLASHES) | (w.wrapping_sub(ONES << 5) & !w);
    Some((special(a) | special(b)) & (ONES << 7) == 0)
}

/// The first quote or backslash at or after `from`.
#[inline]
pub(super) fn quote_or_slash(bytes: &[u8], from: usize) -> usize {
    find(bytes, from, QuoteOrSlash)
}

/// The first backslash.
#[inline(always)]
pub(super) fn slash(bytes: &[u8]) -> Option<usize> {
    position(b'\\', bytes)
}

/// Where the first `byte` is.
#[inline(always)]
pub(crate) fn position(byte: u8, bytes: &[u8]) -> Option<usize> {
    Some(find(bytes, 0, Is(byte))).filter(|at| *at < bytes.len())
}

/// Where the first line feed or carriage return is.
pub(super) fn line_break(bytes: &[u8]) -> Option<usize> {
    Some(find(bytes, 0, LineBreak)).filter(|at| *at < bytes.len())
}

/// What is looked for.
trait Wanted: Copy {
    fn byte(self, byte: u8) -> bool;
    fn word(self, word: usize) -> usize;
    /// A bit for each byte.
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    fn sixteen(self, piece: &[u8; 16]) -> u32;
}

macro_rules! wanted {
    ($($name:ident $sixteen:ident |$b:ident| $byte:expr, |$w:ident| $word:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name;
        impl Wanted for $name {
            #[inline(always)]
            fn byte(self, $b: u8) -> bool {
                $byte
            }
            #[inline(always)]
            fn word(self, $w: usize) -> usize {
                $word
            }
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            #[inline(always)]
            fn sixteen(self, piece: &[u8; 16]) -> u32 {
                masks::$sixteen(piece)
            }
        }
    )*};
}
wanted! {
    Plain sixteen_special_or_high
        // With its sign: less than a space is what has the top bit, too.
        |b| b.cast_signed() < 0x20 || b == b'"' || b == b'\\', |w| quote_slash_control(w) | w & HIGH;
    Special sixteen_special
        |b| b < 0x20 || b == b'"' || b == b'\\', |w| quote_slash_control(w);
    LineBreak sixteen_line_break
        |b| b == b'\n' || b == b'\r', |w| zero(w ^ repeat(b'\n')) | zero(w ^ repeat(b'\r'));
    QuoteOrSlash sixteen_quote_or_slash
        |b| b == b'"' || b == b'\\', |w| zero(w ^ repeat(b'"')) | zero(w ^ repeat(b'\\'));
}

#[derive(Clone, Copy)]
struct Is(u8);
impl Wanted for Is {
    #[inline(always)]
    fn byte(self, byte: u8) -> bool {
        byte == self.0
    }
    #[inline(always)]
    fn word(self, word: usize) -> usize {
        zero(word ^ repeat(self.0))
    }
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    #[inline(always)]
    fn sixteen(self, piece: &[u8; 16]) -> u32 {
        masks::sixteen_eq(piece, self.0)
    }
}

#[inline]
fn find(bytes: &[u8], from: usize, wanted: impl Wanted) -> usize {
    let Some(rest) = bytes.get(from..) else { return bytes.len() };
    if SMALL {
        return from.wrapping_add(rest.iter().position(|&b| wanted.byte(b)).unwrap_or(rest.len()));
    }
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    if let Some(last) = bytes.last_chunk::<16>() {
        let found = pieces(rest, |piece| wanted.sixteen(piece) as usize, usize::trailing_zeros);
        return from.wrapping_add(found.unwrap_or_else(|left| {
            // The last bytes, by way of those before them, whose bits are shifted out.
            let mask = wanted.sixteen(last) >> 1 >> 15usize.wrapping_sub(left);
            let n = if mask == 0 { left } else { mask.trailing_zeros() as usize };
            rest.len().wrapping_sub(left).wrapping_add(n)
        }));
    }
    let found = pieces(rest, |piece| wanted.word(usize::from_le_bytes(*piece)), |m| m.trailing_zeros() / 8);
    from.wrapping_add(found.unwrap_or_else(|left| {
        let start = rest.len().wrapping_sub(left);
        let tail = rest.get(start..).unwrap_or_default();
        let n = match bytes.last_chunk::<BYTES>() {
            Some(last) => {
                // Shifted first, since a match among the bytes before could borrow from these; the zeros behind them are no bytes.
                let word = usize::from_le_bytes(*last)
                    >> 8
                    >> 8usize.wrapping_mul(BYTES.wrapping_sub(1).wrapping_sub(left));
                let mask = wanted.word(word);
                if mask == 0 { left } else { (mask.trailing_zeros() as usize / 8).min(left) }
            }
            None => tail.iter().position(|&b| wanted.byte(b)).unwrap_or(left),
        };
        start.wrapping_add(n)
    }))
}

/// Where the first match is, or how many bytes at the end are no whole piece.
#[inline(always)]
fn pieces<const N: usize>(
    mut rest: &[u8],
    mask: impl Fn(&[u8; N]) -> usize,
    place: impl Fn(usize) -> u32,
) -> Result<usize, usize> {
    let mut at = 0usize;
    // Most strings end within a few pieces; only those that don't are worth a wider loop.
    let mut narrow = 4u8;
    while let Some((piece, after)) = rest.split_first_chunk::<N>() {
        let found = mask(piece);
        if found != 0 {
            return Ok(at.wrapping_add(place(found) as usize));
        }
        rest = after;
        at = at.wrapping_add(N);
        narrow = narrow.wrapping_sub(1);
        if narrow == 0 {
            while let Some((block, after)) = rest.split_first_chunk::<64>() {
                let (pieces, _) = block.as_chunks::<N>();
                if pieces.iter().fold(0, |any, piece| any | mask(piece)) != 0 {
                    break;
                }
                rest = after;
                at = at.wrapping_add(64);
            }
            narrow = 4;
        }
    }
    Err(rest.len())
}

#[inline(always)]
const fn repeat(byte: u8) -> usize {
    LOW.wrapping_mul(byte as usize)
}

#[inline(always)]
const fn zero(w: usize) -> usize {
    w.wrapping_sub(LOW) & !w & HIGH
}

#[inline(always)]
const fn quote_slash_control(w: usize) -> usize {
    zero(w ^ repeat(b'"')) | zero(w ^ repeat(b'\\')) | w.wrapping_sub(repeat(0x20)) & !w & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn short_texts() {
        for len in 0..=17 {
            for byte in 0..=255 {
                for at in 0..len.max(1) {
                    let mut text: Vec<u8> = std::vec![b'a'; len];
                    text.iter_mut().skip(at).take(1).for_each(|b| *b = byte);
                    let plain = !text.iter().any(|b| matches!(b, b'"' | b'\\' | 0..0x20));
                    assert_eq!(short_is_plain(&text), (len <= 16).then_some(plain), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn every_byte_at_every_place() {
        for len in (0..40).chain([63, 64, 65, 100, 200]) {
            for byte in [0, 1, b'\n', b'\r', 0x1f, b'!', b'"', b'#', b'[', b'\\', b']', 0x7f, 0x80, 0xff] {
                for at in 0..len {
                    for second in at..len.min(at + 3) {
                        let mut text: Vec<u8> = std::vec![b'a'; len];
                        (text[at], text[second]) = (byte, byte);
                        for from in 0..=len {
                            let first = |is: &dyn Fn(u8) -> bool| {
                                text[from..].iter().position(|&b| is(b)).map_or(len, |n| from + n)
                            };
                            assert_eq!(plain(&text, from), first(&|b| Plain.byte(b)));
                            let rest = &text[from..];
                            assert_eq!(position(b'\\', rest), rest.iter().position(|&b| b == b'\\'));
                            assert_eq!(line_break(rest), rest.iter().position(|b| b"\n\r".contains(b)));
                            assert_eq!(special(&text, from), first(&|b| Special.byte(b)));
                            assert_eq!(quote_or_slash(&text, from), first(&|b| QuoteOrSlash.byte(b)));
                        }
                    }
                }
            }
        }
    }
}

//! A machine word of bytes at a time: finding the next byte that matters, in safe portable code. Where code must be small it is a
//! plain loop.
//!
//! Every mask has the top bit of a byte set where that byte matches. Bits above the lowest set one may be wrong
//! (a borrow can run through them) unless the function says that they are exact; the lowest one never is.

use super::bytes::SMALL;

pub(super) const BYTES: usize = size_of::<usize>();
/// 0x01 and 0x80 in each byte.
const LOW: usize = usize::MAX / 0xff;
const HIGH: usize = LOW << 7;

/// The first byte at or after `from` that is a quote, a backslash, a control character or not ASCII.
#[inline]
pub(super) fn plain(bytes: &[u8], from: usize) -> usize {
    find(
        bytes,
        from,
        |w| quote_slash_control(w) | w & HIGH,
        |b| b < 0x20 || b == b'"' || b == b'\\' || b >= 0x80,
    )
}

/// The first byte at or after `from` that is a quote, a backslash or a control character.
#[inline]
pub(super) fn special(bytes: &[u8], from: usize) -> usize {
    find(bytes, from, quote_slash_control, |b| b < 0x20 || b == b'"' || b == b'\\')
}

/// The first quote or backslash at or after `from`.
#[inline]
pub(super) fn quote_or_slash(bytes: &[u8], from: usize) -> usize {
    find(bytes, from, |w| zero(w ^ repeat(b'"')) | zero(w ^ repeat(b'\\')), |b| b == b'"' || b == b'\\')
}

/// Whether there is a backslash among these bytes, whole words of them.
#[inline(always)]
pub(super) fn has_slash(bytes: &[u8]) -> bool {
    let (words, _) = bytes.as_chunks::<BYTES>();
    words.iter().fold(0, |any, w| any | zero(usize::from_le_bytes(*w) ^ repeat(b'\\'))) != 0
}

#[inline]
fn find(bytes: &[u8], from: usize, word: impl Fn(usize) -> usize, byte: impl Fn(u8) -> bool) -> usize {
    let Some(mut rest) = bytes.get(from..) else { return bytes.len() };
    if SMALL {
        return from.wrapping_add(rest.iter().position(|&b| byte(b)).unwrap_or(rest.len()));
    }
    let mut at = from;
    // Most strings end within a few words; only those that don't are worth a wider loop.
    let mut narrow = 4u8;
    while let Some((chunk, after)) = rest.split_first_chunk::<BYTES>() {
        let mask = word(usize::from_le_bytes(*chunk));
        if mask != 0 {
            return at.wrapping_add(first(mask));
        }
        rest = after;
        at = at.wrapping_add(BYTES);
        narrow = narrow.wrapping_sub(1);
        if narrow == 0 {
            while let Some((chunk, after)) = rest.split_first_chunk::<{ 4 * BYTES }>() {
                let (words, _) = chunk.as_chunks::<BYTES>();
                if words.iter().fold(0, |any, w| any | word(usize::from_le_bytes(*w))) != 0 {
                    break;
                }
                rest = after;
                at = at.wrapping_add(4 * BYTES);
            }
            narrow = 4;
        }
    }
    at.wrapping_add(rest.iter().position(|&b| byte(b)).unwrap_or(rest.len()))
}

#[inline(always)]
fn first(mask: usize) -> usize {
    mask.trailing_zeros() as usize / 8
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

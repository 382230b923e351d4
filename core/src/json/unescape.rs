//! Undoing the escapes of valid strings, in place: the result is never longer than what was written.

use super::bytes::{SMALL, copy, find};
use super::lanes;

/// Undoes the escapes of a valid string's body in place; returns the new length in bytes.
///
/// `body` is what stands between the quotes, as a [`Scanner`](super::Scanner) accepted it. Lone surrogates become
/// U+FFFD. What follows the new length is left over and means nothing. Bytes that are no valid body give some
/// shorter length, never a panic.
pub fn unescape_in_place(body: &mut [u8]) -> usize {
    let Some(mut read) = find(b'\\', body) else { return body.len() };
    let mut write = read;
    while let Some((c, len)) = escape(body.get(read..).unwrap_or_default()) {
        read = read.wrapping_add(len);
        let mut utf8 = [0; 4];
        let text = c.encode_utf8(&mut utf8).as_bytes();
        let end = write.wrapping_add(text.len());
        if let Some(room) = body.get_mut(write..end) {
            copy(room, text);
        }
        write = end;
        // Pieces without a backslash: first words, then wider ones as long as that goes well.
        let mut narrow = 4u8;
        while !SMALL && forward::<{ lanes::BYTES }>(body, &mut read, &mut write) {
            narrow = narrow.wrapping_sub(1);
            if narrow == 0 {
                while forward::<{ 8 * lanes::BYTES }>(body, &mut read, &mut write) {}
                narrow = 4;
            }
        }
        while let Some(&byte) = body.get(read)
            && byte != b'\\'
        {
            if let Some(room) = body.get_mut(write) {
                *room = byte;
            }
            read = read.wrapping_add(1);
            write = write.wrapping_add(1);
        }
    }
    write
}

/// Moves `N` bytes down if there is no backslash among them.
#[inline(always)]
fn forward<const N: usize>(body: &mut [u8], read: &mut usize, write: &mut usize) -> bool {
    // They are loaded before they are stored, and `write` is behind `read`: nothing unread is overwritten.
    if let Some(&bytes) = body.get(*read..).and_then(|rest| rest.first_chunk::<N>())
        && !lanes::has_slash(&bytes)
        && let Some(room) = body.get_mut(*write..).and_then(|rest| rest.first_chunk_mut::<N>())
    {
        *room = bytes;
        *read = read.wrapping_add(N);
        *write = write.wrapping_add(N);
        return true;
    }
    false
}

/// Undoes the escapes of a valid string's body in place; returns the text.
///
/// ```
/// let mut body = *br"C:\\dir\u00e9\n";
/// assert_eq!(barewire::json::unescape(&mut body), "C:\\diré\n");
/// ```
pub fn unescape(body: &mut [u8]) -> &mut str {
    let len = unescape_in_place(body);
    body.get_mut(..len).and_then(|text| core::str::from_utf8_mut(text).ok()).unwrap_or_default()
}

/// The same, to read alone: the standard library's check of `&[u8]` is then the only one in the program.
pub(crate) fn decode(body: &mut [u8]) -> &str {
    let len = unescape_in_place(body);
    body.get(..len).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or_default()
}

/// The character that the escape at the start of `bytes` means, and the length of the escape (both halves of a
/// surrogate pair together). `None` if there is no valid one.
pub(super) fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let [b'\\', which, rest @ ..] = bytes else { return None };
    let c = match which {
        b'"' | b'\\' | b'/' => char::from(*which),
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unicode(rest),
        _ => return None,
    };
    Some((c, 2))
}

/// The same for what stands after `\u`.
fn unicode(digits: &[u8]) -> Option<(char, usize)> {
    let unit = hex4(digits)?;
    if unit & 0xfc00 == 0xd800
        && let Some([b'\\', b'u', low @ ..]) = digits.get(4..)
        && let Some(low) = hex4(low)
        && low & 0xfc00 == 0xdc00
    {
        let c = 0x1_0000u32.wrapping_add((unit & 0x3ff) << 10 | low & 0x3ff);
        return Some((char::from_u32(c)?, 12));
    }
    Some((char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 6))
}

fn hex4(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk::<4>()?.iter().try_fold(0u32, |n, &b| Some(n << 4 | char::from(b).to_digit(16)?))
}

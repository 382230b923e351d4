//! Undoing the escapes of valid strings, in place: the result is never longer than what was written.

/// Undoes the escapes of a valid string's body in place; returns the new length in bytes.
///
/// `body` is what stands between the quotes, as a [`Scanner`](super::Scanner) accepted it. Lone surrogates become
/// U+FFFD. What follows the new length is left over and means nothing. Bytes that are no valid body give some
/// shorter length, never a panic.
pub fn unescape_in_place(body: &mut [u8]) -> usize {
    let Some(mut read) = memchr::memchr(b'\\', body) else { return body.len() };
    let mut write = read;
    while let Some((c, len)) = body.get(read..).and_then(escape) {
        read = read.wrapping_add(len);
        let mut utf8 = [0; 4];
        let text = c.encode_utf8(&mut utf8).as_bytes();
        let end = write.wrapping_add(text.len());
        if let Some(room) = body.get_mut(write..end) {
            room.copy_from_slice(text);
        }
        write = end;
        // Short runs between escapes are moved byte by byte, long ones at once.
        let mut near = 16u8;
        let next = loop {
            match body.get(read) {
                None => return write,
                Some(b'\\') => break read,
                Some(&b) => {
                    if let Some(room) = body.get_mut(write) {
                        *room = b;
                    }
                    read = read.wrapping_add(1);
                    write = write.wrapping_add(1);
                }
            }
            near = near.wrapping_sub(1);
            if near == 0 {
                let rest = body.get(read..).unwrap_or_default();
                break read.wrapping_add(memchr::memchr(b'\\', rest).unwrap_or(rest.len()));
            }
        };
        body.copy_within(read..next, write);
        write = write.wrapping_add(next.wrapping_sub(read));
        read = next;
    }
    write
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

/// The character that the escape at the start of `bytes` means, and the length of the escape (both halves of a
/// surrogate pair together). `None` if there is no valid one.
#[inline]
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

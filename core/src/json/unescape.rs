//! Undoing the escapes of valid strings, in place: the result is never longer than what was written.

use super::bytes::{FAST, SMALL, copy, move_left};
use super::masks::{self, WIDTH};
use super::{lanes, utf8};

/// Undoes the escapes of a valid string's body in place; returns the new length in bytes.
///
/// `body` is what stands between the quotes, as a [`Scanner`](super::Scanner) accepted it. Lone surrogates become
/// U+FFFD. What follows the new length is left over and means nothing. Bytes that are no valid body give some
/// shorter length, never a panic.
pub fn unescape_in_place(body: &mut [u8]) -> usize {
    match lanes::slash(body) {
        Some(first) => undo::<false>(&mut Same(body), first).write,
        None => body.len(),
    }
}

/// The same from one place to another, which must be as long.
pub(super) fn unescape_into(body: &[u8], out: &mut [u8]) -> usize {
    if SMALL {
        // One function less.
        copy(out, body);
        return unescape_in_place(out.get_mut(..body.len()).unwrap_or_default());
    }
    let Some(first) = lanes::slash(body) else {
        copy(out, body);
        return body.len();
    };
    copy(out, body.get(..first).unwrap_or_default());
    undo_into(body, out, first)
}

/// A function of its own, so that texts without escapes have less to do.
#[inline(never)]
fn undo_into(body: &[u8], out: &mut [u8], first: usize) -> usize {
    undo::<false>(&mut Apart { from: body, to: out }, first).write
}

/// Checks a string whose opening quote is in front of `bytes`, and undoes its escapes, in one pass. Returns the length of its text, whose
/// UTF-8 is not checked, and where its closing quote is.
#[cfg(feature = "serde")]
#[inline]
pub(super) fn take_string(bytes: &mut [u8]) -> Option<(usize, usize)> {
    let first = lanes::special(bytes, 0);
    match bytes.get(first)? {
        b'"' => Some((first, first)),
        b'\\' => take_escaped(bytes, first),
        _ => None,
    }
}

#[cfg(feature = "serde")]
#[inline(never)]
fn take_escaped(bytes: &mut [u8], first: usize) -> Option<(usize, usize)> {
    let Places { read, write } = undo::<true>(&mut Same(bytes), first);
    (bytes.get(read)? == &b'"').then_some((write, read))
}

/// Where escaped text is read, and plain text written.
trait Desk {
    /// Whether both are the same bytes: then nothing unread may be overwritten.
    const SAME: bool;
    fn from(&self) -> &[u8];
    fn to(&mut self) -> &mut [u8];
    /// Moves `len` bytes from the one to the other.
    fn carry(&mut self, read: usize, write: usize, len: usize);
}

struct Same<'a>(&'a mut [u8]);

struct Apart<'a> {
    from: &'a [u8],
    to: &'a mut [u8],
}

impl Desk for Same<'_> {
    const SAME: bool = true;
    #[inline(always)]
    fn from(&self) -> &[u8] {
        self.0
    }
    #[inline(always)]
    fn to(&mut self) -> &mut [u8] {
        self.0
    }
    fn carry(&mut self, read: usize, write: usize, len: usize) {
        move_left(self.0, read..read.wrapping_add(len), write);
    }
}

impl Desk for Apart<'_> {
    const SAME: bool = false;
    #[inline(always)]
    fn from(&self) -> &[u8] {
        self.from
    }
    #[inline(always)]
    fn to(&mut self) -> &mut [u8] {
        self.to
    }
    fn carry(&mut self, read: usize, write: usize, len: usize) {
        let run = self.from.get(read..read.wrapping_add(len)).unwrap_or_default();
        copy(self.to.get_mut(write..).unwrap_or_default(), run);
    }
}

/// How far reading and writing came.
struct Places {
    read: usize,
    write: usize,
}

/// Undoes all escapes from `start` on; what is before it has none, and is at its place. Stops at what is no escape, or with `CHECK` in front
/// of any byte that can't stand in a string: a quote, a control character.
#[inline(always)]
fn undo<const CHECK: bool>(desk: &mut impl Desk, start: usize) -> Places {
    let mut at = Places { read: start, write: start };
    loop {
        if FAST {
            blocks::<CHECK>(desk, &mut at);
        }
        let rest = desk.from().get(at.read..).unwrap_or_default();
        let run = if CHECK { lanes::special(rest, 0) } else { lanes::slash(rest).unwrap_or(rest.len()) };
        if run > 0 {
            desk.carry(at.read, at.write, run);
            at.read = at.read.wrapping_add(run);
            at.write = at.write.wrapping_add(run);
        }
        match escape(desk.from().get(at.read..).unwrap_or_default()) {
            Some((c, len)) => {
                put(desk, &mut at.write, c);
                at.read = at.read.wrapping_add(len);
            }
            None => return at,
        }
    }
}

fn put(desk: &mut impl Desk, write: &mut usize, c: char) {
    let mut utf8 = [0; 4];
    let text = c.encode_utf8(&mut utf8).as_bytes();
    let end = write.wrapping_add(text.len());
    if let Some(room) = desk.to().get_mut(*write..end) {
        copy(room, text);
    }
    *write = end;
}

/// Goes on for as long as whole blocks of 64 bytes follow, and writing is a block behind reading: runs are then copied as if they were that
/// long. The bytes after them come later, and nothing unread is overwritten.
#[inline(always)]
fn blocks<const CHECK: bool>(desk: &mut impl Desk, at: &mut Places) {
    // Twice that, so that a run may start at any byte of the block.
    while desk.from().get(at.read..).is_some_and(|rest| rest.len() >= 2 * WIDTH)
        && desk.to().get(at.write..).is_some_and(|room| room.len() >= 2 * WIDTH)
        && (!is_same(desk) || at.read.wrapping_sub(at.write) >= WIDTH)
    {
        let Some(block) = desk.from().get(at.read..).and_then(<[u8]>::first_chunk) else { return };
        let mut marks = if CHECK { masks::specials(block) } else { masks::eq(block, b'\\') };
        let mut done = 0usize;
        // Up to the next one, again and again.
        while marks != 0 {
            let place = marks.trailing_zeros() as usize;
            carry(desk, at.read.wrapping_add(done), at.write);
            at.write = at.write.wrapping_add(place.wrapping_sub(done));
            let here = at.read.wrapping_add(place);
            let [mark, which] = *desk.from().get(here..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; 2]);
            let plain = PLAIN.get(usize::from(which)).copied().unwrap_or(0);
            if plain != 0 && (!CHECK || mark == b'\\') {
                if let Some(room) = desk.to().get_mut(at.write) {
                    *room = plain;
                }
                at.write = at.write.wrapping_add(1);
                done = place.wrapping_add(2);
                // This one and the escaped byte, which may be a backslash, too.
                marks &= !(3 << place);
            } else {
                let Some((c, len)) = escape(desk.from().get(here..).unwrap_or_default()) else {
                    at.read = here;
                    return;
                };
                put(desk, &mut at.write, c);
                done = place.wrapping_add(len);
                marks &= u64::MAX.checked_shl(done as u32).unwrap_or(0);
            }
        }
        if done > WIDTH {
            // Seldom, and said so: were it a number to be added, the next block's address would wait for this block's masks.
            overhang(at, done);
            continue;
        }
        carry(desk, at.read.wrapping_add(done), at.write);
        at.write = at.write.wrapping_add(WIDTH.wrapping_sub(done));
        at.read = at.read.wrapping_add(WIDTH);
    }
}

/// The last escape of a block ends behind it.
#[cold]
#[inline(never)]
fn overhang(at: &mut Places, done: usize) {
    at.read = at.read.wrapping_add(done);
}

const fn is_same<D: Desk>(_: &D) -> bool {
    D::SAME
}

/// Copies a block, of which as much is meant as comes before what is written next.
#[inline(always)]
fn carry(desk: &mut impl Desk, read: usize, write: usize) {
    if let Some(piece) = desk.from().get(read..).and_then(<[u8]>::first_chunk::<WIDTH>).copied()
        && let Some(room) = desk.to().get_mut(write..).and_then(<[u8]>::first_chunk_mut::<WIDTH>)
    {
        *room = piece;
    }
}

/// [`plain`] of every byte.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // runs in the compiler
static PLAIN: [u8; 256] = {
    let mut all = [0; 256];
    let marks = b"\"\\/bfnrt";
    let mut i = 0;
    while i < marks.len() {
        all[marks[i] as usize] = plain(marks[i]);
        i += 1;
    }
    all
};

/// The byte that a backslash and this one mean; 0 for `u`, and what is no escape.
#[inline(always)]
const fn plain(which: u8) -> u8 {
    match which {
        b'"' | b'\\' | b'/' => which,
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 0x08,
        b'f' => 0x0c,
        _ => 0,
    }
}

/// Undoes the escapes of a valid string's body in place; returns the text.
///
/// ```
/// let mut body = *br"C:\\dir\u00e9\n";
/// assert_eq!(barewire::json::unescape(&mut body), "C:\\diré\n");
/// ```
pub fn unescape(body: &mut [u8]) -> &mut str {
    let len = unescape_in_place(body);
    body.get_mut(..len).and_then(utf8::text_mut).unwrap_or_default()
}

/// The same, to read alone: the standard library's check of `&[u8]` is then the only one in the program.
pub(crate) fn decode(body: &mut [u8]) -> &str {
    let len = unescape_in_place(body);
    utf8::known(body.get(..len).unwrap_or_default())
}

/// The character that the escape at the start of `bytes` means, and the length of the escape (both halves of a
/// surrogate pair together). `None` if there is no valid one.
pub(super) fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let [b'\\', which, rest @ ..] = bytes else { return None };
    match plain(*which) {
        0 if *which == b'u' => unicode(rest),
        0 => None,
        c => Some((char::from(c), 2)),
    }
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
    let mut unit = 0u32;
    for &byte in bytes.first_chunk::<4>()? {
        let digit = match byte {
            b'0'..=b'9' => byte.wrapping_sub(b'0'),
            _ => (byte | 0x20).wrapping_sub(b'a').wrapping_add(10),
        };
        // What is no digit at all is smaller than `a`, or larger than `f`.
        if digit > 15 || digit < 10 && !byte.is_ascii_digit() {
            return None;
        }
        unit = unit << 4 | u32::from(digit);
    }
    Some(unit)
}

#[cfg(test)]
mod tests {
    use super::hex4;

    #[test]
    fn hexadecimal_digits() {
        for byte in 0..=255 {
            let digit = char::from(byte).to_digit(16);
            assert_eq!(hex4(&[b'0', byte, b'1', b'0']), digit.map(|digit| digit << 8 | 16), "{byte}");
        }
    }
}

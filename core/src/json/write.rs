//! Writing scalars and ready-made values to a [`Sink`].
//!
//! Every function returns false as soon as the sink does. What the sink took until then stays there: use a sticky
//! one with roll-back, such as [`Writer`](super::Writer).

use super::bytes::{FAST, copy};
use super::fixed::{Fixed, decimal};
use super::{Raw, Sink, escape, lanes};
use core::fmt::{self, Write as _};

/// Writes `text` as a string, with quotes.
///
/// Quotes, backslashes and control characters are escaped, everything else is written as it is.
///
/// ```
/// use barewire::json::{Writer, write_str};
///
/// let mut buffer = [0; 32];
/// let mut out = Writer::new(&mut buffer);
/// assert!(write_str(&mut out, "say \"é\"\n\u{1}"));
/// assert_eq!(out.written(), r#""say \"é\"\n\u0001""#.as_bytes());
/// ```
pub fn write_str(sink: &mut (impl Sink + ?Sized), text: &str) -> bool {
    if put_short(sink, false, text, b"\"") {
        return true;
    }
    // Not put together in a small buffer first: fewer instructions, but what was stored byte by byte can't be loaded 16 at once
    // without a stall, and a call took 45 ns to write instead of 29.
    sink.put(b"\"") && write_str_part(sink, text) && sink.put(b"\"")
}

/// Writes a short string that has nothing to escape, at once and in its place, with a comma before it or not, and `end` behind it; false if it is
/// none, or if there is no such place: nothing is written then.
#[inline]
pub(super) fn put_short<const N: usize>(
    sink: &mut (impl Sink + ?Sized),
    comma: bool,
    text: &str,
    end: &[u8; N],
) -> bool {
    let text = text.as_bytes();
    if !FAST || lanes::short_is_plain(text) != Some(true) {
        return false;
    }
    let start: &[u8] = if comma { b",\"" } else { b"\"" };
    let len = start.len().saturating_add(text.len()).saturating_add(N);
    let Some(room) = sink.lend().and_then(|room| room.get_mut(..len)) else { return false };
    let Some((room, end_room)) = room.split_last_chunk_mut::<N>() else { return false };
    let Some((start_room, text_room)) = room.split_at_mut_checked(start.len()) else { return false };
    for (to, from) in start_room.iter_mut().zip(start) {
        *to = *from;
    }
    copy(text_room, text);
    *end_room = *end;
    sink.took(len);
    true
}

/// Writes `text` as a part of a string, without quotes.
pub fn write_str_part(sink: &mut (impl Sink + ?Sized), text: &str) -> bool {
    write_escaped(sink, text.as_bytes())
}

/// Whether nothing of a short text has to be escaped. Of a long one it isn't known.
#[inline]
pub(crate) fn is_plain(text: &str) -> bool {
    FAST && lanes::short_is_plain(text.as_bytes()) == Some(true)
        || text.len() < escape::WORTH && lanes::special(text.as_bytes(), 0) == text.len()
}

/// The same for bytes that are known to be text.
pub(crate) fn write_escaped(sink: &mut (impl Sink + ?Sized), text: &[u8]) -> bool {
    if FAST && lanes::short_is_plain(text) == Some(true) {
        return sink.put(text);
    }
    let mut rest = text;
    if FAST && rest.len() >= escape::WORTH {
        match escape::write(sink, rest) {
            Some(done) => rest = rest.get(done..).unwrap_or_default(),
            None => return false,
        }
    }
    loop {
        let at = lanes::special(rest, 0);
        let Some((run, tail)) = rest.split_at_checked(at) else { return false };
        if !run.is_empty() && !sink.put(run) {
            return false;
        }
        let Some((&special, tail)) = tail.split_first() else { return true };
        if !write_special(sink, special) {
            return false;
        }
        rest = tail;
    }
}

/// The length of `text` as a part of a string, in bytes, without quotes.
pub fn escaped_len(text: &str) -> usize {
    text.bytes().fold(0usize, |len, b| len.saturating_add(escaped_byte_len(b)))
}

/// Writes an integer.
pub fn write_i64(sink: &mut (impl Sink + ?Sized), value: i64) -> bool {
    sink.put(decimal(&mut [0; Fixed::ROOM], value.unsigned_abs(), value < 0, 0))
}

/// Writes an integer.
pub fn write_u64(sink: &mut (impl Sink + ?Sized), value: u64) -> bool {
    sink.put(decimal(&mut [0; Fixed::ROOM], value, false, 0))
}

/// Writes the shortest number that reads as `value` again. NaN and the infinities have none: false, and nothing is
/// written. The digits come from the standard library, whose float printing is the one part of this crate that a linker can't
/// prove free of panics; a program that writes no floats has none of it.
pub fn write_f64(sink: &mut (impl Sink + ?Sized), value: f64) -> bool {
    if !value.is_finite() {
        return false;
    }
    // `{:?}` is the shortest round trip, and JSON for all finite values.
    Decimals::of(format_args!("{value:?}")).put(sink)
}

/// Writes `true` or `false`.
pub fn write_bool(sink: &mut (impl Sink + ?Sized), value: bool) -> bool {
    sink.put(if value { b"true" } else { b"false" })
}

/// Writes a value as it is, except that each LF and CR in its white space becomes a space, so that it can stand in
/// a line.
pub fn write_raw(sink: &mut (impl Sink + ?Sized), value: Raw<'_>) -> bool {
    let mut rest = value.as_bytes();
    // A valid string has no LF or CR in it, so all there are is white space.
    while let Some(at) = lanes::line_break(rest) {
        let (run, tail) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        if !sink.put(run) || !sink.put(b" ") {
            return false;
        }
        rest = tail.get(1..).unwrap_or_default();
    }
    sink.put(rest)
}

/// Writes what `value` displays as a string, with quotes and escapes.
pub fn write_display(sink: &mut (impl Sink + ?Sized), value: &(impl fmt::Display + ?Sized)) -> bool {
    sink.put(b"\"") && write!(Escaping(sink), "{value}").is_ok() && sink.put(b"\"")
}

/// Escapes what is formatted into it.
pub(super) struct Escaping<'s, S: ?Sized>(pub(super) &'s mut S);

impl<S: Sink + ?Sized> fmt::Write for Escaping<'_, S> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if write_str_part(self.0, text) { Ok(()) } else { Err(fmt::Error) }
    }
}

/// A formatted number of at most 40 bytes, which 128 bits and all floats need.
pub(super) struct Decimals {
    bytes: [u8; 40],
    len: usize,
}

impl Decimals {
    pub(super) fn of(number: fmt::Arguments<'_>) -> Self {
        let mut text = Self { bytes: [0; 40], len: 0 };
        let _ = text.write_fmt(number);
        text
    }

    pub(super) fn put(&self, sink: &mut (impl Sink + ?Sized)) -> bool {
        sink.put(self.bytes.get(..self.len).unwrap_or_default())
    }
}

impl fmt::Write for Decimals {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len.saturating_add(text.len());
        copy(self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?, text.as_bytes());
        self.len = end;
        Ok(())
    }
}

fn write_special(sink: &mut (impl Sink + ?Sized), byte: u8) -> bool {
    let short = match byte {
        b'"' => b"\\\"",
        b'\\' => b"\\\\",
        b'\n' => b"\\n",
        b'\t' => b"\\t",
        b'\r' => b"\\r",
        0x08 => b"\\b",
        0x0c => b"\\f",
        _ => return sink.put(&unicode_escape(byte)),
    };
    sink.put(short)
}

/// The escape of a control character that has no short one.
pub(super) const fn unicode_escape(byte: u8) -> [u8; 6] {
    [b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]
}

const fn escaped_byte_len(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\t' | b'\r' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

const fn hex(nibble: u8) -> u8 {
    if nibble < 10 { b'0'.wrapping_add(nibble) } else { b'a'.wrapping_add(nibble).wrapping_sub(10) }
}

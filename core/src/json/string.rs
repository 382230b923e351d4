//! The body of a JSON string, still escaped, and its characters.

use super::bytes::{SMALL, copy};
use super::unescape::{escape, unescape_into};
use super::{lanes, utf8};
use core::fmt::{self, Write as _};
use core::iter::FusedIterator;

/// The body of a valid JSON string, without its quotes, still escaped.
///
/// ```
/// use barewire::json::Raw;
///
/// let s = Raw::new(r#""caf\u00e9 \ud83d\ude00""#).and_then(Raw::as_string).unwrap();
/// assert!(s.is("café 😀"));
/// assert_eq!(s.to_string(), "café 😀");
/// assert_eq!(s.plain(), None);
/// ```
#[derive(Clone, Copy)]
pub struct Str<'a>(&'a [u8]);

impl<'a> Str<'a> {
    /// Bytes that stood between the quotes of a string that a scanner accepted.
    pub(crate) const fn trusted(body: &'a [u8]) -> Self {
        Self(body)
    }

    /// The body as it was written.
    pub const fn raw(self) -> &'a [u8] {
        self.0
    }

    /// The text, if nothing in it is escaped.
    pub fn plain(self) -> Option<&'a str> {
        match lanes::slash(self.0) {
            None => utf8::text(self.0),
            Some(_) => None,
        }
    }

    /// Whether it is `text` after unescaping.
    #[inline]
    pub fn is(self, text: &str) -> bool {
        // Mostly they differ at once.
        let first = self.0.first();
        (SMALL || first == Some(&b'\\') || first == text.as_bytes().first()) && self.is_all(text)
    }

    fn is_all(self, text: &str) -> bool {
        if self.0.len() <= text.len() {
            // Every escape is longer than what it means, so shorter bodies differ and equal lengths are plain.
            return self.0 == text.as_bytes() && !self.is_escaped();
        }
        // Six bytes for one are the most that an escape can take, and eight are divided by more easily.
        self.0.len() / 8 <= text.len()
            && self.is_escaped()
            && self.after(text).is_some_and(|rest| rest.0.is_empty())
    }

    fn is_escaped(self) -> bool {
        lanes::slash(self.0).is_some()
    }

    /// What follows `prefix`, if it starts with that after unescaping.
    pub(crate) fn after(self, prefix: &str) -> Option<Self> {
        let mut due = prefix.as_bytes();
        // No escape in front of what is equal byte for byte.
        if let Some(rest) = self.0.strip_prefix(due)
            && lanes::slash(due).is_none()
        {
            return Some(Self(rest));
        }
        let mut chars = self.chars();
        while !due.is_empty() {
            due = due.strip_prefix(chars.next()?.encode_utf8(&mut [0; 4]).as_bytes())?;
        }
        Some(Self(chars.rest))
    }

    /// Whether both are the same text after unescaping.
    pub(super) fn same(self, other: Str<'_>) -> bool {
        self.chars().eq(other.chars())
    }

    /// The characters after unescaping. Lone surrogates become U+FFFD.
    pub fn chars(self) -> Chars<'a> {
        Chars { rest: self.0 }
    }

    /// Unescapes into `out`; `None` if there is no room (the length of [`raw`](Self::raw) always suffices).
    pub fn decode_into(self, out: &mut [u8]) -> Option<&str> {
        if let Some(room) = out.get_mut(..self.0.len()) {
            let len = unescape_into(self.0, room);
            return utf8::text(out.get(..len)?);
        }
        let mut len = 0usize;
        for c in self.chars() {
            // By way of a buffer that surely suffices: into one that may not, encode_utf8 has a panic.
            let mut utf8 = [0; 4];
            let text = c.encode_utf8(&mut utf8).as_bytes();
            let end = len.checked_add(text.len())?;
            copy(out.get_mut(len..end)?, text);
            len = end;
        }
        core::str::from_utf8(out.get(..len)?).ok()
    }

    /// The pieces of the text after unescaping, in order.
    fn pieces(self, mut piece: impl FnMut(&str) -> fmt::Result) -> fmt::Result {
        let mut rest = self.0;
        while !rest.is_empty() {
            let at = lanes::slash(rest).unwrap_or(rest.len());
            let (run, tail) = rest.split_at_checked(at).unwrap_or((rest, &[]));
            piece(core::str::from_utf8(run).unwrap_or_default())?;
            rest = tail;
            if let Some((c, len)) = escape(rest) {
                piece(c.encode_utf8(&mut [0; 4]))?;
                rest = rest.get(len..).unwrap_or_default();
            } else if !rest.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.width().is_some() || f.precision().is_some() {
            return match self.plain() {
                Some(text) => f.pad(text),
                None => self.pieces(|piece| f.write_str(piece)),
            };
        }
        self.pieces(|piece| f.write_str(piece))
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.chars() {
            // As `str` has it, which is inside double quotes.
            if c == '\'' {
                f.write_char(c)?;
            } else {
                c.escape_debug().try_for_each(|c| f.write_char(c))?;
            }
        }
        f.write_char('"')
    }
}

impl PartialEq<str> for Str<'_> {
    fn eq(&self, text: &str) -> bool {
        self.is(text)
    }
}

impl PartialEq<&str> for Str<'_> {
    fn eq(&self, text: &&str) -> bool {
        self.is(text)
    }
}

/// The decoded characters of a [`Str`].
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    rest: &'a [u8],
}

impl Iterator for Chars<'_> {
    type Item = char;

    #[inline]
    fn next(&mut self) -> Option<char> {
        let first = *self.rest.first()?;
        let (c, len) = match first {
            b'\\' => escape(self.rest)?,
            0..0x80 => (char::from(first), 1),
            _ => {
                // It is valid: the top bits say how many bytes, and those that follow have six each.
                let len = first.leading_ones().min(4) as usize;
                let own = u32::from(first) & 0x7f >> len;
                let more = self.rest.get(1..len)?;
                let code = more.iter().fold(own, |code, byte| code << 6 | u32::from(byte & 0x3f));
                (char::from_u32(code)?, len)
            }
        };
        self.rest = self.rest.get(len..)?;
        Some(c)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.rest.len() / 6, Some(self.rest.len()))
    }
}

impl FusedIterator for Chars<'_> {}

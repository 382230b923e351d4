//! Walking the members and elements of a value that is known to be valid, without checking it again.

use super::{Raw, Str, lanes};

/// The members of an object; see [`Raw::members`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    rest: &'a [u8],
}

/// The elements of an array; see [`Raw::elements`].
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Members<'a> {
    pub(super) fn new(value: &'a [u8]) -> Self {
        Self { rest: inside(value, b'{') }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Str<'a>, Raw<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let at = skip(self.rest, 0, b',');
        let (key, after) = self.rest.get(at..)?.split_at_checked(string(self.rest.get(at..)?)?)?;
        let after = after.get(skip(after, 0, b':')..)?;
        let (value, rest) = after.split_at_checked(value(after)?)?;
        self.rest = rest;
        Some((Str::trusted(key.get(1..key.len().wrapping_sub(1))?), Raw::trusted(value)))
    }
}

impl<'a> Elements<'a> {
    pub(super) fn new(value: &'a [u8]) -> Self {
        Self { rest: inside(value, b'[') }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Raw<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let after = self.rest.get(skip(self.rest, 0, b',')..)?;
        let (value, rest) = after.split_at_checked(value(after)?)?;
        self.rest = rest;
        Some(Raw::trusted(value))
    }
}

/// The bytes between the brackets of a container that opens with `bracket`; nothing for any other value.
fn inside(value: &[u8], bracket: u8) -> &[u8] {
    match value {
        [first, inside @ .., _] if *first == bracket => inside,
        _ => &[],
    }
}

/// The first byte at or after `from` that is neither white space nor `mark`.
#[inline(always)]
pub(crate) fn skip(bytes: &[u8], mut from: usize, mark: u8) -> usize {
    while bytes.get(from).is_some_and(|&b| b == mark || matches!(b, b' ' | b'\n' | b'\r' | b'\t')) {
        from = from.wrapping_add(1);
    }
    from
}

/// The length of the value at the start of `bytes`; `None` where there is none.
#[inline]
pub(crate) fn value(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'"' => string(bytes),
        b'{' | b'[' => container(bytes),
        // Never empty, so that a walk over bytes that are no JSON ends, too.
        _ => Some(scalar(bytes)).filter(|len| *len > 0),
    }
}

/// The length of the string at the start of `bytes`, quotes included.
#[inline]
pub(super) fn string(bytes: &[u8]) -> Option<usize> {
    string_end(bytes, 1)
}

/// The length of the container at the start of `bytes`: counts brackets outside strings.
fn container(bytes: &[u8]) -> Option<usize> {
    // Byte by byte, as there are only a few between two strings; within strings it goes by words.
    let (mut at, mut open) = (0usize, 0usize);
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
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = lanes::quote_or_slash(bytes, at);
        match bytes.get(at)? {
            b'"' => return Some(at.wrapping_add(1)),
            _ => at = at.wrapping_add(2),
        }
    }
}

#[inline]
fn scalar(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|b| matches!(b, b',' | b'}' | b']' | b':' | b' ' | b'\n' | b'\r' | b'\t'))
        .unwrap_or(bytes.len())
}

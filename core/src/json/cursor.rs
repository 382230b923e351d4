//! Walking the members and elements of a value that is known to be valid, without checking it again.

use super::pass::{container, string_end};
use super::{Raw, Str};

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

    /// Those that follow in a valid object: `rest` starts behind a member and ends before the closing bracket.
    pub(crate) const fn over(rest: &'a [u8]) -> Self {
        Self { rest }
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
#[cfg_attr(target_os = "none", inline(never))]
#[cfg_attr(not(target_os = "none"), inline(always))]
pub(crate) fn skip(bytes: &[u8], mut from: usize, mark: u8) -> usize {
    while bytes.get(from).is_some_and(|&b| b == mark || matches!(b, b' ' | b'\n' | b'\r' | b'\t')) {
        from = from.wrapping_add(1);
    }
    from
}

/// The first byte at or after `from` that is no white space.
#[inline(always)]
pub(super) fn skip_space(bytes: &[u8], from: usize) -> usize {
    skip(bytes, from, b' ')
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

#[inline]
fn scalar(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|b| matches!(b, b',' | b'}' | b']' | b':' | b' ' | b'\n' | b'\r' | b'\t'))
        .unwrap_or(bytes.len())
}

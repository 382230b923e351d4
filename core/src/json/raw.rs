//! One JSON value as its own text.

use super::bytes::{FAST, SMALL};
use super::cursor::{Elements, Members};
use super::lanes::position as find;
use super::number;
use super::{ScanError, Scanner, Step, Str, Whole, utf8};
use core::fmt;

/// A valid JSON value, byte for byte, without white space around it.
///
/// Making one from foreign bytes checks them once; everything after that trusts the bytes and is linear in what it
/// has to pass over. Equality is that of the bytes: `1` and `1.0` differ. [`Raw::same_id`] compares by value.
///
/// ```
/// use barewire::json::{Kind, Raw};
///
/// let value = Raw::new(r#"{"n": 1e3, "s": "a\nb", "list": [true, null]}"#).unwrap();
/// assert_eq!(value.kind(), Kind::Object);
/// assert_eq!(value.get("n").and_then(Raw::as_i64), Some(1000));
/// assert!(value.get("s").unwrap().is("a\nb"));
/// assert_eq!(value.get("list").unwrap().elements().count(), 2);
/// assert!(Raw::new("[1,]").is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Raw<'a>(&'a [u8]);

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number of any size.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl<'a> Raw<'a> {
    /// `null`
    pub const NULL: Raw<'static> = Raw(b"null");
    /// `true`
    pub const TRUE: Raw<'static> = Raw(b"true");
    /// `false`
    pub const FALSE: Raw<'static> = Raw(b"false");
    /// `{}`
    pub const EMPTY_OBJECT: Raw<'static> = Raw(b"{}");

    /// The value that `text` is, white space around it trimmed; `None` if it is not one valid JSON text.
    pub fn new(text: &'a str) -> Option<Self> {
        Self::from_bytes(text.as_bytes()).ok()
    }

    /// The value that `bytes` are, white space around it trimmed.
    ///
    /// # Errors
    /// The first fault, if they are not one valid JSON text of at most [`DEPTH`](super::DEPTH) levels.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, ScanError> {
        if FAST
            && matches!(bytes, [b'{' | b'[' | b'"', ..])
            && Whole::new(bytes).value(0) == Some(bytes.len())
        {
            return Ok(Self(bytes));
        }
        let mut scanner = Scanner::new();
        loop {
            let rest = bytes.get(scanner.position()..).unwrap_or_default();
            if let (_, Step::More) = scanner.step(rest)? {
                break;
            }
        }
        Ok(Self(bytes.get(scanner.finish()?).unwrap_or_default()))
    }

    /// Bytes that a scanner accepted, without white space around them.
    pub(crate) const fn trusted(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The text. Takes a pass over it: the standard library has no safe conversion that doesn't.
    pub fn as_str(self) -> &'a str {
        utf8::known(self.0)
    }

    /// The bytes of the text.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// What it is, by its first byte.
    #[inline]
    pub fn kind(self) -> Kind {
        match self.0.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// `true` and `false`; `None` for anything else.
    pub fn as_bool(self) -> Option<bool> {
        match self.0.first() {
            Some(b't') => Some(true),
            Some(b'f') => Some(false),
            _ => None,
        }
    }

    /// A number whose value is an integer in range: `5`, `5.0` and `50e-1` are 5, `5.5` is `None`.
    pub fn as_i64(self) -> Option<i64> {
        self.as_number().and_then(number::signed)
    }

    /// A number whose value is an integer in range, as [`as_i64`](Self::as_i64); `-0` is 0.
    pub fn as_u64(self) -> Option<u64> {
        self.as_number().and_then(number::unsigned)
    }

    /// The nearest `f64`. `None` if it is not a number or too large for a finite one (`1e400`).
    pub fn as_f64(self) -> Option<f64> {
        self.as_number().and_then(number::float)
    }

    /// Whether it is a number whose value is an integer, of any size: `1`, `1.0`, `1e3`, 30 digits.
    pub fn is_integer(self) -> bool {
        self.as_number().is_some_and(number::is_integer)
    }

    /// The body of a string; `None` for anything else.
    #[inline]
    pub fn as_string(self) -> Option<Str<'a>> {
        match self.0 {
            [b'"', body @ .., b'"'] => Some(Str::trusted(body)),
            _ => None,
        }
    }

    /// The value of an object's member, the last if there are several; keys are compared after unescaping.
    pub fn get(self, key: &str) -> Option<Self> {
        self.members().filter(|(k, _)| k.is(key)).last().map(|(_, value)| value)
    }

    /// Whether it is a string that is `text` after unescaping.
    #[inline]
    pub fn is(self, text: &str) -> bool {
        self.as_string().is_some_and(|s| s.is(text))
    }

    /// The members of an object in their order, double keys included; nothing for any other value.
    pub fn members(self) -> Members<'a> {
        Members::new(self.0)
    }

    /// The elements of an array in their order; nothing for any other value.
    pub fn elements(self) -> Elements<'a> {
        Elements::new(self.0)
    }

    /// Whether two JSON-RPC ids are the same: numbers by their exact value (`5` is `5.0` is `50e-1`), strings after
    /// unescaping, anything else byte for byte. Never across types: `5` is not `"5"`.
    ///
    /// Exponents of more than 18 digits are compared as text.
    pub fn same_id(self, other: Raw<'_>) -> bool {
        if self.0 == other.0 {
            return true;
        }
        // Of a whole number without an exponent there is one spelling. (Where code must be small, the comparison finds that out.)
        let is_plain = |id: &[u8]| id.iter().all(u8::is_ascii_digit);
        if !SMALL && is_plain(self.0) && is_plain(other.0) {
            return false;
        }
        match (self.kind(), other.kind()) {
            (Kind::Number, Kind::Number) => number::same(self.0, other.0),
            (Kind::String, Kind::String) => {
                self.as_string().zip(other.as_string()).is_some_and(|(a, b)| a.same(b))
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn as_number(self) -> Option<&'a [u8]> {
        matches!(self.0.first(), Some(b'-' | b'0'..=b'9')).then_some(self.0)
    }
}

/// Which of `names` a key is, after unescaping.
#[inline(never)]
pub(crate) fn which(key: Str<'_>, names: &[&str]) -> Option<usize> {
    // Escapes are rare, so they are looked for last.
    let plain = names.iter().position(|name| name.as_bytes() == key.raw());
    if plain.is_some() || find(b'\\', key.raw()).is_none() {
        return plain;
    }
    names.iter().position(|name| key.is(name))
}

/// Finds the values of an object's members of these names, the last if there are several; says whether there are.
#[inline(never)]
pub(crate) fn pick<'a>(object: Raw<'a>, names: &[&str], found: &mut [Option<Raw<'a>>]) -> bool {
    let mut twice = false;
    for (key, value) in object.members() {
        if let Some(place) = which(key, names).and_then(|i| found.get_mut(i)) {
            twice |= place.replace(value).is_some();
        }
    }
    twice
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

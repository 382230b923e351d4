//! Decoding JSON into serde types, without scratch.

use super::de_access::{Enum, Map, Seq, UnitEnum};
use super::{DEPTH, DeError, Raw, Str, Whole, cursor, number, unescape, utf8};
use core::mem::take;
use serde_core::de::{Deserialize, Deserializer, Error as _, Unexpected, Visitor};

/// The name by which [`Raw`] asks for a value as it is written.
pub(super) const RAW: &str = "$barewire::json::Raw";

/// Decodes JSON, undoing escapes where they stand, so that `&str` fields borrow even strings with escapes.
///
/// `json` need not be checked before: that is done in the same pass, as strictly as by a [`Scanner`](super::Scanner), but for depth within
/// [`Raw`] fields, which may have [`DEPTH`] levels of their own. Afterwards it is garbage, whatever the result.
///
/// Follows serde_json where that has a choice, except that integers accept any number that is one (`5.0`, `5e0`).
/// Numbers never lose anything when decoded to integers; to floats they are rounded to the nearest, and too large
/// ones are refused. [`Raw`] fields take a value as it is written (not within `flatten` and untagged enums, where
/// serde itself takes values apart).
///
/// # Errors
/// If it is not valid JSON, or the value does not fit the type.
///
/// ```
/// # #[cfg(feature = "serde")] {
/// #[derive(serde::Deserialize)]
/// struct Args<'a> {
///     path: &'a str,
///     limit: Option<u32>,
/// }
/// let mut json = *br#"{"path":"C:\\tmp\n\u00e9"}"#;
/// let args: Args = barewire::json::from_slice_in_place(&mut json).unwrap();
/// assert_eq!((args.path, args.limit), ("C:\\tmp\né", None));
///
/// let mut json = *br#"{"path":"","limit":"x"}"#;
/// let error = barewire::json::from_slice_in_place::<Args>(&mut json).err().unwrap();
/// assert_eq!(error.to_string(), r#"limit: invalid type: string "x", expected u32"#);
/// # }
/// ```
pub fn from_slice_in_place<'de, T: Deserialize<'de>>(json: &'de mut [u8]) -> Result<T, DeError> {
    Decoder::decode(Mutable { rest: json, utf8: false })
}

/// Decodes a value without changing it: as [`from_slice_in_place`], but `&str` fields cannot take strings with
/// escapes. Owned ones can, up to 256 bytes, or any length with the feature `alloc`.
///
/// # Errors
/// If the value does not fit the type, or a string needs room that there is not.
pub fn from_raw<'de, T: Deserialize<'de>>(value: Raw<'de>) -> Result<T, DeError> {
    Decoder::decode(Shared(value.as_bytes()))
}

/// The rest of the text, at a token or white space.
pub(super) trait Input<'de> {
    fn rest(&self) -> &[u8];
    /// Takes the first `len` bytes, or all if there are fewer.
    fn take(&mut self, len: usize) -> &'de [u8];
    /// The length of the value at the front, if it is one that may stand in so many containers.
    fn value(&mut self, around: u8) -> Option<usize>;
    /// The string whose opening quote is at the front, without escapes if that is possible.
    fn string(&mut self) -> Result<Text<'de>, DeError>;
}

/// A string's text.
#[derive(Clone, Copy)]
pub(super) enum Text<'de> {
    Plain(&'de str),
    Escaped(Str<'de>),
}

/// Text that nobody checked.
struct Mutable<'de> {
    rest: &'de mut [u8],
    /// All of it is UTF-8.
    utf8: bool,
}

/// Text that is valid.
struct Shared<'de>(&'de [u8]);

impl<'de> Input<'de> for Mutable<'de> {
    fn rest(&self) -> &[u8] {
        self.rest
    }

    fn take(&mut self, len: usize) -> &'de [u8] {
        let (taken, rest) = take(&mut self.rest).split_at_mut_checked(len).unwrap_or_default();
        self.rest = rest;
        taken
    }

    fn value(&mut self, around: u8) -> Option<usize> {
        let mut whole = Whole::after(self.rest, self.utf8);
        let len = whole.value_in(0, around);
        self.utf8 = whole.is_utf8();
        len
    }

    fn string(&mut self) -> Result<Text<'de>, DeError> {
        let bytes = take(&mut self.rest).get_mut(1..).unwrap_or_default();
        let (len, quote) = unescape::take_string(bytes).ok_or_else(invalid)?;
        let (body, rest) = bytes.split_at_mut_checked(quote).unwrap_or_default();
        self.rest = rest.get_mut(1..).unwrap_or_default();
        body.get(..len).and_then(utf8::text).map(Text::Plain).ok_or_else(invalid)
    }
}

impl<'de> Input<'de> for Shared<'de> {
    fn rest(&self) -> &[u8] {
        self.0
    }

    fn take(&mut self, len: usize) -> &'de [u8] {
        let (taken, rest) = self.0.split_at_checked(len).unwrap_or_default();
        self.0 = rest;
        taken
    }

    fn value(&mut self, _: u8) -> Option<usize> {
        cursor::value(self.0)
    }

    fn string(&mut self) -> Result<Text<'de>, DeError> {
        let len = cursor::string(self.0).ok_or_else(invalid)?;
        let body = Str::trusted(self.take(len).get(1..len.wrapping_sub(1)).unwrap_or_default());
        Ok(body.plain().map_or(Text::Escaped(body), Text::Plain))
    }
}

impl<'de> Text<'de> {
    pub(super) fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self {
            Self::Plain(text) => visitor.visit_borrowed_str(text),
            Self::Escaped(body) => {
                let mut scratch = [0; 256];
                match body.decode_into(&mut scratch) {
                    Some(text) => visitor.visit_str(text),
                    #[cfg(feature = "alloc")]
                    None => visitor.visit_str(&alloc::string::ToString::to_string(&body)),
                    #[cfg(not(feature = "alloc"))]
                    None => Err(DeError::new("a string with escapes is too long here")),
                }
            }
        }
    }

    /// For error paths: as it was written, if it has escapes.
    pub(super) fn name(self) -> &'de str {
        match self {
            Self::Plain(text) => text,
            Self::Escaped(body) => core::str::from_utf8(body.raw()).unwrap_or_default(),
        }
    }
}

/// The text at hand and how many containers may still be opened.
pub(super) struct Decoder<I> {
    input: I,
    room: u8,
}

impl<'de, I: Input<'de>> Decoder<I> {
    fn decode<T: Deserialize<'de>>(input: I) -> Result<T, DeError> {
        let mut decoder = Self { input, room: DEPTH as u8 };
        let value = T::deserialize(&mut decoder)?;
        match decoder.peek() {
            None => Ok(value),
            Some(_) => Err(invalid()),
        }
    }

    /// The first byte that is not white space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let blank = cursor::skip(self.input.rest(), 0, b' ');
        if blank > 0 {
            self.input.take(blank);
        }
        self.input.rest().first().copied()
    }

    /// Takes `byte` if it is next.
    pub(super) fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.input.take(1);
        }
        found
    }

    pub(super) fn require(&mut self, byte: u8) -> Result<(), DeError> {
        if self.accept(byte) { Ok(()) } else { Err(invalid()) }
    }

    pub(super) fn string(&mut self) -> Result<Text<'de>, DeError> {
        match self.peek() {
            Some(b'"') => self.input.string(),
            _ => Err(invalid()),
        }
    }

    /// The next value as it is written.
    fn raw(&mut self) -> Result<&'de [u8], DeError> {
        self.peek();
        match self.input.value((DEPTH as u8).saturating_sub(self.room)) {
            None => Err(invalid()),
            Some(len) => Ok(self.input.take(len)),
        }
    }

    /// Enters a container, whose bracket is next, for the time of `visit`.
    pub(super) fn within<T>(
        &mut self,
        visit: impl FnOnce(&mut Self) -> Result<T, DeError>,
    ) -> Result<T, DeError> {
        // Valid text is never that deep; this bounds the stack for what is not.
        self.room = self.room.checked_sub(1).ok_or_else(|| DeError::new("nested too deeply"))?;
        self.input.take(1);
        let value = visit(self)?;
        self.room = self.room.saturating_add(1);
        Ok(value)
    }

    /// Whether the next value is of a kind that `is` says is meant, or the error.
    fn check<V: Visitor<'de>>(&mut self, visitor: &V, is: impl Fn(u8) -> bool) -> Result<(), DeError> {
        if self.peek().is_some_and(is) { Ok(()) } else { Err(self.mismatch(visitor)) }
    }

    fn mismatch<V: Visitor<'de>>(&mut self, visitor: &V) -> DeError {
        let found = match self.peek() {
            Some(b'"') => match self.input.string() {
                Ok(text) => return DeError::invalid_type(Unexpected::Str(text.name()), visitor),
                Err(error) => return error,
            },
            Some(b'{') => Unexpected::Map,
            Some(b'[') => Unexpected::Seq,
            Some(b't') => Unexpected::Bool(true),
            Some(b'f') => Unexpected::Bool(false),
            Some(b'n') => Unexpected::Unit,
            Some(first) if is_number(first) => match self.raw().map(Raw::trusted) {
                Ok(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                    (Some(n), ..) => Unexpected::Unsigned(n),
                    (_, Some(n), _) => Unexpected::Signed(n),
                    (.., Some(n)) => Unexpected::Float(n),
                    _ => Unexpected::Other("huge number"),
                },
                Err(error) => return error,
            },
            _ => return invalid(),
        };
        DeError::invalid_type(found, visitor)
    }

    /// The next value's text, if it is a number, or the error.
    fn number<V: Visitor<'de>>(&mut self, visitor: &V) -> Result<&'de [u8], DeError> {
        self.check(visitor, is_number)?;
        self.raw()
    }
}

/// Gives a number that is an integer to `visitor` in the smallest type that holds it.
pub(super) fn visit_integer<'de, V: Visitor<'de>>(text: &[u8], visitor: V) -> Result<V::Value, DeError> {
    if let Some(value) = number::unsigned(text) {
        return visitor.visit_u64(value);
    }
    if let Some(value) = number::signed(text) {
        return visitor.visit_i64(value);
    }
    match number::wide_magnitude(text) {
        Some((false, value)) => visitor.visit_u128(value),
        Some((true, value)) => match 0i128.checked_sub_unsigned(value) {
            Some(value) => visitor.visit_i128(value),
            None => Err(huge(&visitor)),
        },
        None => match number::float(text) {
            Some(value) => visitor.visit_f64(value),
            None => Err(huge(&visitor)),
        },
    }
}

fn visit_number<'de, V: Visitor<'de>>(text: &[u8], visitor: V) -> Result<V::Value, DeError> {
    // As serde_json has it, for those who take any number: a fraction, an exponent or -0 make a float.
    let float = text == b"-0" || text.iter().any(|b| matches!(b, b'.' | b'e' | b'E'));
    if !float {
        if let Some(value) = number::unsigned(text) {
            return visitor.visit_u64(value);
        }
        if let Some(value) = number::signed(text) {
            return visitor.visit_i64(value);
        }
    }
    match number::float(text) {
        Some(value) => visitor.visit_f64(value),
        None => Err(huge(&visitor)),
    }
}

fn huge<'de, V: Visitor<'de>>(visitor: &V) -> DeError {
    DeError::invalid_value(Unexpected::Other("huge number"), visitor)
}

fn is_number(first: u8) -> bool {
    matches!(first, b'-' | b'0'..=b'9')
}

/// What the text is not.
pub(super) fn invalid() -> DeError {
    DeError::new("not valid JSON")
}

macro_rules! integers {
    ($($name:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
            let text = self.number(&visitor)?;
            visit_integer(text, visitor)
        }
    )*};
}

/// Types that are written in one or two ways, told by the first byte.
macro_rules! only {
    ($($name:ident($($hint:ty),*) => $first:pat,)*) => {$(
        fn $name<V: Visitor<'de>>(self $(, _: $hint)*, visitor: V) -> Result<V::Value, DeError> {
            self.check(&visitor, |first| matches!(first, $first))?;
            self.deserialize_any(visitor)
        }
    )*};
}

impl<'de, I: Input<'de>> Deserializer<'de> for &mut Decoder<I> {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.peek() {
            Some(b'"') => self.input.string()?.visit(visitor),
            Some(b'{') => self.within(|decoder| {
                let mut map = Map::new(decoder);
                let value = visitor.visit_map(&mut map)?;
                map.end()?;
                Ok(value)
            }),
            Some(b'[') => self.within(|decoder| {
                let mut seq = Seq::new(decoder);
                let value = visitor.visit_seq(&mut seq)?;
                seq.end()?;
                Ok(value)
            }),
            Some(_) => match self.raw()? {
                b"null" => visitor.visit_unit(),
                b"true" => visitor.visit_bool(true),
                b"false" => visitor.visit_bool(false),
                text if text.first().copied().is_some_and(is_number) => visit_number(text, visitor),
                _ => Err(invalid()),
            },
            None => Err(invalid()),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match number::float(self.number(&visitor)?) {
            Some(value) => visitor.visit_f64(value),
            None => Err(huge(&visitor)),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        // Not by way of f64, which would round twice.
        match number::float32(self.number(&visitor)?) {
            Some(value) => visitor.visit_f32(value),
            None => Err(huge(&visitor)),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.check(&visitor, |first| matches!(first, b'"' | b'['))?;
        if self.peek() == Some(b'[') {
            return self.deserialize_any(visitor);
        }
        match self.input.string()? {
            Text::Plain(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            text @ Text::Escaped(_) => text.visit(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        if self.peek() == Some(b'n') {
            self.raw()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        if name == RAW {
            // It checks what it is given.
            self.peek();
            let len = cursor::value(self.input.rest()).ok_or_else(invalid)?;
            return visitor.visit_borrowed_bytes(self.input.take(len));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        match self.peek() {
            Some(b'"') => visitor.visit_enum(UnitEnum(self.input.string()?)),
            Some(b'{') => self.within(|decoder| {
                let value = visitor.visit_enum(Enum(decoder))?;
                decoder.require(b'}')?;
                Ok(value)
            }),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.raw()?;
        visitor.visit_unit()
    }

    only! {
        deserialize_bool() => b't' | b'f',
        deserialize_char() => b'"',
        deserialize_str() => b'"',
        deserialize_string() => b'"',
        deserialize_identifier() => b'"',
        deserialize_unit() => b'n',
        deserialize_unit_struct(&'static str) => b'n',
        deserialize_seq() => b'[',
        deserialize_tuple(usize) => b'[',
        deserialize_tuple_struct(&'static str, usize) => b'[',
        deserialize_map() => b'{',
        deserialize_struct(&'static str, &'static [&'static str]) => b'{' | b'[',
    }
}

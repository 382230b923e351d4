//! Encoding serde types as JSON, into a [`Sink`].

use super::de::RAW;
use super::message::Message;
use super::ser_parts::Compound;
use super::write::{
    Decimals, write_bool, write_display, write_f64, write_i64, write_raw, write_str, write_u64,
};
use super::{Raw, Sink};
use core::fmt;
use serde_core::ser::{Serialize, Serializer};

/// Writes `value` as JSON, as serde_json does: `None` is `null`, bytes are an array of numbers, enums are tagged
/// from outside unless they say otherwise. [`Raw`] values are written as they are.
///
/// # Errors
/// If the sink is full, a float is not finite, a map's key is no string or scalar, or the type itself refuses.
/// What the sink took until then stays there.
///
/// ```
/// # #[cfg(feature = "serde")] {
/// use barewire::json::{Writer, to_sink};
///
/// #[derive(serde::Serialize)]
/// struct Point { x: f64, label: Option<&'static str> }
///
/// let mut buffer = [0; 32];
/// let mut out = Writer::new(&mut buffer);
/// to_sink(&mut out, &Point { x: 1.5, label: None }).unwrap();
/// assert_eq!(out.written(), br#"{"x":1.5,"label":null}"#);
/// # }
/// ```
pub fn to_sink<T: Serialize + ?Sized>(sink: &mut dyn Sink, value: &T) -> Result<(), SerError> {
    value.serialize(Encoder::new(sink))
}

/// Why a value could not be encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SerError {
    /// The sink has no more room.
    Full,
    /// A float is NaN or infinite, which JSON cannot say.
    NotFinite,
    /// A map has a key that is neither a string nor a number, boolean or unit variant.
    Key,
    /// The type's own `Serialize` refused.
    Refused(Refusal),
}

/// What a type's own `Serialize` said when it refused; its `Display` is that text, cut off if it is long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal(Message<80>);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for SerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the output has no room for the value"),
            Self::NotFinite => f.write_str("a number is not finite"),
            Self::Key => f.write_str("a map's key cannot be written as a string"),
            Self::Refused(refusal) => fmt::Display::fmt(refusal, f),
        }
    }
}

impl core::error::Error for SerError {}

impl serde_core::ser::Error for SerError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Refused(Refusal(Message::of(message)))
    }
}

/// `Full` if the sink said no.
pub(super) fn fit(taken: bool) -> Result<(), SerError> {
    if taken { Ok(()) } else { Err(SerError::Full) }
}

/// A float, or why not.
pub(super) fn float(sink: &mut dyn Sink, value: f64) -> Result<(), SerError> {
    if value.is_finite() { fit(write_f64(sink, value)) } else { Err(SerError::NotFinite) }
}

/// The shortest text for an `f32` is shorter than that of the same number as `f64`.
pub(super) fn float32(sink: &mut dyn Sink, value: f32) -> Result<(), SerError> {
    if value.is_finite() {
        fit(Decimals::of(format_args!("{value:?}")).put(sink))
    } else {
        Err(SerError::NotFinite)
    }
}

pub(super) struct Encoder<'s> {
    sink: &'s mut dyn Sink,
    /// Bytes are a [`Raw`] value's text, which is asked for by claiming not to be human readable.
    verbatim: bool,
}

impl<'s> Encoder<'s> {
    pub(super) fn new(sink: &'s mut dyn Sink) -> Self {
        Self { sink, verbatim: false }
    }

    fn open(self, bracket: &'static [u8], close: &'static [u8]) -> Result<Compound<'s>, SerError> {
        fit(self.sink.put(bracket))?;
        Ok(Compound::new(self.sink, close))
    }

    /// `{"Variant":`, and what opens and closes its content.
    fn open_variant(
        self,
        variant: &str,
        bracket: &'static [u8],
        close: &'static [u8],
    ) -> Result<Compound<'s>, SerError> {
        fit(self.sink.put(b"{") && write_str(self.sink, variant) && self.sink.put(b":"))?;
        self.open(bracket, close)
    }
}

impl<'s> Serializer for Encoder<'s> {
    type Ok = ();
    type Error = SerError;
    type SerializeSeq = Compound<'s>;
    type SerializeTuple = Compound<'s>;
    type SerializeTupleStruct = Compound<'s>;
    type SerializeTupleVariant = Compound<'s>;
    type SerializeMap = Compound<'s>;
    type SerializeStruct = Compound<'s>;
    type SerializeStructVariant = Compound<'s>;

    fn serialize_bool(self, v: bool) -> Result<(), SerError> {
        fit(write_bool(self.sink, v))
    }

    fn serialize_i8(self, v: i8) -> Result<(), SerError> {
        self.serialize_i64(v.into())
    }

    fn serialize_i16(self, v: i16) -> Result<(), SerError> {
        self.serialize_i64(v.into())
    }

    fn serialize_i32(self, v: i32) -> Result<(), SerError> {
        self.serialize_i64(v.into())
    }

    fn serialize_i64(self, v: i64) -> Result<(), SerError> {
        fit(write_i64(self.sink, v))
    }

    fn serialize_i128(self, v: i128) -> Result<(), SerError> {
        fit(Decimals::of(format_args!("{v}")).put(self.sink))
    }

    fn serialize_u8(self, v: u8) -> Result<(), SerError> {
        self.serialize_u64(v.into())
    }

    fn serialize_u16(self, v: u16) -> Result<(), SerError> {
        self.serialize_u64(v.into())
    }

    fn serialize_u32(self, v: u32) -> Result<(), SerError> {
        self.serialize_u64(v.into())
    }

    fn serialize_u64(self, v: u64) -> Result<(), SerError> {
        fit(write_u64(self.sink, v))
    }

    fn serialize_u128(self, v: u128) -> Result<(), SerError> {
        fit(Decimals::of(format_args!("{v}")).put(self.sink))
    }

    fn serialize_f32(self, v: f32) -> Result<(), SerError> {
        float32(self.sink, v)
    }

    fn serialize_f64(self, v: f64) -> Result<(), SerError> {
        float(self.sink, v)
    }

    fn serialize_char(self, v: char) -> Result<(), SerError> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, v: &str) -> Result<(), SerError> {
        fit(write_str(self.sink, v))
    }

    fn serialize_bytes(self, v: &[u8]) -> Result<(), SerError> {
        if self.verbatim {
            return fit(write_raw(self.sink, Raw::trusted(v)));
        }
        self.collect_seq(v)
    }

    fn serialize_none(self) -> Result<(), SerError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), SerError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), SerError> {
        fit(self.sink.put(b"null"))
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), SerError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), SerError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), SerError> {
        if name == RAW {
            return value.serialize(Encoder { sink: self.sink, verbatim: true });
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), SerError> {
        fit(self.sink.put(b"{") && write_str(self.sink, variant) && self.sink.put(b":"))?;
        value.serialize(Encoder::new(self.sink))?;
        fit(self.sink.put(b"}"))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'s>, SerError> {
        self.open(b"[", b"]")
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'s>, SerError> {
        self.open(b"[", b"]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'s>, SerError> {
        self.open(b"[", b"]")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'s>, SerError> {
        self.open_variant(variant, b"[", b"]}")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'s>, SerError> {
        self.open(b"{", b"}")
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Compound<'s>, SerError> {
        self.open(b"{", b"}")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'s>, SerError> {
        self.open_variant(variant, b"{", b"}}")
    }

    fn is_human_readable(&self) -> bool {
        !self.verbatim
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), SerError> {
        fit(write_display(self.sink, value))
    }
}

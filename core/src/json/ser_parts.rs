//! The parts of what is being encoded: the members and elements of one container, and keys.

use super::Sink;
use super::ser::{Encoder, SerError, fit, float, float32};
use super::write::{write_display, write_str};
use core::fmt;
use serde_core::ser::{
    Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// A container that is open.
pub(super) struct Compound<'s> {
    sink: &'s mut dyn Sink,
    close: &'static [u8],
    comma: bool,
}

impl<'s> Compound<'s> {
    pub(super) fn new(sink: &'s mut dyn Sink, close: &'static [u8]) -> Self {
        Self { sink, close, comma: false }
    }

    fn comma(&mut self) -> Result<(), SerError> {
        fit(!self.comma || self.sink.put(b","))?;
        self.comma = true;
        Ok(())
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerError> {
        self.comma()?;
        value.serialize(Encoder::new(self.sink))
    }

    fn member<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), SerError> {
        self.comma()?;
        fit(write_str(self.sink, key) && self.sink.put(b":"))?;
        value.serialize(Encoder::new(self.sink))
    }

    fn close(self) -> Result<(), SerError> {
        fit(self.sink.put(self.close))
    }
}

macro_rules! elements {
    ($($name:ident $method:ident)*) => {$(
        impl $name for Compound<'_> {
            type Ok = ();
            type Error = SerError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerError> {
                self.element(value)
            }

            fn end(self) -> Result<(), SerError> {
                self.close()
            }
        }
    )*};
}

elements! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! members {
    ($($name:ident)*) => {$(
        impl $name for Compound<'_> {
            type Ok = ();
            type Error = SerError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), SerError> {
                self.member(key, value)
            }

            fn end(self) -> Result<(), SerError> {
                self.close()
            }
        }
    )*};
}

members! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = SerError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), SerError> {
        self.comma()?;
        key.serialize(Key(self.sink))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerError> {
        fit(self.sink.put(b":"))?;
        value.serialize(Encoder::new(self.sink))
    }

    fn end(self) -> Result<(), SerError> {
        self.close()
    }
}

/// A map's key: strings, and scalars in quotes.
struct Key<'s>(&'s mut dyn Sink);

macro_rules! quoted {
    ($($name:ident $type:ty)*) => {$(
        fn $name(self, v: $type) -> Result<(), SerError> {
            fit(write_display(self.0, &v))
        }
    )*};
}

impl Serializer for Key<'_> {
    type Ok = ();
    type Error = SerError;
    type SerializeSeq = Impossible<(), SerError>;
    type SerializeTuple = Impossible<(), SerError>;
    type SerializeTupleStruct = Impossible<(), SerError>;
    type SerializeTupleVariant = Impossible<(), SerError>;
    type SerializeMap = Impossible<(), SerError>;
    type SerializeStruct = Impossible<(), SerError>;
    type SerializeStructVariant = Impossible<(), SerError>;

    quoted! {
        serialize_bool bool
        serialize_i8 i8
        serialize_i16 i16
        serialize_i32 i32
        serialize_i64 i64
        serialize_i128 i128
        serialize_u8 u8
        serialize_u16 u16
        serialize_u32 u32
        serialize_u64 u64
        serialize_u128 u128
        serialize_char char
        serialize_str &str
    }

    fn serialize_f32(self, v: f32) -> Result<(), SerError> {
        fit(self.0.put(b"\""))?;
        float32(self.0, v)?;
        fit(self.0.put(b"\""))
    }

    fn serialize_f64(self, v: f64) -> Result<(), SerError> {
        fit(self.0.put(b"\""))?;
        float(self.0, v)?;
        fit(self.0.put(b"\""))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), SerError> {
        Err(SerError::Key)
    }

    fn serialize_none(self) -> Result<(), SerError> {
        Err(SerError::Key)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), SerError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), SerError> {
        Err(SerError::Key)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), SerError> {
        Err(SerError::Key)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), SerError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), SerError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), SerError> {
        Err(SerError::Key)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, SerError> {
        Err(SerError::Key)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, SerError> {
        Err(SerError::Key)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, SerError> {
        Err(SerError::Key)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, SerError> {
        Err(SerError::Key)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, SerError> {
        Err(SerError::Key)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, SerError> {
        Err(SerError::Key)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, SerError> {
        Err(SerError::Key)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), SerError> {
        fit(write_display(self.0, value))
    }
}

//! What a decoder lends to serde: the members, elements and variants of the value at hand, and keys.

use super::DeError;
use super::de::{Decoder, Input, Text, invalid, visit_integer};
use serde_core::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};

/// The members of the object that was entered.
pub(super) struct Map<'x, 'de, I> {
    decoder: &'x mut Decoder<I>,
    first: bool,
    /// The key of the value to come.
    key: Text<'de>,
}

impl<'x, I> Map<'x, '_, I> {
    pub(super) fn new(decoder: &'x mut Decoder<I>) -> Self {
        Self { decoder, first: true, key: Text::Plain("") }
    }
}

impl<'de, I: Input<'de>> Map<'_, 'de, I> {
    pub(super) fn end(self) -> Result<(), DeError> {
        if self.decoder.accept(b'}') { Ok(()) } else { Err(DeError::new("more members than expected")) }
    }
}

impl<'de, I: Input<'de>> MapAccess<'de> for &mut Map<'_, 'de, I> {
    type Error = DeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DeError> {
        if self.decoder.peek() == Some(b'}') {
            return Ok(None);
        }
        if !self.first {
            self.decoder.require(b',')?;
        }
        self.first = false;
        self.key = self.decoder.string()?;
        self.decoder.require(b':')?;
        let name = self.key.name();
        seed.deserialize(Key(self.key)).map(Some).map_err(|error| error.in_member(name))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DeError> {
        seed.deserialize(&mut *self.decoder).map_err(|error| error.in_member(self.key.name()))
    }
}

/// The elements of the array that was entered.
pub(super) struct Seq<'x, I> {
    decoder: &'x mut Decoder<I>,
    index: usize,
}

impl<'x, I> Seq<'x, I> {
    pub(super) fn new(decoder: &'x mut Decoder<I>) -> Self {
        Self { decoder, index: 0 }
    }
}

impl<'de, I: Input<'de>> Seq<'_, I> {
    pub(super) fn end(self) -> Result<(), DeError> {
        if self.decoder.accept(b']') { Ok(()) } else { Err(DeError::new("more elements than expected")) }
    }
}

impl<'de, I: Input<'de>> SeqAccess<'de> for &mut Seq<'_, I> {
    type Error = DeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, DeError> {
        if self.decoder.peek() == Some(b']') {
            return Ok(None);
        }
        if self.index > 0 {
            self.decoder.require(b',')?;
        }
        let value = seed.deserialize(&mut *self.decoder).map_err(|error| error.in_element(self.index))?;
        self.index = self.index.saturating_add(1);
        Ok(Some(value))
    }
}

/// The variant that the object that was entered names by its only key.
pub(super) struct Enum<'x, I>(pub(super) &'x mut Decoder<I>);

impl<'de, I: Input<'de>> EnumAccess<'de> for Enum<'_, I> {
    type Error = DeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), DeError> {
        let key =
            self.0.string().map_err(|_| DeError::new("an enum wants one member, named like the variant"))?;
        self.0.require(b':')?;
        Ok((seed.deserialize(Key(key))?, self))
    }
}

impl<'de, I: Input<'de>> VariantAccess<'de> for Enum<'_, I> {
    type Error = DeError;

    fn unit_variant(self) -> Result<(), DeError> {
        serde_core::Deserialize::deserialize(self.0)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DeError> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, DeError> {
        self.0.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        self.0.deserialize_struct("", fields, visitor)
    }
}

/// A variant named by a string.
pub(super) struct UnitEnum<'de>(pub(super) Text<'de>);

impl<'de> EnumAccess<'de> for UnitEnum<'de> {
    type Error = DeError;
    type Variant = UnitOnly;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, UnitOnly), DeError> {
        Ok((seed.deserialize(Key(self.0))?, UnitOnly))
    }
}

/// The content of a variant that has none.
pub(super) struct UnitOnly;

impl<'de> VariantAccess<'de> for UnitOnly {
    type Error = DeError;

    fn unit_variant(self) -> Result<(), DeError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, DeError> {
        Err(DeError::invalid_type(Unexpected::UnitVariant, &"newtype variant"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, DeError> {
        Err(DeError::invalid_type(Unexpected::UnitVariant, &"tuple variant"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, DeError> {
        Err(DeError::invalid_type(Unexpected::UnitVariant, &"struct variant"))
    }
}

/// A key. Types that are written as numbers or booleans are read from its text, as serde_json writes them.
struct Key<'de>(Text<'de>);

macro_rules! integers {
    ($($name:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
            match self.number() {
                Some(text) => visit_integer(text, visitor),
                None => self.0.visit(visitor),
            }
        }
    )*};
}

impl<'de> Key<'de> {
    /// The text, if it is a JSON number.
    fn number(&self) -> Option<&'de [u8]> {
        let Text::Plain(text) = self.0 else { return None };
        let value = super::Raw::new(text)?;
        (value.kind() == super::Kind::Number && value.as_bytes().len() == text.len())
            .then_some(text.as_bytes())
    }

    fn float(&self) -> Option<f64> {
        self.number().and_then(super::number::float)
    }
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.0.visit(visitor)
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.float() {
            Some(value) => visitor.visit_f64(value),
            None => self.0.visit(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.0 {
            Text::Plain("true") => visitor.visit_bool(true),
            Text::Plain("false") => visitor.visit_bool(false),
            text => text.visit(visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.0 {
            Text::Plain(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            text @ Text::Escaped(_) => text.visit(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        // A key has lost its quotes and escapes, so there is no value to hand out.
        if name == super::de::RAW {
            return Err(invalid());
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        visitor.visit_enum(UnitEnum(self.0))
    }

    serde_core::forward_to_deserialize_any! {
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

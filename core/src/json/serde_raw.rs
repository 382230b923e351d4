//! [`Raw`] as a serde type: taken and written as it is by this crate, walked by every other text format, and
//! carried as bytes by binary ones.

use super::de::RAW;
use super::{Kind, Raw, Str};
use core::fmt;
use serde_core::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde_core::ser::{Serialize, Serializer};

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(RAW, RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value as it is written")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw<'de>, D::Error> {
        if deserializer.is_human_readable() {
            return Err(D::Error::custom("only barewire's decoder can give a JSON value as it is written"));
        }
        deserializer.deserialize_bytes(self)
    }

    fn visit_borrowed_bytes<E: serde_core::de::Error>(self, bytes: &'de [u8]) -> Result<Raw<'de>, E> {
        // They may come from anywhere, and a `Raw` is always valid.
        Raw::from_bytes(bytes).map_err(E::custom)
    }
}

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(RAW, &Content(*self))
    }
}

impl Serialize for Str<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.plain() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}

/// What is in a value. The recursion ends because a `Raw` is not deeper than [`DEPTH`](super::DEPTH).
struct Content<'a>(Raw<'a>);

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.0;
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(value.as_bytes());
        }
        match value.kind() {
            Kind::Null => serializer.serialize_unit(),
            Kind::Bool => serializer.serialize_bool(value.as_bool() == Some(true)),
            Kind::String => value.as_string().unwrap_or(Str::trusted(b"")).serialize(serializer),
            Kind::Array => serializer.collect_seq(value.elements().map(Content)),
            Kind::Object => serializer.collect_map(value.members().map(|(key, value)| (key, Content(value)))),
            Kind::Number => {
                let integer = !value.as_bytes().iter().any(|b| matches!(b, b'.' | b'e' | b'E'));
                match (value.as_u64(), value.as_i64(), value.as_f64()) {
                    (Some(n), ..) if integer => serializer.serialize_u64(n),
                    (_, Some(n), _) if integer => serializer.serialize_i64(n),
                    (.., Some(n)) => serializer.serialize_f64(n),
                    _ => Err(serde_core::ser::Error::custom("a number is too large")),
                }
            }
        }
    }
}

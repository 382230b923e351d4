//! The arguments of a call, decoded where they lie.
use super::BadArgs;
use crate::json::{Kind, Raw, decode, skip, value_len};
use core::fmt;

/// The arguments object. Decoding undoes escapes in place, so `&str` fields need no scratch memory.
///
/// ```
/// use barewire::{Args, BadArgs, Fields, FromArgs};
/// struct Blink<'m> { colour: &'m str, times: i64 }
/// impl<'m> FromArgs<'m> for Blink<'m> {
///     fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
///         let (mut colour, mut times) = (None, 1);
///         while let Some((key, value)) = fields.next() {
///             match key {
///                 "colour" => colour = Some(value.str("colour")?),
///                 "times" => times = value.i64("times")?,
///                 _ => {}
///             }
///         }
///         Ok(Self { colour: colour.ok_or(BadArgs::new("colour", "a string"))?, times })
///     }
/// }
/// # fn use_it(args: Args<'_>) -> Result<(), BadArgs> {
/// let blink: Blink<'_> = args.decode()?;
/// # let _ = (blink.colour, blink.times); Ok(()) }
/// ```
pub struct Args<'m>(&'m mut [u8]);

impl fmt::Debug for Args<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.json().fmt(f)
    }
}

impl<'m> Args<'m> {
    /// Over an object's text that lies elsewhere: a driver that hands calls to threads copies it there. White space
    /// around it is left out. `None` if it is no JSON object.
    pub fn from_json(text: &'m mut [u8]) -> Option<Self> {
        let object = Raw::from_bytes(text).ok().filter(|raw| raw.kind() == Kind::Object)?;
        let len = object.as_bytes().len();
        let start = text.len().checked_sub(text.trim_ascii_start().len())?;
        text.get_mut(start..start.checked_add(len)?).map(Self)
    }

    /// Over a valid JSON object, or nothing, which counts as an empty one.
    pub(crate) const fn new(object: &'m mut [u8]) -> Self {
        Self(object)
    }

    /// Through [`FromArgs`], by hand or derived.
    ///
    /// # Errors
    /// [`BadArgs`] says which argument is wrong; give it to [`Reply::bad_args`](crate::Reply::bad_args).
    pub fn decode<T: FromArgs<'m>>(self) -> Result<T, BadArgs> {
        T::from_args(self.fields())
    }

    /// Through serde. A method of its own, not a blanket implementation, so that the feature can't break a `FromArgs`.
    ///
    /// # Errors
    /// [`BadArgs`] if the arguments do not fit the type.
    #[cfg(feature = "serde")]
    pub fn deserialize<T: serde_core::Deserialize<'m>>(self) -> Result<T, BadArgs> {
        let empty = self.0.is_empty();
        let result = if empty {
            crate::json::from_raw(Raw::EMPTY_OBJECT)
        } else {
            crate::json::from_slice_in_place(self.0)
        };
        result.map_err(|_| BadArgs::new("arguments", "as the tool's inputSchema says"))
    }

    /// All of it as one value.
    #[cfg(feature = "derive")]
    pub(super) fn into_value(self) -> Value<'m> {
        Value(self.0)
    }

    /// Member by member.
    #[must_use]
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn fields(self) -> Fields<'m> {
        let inside = match self.0 {
            [b'{', inside @ .., _] => inside,
            _ => &mut [],
        };
        Fields(inside)
    }

    /// As it came; nothing has been decoded yet.
    #[must_use]
    pub fn json(&self) -> Raw<'_> {
        if self.0.is_empty() { Raw::EMPTY_OBJECT } else { Raw::trusted(self.0) }
    }

    /// As it came, for as long as the event lasts.
    #[must_use]
    pub fn into_json(self) -> Raw<'m> {
        if self.0.is_empty() { Raw::EMPTY_OBJECT } else { Raw::trusted(self.0) }
    }
}

/// Implemented by structs of arguments; see [`Args`] for an example. With the feature `derive`,
/// `#[derive(ToolInput)]` implements it, and writes the schema too.
pub trait FromArgs<'m>: Sized {
    /// Reads the members, in the peer's order; of a doubled one the last should win.
    ///
    /// # Errors
    /// [`BadArgs`] for the first member that is wrong or missing.
    fn from_args(fields: Fields<'m>) -> Result<Self, BadArgs>;
}

/// The members of an object, in the peer's order.
#[derive(Debug)]
pub struct Fields<'m>(&'m mut [u8]);

impl<'m> Fields<'m> {
    /// What stands between the braces.
    #[cfg(feature = "derive")]
    pub(super) const fn inside(&self) -> &[u8] {
        self.0
    }

    /// The next key, decoded, and its value.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<(&'m str, Value<'m>)> {
        let rest = core::mem::take(&mut self.0);
        let at = skip(rest, 0, b',');
        let (_, rest) = rest.split_at_mut_checked(at)?;
        let len = value_len(rest)?;
        let (key, rest) = rest.split_at_mut_checked(len)?;
        let at = skip(rest, 0, b':');
        let (_, rest) = rest.split_at_mut_checked(at)?;
        let len = value_len(rest)?;
        let (value, rest) = rest.split_at_mut_checked(len)?;
        self.0 = rest;
        match key {
            [_, body @ .., _] => Some((decode(body), Value(value))),
            _ => None,
        }
    }
}

/// One argument.
#[derive(Debug)]
pub struct Value<'m>(&'m mut [u8]);

impl<'m> Value<'m> {
    /// In place of an argument that was not given; counts as `null`.
    #[cfg(feature = "derive")]
    pub(super) const fn absent() -> Self {
        Self(&mut [])
    }

    #[cfg(feature = "derive")]
    pub(super) fn into_bytes(self) -> &'m mut [u8] {
        self.0
    }

    #[cfg(feature = "derive")]
    pub(super) const fn over(json: &'m mut [u8]) -> Self {
        Self(json)
    }

    #[cfg(feature = "derive")]
    pub(super) const fn raw(&self) -> Raw<'_> {
        Raw::trusted(self.0)
    }

    /// The members of an object; none of any other value.
    #[cfg(feature = "derive")]
    pub(super) fn members(self) -> Fields<'m> {
        Args(self.0).fields()
    }

    /// As it came.
    #[must_use]
    pub fn json(self) -> Raw<'m> {
        Raw::trusted(self.0)
    }

    /// Is it `null`?
    #[must_use]
    pub fn is_null(&self) -> bool {
        Raw::trusted(self.0).is_null()
    }

    /// A string, its escapes undone in place.
    ///
    /// # Errors
    /// [`BadArgs`] naming `field`, for any other kind of value; the same in all these methods.
    pub fn str(self, field: &'static str) -> Result<&'m str, BadArgs> {
        match self.0 {
            [b'"', body @ .., _] => Ok(decode(body)),
            _ => Err(BadArgs::new(field, "a string")),
        }
    }

    /// An integer, exactly; 5.0 is one.
    ///
    /// # Errors
    /// See [`str`](Self::str).
    pub fn i64(self, field: &'static str) -> Result<i64, BadArgs> {
        Raw::trusted(self.0).as_i64().ok_or(BadArgs::new(field, "an integer"))
    }

    /// An integer that is not negative.
    ///
    /// # Errors
    /// See [`str`](Self::str).
    pub fn u64(self, field: &'static str) -> Result<u64, BadArgs> {
        Raw::trusted(self.0).as_u64().ok_or(BadArgs::new(field, "an integer, not negative"))
    }

    /// A number, rounded to the nearest.
    ///
    /// # Errors
    /// See [`str`](Self::str); also for a number that overflows.
    pub fn f64(self, field: &'static str) -> Result<f64, BadArgs> {
        Raw::trusted(self.0).as_f64().ok_or(BadArgs::new(field, "a number"))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// See [`str`](Self::str).
    pub fn bool(self, field: &'static str) -> Result<bool, BadArgs> {
        Raw::trusted(self.0).as_bool().ok_or(BadArgs::new(field, "true or false"))
    }

    /// An object, member by member.
    ///
    /// # Errors
    /// See [`str`](Self::str).
    pub fn object(self, field: &'static str) -> Result<Fields<'m>, BadArgs> {
        if Raw::trusted(self.0).kind() == Kind::Object {
            Ok(Args(self.0).fields())
        } else {
            Err(BadArgs::new(field, "an object"))
        }
    }
}

//! Taking values that were checked. Total all the same: a value that was not becomes zero, so that nothing can panic.
use super::{Items, Shape, check, fill};
use crate::json::Raw;
use crate::server::{BadArgs, Fields, Value};

/// What a field of a derived type can be. Implemented here, and by `#[derive(ToolInput)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a tool's argument",
    label = "derive `ToolInput` for it, or use another type",
    note = "there are bool, i8 to i64, u8 to u64, f32, f64, &str, Raw, Option, arrays, Items, and what derives ToolInput"
)]
pub trait Argument<'m>: Sized {
    /// The value, which was checked.
    fn take(value: Value<'m>) -> Self;
}

/// Room for the values of `N` fields, none of which is given yet.
#[must_use]
pub fn slots<'m, const N: usize>() -> [Value<'m>; N] {
    core::array::from_fn(|_| Value::absent())
}

/// The members of a nested object, sorted.
#[must_use]
pub fn members<'m, const N: usize>(value: Value<'m>, shape: &Shape) -> [Value<'m>; N] {
    let mut slots = slots();
    fill(value.members(), shape, &mut slots);
    slots
}

/// The arguments of a call, checked and sorted.
///
/// # Errors
/// [`BadArgs`] for the first that is wrong or missing.
pub fn arguments<'m, const N: usize>(
    fields: Fields<'m>,
    shape: &'static Shape,
) -> Result<[Value<'m>; N], BadArgs> {
    check(&fields, shape)?;
    let mut slots = slots();
    fill(fields, shape, &mut slots);
    Ok(slots)
}

/// The members of a call's arguments, for a decoder of the user's own.
#[must_use]
pub fn own(value: Value<'_>) -> Fields<'_> {
    value.members()
}

/// The value of a field.
pub fn take<'m, T: Argument<'m>>(value: Value<'m>) -> T {
    T::take(value)
}

/// The value of a field that has a default.
pub fn take_or<'m, T: Argument<'m>>(value: Value<'m>, default: T) -> T {
    if value.raw().as_bytes().is_empty() { default } else { T::take(value) }
}

/// Which of these words it is; the first if none.
pub fn word(value: Value<'_>, words: &[&str]) -> usize {
    words.iter().position(|word| value.raw().is(word)).unwrap_or(0)
}

impl<'m> Argument<'m> for bool {
    fn take(value: Value<'m>) -> Self {
        value.raw().as_bool().unwrap_or(false)
    }
}

#[inline(never)]
fn int(value: &Value<'_>) -> i64 {
    value.raw().as_i64().unwrap_or(0)
}

macro_rules! ints {
    ($($int:ty)*) => {$(
        impl<'m> Argument<'m> for $int {
            fn take(value: Value<'m>) -> Self {
                // In range, as the check has seen.
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                { int(&value) as Self }
            }
        }
    )*};
}
ints! { i8 i16 i32 i64 u8 u16 u32 }

impl<'m> Argument<'m> for u64 {
    fn take(value: Value<'m>) -> Self {
        value.raw().as_u64().unwrap_or(0)
    }
}

impl<'m> Argument<'m> for f64 {
    #[inline(never)]
    fn take(value: Value<'m>) -> Self {
        value.raw().as_f64().unwrap_or(0.0)
    }
}

/// By way of `f64`, whose rounding comes first.
impl<'m> Argument<'m> for f32 {
    fn take(value: Value<'m>) -> Self {
        #[allow(clippy::cast_possible_truncation)]
        {
            f64::take(value) as Self
        }
    }
}

impl<'m> Argument<'m> for &'m str {
    fn take(value: Value<'m>) -> Self {
        value.str("").unwrap_or_default()
    }
}

impl<'m> Argument<'m> for Raw<'m> {
    fn take(value: Value<'m>) -> Self {
        let json = value.json();
        if json.as_bytes().is_empty() { Raw::NULL } else { json }
    }
}

impl<'m, T: Argument<'m>> Argument<'m> for Option<T> {
    fn take(value: Value<'m>) -> Self {
        if value.is_null() { None } else { Some(T::take(value)) }
    }
}

impl<'m, T: Argument<'m>, const N: usize> Argument<'m> for [T; N] {
    fn take(value: Value<'m>) -> Self {
        let mut items = Items::new(value);
        core::array::from_fn(|_| items.next().unwrap_or_else(|| T::take(Value::absent())))
    }
}

impl<'m, T: Argument<'m>> Argument<'m> for Items<'m, T> {
    fn take(value: Value<'m>) -> Self {
        Self::new(value)
    }
}

#[cfg(feature = "alloc")]
impl<'m> Argument<'m> for alloc::string::String {
    fn take(value: Value<'m>) -> Self {
        <&str>::take(value).into()
    }
}

#[cfg(feature = "alloc")]
impl<'m, T: Argument<'m>> Argument<'m> for alloc::vec::Vec<T> {
    fn take(value: Value<'m>) -> Self {
        Items::new(value).collect()
    }
}

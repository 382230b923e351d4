//! A list that is read where it lies.
use super::Argument;
use crate::json::{skip, value_len};
use crate::server::Value;
use core::fmt;
use core::marker::PhantomData;

/// A list of any length, read element by element out of the message; all of them were checked before. Its schema is an array's.
///
/// ```
/// use barewire::{Args, Items, ToolInput};
/// #[derive(ToolInput)]
/// struct Plot<'a> {
///     #[arg(items = 1..=100)]
///     points: Items<'a, f32>,
/// }
/// let mut text = *b"{\"points\":[1, 2.5]}";
/// let plot: Plot<'_> = Args::from_json(&mut text).unwrap().decode()?;
/// assert_eq!(plot.points.len(), 2);
/// assert_eq!(plot.points.sum::<f32>(), 3.5);
/// # Ok::<(), barewire::BadArgs>(())
/// ```
pub struct Items<'m, T> {
    rest: &'m mut [u8],
    of: PhantomData<fn() -> T>,
}

impl<'m, T: Argument<'m>> Items<'m, T> {
    /// The elements of an array; none of any other value.
    pub(super) fn new(value: Value<'m>) -> Self {
        let rest = match value.into_bytes() {
            [b'[', inside @ .., _] => inside,
            _ => &mut [],
        };
        Self { rest, of: PhantomData }
    }

    /// How many are left, counted anew each time.
    #[must_use]
    pub fn len(&self) -> usize {
        let (mut rest, mut count) = (&*self.rest, 0usize);
        while let Some(after) = rest.get(skip(rest, 0, b',')..)
            && let Some(after) = value_len(after).and_then(|len| after.get(len..))
        {
            rest = after;
            count = count.saturating_add(1);
        }
        count
    }

    /// Whether none is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        skip(self.rest, 0, b',') == self.rest.len()
    }
}

impl<'m, T: Argument<'m>> Iterator for Items<'m, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let rest = core::mem::take(&mut self.rest);
        let at = skip(rest, 0, b',');
        let (_, rest) = rest.split_at_mut_checked(at)?;
        let len = value_len(rest)?;
        let (value, rest) = rest.split_at_mut_checked(len)?;
        self.rest = rest;
        Some(T::take(Value::over(value)))
    }
}

impl<T> fmt::Debug for Items<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", core::str::from_utf8(self.rest).unwrap_or_default())
    }
}

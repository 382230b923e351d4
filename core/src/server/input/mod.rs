//! What derived inputs consist of: a constant table of what each argument may be, one check that walks it, and small
//! functions that take checked values. The check is the same code for all tools, so that a tool costs little more than
//! its table.
mod check;
mod found;
mod items;
mod shape;
mod take;
mod text;

pub use check::{Entry, begin};
use check::{check, fill};
pub(super) use found::Found;
pub use items::Items;
pub use shape::{DEPTH, Field, Need, Of, Shape, depth, is_object};
pub use take::{Argument, arguments, members, own, slots, take, take_or, word};
pub use text::{joined, length, text};

/// A type that arguments can have, with its JSON Schema; derived for structs, for enums of variants without fields, and for
/// structs around one value.
///
/// ```
/// use barewire::{Args, BadArgs, ToolInput};
/// /// How to blink.
/// #[derive(ToolInput)]
/// struct Blink<'a> {
///     /// What to show.
///     colour: &'a str,
///     #[arg(range = 1..=10, default = 1)]
///     times: u8,
/// }
/// assert_eq!(
///     Blink::SCHEMA,
///     r#"{"type":"object","properties":{"colour":{"type":"string","description":"What to show."},"#.to_owned()
///         + r#""times":{"type":"integer","minimum":1,"maximum":10,"default":1}},"required":["colour"],"#
///         + r#""additionalProperties":false,"description":"How to blink."}"#
/// );
/// let mut text = *br#"{"colour":"r\u00e9d"}"#;
/// let blink: Blink<'_> = Args::from_json(&mut text).unwrap().decode()?;
/// assert_eq!((blink.colour, blink.times), ("réd", 1));
/// # Ok::<(), BadArgs>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a tool's argument",
    label = "derive `ToolInput` for it, or use another type",
    note = "there are bool, i8 to i64, u8 to u64, f32, f64, &str, Raw, Option, arrays, Items, and what derives ToolInput"
)]
pub trait ToolInput {
    /// The JSON Schema.
    const SCHEMA: &'static str;
    /// Its members, without the description and the braces around them.
    #[doc(hidden)]
    const BODY: &'static str;
    /// `,"description":"…"`, or nothing.
    #[doc(hidden)]
    const ABOUT: &'static str;
    /// What the check goes by.
    #[doc(hidden)]
    const SHAPE: &'static Shape;
}

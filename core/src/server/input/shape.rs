//! What an argument may be, as constant tables.
use super::ToolInput;
use crate::json::{Kind, Raw};

/// How deep arguments may nest: objects and lists, the arguments object included.
pub const DEPTH: usize = 6;

/// What a value must be, and how that is said.
#[derive(Debug)]
pub struct Shape {
    /// After "must be".
    pub expected: &'static str,
    /// The same for the check.
    pub of: Of,
}

/// What a value must be. Bounds are inclusive.
#[derive(Debug)]
pub enum Of {
    /// Any value.
    Any,
    /// `true` or `false`.
    Bool,
    /// An integer.
    Int(i64, i64),
    /// An integer that may be beyond `i64`.
    Uint(u64, u64),
    /// A number.
    Float(f64, f64),
    /// A string, its length in characters.
    Text(u32, u32),
    /// One of these strings.
    Word(&'static [&'static str]),
    /// An array, and how many elements.
    List(&'static Shape, u32, u32),
    /// An object; `true` if it may have other members too.
    Object(&'static [Field], bool),
}

/// A member of an object.
#[derive(Debug)]
pub struct Field {
    /// Its name on the wire.
    pub name: &'static str,
    /// What it must be.
    pub shape: &'static Shape,
    /// Whether it must be there.
    pub need: Need,
}

/// Whether a member must be there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// It must.
    Required,
    /// It has a default.
    Default,
    /// It need not; `null` means the same.
    Optional,
}

impl Shape {
    /// Whether a value is what it must be; of a list and an object, not looking inside.
    pub(super) fn takes(&self, value: Raw<'_>) -> bool {
        match &self.of {
            Of::Any => true,
            Of::Bool => value.kind() == Kind::Bool,
            Of::Int(min, max) => value.as_i64().is_some_and(|n| *min <= n && n <= *max),
            Of::Uint(min, max) => value.as_u64().is_some_and(|n| *min <= n && n <= *max),
            Of::Float(min, max) => value.as_f64().is_some_and(|n| *min <= n && n <= *max),
            Of::Text(0, u32::MAX) => value.kind() == Kind::String,
            Of::Text(min, max) => value.as_string().is_some_and(|s| within(s.chars().count(), *min, *max)),
            Of::Word(words) => value.as_string().is_some_and(|s| words.iter().any(|word| s.is(word))),
            Of::List(_, min, max) => {
                value.kind() == Kind::Array && within(value.elements().count(), *min, *max)
            }
            Of::Object(..) => value.kind() == Kind::Object,
        }
    }
}

fn within(count: usize, min: u32, max: u32) -> bool {
    u32::try_from(count).is_ok_and(|count| min <= count && count <= max)
}

/// How many containers stand in each other. Runs in the compiler.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#[must_use]
pub const fn depth(shape: &Shape) -> usize {
    match &shape.of {
        Of::List(of, ..) => 1 + depth(of),
        Of::Object(fields, _) => {
            let (mut deepest, mut i) = (0, 0);
            while i < fields.len() {
                let inner = depth(fields[i].shape);
                if inner > deepest {
                    deepest = inner;
                }
                i += 1;
            }
            1 + deepest
        }
        _ => 0,
    }
}

/// Whether it is an object's: what a tool's arguments and its structured content are.
#[must_use]
pub const fn is_object(shape: &Shape) -> bool {
    matches!(shape.of, Of::Object(..))
}

macro_rules! plain {
    ($($type:ty: $body:literal, $expected:literal, $of:expr;)*) => {$(
        impl ToolInput for $type {
            const SCHEMA: &'static str = concat!("{", $body, "}");
            const BODY: &'static str = $body;
            const ABOUT: &'static str = "";
            const SHAPE: &'static Shape = &Shape { expected: $expected, of: $of };
        }
    )*};
}

// The outermost bounds of 64 bits are not in the schema: whoever keeps numbers as floats would round them.
plain! {
    bool: r#""type":"boolean""#, "true or false", Of::Bool;
    i8: r#""type":"integer","minimum":-128,"maximum":127"#, "an integer from -128 to 127", Of::Int(-128, 127);
    i16: r#""type":"integer","minimum":-32768,"maximum":32767"#, "an integer from -32768 to 32767",
        Of::Int(-32768, 32767);
    i32: r#""type":"integer","minimum":-2147483648,"maximum":2147483647"#,
        "an integer from -2147483648 to 2147483647", Of::Int(-2_147_483_648, 2_147_483_647);
    i64: r#""type":"integer""#, "an integer from -9223372036854775808 to 9223372036854775807", Of::Int(i64::MIN, i64::MAX);
    u8: r#""type":"integer","minimum":0,"maximum":255"#, "an integer from 0 to 255", Of::Int(0, 255);
    u16: r#""type":"integer","minimum":0,"maximum":65535"#, "an integer from 0 to 65535", Of::Int(0, 65535);
    u32: r#""type":"integer","minimum":0,"maximum":4294967295"#, "an integer from 0 to 4294967295",
        Of::Int(0, 4_294_967_295);
    u64: r#""type":"integer","minimum":0"#, "an integer from 0 to 18446744073709551615", Of::Uint(0, u64::MAX);
    f32: r#""type":"number""#, "a number", Of::Float(-3.402_823_466_385_288_6e38, 3.402_823_466_385_288_6e38);
    f64: r#""type":"number""#, "a number", Of::Float(f64::MIN, f64::MAX);
    &str: r#""type":"string""#, "a string", Of::Text(0, u32::MAX);
}

#[cfg(feature = "alloc")]
plain! { alloc::string::String: r#""type":"string""#, "a string", Of::Text(0, u32::MAX); }

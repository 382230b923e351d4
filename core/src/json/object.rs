//! Writing one object or array, member by member: the commas come by themselves.

use super::write::{
    put_short, write_bool, write_display, write_f64, write_i64, write_raw, write_str, write_u64,
};
use super::{Raw, Sink};
use core::fmt;

/// Writes one object.
///
/// **Sticky:** once the sink refused, or a number was not finite, nothing more is written and
/// [`ok`](Self::ok) and [`end`](Self::end) say false. What the sink took until then stays there.
/// **End it:** without [`end`](Self::end) the closing brace is missing.
///
/// ```
/// use barewire::json::{Object, Writer};
///
/// let mut buffer = [0; 64];
/// let mut out = Writer::new(&mut buffer);
/// let mut object = Object::new(&mut out);
/// object.str("name", "ada").array("xs", |a| {
///     a.int(1).null().object(|o| {
///         o.bool("ok", true);
///     });
/// });
/// assert!(object.end());
/// assert_eq!(out.written(), br#"{"name":"ada","xs":[1,null,{"ok":true}]}"#);
/// ```
pub struct Object<'s> {
    list: List<'s>,
}

/// Writes one array; as [`Object`], without keys.
pub struct Array<'s> {
    list: List<'s>,
}

/// What both have: a sink, whether it took all so far, and whether a comma is due.
struct List<'s> {
    sink: &'s mut dyn Sink,
    ok: bool,
    comma: bool,
}

impl<'s> List<'s> {
    fn new(sink: &'s mut dyn Sink, bracket: &[u8]) -> Self {
        let ok = sink.put(bracket);
        Self { sink, ok, comma: false }
    }

    fn item(&mut self, key: Option<&str>, value: impl FnOnce(&mut dyn Sink) -> bool) {
        if !self.ok {
            return;
        }
        // Most keys go in one piece.
        let begun = key.is_some_and(|key| put_short(self.sink, self.comma, key, b"\":"))
            || (!self.comma || self.sink.put(b","))
                && key.is_none_or(|key| write_str(self.sink, key) && self.sink.put(b":"));
        self.ok = begun && value(self.sink);
        self.comma = true;
    }

    fn end(self, bracket: &[u8]) -> bool {
        self.ok && self.sink.put(bracket)
    }
}

fn object(sink: &mut dyn Sink, fill: impl FnOnce(&mut Object<'_>)) -> bool {
    let mut object = Object::new(sink);
    fill(&mut object);
    object.end()
}

fn array(sink: &mut dyn Sink, fill: impl FnOnce(&mut Array<'_>)) -> bool {
    let mut array = Array::new(sink);
    fill(&mut array);
    array.end()
}

impl<'s> Object<'s> {
    /// Writes `{`.
    pub fn new(sink: &'s mut dyn Sink) -> Self {
        Self { list: List::new(sink, b"{") }
    }

    /// Writes `}`; false if anything did not fit.
    #[must_use = "false means that the text is not complete"]
    pub fn end(self) -> bool {
        self.list.end(b"}")
    }

    /// Whether all fitted so far.
    pub fn ok(&self) -> bool {
        self.list.ok
    }

    /// A member that is a string.
    pub fn str(&mut self, key: &str, value: &str) -> &mut Self {
        self.with(key, |sink| write_str(sink, value))
    }

    /// A member that is a string: what `value` displays.
    pub fn display(&mut self, key: &str, value: impl fmt::Display) -> &mut Self {
        self.with(key, |sink| write_display(sink, &value))
    }

    /// A member that is an integer.
    pub fn int(&mut self, key: &str, value: i64) -> &mut Self {
        self.with(key, |sink| write_i64(sink, value))
    }

    /// A member that is an integer.
    pub fn uint(&mut self, key: &str, value: u64) -> &mut Self {
        self.with(key, |sink| write_u64(sink, value))
    }

    /// A member that is a number. Fails if `value` is not finite.
    pub fn float(&mut self, key: &str, value: f64) -> &mut Self {
        self.with(key, |sink| write_f64(sink, value))
    }

    /// A member that is `true` or `false`.
    pub fn bool(&mut self, key: &str, value: bool) -> &mut Self {
        self.with(key, |sink| write_bool(sink, value))
    }

    /// A member that is `null`.
    pub fn null(&mut self, key: &str) -> &mut Self {
        self.with(key, |sink| sink.put(b"null"))
    }

    /// A member that is ready-made; see [`write_raw`].
    pub fn raw(&mut self, key: &str, value: Raw<'_>) -> &mut Self {
        self.with(key, |sink| write_raw(sink, value))
    }

    /// A member that is an object, which `fill` writes.
    pub fn object(&mut self, key: &str, fill: impl FnOnce(&mut Object<'_>)) -> &mut Self {
        self.with(key, |sink| object(sink, fill))
    }

    /// A member that is an array, which `fill` writes.
    pub fn array(&mut self, key: &str, fill: impl FnOnce(&mut Array<'_>)) -> &mut Self {
        self.with(key, |sink| array(sink, fill))
    }

    /// A member whose value `value` writes: exactly one, or it returns false.
    pub fn with(&mut self, key: &str, value: impl FnOnce(&mut dyn Sink) -> bool) -> &mut Self {
        self.list.item(Some(key), value);
        self
    }
}

impl<'s> Array<'s> {
    /// Writes `[`.
    pub fn new(sink: &'s mut dyn Sink) -> Self {
        Self { list: List::new(sink, b"[") }
    }

    /// Writes `]`; false if anything did not fit.
    #[must_use = "false means that the text is not complete"]
    pub fn end(self) -> bool {
        self.list.end(b"]")
    }

    /// Whether all fitted so far.
    pub fn ok(&self) -> bool {
        self.list.ok
    }

    /// An element that is a string.
    pub fn str(&mut self, value: &str) -> &mut Self {
        self.with(|sink| write_str(sink, value))
    }

    /// An element that is a string: what `value` displays.
    pub fn display(&mut self, value: impl fmt::Display) -> &mut Self {
        self.with(|sink| write_display(sink, &value))
    }

    /// An element that is an integer.
    pub fn int(&mut self, value: i64) -> &mut Self {
        self.with(|sink| write_i64(sink, value))
    }

    /// An element that is an integer.
    pub fn uint(&mut self, value: u64) -> &mut Self {
        self.with(|sink| write_u64(sink, value))
    }

    /// An element that is a number. Fails if `value` is not finite.
    pub fn float(&mut self, value: f64) -> &mut Self {
        self.with(|sink| write_f64(sink, value))
    }

    /// An element that is `true` or `false`.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.with(|sink| write_bool(sink, value))
    }

    /// An element that is `null`.
    pub fn null(&mut self) -> &mut Self {
        self.with(|sink| sink.put(b"null"))
    }

    /// An element that is ready-made; see [`write_raw`].
    pub fn raw(&mut self, value: Raw<'_>) -> &mut Self {
        self.with(|sink| write_raw(sink, value))
    }

    /// An element that is an object, which `fill` writes.
    pub fn object(&mut self, fill: impl FnOnce(&mut Object<'_>)) -> &mut Self {
        self.with(|sink| object(sink, fill))
    }

    /// An element that is an array, which `fill` writes.
    pub fn array(&mut self, fill: impl FnOnce(&mut Array<'_>)) -> &mut Self {
        self.with(|sink| array(sink, fill))
    }

    /// An element that `value` writes: exactly one, or it returns false.
    pub fn with(&mut self, value: impl FnOnce(&mut dyn Sink) -> bool) -> &mut Self {
        self.list.item(None, value);
        self
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("ok", &self.list.ok).finish_non_exhaustive()
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array").field("ok", &self.list.ok).finish_non_exhaustive()
    }
}

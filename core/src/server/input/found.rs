//! Where in the arguments something is wrong, and what was there instead.
use super::{DEPTH, Of, Shape};
use crate::json::{Kind, Raw};

/// The way to the value, as steps through the table, so that it takes no memory to speak of.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Found {
    root: Option<&'static Shape>,
    /// The index of a field, or of an element; 255 stands for any that is not smaller.
    steps: [u8; DEPTH],
    len: u8,
    got: Got,
}

/// What came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Got {
    what: What,
    len: u8,
    /// The beginning of its JSON text.
    text: [u8; 24],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Missing,
    Unknown,
    Scalar,
    Cut,
    Object,
    Array,
}

impl PartialEq for Found {
    fn eq(&self, other: &Self) -> bool {
        let same_root = match (self.root, other.root) {
            (Some(a), Some(b)) => core::ptr::eq(a, b),
            (None, None) => true,
            _ => false,
        };
        same_root && (self.steps, self.len, self.got) == (other.steps, other.len, other.got)
    }
}
impl Eq for Found {}

impl Got {
    pub(super) const MISSING: Self = Self { what: What::Missing, len: 0, text: [0; 24] };

    pub(super) fn value(value: Raw<'_>) -> Self {
        let what = match value.kind() {
            Kind::Object => What::Object,
            Kind::Array => What::Array,
            _ => What::Scalar,
        };
        Self::MISSING.with(what, value)
    }

    pub(super) fn unknown(key: Raw<'_>) -> Self {
        Self::MISSING.with(What::Unknown, key)
    }

    fn with(mut self, what: What, value: Raw<'_>) -> Self {
        let bytes = value.as_bytes();
        self.what = what;
        let mut len = bytes.len().min(self.text.len());
        if len < bytes.len() {
            if what == What::Scalar {
                self.what = What::Cut;
            }
            // Not within a character.
            while len > 0 && bytes.get(len).is_some_and(|b| b & 0xc0 == 0x80) {
                len = len.wrapping_sub(1);
            }
        }
        if let (Some(room), Some(text)) = (self.text.get_mut(..len), bytes.get(..len)) {
            room.copy_from_slice(text);
            self.len = u8::try_from(len).unwrap_or(0);
        }
        self
    }

    fn text(&self) -> &str {
        self.text.get(..usize::from(self.len)).and_then(|t| core::str::from_utf8(t).ok()).unwrap_or_default()
    }
}

impl Found {
    pub(super) const fn new(root: Option<&'static Shape>, got: Got) -> Self {
        Self { root, steps: [0; DEPTH], len: 0, got }
    }

    pub(super) fn push(&mut self, at: usize) {
        if let Some(step) = self.steps.get_mut(usize::from(self.len)) {
            *step = u8::try_from(at).unwrap_or(u8::MAX);
            self.len = self.len.saturating_add(1);
        }
    }

    /// The sentence; false once `put` was.
    pub(in crate::server) fn say(&self, expected: &str, put: &mut dyn FnMut(&str) -> bool) -> bool {
        match self.got.what {
            What::Unknown => {
                // What there is tells what was meant.
                let Some(Shape { of: Of::Object(fields, _), .. }) = self.shape() else { return true };
                let mut done = if self.len == 0 {
                    put("the tool takes no ") && put(self.got.text()) && put("; it takes ")
                } else {
                    put("`") && self.path(put) && put("` has no ") && put(self.got.text()) && put("; it has ")
                };
                if fields.is_empty() {
                    done = done && put("nothing");
                }
                for (i, field) in fields.iter().enumerate() {
                    done = done && (i == 0 || put(", ")) && put("`") && put(field.name) && put("`");
                }
                done
            }
            What::Missing => put("`") && self.path(put) && put("` is missing; it must be ") && put(expected),
            what => {
                put("`")
                    && self.path(put)
                    && put("` must be ")
                    && put(expected)
                    && put("; got ")
                    && match what {
                        What::Object => put("an object"),
                        What::Array => put("a list"),
                        What::Cut => put(self.got.text()) && put("…"),
                        _ => put(self.got.text()),
                    }
            }
        }
    }

    /// The table of what the steps lead to.
    fn shape(&self) -> Option<&'static Shape> {
        let mut shape = self.root;
        for step in self.steps.iter().take(usize::from(self.len)) {
            shape = shape.and_then(|shape| into(shape, *step));
        }
        shape
    }

    /// `lamps[2].colour`
    fn path(&self, put: &mut dyn FnMut(&str) -> bool) -> bool {
        let mut shape = self.root;
        let mut done = true;
        for (i, step) in self.steps.iter().take(usize::from(self.len)).enumerate() {
            match shape.map(|shape| &shape.of) {
                Some(Of::Object(fields, _)) => {
                    let name = fields.get(usize::from(*step)).map_or("", |field| field.name);
                    done = done && (i == 0 || put(".")) && put(name);
                }
                _ => done = done && put("[") && put(decimal(*step, &mut [0; 3])) && put("]"),
            }
            shape = shape.and_then(|shape| into(shape, *step));
        }
        done
    }
}

fn into(shape: &'static Shape, step: u8) -> Option<&'static Shape> {
    match shape.of {
        Of::Object(fields, _) => fields.get(usize::from(step)).map(|field| field.shape),
        Of::List(of, ..) => Some(of),
        _ => None,
    }
}

/// An index in decimal, without what `core::fmt` would bring along.
fn decimal(n: u8, room: &mut [u8; 3]) -> &str {
    if n == u8::MAX {
        return "…";
    }
    let [a, b, c] = room;
    (*a, *b, *c) = (b'0'.wrapping_add(n / 100), b'0'.wrapping_add(n / 10 % 10), b'0'.wrapping_add(n % 10));
    let skip = usize::from(n < 100).wrapping_add(usize::from(n < 10));
    room.get(skip..).and_then(|digits| core::str::from_utf8(digits).ok()).unwrap_or_default()
}

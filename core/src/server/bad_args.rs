//! What is wrong with an argument, as a sentence.
#[cfg(feature = "derive")]
use super::input::Found;
use core::fmt;

/// An argument that is not what the tool takes. Prints as a sentence that a model can act on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BadArgs {
    /// Which one; a derived decoder names the innermost here, and the way to it in the sentence.
    pub field: &'static str,
    /// What it should be, after "must be".
    pub expected: &'static str,
    #[cfg(feature = "derive")]
    pub(super) found: Option<Found>,
}

impl BadArgs {
    /// `field` must be `expected`.
    #[must_use]
    pub const fn new(field: &'static str, expected: &'static str) -> Self {
        Self {
            field,
            expected,
            #[cfg(feature = "derive")]
            found: None,
        }
    }

    /// The sentence, piece by piece; false once `put` was. Not inlined: it is said rarely, and twice in the program.
    pub(super) fn say(&self, put: &mut dyn FnMut(&str) -> bool) -> bool {
        #[cfg(feature = "derive")]
        if let Some(found) = &self.found {
            return found.say(self.expected, put);
        }
        put(self.field) && put(" must be ") && put(self.expected)
    }
}

impl fmt::Display for BadArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.say(&mut |text| f.write_str(text).is_ok()) { Ok(()) } else { Err(fmt::Error) }
    }
}
impl core::error::Error for BadArgs {}

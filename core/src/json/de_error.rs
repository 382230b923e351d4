//! Why a value could not be decoded, in a fixed number of bytes.

use super::message::Message;
use core::fmt;
use serde_core::de::{Expected, Unexpected};

/// Why a value could not be decoded, and where in it.
///
/// Displays as one sentence that names the place, `filter.limit: invalid type: string "x", expected u32`. Long texts are cut off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeError {
    message: Message<80>,
    path: Message<40>,
}

impl DeError {
    pub(super) fn new(text: impl fmt::Display) -> Self {
        Self { message: Message::of(text), path: Message::new() }
    }

    /// The error with a member's name before its path.
    pub(super) fn in_member(mut self, name: &str) -> Self {
        self.separate();
        self.path.prepend(name);
        self
    }

    /// The error with an element's index before its path.
    pub(super) fn in_element(mut self, index: usize) -> Self {
        self.separate();
        let index: Message<24> = Message::of(format_args!("[{index}]"));
        self.path.prepend(index.as_str());
        self
    }

    fn separate(&mut self) {
        if !self.path.is_empty() && !self.path.as_str().starts_with('[') {
            self.path.prepend(".");
        }
    }
}

impl fmt::Display for DeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            let more = if self.path.is_cut() { "…" } else { "" };
            write!(f, "{more}{}: ", self.path.as_str())?;
        }
        write!(f, "{}", self.message)
    }
}

impl core::error::Error for DeError {}

impl serde_core::de::Error for DeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message)
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format_args!("invalid type: {}, expected {expected}", Short(unexpected)))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format_args!("invalid value: {}, expected {expected}", Short(unexpected)))
    }
}

/// Strings are cut so that what was expected is still said.
struct Short<'a>(Unexpected<'a>);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Str(text) => match text.char_indices().nth(16) {
                Some((end, _)) => write!(f, "string {:?}…", text.get(..end).unwrap_or_default()),
                None => write!(f, "string {text:?}"),
            },
            Unexpected::Unit => f.write_str("null"),
            Unexpected::Map => f.write_str("object"),
            Unexpected::Seq => f.write_str("array"),
            other => fmt::Display::fmt(&other, f),
        }
    }
}

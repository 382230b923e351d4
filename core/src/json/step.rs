//! What the scanner says: steps and faults.

use core::fmt;

/// How many containers may be open at once, the outermost included.
pub const DEPTH: usize = 128;

/// What is wrong with a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScanFault {
    /// Not JSON by the grammar of RFC 8259, or more than one text, or the text is not over.
    Syntax,
    /// A string that is not UTF-8.
    Utf8,
    /// More than [`DEPTH`] containers are open.
    Depth,
}

/// A fault and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanError {
    /// What is wrong.
    pub fault: ScanFault,
    /// The first byte that cannot belong to a valid text, counted in bytes since [`Scanner::new`](super::Scanner::new).
    pub at: usize,
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.fault {
            ScanFault::Syntax => "not JSON",
            ScanFault::Utf8 => "not UTF-8",
            ScanFault::Depth => "nested too deeply",
        };
        write!(f, "{what} at byte {}", self.at)
    }
}

impl core::error::Error for ScanError {}

/// What [`Scanner::step`](super::Scanner::step) met. Positions are bytes since [`Scanner::new`](super::Scanner::new).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// All input is consumed. Either the text goes on, or it is over and only white space came.
    More,
    /// A key of the outermost object; the span is its body without the quotes. Comes once its colon was seen.
    Key {
        /// The first byte of the body.
        start: usize,
        /// The closing quote.
        end: usize,
    },
    /// A member's value or an element of the outermost container, complete (a number is once the byte after it
    /// was seen). Never for the values inside it.
    Value {
        /// Its first byte.
        start: usize,
        /// The byte after it.
        end: usize,
    },
    /// The whole text is complete. An outermost scalar has this step only; a number at the end of the input not even
    /// that, since more digits could come: [`Scanner::finish`](super::Scanner::finish) ends it.
    End {
        /// Its first byte.
        start: usize,
        /// The byte after it.
        end: usize,
    },
}

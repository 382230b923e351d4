//! What a writing contender has in hand.

use crate::corpora::{Corpus, Outgoing};

/// Values that take turns, in step with a corpus's messages: a contender that writes has them as a program would, before the
/// clock starts.
#[derive(Clone, Debug)]
pub struct Turns<T> {
    values: Vec<T>,
    at: usize,
}

impl<T> Turns<T> {
    /// These, from the first on.
    #[must_use]
    pub const fn new(values: Vec<T>) -> Self {
        Self { values, at: 0 }
    }

    /// One of each message of a corpus that is to be written.
    pub fn of(corpus: &Corpus, make: impl FnMut(&Outgoing) -> T) -> Self {
        Self::new(corpus.outgoing.iter().map(make).collect())
    }

    /// The next one.
    #[inline]
    #[allow(clippy::should_implement_trait)] // It never ends.
    pub fn next(&mut self) -> &T {
        let at = self.at;
        self.at = if at + 1 == self.values.len() { 0 } else { at + 1 };
        &self.values[at]
    }
}

impl Turns<String> {
    /// A corpus of text.
    #[must_use]
    pub fn texts(corpus: &Corpus) -> Self {
        Self::new(corpus.messages.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect())
    }
}

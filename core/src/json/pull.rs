//! Reading text that nobody checked yet, in one pass: down into values and back, checking on the way.
//!
//! [`Raw`]'s views pass over a value again for each level above what is looked for, after it was checked as a whole. Here each byte is
//! looked at once: what is wanted is taken or entered, what isn't is passed over by `whole.rs`, 64 bytes at a time.
//!
//! **It never** accepts what the scanner refuses, or refuses what that accepts: what `whole.rs` isn't sure of, the scanner decides
//! (`Whole::value_in`), and faults are the scanner's.

use super::compact::Stack;
use super::{DEPTH, Raw, ScanError, ScanFault, Scanner, Step, Str, Whole, cursor};
use core::fmt;

/// A reader that goes down into the values of a text and comes back, checking what it passes.
///
/// What it gave was checked up to there; that the rest is valid, too, says [`end`](Self::end). The same texts are valid as for
/// [`Raw::from_bytes`], and the faults are the same. Bytes that are no UTF-8 may be told before they are come to. Nothing is allocated, and no byte is read again for each level above it.
///
/// A value that isn't taken, and what is left of an object or array that was left early, is passed over and checked all the same.
///
/// ```
/// use barewire::json::Pull;
///
/// let text = br#"{"tools":[{"name":"add","inputSchema":{"type":"object"}},{"name":"now"}],"ttlMs":5}"#;
/// let mut names = Vec::new();
/// let mut pull = Pull::new(text);
/// if let Some(mut result) = pull.value().members()? {
///     while let Some((key, value)) = result.next()? {
///         if !key.is("tools") {
///             continue;
///         }
///         let Some(mut tools) = value.elements()? else { continue };
///         while let Some(tool) = tools.next()? {
///             let Some(mut tool) = tool.members()? else { continue };
///             while let Some((key, value)) = tool.next()? {
///                 if key.is("name") {
///                     names.extend(value.string()?.map(|name| name.to_string()));
///                 }
///             }
///         }
///     }
/// }
/// pull.end()?;
/// assert_eq!(names, ["add", "now"]);
/// # Ok::<(), barewire::json::ScanError>(())
/// ```
pub struct Pull<'a> {
    whole: Whole<'a>,
    at: usize,
    /// Which open containers are objects.
    stack: Stack,
    /// How many containers are open.
    depth: u8,
    /// A value starts at `at`, and nobody took or entered it.
    due: bool,
    /// Nothing but its bracket came of the innermost container.
    first: bool,
    failed: Option<ScanError>,
}

/// A value that comes next; see [`Pull`]. Whoever drops it passes over it.
#[derive(Debug)]
pub struct PullValue<'p, 'a> {
    pull: &'p mut Pull<'a>,
}

/// The members of an object that was entered, double keys included; see [`Pull`].
#[derive(Debug)]
pub struct PullMembers<'p, 'a> {
    pull: &'p mut Pull<'a>,
    depth: u8,
}

/// The elements of an array that was entered; see [`Pull`].
#[derive(Debug)]
pub struct PullElements<'p, 'a> {
    pull: &'p mut Pull<'a>,
    depth: u8,
}

/// What [`Pull::next`] came to.
enum Next<'a> {
    /// A value is due; with this key in front of it, if it is an object's.
    Value(Option<Str<'a>>),
    Closed,
}

impl<'a> Pull<'a> {
    /// Before the text that `bytes` are, white space around it allowed.
    pub fn new(bytes: &'a [u8]) -> Self {
        let at = cursor::skip_space(bytes, 0);
        let whole = Whole::new(bytes);
        Self { whole, at, stack: Stack::EMPTY, depth: 0, due: true, first: false, failed: None }
    }

    /// The outermost value. Once it was taken or entered there is none, and what this gives says `null` or that it is neither
    /// object nor array.
    pub fn value(&mut self) -> PullValue<'_, 'a> {
        PullValue { pull: self }
    }

    /// Checks all that was not read.
    ///
    /// # Errors
    /// The first fault of the text, if it is not one valid JSON text.
    pub fn end(mut self) -> Result<(), ScanError> {
        let rest = self.rest();
        self.or_fault(rest)
    }

    fn rest(&mut self) -> Option<()> {
        while self.due || self.depth > 0 {
            self.next(1)?;
        }
        self.at = cursor::skip_space(self.whole.bytes(), self.at);
        (self.failed.is_none() && self.at == self.whole.bytes().len()).then_some(())
    }

    /// Goes to the next value of the container at `depth`, past all that is open inside of it. `None`: a fault.
    #[inline(always)]
    fn next(&mut self, depth: u8) -> Option<Next<'a>> {
        loop {
            if self.due {
                self.take()?;
            }
            if self.depth < depth {
                return Some(Next::Closed);
            }
            let key = self.step()?;
            if self.depth == depth && self.due {
                return Some(Next::Value(key));
            }
        }
    }

    /// From behind a value or opening bracket to the next value of the innermost container, or out of it.
    #[inline]
    fn step(&mut self) -> Option<Option<Str<'a>>> {
        let bytes = self.whole.bytes();
        let in_object = self.stack.in_object();
        let mut at = cursor::skip_space(bytes, self.at);
        match bytes.get(at)? {
            b'}' | b']' if in_object == (bytes.get(at)? == &b'}') => {
                self.stack.pop();
                self.depth = self.depth.saturating_sub(1);
                self.first = false;
                self.at = at.wrapping_add(1);
                return Some(None);
            }
            _ if self.first => self.first = false,
            b',' => at = cursor::skip_space(bytes, at.wrapping_add(1)),
            _ => return None,
        }
        let mut key = None;
        if in_object {
            let (body, end) = self.key(at)?;
            key = Some(body);
            at = cursor::skip_space(bytes, end);
            if bytes.get(at)? != &b':' {
                return None;
            }
            at = cursor::skip_space(bytes, at.wrapping_add(1));
        }
        self.at = at;
        self.due = true;
        Some(key)
    }

    /// The key whose opening quote is due at `at`, and where it ends.
    #[inline]
    fn key(&mut self, at: usize) -> Option<(Str<'a>, usize)> {
        let bytes = self.whole.bytes();
        if bytes.get(at)? != &b'"' {
            return None;
        }
        let end = self.whole.value_in(at, self.depth)?;
        Some((Str::trusted(bytes.get(at.wrapping_add(1)..end.wrapping_sub(1))?), end))
    }

    /// Takes the value that is due.
    #[inline]
    fn take(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let end = self.whole.value_in(start, self.depth)?;
        self.due = false;
        self.at = end;
        self.whole.bytes().get(start..end)
    }

    /// Enters the container that is due, if it opens with `bracket`.
    #[inline]
    fn enter(&mut self, bracket: u8) -> Option<bool> {
        if self.failed.is_some() {
            return None;
        }
        if !self.due || self.whole.bytes().get(self.at) != Some(&bracket) {
            return Some(false);
        }
        if usize::from(self.depth) >= DEPTH {
            return None;
        }
        self.stack.push(bracket == b'{');
        self.depth = self.depth.saturating_add(1);
        self.at = self.at.wrapping_add(1);
        (self.due, self.first) = (false, true);
        Some(true)
    }

    #[inline(always)]
    fn or_fault<T>(&mut self, found: Option<T>) -> Result<T, ScanError> {
        match found {
            Some(found) => Ok(found),
            None => Err(self.fault()),
        }
    }

    /// What is wrong with the text. From now on, nothing else is said.
    #[cold]
    #[inline(never)]
    fn fault(&mut self) -> ScanError {
        if let Some(error) = self.failed {
            return error;
        }
        let error = fault(self.whole.bytes()).unwrap_or(ScanError { fault: ScanFault::Syntax, at: self.at });
        self.failed = Some(error);
        // Nothing is there any more.
        (self.at, self.due, self.depth) = (usize::MAX, true, 0);
        error
    }
}

impl fmt::Debug for Pull<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pull").field("position", &self.at).field("depth", &self.depth).finish_non_exhaustive()
    }
}

/// The first fault of a text.
fn fault(bytes: &[u8]) -> Option<ScanError> {
    let mut scanner = Scanner::new();
    loop {
        match scanner.step(bytes.get(scanner.position()..).unwrap_or_default()) {
            Ok((_, Step::More)) => return scanner.finish().err(),
            Ok(_) => {}
            Err(error) => return Some(error),
        }
    }
}

impl<'p, 'a> PullValue<'p, 'a> {
    /// Takes it as it is written.
    ///
    /// # Errors
    /// The first fault of the text, if it is in this value or before.
    #[inline]
    pub fn raw(self) -> Result<Raw<'a>, ScanError> {
        if !self.pull.due {
            return Ok(Raw::NULL);
        }
        let taken = self.pull.take();
        self.pull.or_fault(taken).map(Raw::trusted)
    }

    /// Takes it if it is a string, still escaped; else it is passed over.
    ///
    /// # Errors
    /// The first fault of the text, if it is in this value or before.
    #[inline]
    pub fn string(self) -> Result<Option<Str<'a>>, ScanError> {
        self.raw().map(Raw::as_string)
    }

    /// Enters it if it is an object; else it is passed over.
    ///
    /// # Errors
    /// The first fault of the text, if it is here or before; deeper than [`DEPTH`] is one.
    #[inline]
    pub fn members(self) -> Result<Option<PullMembers<'p, 'a>>, ScanError> {
        let entered = self.pull.enter(b'{');
        let entered = self.pull.or_fault(entered)?;
        Ok(entered.then_some(PullMembers { depth: self.pull.depth, pull: self.pull }))
    }

    /// Enters it if it is an array; else it is passed over.
    ///
    /// # Errors
    /// As [`members`](Self::members).
    #[inline]
    pub fn elements(self) -> Result<Option<PullElements<'p, 'a>>, ScanError> {
        let entered = self.pull.enter(b'[');
        let entered = self.pull.or_fault(entered)?;
        Ok(entered.then_some(PullElements { depth: self.pull.depth, pull: self.pull }))
    }
}

impl<'a> PullMembers<'_, 'a> {
    /// The next member; `None` once there is none.
    ///
    /// # Errors
    /// The first fault of the text, if it is before the member's value.
    #[inline]
    #[allow(clippy::should_implement_trait)] // What it gives borrows from it.
    pub fn next(&mut self) -> Result<Option<(Str<'a>, PullValue<'_, 'a>)>, ScanError> {
        let next = self.pull.next(self.depth);
        Ok(match self.pull.or_fault(next)? {
            Next::Value(Some(key)) => Some((key, PullValue { pull: self.pull })),
            _ => None,
        })
    }
}

impl<'a> PullElements<'_, 'a> {
    /// The next element; `None` once there is none.
    ///
    /// # Errors
    /// The first fault of the text, if it is before the element.
    #[inline]
    #[allow(clippy::should_implement_trait)] // What it gives borrows from it.
    pub fn next(&mut self) -> Result<Option<PullValue<'_, 'a>>, ScanError> {
        let next = self.pull.next(self.depth);
        Ok(match self.pull.or_fault(next)? {
            Next::Value(_) => Some(PullValue { pull: self.pull }),
            Next::Closed => None,
        })
    }
}

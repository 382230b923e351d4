//! The resumable scanner: is this RFC 8259 JSON, and where are the members of its outermost container?
//!
//! It may be fed any split of the text, keeps one bit per open container, never recurses, never looks at a byte
//! twice and never needs the bytes that it has consumed again.

use super::bytes::SMALL;
use super::compact::Stack;
use super::grammar::{State, To};
use super::step::{DEPTH, ScanError, ScanFault, Step};
use super::{lanes, utf8};
use core::fmt;
use core::ops::Range;

/// A strict, resumable JSON validator that stops at the borders of the outermost container's members.
///
/// **Split rule:** the steps, their positions and the faults are the same however the text is cut into inputs.
///
/// **Fault rule:** after `Syntax` or `Utf8` every call gives that error again. After `Depth` the scan may be
/// continued with the input from [`position`](Self::position) on, to find the rest of the outermost members (an
/// `id`, say): the containers over the limit are then skimmed, with their brackets counted and not matched, and
/// [`finish`](Self::finish) still says `Depth`.
///
/// ```
/// use barewire::json::{Scanner, Step};
///
/// let text = br#"{"id": 7, "x": [1, 2]}"#;
/// let mut scanner = Scanner::new();
/// let (mut input, mut spans) = (&text[..], Vec::new());
/// loop {
///     let (taken, step) = scanner.step(input)?;
///     input = &input[taken..];
///     match step {
///         Step::More => break,
///         Step::Key { start, end } | Step::Value { start, end } => spans.push(&text[start..end]),
///         Step::End { .. } => {}
///     }
/// }
/// assert_eq!(scanner.finish()?, 0..text.len());
/// assert_eq!(spans, [&b"id"[..], b"7", b"x", b"[1, 2]"]);
/// # Ok::<(), barewire::json::ScanError>(())
/// ```
#[derive(Clone)]
pub struct Scanner {
    /// Which open containers are objects.
    pub(super) stack: Stack,
    /// Bytes consumed.
    pub(super) pos: usize,
    /// Where the text starts, and the key or value of the outermost container.
    pub(super) starts: [usize; 2],
    /// Where that key ended, or the text; while skimming, how many containers over the limit are open.
    pub(super) end: usize,
    pub(super) state: State,
    /// Open containers; `SKIMMING` while there are more than fit.
    pub(super) depth: u8,
    /// Is the string at hand a key?
    pub(super) key: bool,
    too_deep: bool,
}

const _: () = assert!(size_of::<Scanner>() < 64);

const SKIMMING: u8 = DEPTH as u8 + 1;

/// What a run of the scanner ends at; keys and values are those of the outermost container.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Met {
    /// Nothing, or the end of the input.
    Nothing,
    Key,
    Value,
    /// The end of the text.
    Text,
    Fault(ScanFault),
}

/// Whether `text` is one value and nothing else, for a place in so many containers.
pub(super) fn is_value(text: &[u8], around: u8) -> bool {
    let mut scanner = Scanner::new();
    if around > 0 {
        scanner.depth = around;
        scanner.state = State::Value;
    }
    loop {
        match scanner.step(text.get(scanner.pos..).unwrap_or_default()) {
            Ok((_, Step::More)) => break,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    scanner.depth == around
        && matches!(
            scanner.state,
            State::After | State::Done | State::Zero | State::Int | State::Fraction | State::Exponent
        )
}

impl Default for Scanner {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner")
            .field("position", &self.pos)
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}

impl Scanner {
    /// A scanner before its text.
    pub const fn new() -> Self {
        Self {
            stack: Stack::EMPTY,
            pos: 0,
            starts: [0; 2],
            end: 0,
            state: State::Start,
            depth: 0,
            key: false,
            too_deep: false,
        }
    }

    /// Consumes from `input` up to the next border; returns how many bytes were consumed and what was met.
    ///
    /// Call again with the rest until it says [`Step::More`].
    ///
    /// # Errors
    /// The first fault in the text. [`position`](Self::position) is then its place, and what stood before it is
    /// consumed.
    #[inline]
    pub fn step(&mut self, input: &[u8]) -> Result<(usize, Step), ScanError> {
        let (taken, met) = self.run(input);
        self.pos = self.pos.wrapping_add(taken);
        let ([text, start], pos) = (self.starts, self.pos);
        let step = match met {
            Met::Nothing => Step::More,
            Met::Key => Step::Key { start, end: self.end },
            Met::Value => Step::Value { start, end: pos },
            Met::Text => {
                self.end = pos;
                Step::End { start: text, end: pos }
            }
            Met::Fault(fault) => return Err(self.fail(fault)),
        };
        Ok((taken, step))
    }

    /// Says that no more input comes; gives the span of the text.
    ///
    /// # Errors
    /// If there was no complete text, or it was too deep.
    pub fn finish(&mut self) -> Result<Range<usize>, ScanError> {
        let number = matches!(self.state, State::Zero | State::Int | State::Fraction | State::Exponent);
        if number && self.depth == 0 {
            self.state = State::Done;
            self.end = self.pos;
        }
        match self.state {
            State::Done if self.too_deep => Err(self.fail(ScanFault::Depth)),
            State::Done => Ok(self.starts[0]..self.end),
            State::NotUtf8 => Err(self.fail(ScanFault::Utf8)),
            _ => Err(self.fail(ScanFault::Syntax)),
        }
    }

    /// How many bytes were consumed since [`Scanner::new`].
    pub const fn position(&self) -> usize {
        self.pos
    }

    /// Whether nothing but white space was seen.
    pub const fn is_blank(&self) -> bool {
        matches!(self.state, State::Start)
    }

    fn fail(&mut self, fault: ScanFault) -> ScanError {
        match fault {
            ScanFault::Depth => self.too_deep = true,
            ScanFault::Syntax => self.state = State::NotJson,
            ScanFault::Utf8 => self.state = State::NotUtf8,
        }
        ScanError { fault, at: self.pos }
    }

    /// Consumes up to the next border: where that is, and what it is.
    fn run(&mut self, input: &[u8]) -> (usize, Met) {
        let base = self.pos;
        let mut i = 0usize;
        loop {
            if !SMALL
                && self.depth > 0
                && matches!(
                    self.state,
                    State::Value | State::FirstElement | State::FirstKey | State::Key | State::After
                )
            {
                let (at, met) = self.compact(input, i);
                i = at;
                if met != Met::Nothing {
                    return (i, met);
                }
            }
            i = self.same(input, i);
            let Some(&byte) = input.get(i) else {
                return match self.state {
                    State::NotJson => (i, Met::Fault(ScanFault::Syntax)),
                    State::NotUtf8 => (i, Met::Fault(ScanFault::Utf8)),
                    _ => (i, Met::Nothing),
                };
            };
            if byte <= b' ' && self.state.takes_space() && matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                i = i.wrapping_add(1);
                continue;
            }
            let at = || base.wrapping_add(i);
            if self.state.wants_value()
                && let Some(start) = self.starts.get_mut(usize::from(self.depth))
            {
                *start = at();
            }
            let mut met = Met::Nothing;
            match self.state.on(byte) {
                To::Go(state) => self.state = state,
                To::Text => {
                    self.key = false;
                    self.state = State::Str;
                }
                To::Key => {
                    if self.depth == 1 {
                        self.starts[1] = at().wrapping_add(1);
                    }
                    self.key = true;
                    self.state = State::Str;
                }
                To::Quote if self.key => {
                    if self.depth == 1 {
                        self.end = at();
                    }
                    self.state = State::Colon;
                }
                To::Quote | To::End => met = self.ended(),
                To::Over => {
                    // The byte belongs to what comes next.
                    met = self.ended();
                    if met == Met::Nothing {
                        continue;
                    }
                    return (i, met);
                }
                To::Open => met = self.open(byte == b'{'),
                To::Close if self.stack.in_object() == (byte == b'}') => {
                    self.stack.pop();
                    self.depth = self.depth.wrapping_sub(1);
                    met = self.ended();
                }
                To::Comma => self.state = if self.stack.in_object() { State::Key } else { State::Value },
                To::Colon => {
                    self.state = State::Value;
                    if self.depth == 1 {
                        met = Met::Key;
                    }
                }
                To::SkimOpen => self.end = self.end.saturating_add(1),
                To::SkimClose => {
                    self.end = self.end.wrapping_sub(1);
                    if self.end == 0 {
                        self.depth = DEPTH as u8;
                        self.state = State::After;
                    }
                }
                To::Utf8 => met = Met::Fault(ScanFault::Utf8),
                To::Close | To::Syntax => met = Met::Fault(ScanFault::Syntax),
            }
            if let Met::Fault(_) = met {
                return (i, met);
            }
            i = i.wrapping_add(1);
            if met != Met::Nothing {
                return (i, met);
            }
        }
    }

    /// Goes over a run of bytes that change nothing: the table knows them too, but one at a time.
    #[inline]
    fn same(&self, input: &[u8], mut i: usize) -> usize {
        match self.state {
            State::Str => {
                i = lanes::plain(input, i);
                if !SMALL && input.get(i).is_some_and(|b| *b >= 0x80) {
                    let run = input.get(i..lanes::special(input, i)).unwrap_or_default();
                    // Before what is cut by the end of the input, or wrong: the table says which, and where.
                    i = i.wrapping_add(utf8::check(run).err().unwrap_or(run.len()));
                }
                i
            }
            State::Int | State::Fraction | State::Exponent if !SMALL => {
                while let Some(b'0'..=b'9') = input.get(i) {
                    i = i.wrapping_add(1);
                }
                i
            }
            _ => i,
        }
    }

    #[inline]
    fn open(&mut self, object: bool) -> Met {
        if usize::from(self.depth) < DEPTH {
            self.stack.push(object);
            self.depth = self.depth.wrapping_add(1);
            self.state = if object { State::FirstKey } else { State::FirstElement };
        } else if self.too_deep {
            self.depth = SKIMMING;
            self.end = 1;
            self.state = State::Skim;
        } else {
            return Met::Fault(ScanFault::Depth);
        }
        Met::Nothing
    }

    /// A value is complete.
    #[inline]
    fn ended(&mut self) -> Met {
        self.state = State::After;
        match self.depth {
            0 => {
                self.state = State::Done;
                return Met::Text;
            }
            1 => return Met::Value,
            SKIMMING => self.state = State::Skim,
            _ => {}
        }
        Met::Nothing
    }
}

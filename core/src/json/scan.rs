//! The resumable scanner: is this RFC 8259 JSON, and where are the members of its outermost container?
//!
//! It may be fed any split of the text, keeps one bit per open container, never recurses, never looks at a byte
//! twice and never needs the bytes that it has consumed again.

use super::bytes::SMALL;
use super::compact::Stack;
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
    /// Where the text starts.
    text: usize,
    /// Where the key or value of the outermost container starts.
    pub(super) start: usize,
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

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Before the text.
    Start,
    /// A value must come.
    Value,
    /// `[` came: a value or the end.
    FirstElement,
    /// `{` came: a key or the end.
    FirstKey,
    /// A key must come.
    Key,
    /// A key came.
    Colon,
    /// A value in a container came.
    After,
    Str,
    Escape,
    /// So many hexadecimal digits are missing.
    Hex(u8),
    /// So many continuation bytes are missing, the next one within these bounds.
    Utf8(u8, u8, u8),
    /// The word, and how much of it came.
    Word(Word, u8),
    Minus,
    Zero,
    Int,
    Dot,
    Fraction,
    E,
    ESign,
    Exponent,
    /// Over the limit of depth.
    Skim,
    /// The text is over.
    Done,
    Failed(ScanFault),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    True,
    False,
    Null,
}

impl Word {
    const fn text(self) -> &'static [u8] {
        match self {
            Self::True => b"true",
            Self::False => b"false",
            Self::Null => b"null",
        }
    }
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
            text: 0,
            start: 0,
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
        let (taken, result) = self.run(input);
        self.pos = self.pos.wrapping_add(taken);
        match result {
            Ok(step) => Ok((taken, step)),
            Err(fault) => Err(self.fail(fault)),
        }
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
            State::Failed(fault) => Err(self.fail(fault)),
            State::Done if self.too_deep => Err(self.fail(ScanFault::Depth)),
            State::Done => Ok(self.text..self.end),
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
        if fault == ScanFault::Depth {
            self.too_deep = true;
        } else {
            self.state = State::Failed(fault);
        }
        ScanError { fault, at: self.pos }
    }

    fn run(&mut self, input: &[u8]) -> (usize, Result<Step, ScanFault>) {
        const SYNTAX: Result<Step, ScanFault> = Err(ScanFault::Syntax);
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
                let (at, step) = self.compact(input, i);
                i = at;
                if let Some(step) = step {
                    return (i, Ok(step));
                }
            }
            // Strings and numbers look at the byte themselves, so that their runs are skipped in one go.
            let byte = match self.state {
                State::Str => {
                    i = lanes::plain(input, i);
                    match input.get(i) {
                        None => return (i, Ok(Step::More)),
                        Some(b'"') => {
                            let quote = base.wrapping_add(i);
                            i = i.wrapping_add(1);
                            if self.key {
                                self.state = State::Colon;
                                if self.depth == 1 {
                                    self.end = quote;
                                }
                            } else if let Some(step) = self.ended(quote.wrapping_add(1)) {
                                return (i, Ok(step));
                            }
                        }
                        Some(b'\\') => {
                            i = i.wrapping_add(1);
                            self.state = State::Escape;
                        }
                        Some(0x80..) => match self.characters(input, i) {
                            Ok(n) => i = n,
                            Err(fault) => return (i, Err(fault)),
                        },
                        Some(_) => return (i, SYNTAX),
                    }
                    continue;
                }
                State::Int | State::Fraction | State::Exponent => {
                    while let Some(b'0'..=b'9') = input.get(i) {
                        i = i.wrapping_add(1);
                    }
                    match input.get(i) {
                        None => return (i, Ok(Step::More)),
                        Some(&b) => b,
                    }
                }
                State::Skim => {
                    while input.get(i).is_some_and(|b| !matches!(b, b'"' | b'{' | b'}' | b'[' | b']')) {
                        i = i.wrapping_add(1);
                    }
                    match input.get(i) {
                        None => return (i, Ok(Step::More)),
                        Some(&b) => b,
                    }
                }
                State::Failed(fault) => return (i, Err(fault)),
                State::Escape
                | State::Hex(_)
                | State::Utf8(..)
                | State::Word(..)
                | State::Minus
                | State::Zero
                | State::Dot
                | State::E
                | State::ESign => match input.get(i) {
                    None => return (i, Ok(Step::More)),
                    Some(&b) => b,
                },
                _ => {
                    while let Some(b' ' | b'\n' | b'\r' | b'\t') = input.get(i) {
                        i = i.wrapping_add(1);
                    }
                    match input.get(i) {
                        None => return (i, Ok(Step::More)),
                        Some(&b) => b,
                    }
                }
            };
            match self.state {
                State::Start | State::Value | State::FirstElement => {
                    let at = base.wrapping_add(i);
                    match self.depth {
                        0 => self.text = at,
                        1 => self.start = at,
                        _ => {}
                    }
                    match byte {
                        b'"' => {
                            self.key = false;
                            self.state = State::Str;
                        }
                        b'{' | b'[' => {
                            if let Err(fault) = self.open(byte == b'{') {
                                return (i, Err(fault));
                            }
                        }
                        b'0' => self.state = State::Zero,
                        b'1'..=b'9' => self.state = State::Int,
                        b'-' => self.state = State::Minus,
                        b't' => self.state = State::Word(Word::True, 1),
                        b'f' => self.state = State::Word(Word::False, 1),
                        b'n' => self.state = State::Word(Word::Null, 1),
                        b']' if self.state == State::FirstElement => {
                            if let Some(step) = self.close(at.wrapping_add(1)) {
                                return (i.wrapping_add(1), Ok(step));
                            }
                        }
                        _ => return (i, SYNTAX),
                    }
                }
                State::FirstKey | State::Key => match byte {
                    b'"' => {
                        if self.depth == 1 {
                            self.start = base.wrapping_add(i).wrapping_add(1);
                        }
                        self.key = true;
                        self.state = State::Str;
                    }
                    b'}' if self.state == State::FirstKey => {
                        if let Some(step) = self.close(base.wrapping_add(i).wrapping_add(1)) {
                            return (i.wrapping_add(1), Ok(step));
                        }
                    }
                    _ => return (i, SYNTAX),
                },
                State::Colon => {
                    if byte != b':' {
                        return (i, SYNTAX);
                    }
                    self.state = State::Value;
                    if self.depth == 1 {
                        return (i.wrapping_add(1), Ok(Step::Key { start: self.start, end: self.end }));
                    }
                }
                State::After => match byte {
                    b',' => self.state = if self.stack.in_object() { State::Key } else { State::Value },
                    b'}' | b']' if self.stack.in_object() == (byte == b'}') => {
                        if let Some(step) = self.close(base.wrapping_add(i).wrapping_add(1)) {
                            return (i.wrapping_add(1), Ok(step));
                        }
                    }
                    _ => return (i, SYNTAX),
                },
                State::Escape => match byte {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.state = State::Str,
                    b'u' => self.state = State::Hex(4),
                    _ => return (i, SYNTAX),
                },
                State::Hex(left) => {
                    if !byte.is_ascii_hexdigit() {
                        return (i, SYNTAX);
                    }
                    self.state = if left > 1 { State::Hex(left.wrapping_sub(1)) } else { State::Str };
                }
                State::Utf8(left, low, high) => {
                    if byte < low || byte > high {
                        return (i, Err(ScanFault::Utf8));
                    }
                    self.state =
                        if left > 1 { State::Utf8(left.wrapping_sub(1), 0x80, 0xbf) } else { State::Str };
                }
                State::Word(word, n) => {
                    let text = word.text();
                    if text.get(usize::from(n)) != Some(&byte) {
                        return (i, SYNTAX);
                    }
                    let n = n.wrapping_add(1);
                    self.state = State::Word(word, n);
                    if usize::from(n) == text.len()
                        && let Some(step) = self.ended(base.wrapping_add(i).wrapping_add(1))
                    {
                        return (i.wrapping_add(1), Ok(step));
                    }
                }
                State::Minus => match byte {
                    b'0' => self.state = State::Zero,
                    b'1'..=b'9' => self.state = State::Int,
                    _ => return (i, SYNTAX),
                },
                State::Zero | State::Int | State::Fraction | State::Exponent => match (self.state, byte) {
                    (State::Zero | State::Int, b'.') => self.state = State::Dot,
                    (State::Zero | State::Int | State::Fraction, b'e' | b'E') => self.state = State::E,
                    _ => {
                        // The byte belongs to what comes next.
                        if let Some(step) = self.ended(base.wrapping_add(i)) {
                            return (i, Ok(step));
                        }
                        continue;
                    }
                },
                State::Dot if byte.is_ascii_digit() => self.state = State::Fraction,
                State::E if matches!(byte, b'+' | b'-') => self.state = State::ESign,
                State::E | State::ESign if byte.is_ascii_digit() => self.state = State::Exponent,
                State::Skim => match byte {
                    b'"' => {
                        self.key = false;
                        self.state = State::Str;
                    }
                    b'{' | b'[' => self.end = self.end.saturating_add(1),
                    _ => {
                        self.end = self.end.saturating_sub(1);
                        if self.end == 0 {
                            self.depth = DEPTH as u8;
                            self.state = State::After;
                        }
                    }
                },
                // White space is gone, so this is a second text; the others are caught above.
                _ => return (i, SYNTAX),
            }
            i = i.wrapping_add(1);
        }
    }

    /// Checks the run of characters that starts with a non-ASCII one at `from`; returns where it ends.
    fn characters(&mut self, input: &[u8], from: usize) -> Result<usize, ScanFault> {
        let end = lanes::special(input, from);
        let run = input.get(from..end).unwrap_or_default();
        let Err(valid) = utf8::check(run) else { return Ok(end) };
        // Cut by the end of the input or wrong: byte by byte, so that the fault's place does not depend on cuts.
        let from = from.wrapping_add(valid);
        self.state = match input.get(from).copied().unwrap_or(0) {
            0xc2..=0xdf => State::Utf8(1, 0x80, 0xbf),
            0xe0 => State::Utf8(2, 0xa0, 0xbf),
            0xe1..=0xec | 0xee | 0xef => State::Utf8(2, 0x80, 0xbf),
            0xed => State::Utf8(2, 0x80, 0x9f),
            0xf0 => State::Utf8(3, 0x90, 0xbf),
            0xf1..=0xf3 => State::Utf8(3, 0x80, 0xbf),
            0xf4 => State::Utf8(3, 0x80, 0x8f),
            // Nothing can follow: the fault is at this byte, which the state finds without consuming it.
            _ => {
                self.state = State::Utf8(1, 1, 0);
                return Ok(from);
            }
        };
        Ok(from.wrapping_add(1))
    }

    #[inline]
    fn open(&mut self, object: bool) -> Result<(), ScanFault> {
        if usize::from(self.depth) >= DEPTH {
            if !self.too_deep {
                return Err(ScanFault::Depth);
            }
            self.depth = SKIMMING;
            self.end = 1;
            self.state = State::Skim;
            return Ok(());
        }
        self.stack.push(object);
        self.depth = self.depth.wrapping_add(1);
        self.state = if object { State::FirstKey } else { State::FirstElement };
        Ok(())
    }

    /// The innermost container is closed; `end` is the position after its bracket.
    #[inline]
    fn close(&mut self, end: usize) -> Option<Step> {
        self.stack.pop();
        self.depth = self.depth.wrapping_sub(1);
        self.ended(end)
    }

    /// A value is complete; `end` is the position after it.
    #[inline]
    fn ended(&mut self, end: usize) -> Option<Step> {
        self.state = State::After;
        match self.depth {
            0 => {
                self.end = end;
                self.state = State::Done;
                Some(Step::End { start: self.text, end })
            }
            1 => Some(Step::Value { start: self.start, end }),
            SKIMMING => {
                self.state = State::Skim;
                None
            }
            _ => None,
        }
    }
}

//! Checking text that lies there as a whole, 64 bytes at a time: the fast way beside the [`Scanner`](super::Scanner).
//!
//! **It may only say yes.** `None` means: not sure, ask the scanner, which names the fault or accepts what is rare. What is accepted
//! here the scanner accepts too, with the same borders.
//!
//! Each block becomes a few masks (`masks.rs`), and the grammar becomes shifts of them: what follows what is asked of 64 bytes at
//! once. Only brackets and scalars are looked at one by one. docs/performance.md has a picture.

use super::bytes::FAST;
use super::masks::{self, Block};
use super::quoted::{Escapes, View};
use super::scan::is_value;
use super::{cursor, lanes, utf8};

/// One text, and what is known of it.
pub(crate) struct Whole<'a> {
    bytes: &'a [u8],
    /// All of it from here on is UTF-8.
    utf8: bool,
}

impl<'a> Whole<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, utf8: false }
    }

    pub(crate) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The same of a text that goes on, of which it may be known that it is UTF-8.
    #[cfg(feature = "serde")]
    pub(super) const fn after(bytes: &'a [u8], utf8: bool) -> Self {
        Self { bytes, utf8 }
    }

    /// Whether all that follows is known to be UTF-8.
    #[cfg(feature = "serde")]
    pub(super) const fn is_utf8(&self) -> bool {
        self.utf8
    }

    /// The end of the value that starts at `at`, within so many containers, if it is valid; here the scanner is asked, too.
    #[inline]
    pub(super) fn value_in(&mut self, at: usize, around: u8) -> Option<usize> {
        match self.value(at) {
            // No container that is accepted in blocks has more than 62 levels.
            Some(end) if around < 64 => Some(end),
            _ => self.asked(at, around),
        }
    }

    /// The same as the scanner has it.
    #[cold]
    #[inline(never)]
    fn asked(&mut self, at: usize, around: u8) -> Option<usize> {
        let rest = self.bytes.get(at..)?;
        // Asked of all that follows, once, so that no later value can make the fast way ask that in vain again.
        self.utf8 = self.utf8 || utf8::is_valid(rest);
        let value = rest.get(..cursor::value(rest)?)?;
        (self.utf8 && is_value(value, around)).then(|| at.wrapping_add(value.len()))
    }

    /// The end of the value that starts at `at`, if it is valid for sure and more bytes follow it or it is no number.
    #[inline]
    pub(crate) fn value(&mut self, at: usize) -> Option<usize> {
        match self.bytes.get(at)? {
            b'{' | b'[' if FAST => self.container(at),
            b'"' => {
                let from = at.wrapping_add(1);
                let end = lanes::plain(self.bytes, from);
                if self.bytes.get(end)? == &b'"' { Some(end.wrapping_add(1)) } else { self.string(end) }
            }
            _ => scalar(self.bytes, at),
        }
    }

    /// The end of a string that goes on at `at`, which is not within an escape or a character.
    #[inline(never)]
    fn string(&mut self, at: usize) -> Option<usize> {
        let mut escapes = Escapes::NONE;
        let at = self.inside(at, &mut escapes)?;
        // The block with its end.
        let mut room = None;
        let view = match self.bytes.get(at..)?.first_chunk() {
            Some(block) => View::all(block),
            None => View::last(self.bytes, at, &mut room)?,
        };
        self.check_utf8(view.block, at)?;
        let quotes = view.eq(b'"');
        let ending = quotes & !escapes.of(view, quotes, view.eq(b'\\'))?;
        // Up to the closing quote.
        let inside = ending.wrapping_sub(1) & !ending;
        let is_valid = ending != 0 && view.controls() & inside == 0;
        is_valid.then(|| at.wrapping_add(ending.trailing_zeros() as usize).wrapping_add(1))
    }

    /// Passes over the blocks from `at` on that are inside of a string as a whole. Returns the place of the one that has its end, or is
    /// no whole one.
    #[inline(always)]
    fn inside(&mut self, mut at: usize, escapes: &mut Escapes) -> Option<usize> {
        let mut plain = 0u8;
        while let Some(block) = self.bytes.get(at..)?.first_chunk::<64>() {
            // An escape every few blocks can't be foreseen: looking for them costs less than branching wrongly.
            let view = View::all(block);
            let (quotes, slashes) = (view.eq(b'"'), view.eq(b'\\'));
            let before = *escapes;
            let escaped = escapes.of(view, quotes, slashes)?;
            if quotes & !escaped != 0 {
                *escapes = before;
                break;
            }
            if masks::has_control(block) {
                return None;
            }
            self.check_utf8(block, at)?;
            at = at.wrapping_add(64);
            plain = if slashes == 0 { plain.wrapping_add(1) } else { 0 };
            if plain >= 4 && escapes.over() {
                while let Some(block) = self.bytes.get(at..)?.first_chunk::<64>()
                    && self.is_dull(block)
                {
                    at = at.wrapping_add(64);
                }
                plain = 0;
            }
        }
        Some(at)
    }

    /// The end of an object or array.
    #[inline(never)]
    fn container(&mut self, start: usize) -> Option<usize> {
        let mut before = Before::CONTAINER;
        let mut at = start;
        loop {
            if before.long {
                (at, before.escapes) = self.long(at, before.escapes)?;
            }
            let Some(block) = self.bytes.get(at..)?.first_chunk() else { return self.last(at, before) };
            match self.block(View::all(block), at, &mut before)? {
                0 => at = at.wrapping_add(64),
                end => return Some(end),
            }
        }
    }

    /// The same as [`inside`](Self::inside), but where the loop around it keeps its registers for the usual blocks.
    #[inline(never)]
    fn long(&mut self, at: usize, mut escapes: Escapes) -> Option<(usize, Escapes)> {
        Some((self.inside(at, &mut escapes)?, escapes))
    }

    /// The last block, which is no whole one: apart from the others, which are faster without shifting anything.
    #[inline(never)]
    fn last(&mut self, at: usize, mut before: Before) -> Option<usize> {
        let mut room = None;
        let view = View::last(self.bytes, at, &mut room)?;
        self.block(view, at, &mut before).filter(|end| *end != 0)
    }

    /// One block, whose first byte that counts is the text's at `at`. The index behind the container if it ends here, else 0.
    #[inline(always)]
    fn block(&mut self, view: View<'_>, at: usize, before: &mut Before) -> Option<usize> {
        let View { block, shift } = view;
        let mut quotes = view.eq(b'"');
        let mut controls = 0;
        if !before.escapes.over() || masks::has_slash_control_or_high(block) {
            (quotes, controls, before.escapes) = self.rare(view, at, quotes, before.escapes)?;
        }
        before.long = quotes | !before.in_string == 0;
        if before.long {
            return if controls == 0 { Some(0) } else { None };
        }
        // From each opening quote up to its closing one, which is left out.
        let strings = masks::parity(quotes) ^ before.in_string;
        before.in_string = spread(strings >> 63);
        if strings & controls != 0 {
            return None;
        }
        let outside = !(strings | quotes) & !0 >> shift;
        let brackets = (masks::brackets(block) >> shift) & outside;
        let colons = view.eq(b':') & outside;
        let commas = view.eq(b',') & outside;
        let mut scalars = outside & !(brackets | colons | commas);
        let mut space = 0;
        if scalars != 0 {
            space = view.eq(b' ');
            if controls != 0 {
                space |= view.eq(b'\n') | view.eq(b'\r') | view.eq(b'\t');
            }
            space &= scalars;
            scalars &= !space;
        }
        let walked = before.walk(block, shift, brackets)?;
        let found = Found { quotes, strings, brackets, colons, commas, scalars };
        let (wrong, first) = if space == 0 {
            before.judge(&found, &walked, follow)
        } else {
            before.judge(&found, &walked, |x, before| follow_space(x, space, before))
        };
        if before.stack != 1 {
            let is_valid = wrong == 0 && (first == 0 || self.scalars(first, at));
            return is_valid.then_some(0);
        }
        let last = walked.rest.trailing_zeros() as usize;
        // Up to the bracket that closes the container.
        let valid = !0u64 >> 63usize.wrapping_sub(last);
        let is_valid = wrong & valid == 0 && (first & valid == 0 || self.scalars(first & valid, at));
        is_valid.then(|| at.wrapping_add(last).wrapping_add(1))
    }

    /// What only some blocks have: escapes, control characters, bytes over 127. The quotes that are not escaped, and the control
    /// characters. Not inlined for the sake of all the other blocks.
    #[inline(never)]
    fn rare(
        &mut self,
        view: View<'_>,
        at: usize,
        quotes: u64,
        mut escapes: Escapes,
    ) -> Option<(u64, u64, Escapes)> {
        let mut controls = 0;
        if masks::has_control_or_high(view.block) {
            controls = view.controls();
            self.check_utf8(view.block, at)?;
        }
        let slashes = view.eq(b'\\');
        let escaped = if slashes != 0 || !escapes.over() { escapes.of(view, quotes, slashes)? } else { 0 };
        Some((quotes & !escaped, controls, escapes))
    }

    /// Whether numbers and words are what they should be, of those that start at these bits of the block at `at`. Not inlined, so that
    /// blocks without any needn't keep what it wants.
    #[inline(never)]
    fn scalars(&self, mut starts: u64, at: usize) -> bool {
        while starts != 0 {
            let end = scalar(self.bytes, at.wrapping_add(starts.trailing_zeros() as usize));
            match end.and_then(|end| self.bytes.get(end)) {
                Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') => {}
                _ => return false,
            }
            starts &= starts.wrapping_sub(1);
        }
        true
    }

    /// Whether nothing in a block that is all inside a string has to be looked at.
    #[inline(always)]
    fn is_dull(&self, block: &Block) -> bool {
        !if self.utf8 { masks::has_special(block) } else { masks::has_special_or_high(block) }
    }

    /// Checks all that follows once, as soon as there is something to check.
    #[inline(always)]
    fn check_utf8(&mut self, block: &Block, at: usize) -> Option<()> {
        if !self.utf8 && masks::has_high(block) {
            // What was read until here is ASCII, so a character starts here.
            self.utf8 = utf8::is_valid(self.bytes.get(at..)?);
            return self.utf8.then_some(());
        }
        Some(())
    }
}

/// What the bytes before a block left behind.
struct Before {
    /// All ones in a string.
    in_string: u64,
    /// One bit per open container, the innermost lowest, over one that marks the bottom: is it an object?
    stack: u64,
    /// It is escaped, or has digits of an escape.
    escapes: Escapes,
    /// 1: the string that goes on is a key.
    key: u64,
    /// The block before was all inside one string.
    long: bool,
    // Masks of the block before, of which only the last byte counts; white space behind what they mean counts, too.
    /// Behind these a value must start, or an empty container end.
    due: u64,
    /// These open containers.
    open: u64,
    /// These belong to numbers and words.
    scalar: u64,
    /// Behind these a key must start, or an empty object end.
    key_due: u64,
    /// These end keys: a colon must come.
    key_end: u64,
}

/// What stands where in a block.
struct Found {
    quotes: u64,
    /// From each opening quote up to its closing one, which is left out.
    strings: u64,
    brackets: u64,
    colons: u64,
    commas: u64,
    /// The bytes of numbers and words.
    scalars: u64,
}

/// A block's brackets.
struct Walked {
    open: u64,
    /// The bytes that stand directly in an object, with the bracket that opens it.
    objects: u64,
    /// Those from the one that closes the outermost container on.
    rest: u64,
}

impl Before {
    /// Before the bracket that opens the outermost container.
    const CONTAINER: Self = Self {
        in_string: 0,
        stack: 1,
        escapes: Escapes::NONE,
        key: 0,
        long: false,
        due: 1 << 63,
        open: 0,
        scalar: 0,
        key_due: 0,
        key_end: 0,
    };

    /// The bytes at which the grammar is violated, and those that start scalars. `next` is [`follow`] or [`follow_space`].
    #[inline(always)]
    fn judge(&mut self, found: &Found, walked: &Walked, next: impl Fn(u64, &mut u64) -> u64) -> (u64, u64) {
        let &Found { quotes, strings, brackets, colons, commas, scalars } = found;
        let opening = quotes & strings;
        let due = next(walked.open | colons | commas, &mut self.due);
        let first = scalars & !follow(scalars, &mut self.scalar);
        let starts = opening | walked.open | first;
        let empty = brackets & !walked.open & next(walked.open, &mut self.open);
        let key_due = next((walked.open | commas) & walked.objects, &mut self.key_due);
        // An addition carries a bit through the string, from the opening quote of a key to its closing one.
        let (sum, over) = strings.overflowing_add(opening & key_due | self.key);
        self.key = u64::from(over);
        let key_end = next(sum & !strings, &mut self.key_end);
        // A value where none may be, or none where one must be.
        let wrong = ((starts ^ due)
            // `{` and an object's comma want a key.
            | key_due & !opening)
            & !empty
            // A key wants a colon, and nothing else has one.
            | key_end ^ colons;
        (wrong, first)
    }

    /// Matches brackets; `None` where they don't, or over a depth of 62.
    #[inline(always)]
    fn walk(&mut self, block: &Block, shift: usize, brackets: u64) -> Option<Walked> {
        let (mut stack, mut inside) = (self.stack, self.stack & 1);
        let (mut open, mut objects) = (0, spread(inside));
        let (mut rest, mut bad) = (brackets, 0);
        while rest != 0 {
            // It alone, without a shift by a variable, which takes longer.
            let bit = rest & rest.wrapping_neg();
            // `[` is 5B, `]` 5D, `{` 7B, `}` 7D: bit 1 opens, bit 2 closes, bit 5 is curly.
            let byte = u64::from(*block.get((rest.trailing_zeros() as usize).wrapping_add(shift) & 63)?);
            let curly = byte >> 5 & 1;
            bad |= (stack ^ curly) & byte >> 2;
            open |= bit & spread(byte >> 1 & 1);
            stack = if byte & 2 != 0 { stack.wrapping_mul(2).wrapping_add(curly) } else { stack >> 1 };
            // From it on they are ones, or are none any more: an addition turns all bits above, a subtraction sets them.
            let turn = inside.wrapping_sub(stack & 1);
            inside = stack & 1;
            objects = bit.wrapping_mul(turn).wrapping_add(objects);
            // One comparison for both: nothing is open any more, or so much that the next one has no room.
            if stack.cast_signed() < 2 {
                break;
            }
            rest &= rest.wrapping_sub(1);
        }
        self.stack = stack;
        (bad & 1 | stack >> 63 == 0).then_some(Walked { open, objects, rest })
    }
}

/// 0 or 1 as no ones or all.
#[inline(always)]
const fn spread(bit: u64) -> u64 {
    bit.wrapping_neg()
}

/// The bytes behind those of `x`. `before`: the same of the block before, of which only the last byte counts; then this block's.
#[inline(always)]
const fn follow(x: u64, before: &mut u64) -> u64 {
    let next = x << 1 | *before >> 63;
    *before = x;
    next
}

/// The same with white space between them passed over.
#[inline(always)]
const fn follow_space(x: u64, space: u64, before: &mut u64) -> u64 {
    let next = follow(x, before);
    // An addition carries a bit through the run of white space that starts there.
    let (sum, over) = space.overflowing_add(next & space);
    *before |= (over as u64) << 63;
    (sum | next) & !space
}

/// The end of a number that something follows, or of a word.
#[inline(always)]
fn scalar(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    match rest.first()? {
        b'-' | b'0'..=b'9' => number(bytes, at),
        b't' if rest.starts_with(b"true") => Some(at.wrapping_add(4)),
        b'n' if rest.starts_with(b"null") => Some(at.wrapping_add(4)),
        b'f' if rest.starts_with(b"false") => Some(at.wrapping_add(5)),
        _ => None,
    }
}

#[inline(always)]
fn number(bytes: &[u8], mut at: usize) -> Option<usize> {
    let skip = |mut at: usize| {
        while let Some(b'0'..=b'9') = bytes.get(at) {
            at = at.wrapping_add(1);
        }
        at
    };
    // At least one digit.
    let digits = |at: usize| Some(skip(at)).filter(|end| *end > at);
    if bytes.get(at)? == &b'-' {
        at = at.wrapping_add(1);
    }
    at = if bytes.get(at)? == &b'0' { at.wrapping_add(1) } else { digits(at)? };
    if bytes.get(at)? == &b'.' {
        at = digits(at.wrapping_add(1))?;
    }
    if let b'e' | b'E' = bytes.get(at)? {
        at = at.wrapping_add(1);
        if let b'+' | b'-' = bytes.get(at)? {
            at = at.wrapping_add(1);
        }
        at = digits(at)?;
    }
    // What follows a leading zero is looked at by whoever asked.
    Some(at)
}

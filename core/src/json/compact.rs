//! The scanner's inner loop: common tokens are taken one after the other without going through the state machine,
//! which keeps what is cut, rare or wrong.

use super::grammar::State;
use super::lanes;
use super::scan::{Met, Scanner};

/// One bit per open container, the innermost lowest: is it an object?
#[derive(Clone, Copy)]
pub(super) struct Stack {
    low: u64,
    high: u64,
}

impl Stack {
    pub(super) const EMPTY: Self = Self { low: 0, high: 0 };

    #[inline(always)]
    pub(super) const fn push(&mut self, object: bool) {
        self.high = self.high << 1 | self.low >> 63;
        self.low = self.low << 1 | object as u64;
    }

    #[inline(always)]
    pub(super) const fn pop(&mut self) {
        self.low = self.low >> 1 | self.high << 63;
        self.high >>= 1;
    }

    #[inline(always)]
    pub(super) const fn in_object(&self) -> bool {
        self.low & 1 == 1
    }
}

impl Scanner {
    /// Takes tokens from `i` on for as long as they are whole and valid, up to the next key or value of the outermost
    /// container; returns where it stopped, with the state that holds there. May stop anywhere, and take nothing.
    ///
    /// To be called between tokens and within the outermost container only.
    #[inline]
    pub(super) fn compact(&mut self, input: &[u8], mut i: usize) -> (usize, Met) {
        let base = self.pos;
        let (mut stack, mut depth) = (self.stack, self.depth);
        // What is due at `i`, as the state machine would have it.
        let mut due = self.state;
        let mut met = Met::Nothing;
        self.state = 'tokens: loop {
            while due == State::After {
                let (at, byte) = token(input, i);
                i = at;
                match byte {
                    b',' => due = if stack.in_object() { State::Key } else { State::Value },
                    // The state machine itself closes the outermost container.
                    b'}' | b']' if stack.in_object() == (byte == b'}') && depth > 1 => {
                        stack.pop();
                        depth = depth.wrapping_sub(1);
                        if depth == 1 {
                            i = i.wrapping_add(1);
                            met = Met::Value;
                            break 'tokens due;
                        }
                    }
                    _ => break 'tokens due,
                }
                i = i.wrapping_add(1);
            }
            let (at, mut byte) = token(input, i);
            i = at;
            if matches!(due, State::Key | State::FirstKey) {
                if byte != b'"' {
                    if byte == b'}' && due == State::FirstKey {
                        due = State::After;
                        continue;
                    }
                    break due;
                }
                i = i.wrapping_add(1);
                if depth == 1 {
                    self.starts[1] = base.wrapping_add(i);
                }
                let (end, whole) = string(input, i);
                i = end;
                if !whole {
                    self.key = true;
                    break State::Str;
                }
                if depth == 1 {
                    self.end = base.wrapping_add(i).wrapping_sub(1);
                }
                (i, byte) = token(input, i);
                if byte != b':' {
                    break State::Colon;
                }
                i = i.wrapping_add(1);
                due = State::Value;
                if depth == 1 {
                    met = Met::Key;
                    break due;
                }
                (i, byte) = token(input, i);
            }
            if depth == 1 {
                self.starts[1] = base.wrapping_add(i);
            }
            match byte {
                b'"' => {
                    let (end, whole) = string(input, i.wrapping_add(1));
                    i = end;
                    if !whole {
                        self.key = false;
                        break State::Str;
                    }
                }
                b'{' | b'[' if usize::from(depth) < super::DEPTH => {
                    stack.push(byte == b'{');
                    depth = depth.wrapping_add(1);
                    i = i.wrapping_add(1);
                    due = if byte == b'{' { State::FirstKey } else { State::FirstElement };
                    continue;
                }
                b']' if due == State::FirstElement => {
                    due = State::After;
                    continue;
                }
                _ => match scalar(input, i, byte) {
                    Some(end) => i = end,
                    None => break due,
                },
            }
            due = State::After;
            if depth == 1 {
                met = Met::Value;
                break due;
            }
        };
        self.stack = stack;
        self.depth = depth;
        (i, met)
    }
}

/// The first byte at or after `i` that is not white space, and where; 0 for what can start no token, or
/// the end of the input.
#[inline(always)]
fn token(input: &[u8], mut i: usize) -> (usize, u8) {
    loop {
        match input.get(i) {
            Some(&byte) if byte > b' ' => return (i, byte),
            Some(b' ' | b'\n' | b'\r' | b'\t') => i = i.wrapping_add(1),
            _ => return (i, 0),
        }
    }
}

/// Where the string with the body at `i` ends, and true; or false and where in it something rare is met.
#[inline]
fn string(input: &[u8], mut i: usize) -> (usize, bool) {
    loop {
        i = lanes::plain(input, i);
        match input.get(i) {
            Some(b'"') => return (i.wrapping_add(1), true),
            Some(b'\\') => match input.get(i.wrapping_add(1)) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => i = i.wrapping_add(2),
                _ => return (i, false),
            },
            _ => return (i, false),
        }
    }
}

/// The end of an integer that the input goes on after, or of a word.
#[inline]
fn scalar(input: &[u8], mut i: usize, first: u8) -> Option<usize> {
    if first.is_ascii_digit() {
        loop {
            i = i.wrapping_add(1);
            match input.get(i)? {
                // A leading zero stays alone.
                b'0'..=b'9' if first != b'0' => {}
                b'0'..=b'9' | b'.' | b'e' | b'E' => return None,
                _ => return Some(i),
            }
        }
    }
    let rest = input.get(i..)?;
    let len = match rest.first_chunk::<4>()? {
        b"true" | b"null" => 4usize,
        b"fals" if rest.get(4) == Some(&b'e') => 5,
        _ => return None,
    };
    Some(i.wrapping_add(len))
}

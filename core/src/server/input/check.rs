//! One pass over the arguments before any of them is taken: what follows can't fail.
use super::found::{Found, Got};
use super::{DEPTH, Need, Of, Shape};
use crate::json::{Raw, Str, skip, value_len};
use crate::mcp::Tool;
use crate::server::{Args, BadArgs, BadCall, Fields, Value};

/// How a tool's arguments are read.
#[derive(Debug)]
pub enum Entry {
    /// Into the members of a variant.
    Members(&'static Shape),
    /// As one value.
    Whole(&'static Shape),
    /// By the user's own [`FromArgs`](crate::FromArgs).
    Own,
}

/// Finds the tool, checks the arguments and sorts them into the slots; the tool's index.
///
/// # Errors
/// [`BadCall`] if there is no such tool, or if its arguments are wrong.
pub fn begin<'m>(
    name: &str,
    args: Args<'m>,
    tools: &[Tool<'static>],
    entries: &'static [Entry],
    slots: &mut [Value<'m>],
) -> Result<usize, BadCall> {
    let named = tools.iter().zip(entries).enumerate().find(|(_, (tool, _))| tool.name == name);
    let Some((index, (_, entry))) = named else { return Err(BadCall::Unknown) };
    let value = args.into_value();
    if let Entry::Members(shape) | Entry::Whole(shape) = entry {
        walk(inside(value.raw().as_bytes()), shape)?;
    }
    match entry {
        Entry::Members(shape) => fill(value.members(), shape, slots),
        Entry::Whole(_) | Entry::Own => {
            if let Some(slot) = slots.first_mut() {
                *slot = value;
            }
        }
    }
    Ok(index)
}

/// Checks the members of an object, all the way down, and changes nothing.
///
/// # Errors
/// The first that is wrong or missing, or that nobody asked for.
pub(super) fn check(fields: &Fields<'_>, shape: &'static Shape) -> Result<(), BadArgs> {
    walk(fields.inside(), shape)
}

fn walk(members: &[u8], shape: &'static Shape) -> Result<(), BadArgs> {
    // The derive refuses types that nest deeper; a stack of its own keeps the machine's from depending on them.
    let mut frames = [Frame { rest: &[], shape, seen: 0, at: 0 }; DEPTH];
    let mut depth = 0usize;
    if let Some(frame) = frames.first_mut() {
        frame.rest = members;
    }
    while let Some(frame) = frames.get_mut(depth) {
        let (value, shape) = match frame.next() {
            Step::Value(value, shape) => (value, shape),
            Step::End if depth == 0 => return Ok(()),
            Step::End => {
                depth = depth.wrapping_sub(1);
                continue;
            }
            Step::Missing(shape) => {
                return Err(bad(&frames, depth.wrapping_add(1), shape.expected, Got::MISSING));
            }
            Step::Unknown(key) => {
                return Err(bad(&frames, depth, "as the inputSchema says", Got::unknown(Raw::trusted(key))));
            }
        };
        if !shape.takes(Raw::trusted(value)) {
            let got = Got::value(Raw::trusted(value));
            return Err(bad(&frames, depth.wrapping_add(1), shape.expected, got));
        }
        if let Of::List(..) | Of::Object(..) = shape.of {
            let inside = inside(value);
            depth = depth.wrapping_add(1);
            if let Some(frame) = frames.get_mut(depth) {
                *frame = Frame { rest: inside, shape, seen: 0, at: 0 };
            }
        }
    }
    Err(BadArgs::new("arguments", "less deep"))
}

/// Puts each member into its field's slot. Of a doubled one the last wins.
pub(super) fn fill<'m>(mut fields: Fields<'m>, shape: &Shape, slots: &mut [Value<'m>]) {
    let Of::Object(known, _) = shape.of else { return };
    while let Some((key, value)) = fields.next() {
        let at = known.iter().position(|field| field.name == key);
        if let Some(slot) = at.and_then(|at| slots.get_mut(at)) {
            *slot = value;
        }
    }
}

/// A container that is being walked.
#[derive(Clone, Copy)]
struct Frame<'v> {
    rest: &'v [u8],
    shape: &'static Shape,
    /// A bit for each field that was met; the derive allows 32.
    seen: u32,
    /// The field, or the element, at hand.
    at: usize,
}

enum Step<'v> {
    Value(&'v [u8], &'static Shape),
    End,
    Missing(&'static Shape),
    Unknown(&'v [u8]),
}

impl<'v> Frame<'v> {
    fn next(&mut self) -> Step<'v> {
        match self.shape.of {
            Of::List(of, ..) => match self.token(b',') {
                Some(value) => {
                    self.at = self.at.wrapping_add(usize::from(self.seen == 1));
                    self.seen = 1;
                    Step::Value(value, of)
                }
                None => Step::End,
            },
            Of::Object(fields, open) => loop {
                let Some(key) = self.token(b',') else { break self.missing() };
                let Some(value) = self.token(b':') else { break Step::End };
                let key_text = Str::trusted(inside(key));
                let known = fields.iter().enumerate().find(|(_, f)| key_text.is(f.name));
                let Some((at, field)) = known else {
                    if open {
                        continue;
                    }
                    break Step::Unknown(key);
                };
                self.at = at;
                self.seen |= bit(at);
                if field.need != Need::Optional || !Raw::trusted(value).is_null() {
                    break Step::Value(value, field.shape);
                }
            },
            _ => Step::End,
        }
    }

    fn missing(&mut self) -> Step<'v> {
        let Of::Object(fields, _) = self.shape.of else { return Step::End };
        let missing =
            fields.iter().enumerate().find(|(i, f)| f.need == Need::Required && self.seen & bit(*i) == 0);
        let Some((at, field)) = missing else { return Step::End };
        self.at = at;
        Step::Missing(field.shape)
    }

    /// The next key or value, after `mark` and white space.
    fn token(&mut self, mark: u8) -> Option<&'v [u8]> {
        let rest = self.rest.get(skip(self.rest, 0, mark)..)?;
        let (token, rest) = rest.split_at_checked(value_len(rest)?)?;
        self.rest = rest;
        Some(token)
    }
}

/// What stands between the brackets, or the quotes.
fn inside(value: &[u8]) -> &[u8] {
    value.get(1..value.len().saturating_sub(1)).unwrap_or_default()
}

#[allow(clippy::cast_possible_truncation)]
const fn bit(at: usize) -> u32 {
    1u32.wrapping_shl(at as u32)
}

/// The error for what is `steps` levels down; apart, so that the loop stays small.
#[cold]
#[inline(never)]
fn bad(frames: &[Frame<'_>], steps: usize, expected: &'static str, got: Got) -> BadArgs {
    let mut found = Found::new(frames.first().map(|frame| frame.shape), got);
    let mut bad = BadArgs::new("arguments", expected);
    for frame in frames.iter().take(steps) {
        if let Of::Object(fields, _) = frame.shape.of
            && let Some(field) = fields.get(frame.at)
        {
            bad.field = field.name;
        }
        found.push(frame.at);
    }
    bad.found = Some(found);
    bad
}

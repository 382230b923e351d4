//! What tools mostly answer, one block of text, as servers write it that put no spaces between tokens: found by comparing bytes instead of walking through
//! objects. It may only say yes; whatever looks different is read member by member. Left out on small processors.
use crate::json::{Members, Raw, SMALL, value_len};
use crate::machine::mem::Span;

const COMPLETE: &[u8] = b"\"resultType\":\"complete\",";
const CONTENT: &[u8] = b"\"content\":[";
const META: &[u8] = b",\"_meta\":";
const TEXT: &[u8] = b"{\"type\":\"text\",\"text\":";

/// A text block that has nothing but its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextBlock {
    /// From the start of the block: where its string stands, with quotes.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl TextBlock {
    /// How long the block is.
    pub(super) const fn len(self) -> usize {
        self.end.saturating_add(1)
    }
}

/// The text block at the start of `bytes`, which are part of a valid text.
#[inline]
pub(super) fn text_block(bytes: &[u8]) -> Option<TextBlock> {
    if SMALL {
        return None;
    }
    let string = bytes.strip_prefix(TEXT).filter(|rest| rest.first() == Some(&b'"'))?;
    let end = TEXT.len().saturating_add(value_len(string)?);
    (bytes.get(end) == Some(&b'}')).then_some(TextBlock { start: TEXT.len(), end })
}

/// The result of a tool that starts with one block of text.
pub(super) struct Content<'a> {
    /// From the start of the result: where the block stands.
    pub(super) at: usize,
    pub(super) block: TextBlock,
    /// Where the value of `_meta` stands, if that follows.
    pub(super) meta: Option<Span>,
    /// The members behind these.
    pub(super) rest: Members<'a>,
}

/// The content at the start of `result`, a valid object.
#[inline]
pub(super) fn content(result: Raw<'_>) -> Option<Content<'_>> {
    let all = result.as_bytes();
    let inside = all.strip_prefix(b"{")?;
    // Absent means the same.
    let inside = inside.strip_prefix(COMPLETE).unwrap_or(inside);
    let blocks = inside.strip_prefix(CONTENT)?;
    let block = text_block(blocks)?;
    let rest = blocks.get(block.len()..)?.strip_prefix(b"]")?;
    let [rest @ .., _] = rest else { return None };
    let (mut rest, mut meta) = (rest, None);
    // As servers of 2026-07-28 end a result.
    if let Some(value) = rest.strip_prefix(META).filter(|value| value.first() == Some(&b'{')) {
        let (value, behind) = value.split_at_checked(value_len(value)?)?;
        (meta, rest) = (Span::within(all, value), behind);
    }
    let at = all.len().saturating_sub(blocks.len());
    Some(Content { at, block, meta, rest: Members::over(rest) })
}

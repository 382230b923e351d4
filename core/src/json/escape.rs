//! Escaping long texts, 64 bytes at a time: straight to where they go if the sink lends its room, else by way of a small buffer, so that the sink is
//! called once for several hundred bytes.

use super::Sink;
use super::masks::{self, Block, WIDTH};

/// Shorter texts are not worth it.
pub(super) const WORTH: usize = 2 * WIDTH;

/// What a block may become, six bytes for each, and what is stored behind that.
const WORST: usize = 7 * WIDTH;
const HALF: usize = WIDTH / 2;
/// What a clean stretch is looked for in, and copied by.
const STRETCH: usize = 4 * WIDTH;
const ROOM: usize = 1024;
/// Clean runs of so many bytes are not copied to the small buffer first.
const LONG: usize = STRETCH;

/// Writes what it can of `text`, which is all but less than [`WORTH`] bytes at the end; returns where the rest starts, or `None` if the
/// sink refused.
pub(super) fn write(sink: &mut (impl Sink + ?Sized), text: &[u8]) -> Option<usize> {
    let mut at = match sink.lend() {
        Some(room) => {
            let (taken, written) = fill(room, text);
            sink.took(written);
            taken
        }
        None => 0,
    };
    let mut buffer = [0; ROOM];
    while let rest = text.get(at..)?
        && rest.len() >= WORTH
    {
        let clean = clean_blocks(rest);
        if clean >= LONG {
            at = at.wrapping_add(clean);
            if !sink.put(rest.get(..clean)?) {
                return None;
            }
            continue;
        }
        let (taken, written) = fill(&mut buffer, rest);
        at = at.wrapping_add(taken);
        if !sink.put(buffer.get(..written)?) {
            return None;
        }
    }
    Some(at)
}

/// The length of the whole blocks without anything to escape at the start of `text`, another block left out.
fn clean_blocks(text: &[u8]) -> usize {
    let (blocks, _) = text.as_chunks();
    let (_, blocks) = blocks.split_last().unwrap_or((&[0; _], &[]));
    let n = blocks.iter().position(masks::has_special).unwrap_or(blocks.len());
    n.wrapping_mul(WIDTH)
}

/// Escapes into `room` what has enough of it and is followed by another block; returns how many bytes were taken, and written.
fn fill(room: &mut [u8], text: &[u8]) -> (usize, usize) {
    let (mut at, mut len) = (0usize, 0usize);
    // The last eight blocks, a bit for each that had something to escape: it says what to expect of the next.
    let mut history = u8::MAX;
    while text.len().wrapping_sub(at) >= WORTH && room.len().wrapping_sub(len) >= WORST {
        let rest = text.get(at..).unwrap_or_default();
        let Some(to) = room.get_mut(len..) else { break };
        let (taken, written) = if history & 15 == 0
            && let Some(stretch) = copied_clean(to, rest)
        {
            (stretch, stretch)
        } else {
            let Some(written) = block(to, rest, history.count_ones() < 4) else { break };
            history = history << 1 | u8::from(written != WIDTH);
            (WIDTH, written)
        };
        at = at.wrapping_add(taken);
        len = len.wrapping_add(written);
    }
    (at, len)
}

/// Escapes the first 64 bytes of `text`, which goes on for as many at least; returns how many they became. `rare`: they are clean, to all
/// expectation.
#[inline(always)]
fn block(room: &mut [u8], text: &[u8], rare: bool) -> Option<usize> {
    let block: &Block = text.first_chunk()?;
    let specials = masks::specials(block);
    if rare && specials == 0 {
        *room.first_chunk_mut()? = *block;
        return Some(WIDTH);
    }
    let first = half(room, text, specials as u32)?;
    let second = half(room.get_mut(first..)?, text.get(HALF..)?, (specials >> HALF) as u32)?;
    Some(first.wrapping_add(second))
}

/// The same for 32 bytes. The first escape is made whether there is one or not: texts have one now and then, and where, no processor foresees; a wrong
/// guess takes longer than this.
#[inline(always)]
fn half(room: &mut [u8], text: &[u8], mut specials: u32) -> Option<usize> {
    copy(room, 0, text, 0)?;
    let mut len = HALF;
    loop {
        let at = specials.trailing_zeros() as usize;
        let found = usize::from(specials != 0);
        // If there is none, the first byte, whose escape is empty.
        let escape = *ESCAPES.get(usize::from(*text.get(at & 31)?))?;
        let grows = ((escape >> 56) as usize).wrapping_sub(found);
        let place = len.wrapping_sub(HALF).wrapping_add(at);
        *room.get_mut(place..)?.first_chunk_mut()? = escape.to_le_bytes();
        let behind = at.wrapping_add(found);
        copy(room, place.wrapping_add(found).wrapping_add(grows), text, behind)?;
        len = len.wrapping_add(grows);
        specials &= specials.wrapping_sub(1);
        if specials == 0 {
            return Some(len);
        }
    }
}

#[inline(always)]
fn copy(room: &mut [u8], to: usize, text: &[u8], from: usize) -> Option<()> {
    *room.get_mut(to..)?.first_chunk_mut::<HALF>()? = *text.get(from..)?.first_chunk()?;
    Some(())
}

/// Copies a stretch that has nothing to escape; its length, if it is one.
#[inline(always)]
fn copied_clean(room: &mut [u8], text: &[u8]) -> Option<usize> {
    let from: &[u8; STRETCH] = text.first_chunk()?;
    if from.as_chunks().0.iter().any(masks::has_special) {
        return None;
    }
    *room.first_chunk_mut()? = *from;
    Some(STRETCH)
}

/// What stands for each byte, and how long that is, in the highest byte; 0 for those that stand for themselves.
static ESCAPES: [u64; 256] = table();

#[allow(clippy::indexing_slicing)] // runs in the compiler
const fn table() -> [u64; 256] {
    let mut all = [0; 256];
    let mut byte = 0u8;
    while byte < 0x20 {
        let [a, b, c, d, e, f] = super::write::unicode_escape(byte);
        all[byte as usize] = u64::from_le_bytes([a, b, c, d, e, f, 0, 6]);
        byte = byte.wrapping_add(1);
    }
    let mut short: &[u8] = b"\"\"\\\\\nn\tt\rr\x08b\x0cf";
    while let [byte, letter, rest @ ..] = short {
        all[*byte as usize] = u64::from_le_bytes([b'\\', *letter, 0, 0, 0, 0, 0, 2]);
        short = rest;
    }
    all
}

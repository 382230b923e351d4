//! Escaping long texts, 64 bytes at a time. Long clean runs go to the sink as they are; what has escapes in it is put together in a
//! small buffer first, so that the sink is called once for several hundred bytes.

use super::Sink;
use super::masks::{self, Block, WIDTH};

/// Shorter texts are not worth a buffer.
pub(super) const WORTH: usize = 2 * WIDTH;

const ROOM: usize = 1024;
/// What a block may become: six bytes for each, the clean run behind it, and the piece that is stored behind the last one.
const WORST: usize = 6 * WIDTH + LONG + WIDTH;
/// Clean runs of so many bytes are not copied twice.
const LONG: usize = 4 * WIDTH;

/// Text on its way to a sink.
struct Gathered<'s, S: ?Sized> {
    sink: &'s mut S,
    bytes: [u8; ROOM],
    len: usize,
}

/// Writes what it can of `text`, which is all but less than [`WORTH`] bytes at the end; returns where the rest starts, or `None` if the
/// sink refused.
pub(super) fn write(sink: &mut (impl Sink + ?Sized), text: &[u8]) -> Option<usize> {
    let mut out = Gathered { sink, bytes: [0; ROOM], len: 0 };
    // Clean since `clean`.
    let (mut clean, mut at) = (0usize, 0usize);
    while let Some((block, _)) = two_blocks(text, at) {
        let specials = masks::specials(block);
        if specials != 0 {
            out.clean(text.get(clean..at)?)?;
            out.escape(block, specials, text.get(at..)?)?;
            clean = at.wrapping_add(WIDTH);
        }
        at = at.wrapping_add(WIDTH);
    }
    out.clean(text.get(clean..at)?)?;
    out.flush()?;
    Some(at)
}

/// The block at `at`, if another one follows.
#[inline(always)]
fn two_blocks(text: &[u8], at: usize) -> Option<(&Block, &Block)> {
    let (block, rest) = text.get(at..)?.split_first_chunk()?;
    Some((block, rest.first_chunk()?))
}

impl<S: Sink + ?Sized> Gathered<'_, S> {
    /// Whole blocks with nothing to escape.
    #[inline(always)]
    fn clean(&mut self, run: &[u8]) -> Option<()> {
        if run.len() >= LONG {
            self.flush()?;
            return self.sink.put(run).then_some(());
        }
        for block in run.as_chunks::<WIDTH>().0 {
            *self.bytes.get_mut(self.len..)?.first_chunk_mut()? = *block;
            self.len = self.len.wrapping_add(WIDTH);
        }
        Some(())
    }

    /// The block that `text` starts with; at least as many bytes follow.
    #[inline(always)]
    fn escape(&mut self, block: &Block, mut specials: u64, text: &[u8]) -> Option<()> {
        if self.len > ROOM - WORST {
            self.flush()?;
        }
        let mut done = 0usize;
        while specials != 0 {
            let place = specials.trailing_zeros() as usize;
            specials &= specials.wrapping_sub(1);
            self.run(text, done, place)?;
            self.special(*block.get(place & 63)?)?;
            done = place.wrapping_add(1);
        }
        self.run(text, done, WIDTH)
    }

    /// Copies from `done` to `place`, in pieces: what is stored behind them is overwritten by what comes next.
    #[inline(always)]
    fn run(&mut self, text: &[u8], mut done: usize, place: usize) -> Option<()> {
        const PIECE: usize = 32;
        let end = self.len.wrapping_add(place).wrapping_sub(done);
        while done < place {
            *self.bytes.get_mut(self.len..)?.first_chunk_mut::<PIECE>()? =
                *text.get(done..)?.first_chunk::<PIECE>()?;
            self.len = self.len.wrapping_add(PIECE);
            done = done.wrapping_add(PIECE);
        }
        self.len = end;
        Some(())
    }

    #[inline(always)]
    fn special(&mut self, byte: u8) -> Option<()> {
        let room = self.bytes.get_mut(self.len..)?;
        let letter = match byte {
            0..0x20 => *LETTERS.get(usize::from(byte))?,
            _ => byte,
        };
        if letter != 0 {
            *room.first_chunk_mut()? = [b'\\', letter];
            self.len = self.len.wrapping_add(2);
        } else {
            *room.first_chunk_mut()? = super::write::unicode_escape(byte);
            self.len = self.len.wrapping_add(6);
        }
        Some(())
    }

    #[inline]
    fn flush(&mut self) -> Option<()> {
        let all = self.bytes.get(..self.len)?;
        self.len = 0;
        (all.is_empty() || self.sink.put(all)).then_some(())
    }
}

/// What stands behind the backslash for control characters that have a short escape: BS, HT, LF, FF, CR.
const LETTERS: &[u8; 32] = b"\0\0\0\0\0\0\0\0btn\0fr\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

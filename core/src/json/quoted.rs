//! What stands inside of strings, as masks: escapes, and long text.

use super::masks::{self, Block};

/// 64 bytes of a text, or fewer at its end: then they are the block's last ones.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) block: &'a Block,
    /// How many bytes of the block don't count, since they were seen before.
    pub(super) shift: usize,
}

impl<'a> View<'a> {
    pub(super) const fn all(block: &'a Block) -> Self {
        Self { block, shift: 0 }
    }

    /// What is left from `at` on, less than a block; `None`: nothing. `room`: for a text under 64 bytes.
    #[inline(always)]
    pub(super) fn last(text: &'a [u8], at: usize, room: &'a mut Option<Block>) -> Option<Self> {
        let rest = text.get(at..)?;
        let shift = masks::WIDTH.wrapping_sub(rest.len());
        if rest.is_empty() {
            return None;
        }
        if let Some(block) = text.last_chunk() {
            return Some(Self { block, shift });
        }
        let room = room.insert([b' '; masks::WIDTH]);
        super::copy(room.get_mut(shift..)?, rest);
        Some(Self { block: room, shift })
    }

    #[inline(always)]
    pub(super) fn eq(self, want: u8) -> u64 {
        masks::eq(self.block, want) >> self.shift
    }

    #[inline(always)]
    pub(super) fn controls(self) -> u64 {
        masks::controls(self.block) >> self.shift
    }
}

/// What backslashes do to the bytes behind them, from block to block.
#[derive(Clone, Copy)]
pub(super) struct Escapes {
    /// 1: the first byte of the next block is escaped.
    next: u64,
    /// The bytes of the next block that have to be digits of a `\u`.
    digits: u64,
}

impl Escapes {
    pub(super) const NONE: Self = Self { next: 0, digits: 0 };

    /// Whether none reaches into the next block.
    #[inline(always)]
    pub(super) const fn over(self) -> bool {
        self.next | self.digits == 0
    }

    /// The bytes of a block that are escaped, if that may be done to all of them.
    #[inline(always)]
    pub(super) fn of(&mut self, view: View<'_>, quotes: u64, slashes: u64) -> Option<u64> {
        let escaped = masks::escaped(slashes, &mut self.next);
        // Most of the others are a single `\n` in a block.
        let letters = escaped & !(quotes | slashes);
        let first = view.block.get((letters.trailing_zeros() as usize).wrapping_add(view.shift) & 63);
        let one = (letters & letters.wrapping_sub(1) == 0) & (first == Some(&b'n'));
        // One branch, that is hardly ever taken.
        if ((letters != 0) & !one) | (self.digits != 0) {
            self.check(view, letters)?;
        }
        Some(escaped)
    }

    #[inline(always)]
    fn check(&mut self, view: View<'_>, letters: u64) -> Option<()> {
        let unicode = letters & view.eq(b'u');
        let digits = self.digits | unicode << 1 | unicode << 2 | unicode << 3 | unicode << 4;
        self.digits = unicode >> 63 | unicode >> 62 | unicode >> 61 | unicode >> 60;
        if digits != 0 && digits & !(masks::hex_digits(view.block) >> view.shift) != 0 {
            return None;
        }
        let mut wrong = letters & !(unicode | view.eq(b'n'));
        if wrong != 0 {
            wrong &= !(view.eq(b't') | view.eq(b'r') | view.eq(b'/') | view.eq(b'b') | view.eq(b'f'));
        }
        (wrong == 0).then_some(())
    }
}

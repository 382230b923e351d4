//! Where the line feeds are.
//!
//! Small messages come many to a read, so the line feeds of 64 bytes are found together, one bit each, and taken one by one: a search for each line
//! would cost more than the line. Where code must be small, bytes are looked at one by one (`plain`), and nothing is kept for it.

// As `json::FAST` has it, which is no `cfg`.
#[cfg(all(target_pointer_width = "64", not(barewire_small)))]
pub(super) use blocks::Marks;
#[cfg(not(all(target_pointer_width = "64", not(barewire_small))))]
pub(super) use plain::Marks;

#[cfg(all(target_pointer_width = "64", not(barewire_small)))]
mod blocks {
    use crate::json::{Block, block_eq, block_has, copy};

    pub(crate) struct Marks {
        /// All line feeds before this place are known.
        seen: usize,
        /// Bit `i`: byte `at + i` is a line feed that was not taken yet. `at` is below zero where the block lost its front.
        at: usize,
        bits: u64,
    }

    impl Marks {
        pub(crate) const NONE: Self = Self { seen: 0, at: 0, bits: 0 };

        /// Takes the next line feed of `bytes[..end]`.
        #[inline]
        pub(crate) fn next(&mut self, bytes: &[u8], end: usize) -> Option<usize> {
            while self.bits == 0 {
                if self.seen >= end {
                    return None;
                }
                let rest = bytes.get(self.seen..)?;
                let bits = match rest.first_chunk() {
                    Some(block) => block_eq(block, b'\n'),
                    None => {
                        let mut block: Block = [0; _];
                        copy(&mut block, rest);
                        block_eq(&block, b'\n')
                    }
                };
                // What lies behind `end` is of no meaning yet.
                let new = end.wrapping_sub(self.seen).min(64);
                self.bits = bits & u64::MAX >> 64usize.wrapping_sub(new);
                self.at = self.seen;
                self.seen = self.seen.wrapping_add(new);
            }
            let at = self.at.wrapping_add(self.bits.trailing_zeros() as usize);
            self.bits &= self.bits.wrapping_sub(1);
            Some(at)
        }

        /// Whether no line feed is left in what ends at `end`.
        pub(crate) const fn is_through(&self, end: usize) -> bool {
            self.bits == 0 && self.seen >= end
        }

        /// Copies `bytes` to `room`, the place behind all that was seen, and looks for a line feed on the way: what is long is read once.
        pub(crate) fn copy(&mut self, room: &mut [u8], bytes: &[u8]) {
            let mut n = 0usize;
            for (to, from) in room.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
                let block = *from;
                *to = block;
                if block_has(&block, b'\n') {
                    break;
                }
                n = n.saturating_add(from.len());
            }
            copy(room.get_mut(n..).unwrap_or_default(), bytes.get(n..).unwrap_or_default());
            self.seen = self.seen.saturating_add(n);
        }

        /// Begins anew at `at`.
        pub(crate) const fn restart(&mut self, at: usize) {
            *self = Self { seen: at, ..Self::NONE };
        }

        /// All bytes are `by` further left now.
        pub(crate) const fn shift(&mut self, by: usize) {
            self.seen = self.seen.saturating_sub(by);
            self.at = self.at.wrapping_sub(by);
        }
    }
}

#[cfg(any(test, not(all(target_pointer_width = "64", not(barewire_small)))))]
mod plain {
    use crate::json::{copy, find};

    pub(crate) struct Marks {
        /// Behind the line feed that was taken last, or where the search stands.
        seen: usize,
    }

    impl Marks {
        pub(crate) const NONE: Self = Self { seen: 0 };

        /// Takes the next line feed of `bytes[..end]`.
        pub(crate) fn next(&mut self, bytes: &[u8], end: usize) -> Option<usize> {
            let found = find(b'\n', bytes.get(self.seen..end).unwrap_or_default());
            let at = found.map(|n| self.seen.wrapping_add(n));
            self.seen = at.map_or(end, |at| at.wrapping_add(1));
            at
        }

        /// Whether no line feed is left in what ends at `end`.
        pub(crate) const fn is_through(&self, end: usize) -> bool {
            self.seen >= end
        }

        /// Copies `bytes` to `room`, the place behind all that was seen.
        pub(crate) fn copy(&mut self, room: &mut [u8], bytes: &[u8]) {
            copy(room, bytes);
        }

        /// Begins anew at `at`.
        pub(crate) const fn restart(&mut self, at: usize) {
            self.seen = at;
        }

        /// All bytes are `by` further left now.
        pub(crate) const fn shift(&mut self, by: usize) {
            self.seen = self.seen.saturating_sub(by);
        }
    }
}

#[cfg(all(test, target_pointer_width = "64", not(barewire_small)))]
mod tests {
    use super::{blocks, plain};
    use crate::json::move_left;
    use proptest::prelude::*;

    proptest! {
        /// Both, over one buffer: filled in pieces, copied or read into; lines taken; what is taken thrown away, at once or later.
        #[test]
        fn both_find_the_same(
            acts in prop::collection::vec((0usize..150, 0usize..6, 0..4u8, 1..80u8), 1..60),
        ) {
            let (mut buffer, mut other) = ([b'x'; 300], [b'y'; 300]);
            let (mut ours, mut naive) = (blocks::Marks::NONE, plain::Marks::NONE);
            let (mut start, mut end, mut written) = (0, 0, 0u8);
            for (more, lines, keep, period) in acts {
                let mut piece = [0; 150];
                for byte in &mut piece {
                    written = written.wrapping_add(1);
                    *byte = if written.is_multiple_of(period) { b'\n' } else { b'a' };
                }
                let more = more.min(300 - end);
                naive.copy(&mut other[end..end + more], &piece[..more]);
                if keep & 1 == 0 && ours.is_through(end) {
                    ours.copy(&mut buffer[end..end + more], &piece[..more]);
                } else {
                    buffer[end..end + more].copy_from_slice(&piece[..more]);
                }
                end += more;
                prop_assert_eq!(&buffer[start..end], &other[start..end]);
                for _ in 0..lines {
                    let found = ours.next(&buffer, end);
                    prop_assert_eq!(found, naive.next(&other, end));
                    prop_assert!(found.is_none_or(|at| at >= start));
                    start = found.map_or(start, |at| at + 1);
                    // Who looks at 64 bytes at once knows earlier that nothing is left.
                    prop_assert!(ours.is_through(end) || !naive.is_through(end));
                }
                if keep & 2 == 0 {
                    move_left(&mut buffer, start..end, 0);
                    move_left(&mut other, start..end, 0);
                    ours.shift(start);
                    naive.shift(start);
                    (start, end) = (0, end - start);
                } else if end == 300 {
                    ours.restart(7);
                    naive.restart(7);
                    (start, end) = (7, 7);
                }
            }
        }
    }
}

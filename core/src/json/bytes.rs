//! Copying bytes, as far as the standard library's way has panics that an optimiser for size can't rule out, or is
//! larger than a small processor wants it.

use core::cell::Cell;

/// Whether flash counts more than speed: on processors of 32 bits and less without an operating system. Strings are then read byte by
/// byte, and the scanner has no second, faster road.
///
/// Both ways are compiled everywhere and mean the same; `--cfg barewire_small` takes the small one, so that it can be tested on a
/// computer.
pub(crate) const SMALL: bool =
    cfg!(any(barewire_small, all(target_os = "none", not(target_pointer_width = "64"))));

/// Whether text that is there as a whole is read in blocks of 64 bytes, as one bit each (`whole.rs`): that wants words of 64 bits.
pub(crate) const FAST: bool = !SMALL && cfg!(target_pointer_width = "64");

/// Copies as much of `from` as `to` has room for.
#[inline]
pub(crate) fn copy(to: &mut [u8], from: &[u8]) {
    let n = to.len().min(from.len());
    if FAST
        && n <= 32
        && let (Some(to), Some(from)) = (to.get_mut(..n), from.get(..n))
    {
        // Most of what is written are a few bytes: two stores that overlap are faster than a call.
        if !(both_ends::<16>(to, from) || both_ends::<8>(to, from) || both_ends::<4>(to, from)) {
            for at in [0, n / 2, n.saturating_sub(1)] {
                if let (Some(to), Some(from)) = (to.get_mut(at), from.get(at)) {
                    *to = *from;
                }
            }
        }
        return;
    }
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Copies `from`, of the same length, if that is `N` to twice `N`.
#[inline(always)]
fn both_ends<const N: usize>(to: &mut [u8], from: &[u8]) -> bool {
    let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) else { return false };
    if let Some(room) = to.first_chunk_mut() {
        *room = *first;
    }
    if let Some(room) = to.last_chunk_mut() {
        *room = *last;
    }
    true
}

/// Moves `from` to the left, to `to`, within `bytes`; does nothing when it is no move to the left inside of them. `copy_within` has
/// a check of its own, whose panic stays where the optimiser makes the program small, as that of `copy_from_slice` does.
pub(crate) fn move_left(bytes: &mut [u8], from: core::ops::Range<usize>, to: usize) {
    const PIECE: usize = 32;
    let (Some(window), Some(gap)) = (bytes.get_mut(to..from.end), from.start.checked_sub(to)) else { return };
    let mut at = 0usize;
    while !SMALL
        && let Some(piece) =
            window.get(at.saturating_add(gap)..).and_then(<[u8]>::first_chunk::<PIECE>).copied()
    {
        if let Some(room) = window.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *room = piece;
        }
        at = at.saturating_add(PIECE);
    }
    let rest = Cell::from_mut(window.get_mut(at..).unwrap_or_default()).as_slice_of_cells();
    for (to, from) in rest.iter().zip(rest.get(gap..).unwrap_or_default()) {
        to.set(from.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn copies_any_length() {
        let from: Vec<u8> = (1..=100).collect();
        for len in 0..100 {
            for room in [len, len + 1, len / 2] {
                let mut to = std::vec![0; room];
                copy(&mut to, &from[..len]);
                let n = len.min(room);
                assert_eq!((&to[..n], to[n..].iter().all(|b| *b == 0)), (&from[..n], true));
            }
        }
    }

    #[test]
    fn moves_what_overlaps() {
        let all: Vec<u8> = (0..200).collect();
        for (start, to) in [(0, 0), (1, 0), (5, 4), (31, 0), (32, 0), (40, 3), (150, 9), (200, 0)] {
            let (mut ours, mut theirs) = (all.clone(), all.clone());
            move_left(&mut ours, start..190.max(start), to);
            theirs.copy_within(start..190.max(start), to);
            assert_eq!(ours, theirs, "{start} to {to}");
        }
    }

    #[test]
    fn moves_to_the_left_and_inside_alone() {
        let mut bytes = *b"0123456789";
        move_left(&mut bytes, 1..3, 4);
        move_left(&mut bytes, 4..11, 1);
        assert_eq!(&bytes, b"0123456789");
    }
}

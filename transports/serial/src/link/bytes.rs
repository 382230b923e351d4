//! Moving bytes without a panic in the program, whatever the optimiser knows: the checks of `copy_from_slice` and `copy_within`
//! stay where it makes code small.
use core::cell::Cell;
use core::ops::Range;

/// Copies `from` to the front of `to`, as far as it goes.
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Moves `from` to the left, to `to`. Does nothing when it is no move to the left inside of `bytes`.
pub(super) fn move_left(bytes: &mut [u8], from: Range<usize>, to: usize) {
    let cells = Cell::from_mut(bytes).as_slice_of_cells();
    if to <= from.start
        && let (Some(to), Some(from)) = (cells.get(to..), cells.get(from))
    {
        for (to, from) in to.iter().zip(from) {
            to.set(from.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_to_the_left_alone() {
        let mut bytes = *b"0123456789";
        move_left(&mut bytes, 4..8, 1);
        assert_eq!(&bytes, b"0456756789");
        move_left(&mut bytes, 1..3, 4);
        move_left(&mut bytes, 4..11, 1);
        assert_eq!(&bytes, b"0456756789", "to the right, or from outside");
        move_left(&mut bytes, 10..10, 0);
        assert_eq!(&bytes, b"0456756789");
    }
}

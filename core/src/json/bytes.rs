//! Copying and searching bytes, as far as the standard library's way has panics that an optimiser for size can't rule out, or is
//! larger than a small processor wants it.

/// Whether flash counts more than speed: on processors of 32 bits and less without an operating system. Strings are then read byte by
/// byte, and the scanner has no second, faster road.
///
/// Both ways are compiled everywhere and mean the same; `--cfg barewire_small` takes the small one, so that it can be tested on a
/// computer.
pub(crate) const SMALL: bool =
    cfg!(any(barewire_small, all(target_os = "none", not(target_pointer_width = "64"))));

/// Where the first `byte` is.
#[inline]
pub(crate) fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    if SMALL { bytes.iter().position(|b| *b == byte) } else { memchr::memchr(byte, bytes) }
}

/// Copies as much of `from` as `to` has room for.
#[inline]
pub(crate) fn copy(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Moves `from` to the left, to `to`, within `bytes`; does nothing when it is no move to the left inside of them. The
/// bare `copy_within` has checks of its own, whose panics the optimiser can't always rule out.
pub(crate) fn move_left(bytes: &mut [u8], from: core::ops::Range<usize>, to: usize) {
    let (Some(window), Some(gap)) = (bytes.get_mut(to..from.end), from.start.checked_sub(to)) else { return };
    if SMALL {
        // The compiler's own function for this is larger than all that calls it here.
        let window = core::cell::Cell::from_mut(window).as_slice_of_cells();
        for (to, from) in window.iter().zip(window.get(gap..).unwrap_or_default()) {
            to.set(from.get());
        }
    } else if gap <= window.len() {
        window.copy_within(gap.., 0);
    }
}

//! Joining pieces of a schema while compiling.

/// The length of all of them.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#[must_use]
pub const fn length(pieces: &[&str]) -> usize {
    let (mut len, mut i) = (0, 0);
    while i < pieces.len() {
        len += pieces[i].len();
        i += 1;
    }
    len
}

/// All of them; `N` is their [`length`].
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#[must_use]
pub const fn joined<const N: usize>(pieces: &[&str]) -> [u8; N] {
    let mut all = [0; N];
    let (mut at, mut i) = (0, 0);
    while i < pieces.len() {
        let piece = pieces[i].as_bytes();
        let mut c = 0;
        while c < piece.len() {
            all[at] = piece[c];
            at += 1;
            c += 1;
        }
        i += 1;
    }
    all
}

/// Bytes that are [`joined`] as text.
#[must_use]
pub const fn text(bytes: &[u8]) -> &str {
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

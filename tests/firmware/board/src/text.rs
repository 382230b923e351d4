//! A string without a heap, such as `heapless` has one (in which panics can be reached).

/// A text of at most `N` bytes.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    pub const fn new() -> Self {
        Self { bytes: [0; N], len: 0 }
    }

    pub fn get(&self) -> &str {
        self.bytes.get(..self.len).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or("")
    }

    /// Adds it, if there is room.
    pub fn push(&mut self, text: &str) -> bool {
        let room = self.bytes.iter_mut().skip(self.len);
        let fits = text.len() <= room.len();
        if fits {
            room.zip(text.bytes()).for_each(|(to, from)| *to = from);
            self.len += text.len();
        }
        fits
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self::new()
    }
}

//! Where JSON text goes.

/// Where JSON text goes.
///
/// **All or nothing:** `put` appends all of `bytes` and returns true, or nothing and returns false. Whether a sink
/// that refused once refuses from then on is its own affair; [`Writer`] does.
pub trait Sink {
    /// Appends `bytes`; false if there is no room.
    #[must_use = "false means that nothing was appended"]
    fn put(&mut self, bytes: &[u8]) -> bool;

    /// Room for bytes that are made in their place, as much as there is; [`took`](Self::took) appends them. `None`, which always
    /// does: make them elsewhere, and `put` them.
    #[doc(hidden)]
    fn lend(&mut self) -> Option<&mut [u8]> {
        None
    }

    /// Appends the first `n` bytes of what was lent just now.
    #[doc(hidden)]
    fn took(&mut self, n: usize) {
        let _ = n;
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn put(&mut self, bytes: &[u8]) -> bool {
        (**self).put(bytes)
    }

    fn lend(&mut self) -> Option<&mut [u8]> {
        (**self).lend()
    }

    fn took(&mut self, n: usize) {
        (**self).took(n);
    }
}

#[cfg(feature = "alloc")]
impl Sink for alloc::vec::Vec<u8> {
    /// Always has room.
    fn put(&mut self, bytes: &[u8]) -> bool {
        self.extend_from_slice(bytes);
        true
    }
}

/// A fixed buffer with sticky overflow and roll-back.
///
/// **Sticky:** once a `put` did not fit, none does, however small, until a mark from before it is rolled back to.
/// So a chain of writes needs one check at its end.
///
/// ```
/// use barewire::json::{Sink, Writer};
///
/// let mut buffer = [0; 8];
/// let mut out = Writer::new(&mut buffer);
/// assert!(out.put(b"[1,2"));
/// let mark = out.mark();
/// assert!(!out.put(b",345678") && !out.put(b"]"));
/// out.roll_back(mark);
/// assert!(out.put(b"]"));
/// assert_eq!(out.written(), b"[1,2]");
/// ```
#[derive(Debug)]
pub struct Writer<'t> {
    buffer: &'t mut [u8],
    len: usize,
    full: bool,
}

/// A place in a [`Writer`]; see [`Writer::mark`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    len: usize,
    full: bool,
}

impl<'t> Writer<'t> {
    /// An empty writer over `buffer`.
    pub const fn new(buffer: &'t mut [u8]) -> Self {
        Self { buffer, len: 0, full: false }
    }

    /// Remembers this place for [`roll_back`](Self::roll_back).
    pub const fn mark(&self) -> Mark {
        Mark { len: self.len, full: self.full }
    }

    /// Forgets all that was written since `mark`, an overflow included. Marks are of no use in another writer, nor
    /// after an earlier one was rolled back to; such a one does nothing where it lies ahead.
    pub fn roll_back(&mut self, mark: Mark) {
        if mark.len <= self.len {
            self.len = mark.len;
            self.full = mark.full;
        }
    }

    /// The number of bytes written.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is written.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether something did not fit.
    pub const fn is_full(&self) -> bool {
        self.full
    }

    /// The number of bytes that still fit; 0 after an overflow.
    pub const fn room(&self) -> usize {
        if self.full { 0 } else { self.buffer.len().saturating_sub(self.len) }
    }

    /// What was written.
    pub fn written(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or_default()
    }
}

impl Sink for Writer<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> bool {
        if !self.full
            && let Some(end) = self.len.checked_add(bytes.len())
            && let Some(room) = self.buffer.get_mut(self.len..end)
        {
            super::copy(room, bytes);
            self.len = end;
            return true;
        }
        self.full = true;
        false
    }

    fn lend(&mut self) -> Option<&mut [u8]> {
        self.buffer.get_mut(self.len..).filter(|_| !self.full)
    }

    fn took(&mut self, n: usize) {
        self.len = self.len.saturating_add(n).min(self.buffer.len());
    }
}

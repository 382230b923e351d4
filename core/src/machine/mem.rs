//! Memory that a machine works in: lent slices, or vectors that grow to a limit.
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::num::NonZero;

/// What a growing buffer keeps while it is empty.
#[cfg(feature = "alloc")]
const KEEP: usize = 128 * 1024;

/// Bytes of the caller, or (feature `alloc`) of our own.
pub(crate) enum Bytes<'b> {
    Lent(&'b mut [u8]),
    /// The vector's length is the room at hand; the number is the most it may become.
    #[cfg(feature = "alloc")]
    Grown(Vec<u8>, usize),
}

impl Bytes<'_> {
    pub(crate) fn get(&self) -> &[u8] {
        match self {
            Self::Lent(s) => s,
            #[cfg(feature = "alloc")]
            Self::Grown(v, _) => v,
        }
    }

    pub(crate) fn get_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Lent(s) => s,
            #[cfg(feature = "alloc")]
            Self::Grown(v, _) => v,
        }
    }

    /// The most bytes that this can ever hold.
    pub(crate) fn limit(&self) -> usize {
        match self {
            Self::Lent(s) => s.len(),
            #[cfg(feature = "alloc")]
            Self::Grown(_, limit) => *limit,
        }
    }

    /// Makes room for at least `n` bytes, as far as the limit allows.
    pub(crate) fn reserve(&mut self, n: usize) {
        #[cfg(feature = "alloc")]
        if let Self::Grown(v, limit) = self {
            let n = n.min(*limit);
            if v.len() < n {
                v.resize(n, 0);
            }
        }
        #[cfg(not(feature = "alloc"))]
        let _ = n;
    }

    /// Gives back what a buffer took for messages of rare length; to take it again for each would cost more than they do.
    pub(crate) fn shrink(&mut self) {
        #[cfg(feature = "alloc")]
        if let Self::Grown(v, _) = self
            && v.len() > KEEP
        {
            v.truncate(KEEP);
            v.shrink_to(KEEP);
        }
    }

    /// Does it grow?
    pub(crate) fn grows(&self) -> bool {
        !matches!(self, Self::Lent(_))
    }
}

/// Shows bytes as text; what is no text is escaped.
pub(crate) fn show(f: &mut core::fmt::Formatter<'_>, bytes: &[u8]) -> core::fmt::Result {
    match core::str::from_utf8(bytes) {
        Ok(text) => f.write_str(text),
        Err(_) => write!(f, "{}", bytes.escape_ascii()),
    }
}

/// A span of a buffer, kept without borrowing it. What is kept is one more than its end, so that an `Option` of it takes no more room.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    past: NonZero<usize>,
}

impl Default for Span {
    fn default() -> Self {
        Self::new(0, 0)
    }
}

impl core::fmt::Debug for Span {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}..{}", self.start, self.end())
    }
}

impl Span {
    pub(crate) const fn new(start: usize, end: usize) -> Self {
        // No buffer reaches to the last address.
        let past = NonZero::<usize>::MIN.saturating_add(end);
        Self { start, past }
    }

    pub(crate) const fn end(self) -> usize {
        self.past.get().wrapping_sub(1)
    }

    pub(crate) const fn len(self) -> usize {
        self.end().saturating_sub(self.start)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..self.end()).unwrap_or(&[])
    }

    pub(crate) fn of_mut(self, bytes: &mut [u8]) -> &mut [u8] {
        bytes.get_mut(self.start..self.end()).unwrap_or(&mut [])
    }

    /// Where `inner`, a part of `outer`, stands in it.
    pub(crate) fn within(outer: &[u8], inner: &[u8]) -> Option<Self> {
        let start = (inner.as_ptr().addr()).checked_sub(outer.as_ptr().addr())?;
        let end = start.checked_add(inner.len())?;
        (end <= outer.len()).then_some(Self::new(start, end))
    }

    /// The same span, counted from `by` further left.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) const fn shifted(self, by: usize) -> Self {
        // Places in one buffer: no sum of them can wrap.
        Self { start: self.start.wrapping_add(by), past: self.past.saturating_add(by) }
    }
}

/// A few bytes kept by value; with growing buffers longer ones are kept on the heap.
#[derive(Clone)]
pub(crate) struct Small<const N: usize> {
    raw: [u8; N],
    len: u8,
    #[cfg(feature = "alloc")]
    long: Option<alloc::boxed::Box<[u8]>>,
}

impl<const N: usize> Small<N> {
    pub(crate) const EMPTY: Self = Self {
        raw: [0; N],
        len: 0,
        #[cfg(feature = "alloc")]
        long: None,
    };

    /// Keeps `bytes`; `long` allows the heap. False (and empty) if they do not fit.
    pub(crate) fn set(&mut self, bytes: &[u8], long: bool) -> bool {
        self.clear();
        if let (Some(room), Ok(len)) = (self.raw.get_mut(..bytes.len()), u8::try_from(bytes.len())) {
            crate::json::copy(room, bytes);
            self.len = len;
            return true;
        }
        #[cfg(feature = "alloc")]
        if long {
            self.long = Some(bytes.into());
            return true;
        }
        let _ = long;
        false
    }

    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) fn get(&self) -> &[u8] {
        #[cfg(feature = "alloc")]
        if let Some(long) = &self.long {
            return long;
        }
        self.raw.get(..usize::from(self.len)).unwrap_or(&[])
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
        #[cfg(feature = "alloc")]
        {
            self.long = None;
        }
    }
}

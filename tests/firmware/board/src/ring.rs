//! Bytes from an interrupt to the loop that it interrupts, by loads and stores alone: Cortex-M0 and RV32IMC have no more.
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// One writer (the interrupt), one reader (the loop). `N` is a power of two.
pub struct Ring<const N: usize> {
    bytes: [AtomicU8; N],
    /// Bytes that ever came, and that ever were taken.
    came: AtomicUsize,
    taken: AtomicUsize,
}

impl<const N: usize> Ring<N> {
    pub const fn new() -> Self {
        const { assert!(N.is_power_of_two()) };
        Self { bytes: [const { AtomicU8::new(0) }; N], came: AtomicUsize::new(0), taken: AtomicUsize::new(0) }
    }

    pub fn len(&self) -> usize {
        self.came.load(Ordering::Acquire).wrapping_sub(self.taken.load(Ordering::Acquire))
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn is_full(&self) -> bool {
        self.len() >= N
    }

    /// For the interrupt. Drops the byte if the ring is full: look first.
    pub fn put(&self, byte: u8) {
        if !self.is_full() {
            let at = self.came.load(Ordering::Relaxed);
            if let Some(place) = self.bytes.get(at & (N - 1)) {
                place.store(byte, Ordering::Relaxed);
            }
            self.came.store(at.wrapping_add(1), Ordering::Release);
        }
    }

    /// For the loop: moves bytes into `into`, and says how many.
    pub fn take(&self, into: &mut [u8]) -> usize {
        let n = self.len().min(into.len());
        let from = self.taken.load(Ordering::Relaxed);
        for (i, byte) in into.iter_mut().take(n).enumerate() {
            let place = self.bytes.get(from.wrapping_add(i) & (N - 1));
            *byte = place.map_or(0, |b| b.load(Ordering::Relaxed));
        }
        self.taken.store(from.wrapping_add(n), Ordering::Release);
        n
    }
}

impl<const N: usize> Default for Ring<N> {
    fn default() -> Self {
        Self::new()
    }
}

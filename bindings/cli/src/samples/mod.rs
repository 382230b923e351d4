//! The sample servers' tools, as plain functions: made-up data that says so.

pub(crate) mod bmi;
pub(crate) mod weather;

/// A small deterministic sequence (a linear congruential generator): the same on every machine and in every run.
struct Sequence(u64);

impl Sequence {
    /// Begins with what identifies the place.
    fn of(seed: &str) -> Self {
        // FNV-1a.
        Self(seed.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    /// The next number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// The next of `list`.
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list.get(self.below(list.len())).copied().unwrap_or("")
    }
}

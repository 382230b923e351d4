//! Texts that can be made again and compared.

use core::fmt::Write as _;

/// `len` bytes of text that never repeats much, some of it not ASCII, none of it in need of an escape in JSON.
pub(crate) fn pattern(len: usize, seed: u64) -> String {
    const PLAIN: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const WIDE: [&str; 4] = ["é", "€", "𝄞", "ß"];
    let mut random = Random::new(seed ^ 0x7e57);
    let mut text = String::with_capacity(len);
    while text.len() < len {
        let mut bits = random.next();
        let wide = WIDE[(bits >> 62) as usize];
        if text.len() + wide.len() <= len {
            text.push_str(wide);
        }
        for _ in 0..9.min(len - text.len()) {
            text.push(char::from(PLAIN[(bits & 63) as usize]));
            bits >>= 6;
        }
    }
    text
}

/// Length and FNV-1a of a text: what a tool says of a text too long to send back.
pub(crate) fn digest(text: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let mut digest = String::new();
    let _ = write!(digest, "{} bytes, {hash:016x}", text.len());
    digest
}

/// The beginning of something, for a message.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 120;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST)]);
    let more = if bytes.len() > MOST { format!("… ({} bytes)", bytes.len()) } else { String::new() };
    format!("{text:?}{more}")
}

/// A small generator (splitmix64): the same seed gives the same numbers everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_their_length_and_need_no_escapes() {
        for len in [0, 1, 2, 3, 4, 5, 63, 64, 65, 4096] {
            let text = pattern(len, 7);
            assert_eq!(text.len(), len);
            assert_eq!(barewire::json::escaped_len(&text), len);
        }
        assert_eq!(pattern(1000, 3), pattern(1000, 3));
        assert_ne!(pattern(1000, 3), pattern(1000, 4));
        assert_ne!(digest("ab"), digest("ba"));
    }
}

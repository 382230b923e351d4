//! 64 bytes at a time, as one bit each: bit `i` of a mask says something about byte `i`.
//!
//! Everything that reads in blocks goes through these few functions. They are written twice, with the same meaning:
//! - `plain`: loops without branches over arrays, which compilers turn into whatever vectors the target has;
//! - `sse2` (feature `simd`, x86-64): the same by the processor's own instructions, through `safe_arch`, since the standard library's
//!   may not be called from safe code. It is faster where a mask is made of a vector, for which x86 has an instruction.
//!
//! Whoever changes a loop here looks at the instructions that it becomes: `pcmpeqb` and the like, no loop over bytes.

#[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
use plain as lanes;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use sse2 as lanes;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
pub(super) use sse2::{
    sixteen_eq, sixteen_line_break, sixteen_quote_or_slash, sixteen_special, sixteen_special_or_high,
};

/// How many bytes are looked at in one go.
pub(super) const WIDTH: usize = 64;
pub(crate) type Block = [u8; WIDTH];

/// The bytes that are `want`.
#[inline(always)]
pub(crate) fn eq(block: &Block, want: u8) -> u64 {
    lanes::mask(block, lanes::Eq(want))
}

/// All four brackets.
#[inline(always)]
pub(super) fn brackets(block: &Block) -> u64 {
    lanes::mask(block, lanes::Bracket)
}

/// What opens a container.
#[inline(always)]
pub(super) fn opening(block: &Block) -> u64 {
    lanes::mask(block, lanes::Opening)
}

/// What closes a container.
#[inline(always)]
pub(super) fn closing(block: &Block) -> u64 {
    lanes::mask(block, lanes::Closing)
}

/// What can't stand for itself in a string: quotes, backslashes, control characters.
#[inline(always)]
pub(super) fn specials(block: &Block) -> u64 {
    lanes::mask(block, lanes::Special)
}

/// Whether there is a quote or a backslash.
#[inline(always)]
pub(super) fn has_quote_or_slash(block: &Block) -> bool {
    lanes::any(block, lanes::QuoteOrSlash)
}

/// Control characters.
#[inline(always)]
pub(super) fn controls(block: &Block) -> u64 {
    lanes::mask(block, lanes::Control)
}

/// Whether a byte is `want`.
#[cfg_attr(any(barewire_small, not(target_pointer_width = "64")), allow(dead_code))]
#[inline(always)]
pub(crate) fn has(block: &Block, want: u8) -> bool {
    lanes::any(block, lanes::Eq(want))
}

/// Digits of `\u` escapes.
#[inline(always)]
pub(super) fn hex_digits(block: &Block) -> u64 {
    lanes::mask(block, lanes::HexDigit)
}

/// Whether there is a control character.
#[inline(always)]
pub(super) fn has_control(block: &Block) -> bool {
    lanes::has_control(block)
}

/// Whether there is a quote, a backslash or a control character.
#[inline(always)]
pub(super) fn has_special(block: &Block) -> bool {
    lanes::any(block, lanes::Special)
}

/// Bytes over 127.
#[inline(always)]
pub(super) fn high(block: &Block) -> u64 {
    lanes::mask(block, lanes::High)
}

/// Bytes that continue a character of UTF-8.
#[inline(always)]
pub(super) fn continuing(block: &Block) -> u64 {
    lanes::mask(block, lanes::Continuing)
}

/// The bytes that are `least` or more.
#[inline(always)]
pub(super) fn at_least(block: &Block, least: u8) -> u64 {
    lanes::mask(block, lanes::AtLeast(least))
}

/// Whether there is a byte that continues no character and starts none of three bytes, or one whose second byte matters.
#[inline(always)]
pub(super) fn has_odd_lead(block: &Block) -> bool {
    lanes::has_odd_lead(block)
}

/// The bytes that [`is_plain_text`] looks at, and the two before them.
pub(super) type Window = [u8; 2 * WIDTH + 2];

/// Whether all of a window but its first two bytes is ASCII and characters of three bytes whose second byte may be any, or the rest of
/// such a one that starts in those two. So it is UTF-8, but for what follows.
#[inline(always)]
pub(super) fn is_plain_text(window: &Window) -> bool {
    lanes::is_plain_text(window)
}

/// A window's bytes, without so many before them.
#[inline(always)]
fn behind(window: &Window, by: usize) -> &[[u8; 16]] {
    window.get(by..).unwrap_or_default().as_chunks().0
}

/// Whether there is a byte over 127.
#[inline(always)]
pub(super) fn has_high(block: &Block) -> bool {
    lanes::any(block, lanes::High)
}

/// Whether there is a control character or a byte over 127.
#[inline(always)]
pub(super) fn has_control_or_high(block: &Block) -> bool {
    lanes::any(block, lanes::ControlOrHigh)
}

/// Whether there is a backslash, a control character or a byte over 127.
#[inline(always)]
pub(super) fn has_slash_control_or_high(block: &Block) -> bool {
    lanes::any(block, lanes::SlashControlOrHigh)
}

/// Whether there is a quote, a backslash, a control character or a byte over 127.
#[inline(always)]
pub(super) fn has_special_or_high(block: &Block) -> bool {
    lanes::any(block, lanes::SpecialOrHigh)
}

/// Bit `i` is the parity of the bits up to `i`: of quotes, it makes all that is in strings.
#[inline(always)]
pub(super) const fn parity(mut x: u64) -> u64 {
    x ^= x << 1;
    x ^= x << 2;
    x ^= x << 4;
    x ^= x << 8;
    x ^= x << 16;
    x ^ x << 32
}

/// The bytes that backslashes `slashes` escape. `carry`: 1 if the byte before the block does that to the first one.
#[inline(always)]
pub(super) const fn escaped(slashes: u64, carry: &mut u64) -> u64 {
    let follows = slashes << 1 | *carry;
    if slashes & follows == 0 {
        // No two in a row.
        *carry = slashes >> 63;
        return follows;
    }
    // Of several in a row every second one is escaped. A run that starts at an odd place is told from one at an even place by
    // adding its start to it: the carry leaves at the byte behind the run. (As simdjson does it.)
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let slashes = slashes & !*carry;
    let follows = slashes << 1 | *carry;
    let (sum, over) = (slashes & !EVEN & !follows).overflowing_add(slashes);
    *carry = over as u64;
    (EVEN ^ sum << 1) & follows
}

#[cfg_attr(all(feature = "simd", target_arch = "x86_64"), allow(dead_code))]
mod plain {
    use super::{Block, Window, behind};

    pub(super) trait Test: Copy {
        fn of(self, byte: u8) -> bool;
    }

    macro_rules! tests {
        ($($name:ident |$x:ident| $is:expr;)*) => {$(
            #[derive(Clone, Copy)]
            pub(super) struct $name;
            impl Test for $name {
                #[inline(always)]
                fn of(self, $x: u8) -> bool {
                    $is
                }
            }
        )*};
    }
    tests! {
        // They become 80, 82, A0 and A2.
        Bracket |x| x.wrapping_add(0x25) & 0xdd == 0x80;
        // `[` and `{` differ in one bit.
        Opening |x| x | 0x20 == b'{';
        Closing |x| x | 0x20 == b'}';
        QuoteOrSlash |x| (x == b'"') | (x == b'\\');
        Control |x| x < 0x20;
        HexDigit |x| (x.wrapping_sub(b'0') < 10) | ((x | 0x20).wrapping_sub(b'a') < 6);
        High |x| x >= 0x80;
        Continuing |x| x & 0xc0 == 0x80;
        OddLead |x| (x.wrapping_sub(0xc0) <= 0x20) | (x == 0xed) | (x >= 0xf0);
        Special |x| (x == b'"') | (x == b'\\') | (x < 0x20);
        // As a signed number, what is over 127 is negative.
        ControlOrHigh |x| x.cast_signed() < 0x20;
        SlashControlOrHigh |x| (x == b'\\') | (x.cast_signed() < 0x20);
        SpecialOrHigh |x| (x == b'"') | (x == b'\\') | (x.cast_signed() < 0x20);
    }

    #[derive(Clone, Copy)]
    pub(super) struct Eq(pub(super) u8);
    impl Test for Eq {
        #[inline(always)]
        fn of(self, x: u8) -> bool {
            x == self.0
        }
    }

    #[derive(Clone, Copy)]
    pub(super) struct AtLeast(pub(super) u8);
    impl Test for AtLeast {
        #[inline(always)]
        fn of(self, x: u8) -> bool {
            x >= self.0
        }
    }

    /// Each byte becomes a bit at the place of its eighth of the block, or 0; the eight words are or-ed.
    #[inline(always)]
    fn fold(block: &Block, test: impl Test, bit: impl Fn(u8) -> u8) -> u64 {
        let mut bits = [0; 64];
        let mut place = 0;
        for (to, byte) in bits.iter_mut().zip(block) {
            *to = if test.of(*byte) { bit(place) } else { 0 };
            place = u8::wrapping_add(place, 1);
        }
        bits.as_chunks::<8>().0.iter().fold(0, |all, word| all | u64::from_le_bytes(*word))
    }

    #[inline(always)]
    pub(super) fn any(block: &Block, test: impl Test) -> bool {
        fold(block, test, |_| 0xff) != 0
    }

    #[inline(always)]
    pub(super) fn has_control(block: &Block) -> bool {
        any(block, Control)
    }

    #[inline(always)]
    pub(super) fn has_odd_lead(block: &Block) -> bool {
        any(block, OddLead)
    }

    #[inline(always)]
    pub(super) fn is_plain_text(window: &Window) -> bool {
        // As the vectors below do it.
        let (mut wrong, mut least, mut most) = ([0u8; 16], [0xffu8; 16], [0u8; 16]);
        let before = behind(window, 0).iter().zip(behind(window, 1));
        for (piece, (second, first)) in behind(window, 2).iter().zip(before) {
            for (((x, second), first), ((wrong, least), most)) in
                piece.iter().zip(second).zip(first).zip(wrong.iter_mut().zip(&mut least).zip(&mut most))
            {
                let turned = x.wrapping_add(0x40);
                *least = turned.min(*least);
                *most = (x ^ 2).max(*most);
                *wrong |= turned.saturating_sub(0x40) ^ (*first).max(*second).saturating_sub(0x60);
            }
        }
        let all = wrong.iter().zip(&least).zip(&most);
        all.fold(true, |is, ((wrong, least), most)| is & (*wrong < 0x80) & (*least > 0x20) & (*most < 0xef))
    }

    #[inline(always)]
    pub(super) fn mask(block: &Block, test: impl Test) -> u64 {
        // Byte i of the word now has what bytes i, 8 + i, 16 + i … were: an 8 by 8 matrix of bits, to be transposed.
        let mut x = fold(block, test, |place| 1 << (place / 8));
        let t = (x ^ x >> 7) & 0x00aa_00aa_00aa_00aa;
        x ^= t ^ t << 7;
        let t = (x ^ x >> 14) & 0x0000_cccc_0000_cccc;
        x ^= t ^ t << 14;
        let t = (x ^ x >> 28) & 0x0000_0000_f0f0_f0f0;
        x ^ t ^ t << 28
    }
}

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod sse2 {
    use super::{Block, Window, behind};
    use safe_arch::{
        add_i8_m128i, bitand_m128i, bitor_m128i, bitxor_m128i, cmp_eq_mask_i8_m128i, cmp_lt_mask_i8_m128i,
        load_unaligned_m128i, m128i, max_u8_m128i, min_u8_m128i, move_mask_i8_m128i, set_splat_i8_m128i,
        sub_i8_m128i, sub_saturating_u8_m128i,
    };

    /// Sets at least the top bit of each byte that it holds for.
    pub(super) trait Test: Copy {
        fn of(self, x: m128i) -> m128i;
    }

    macro_rules! tests {
        ($($name:ident |$x:ident| $is:expr;)*) => {$(
            #[derive(Clone, Copy)]
            pub(super) struct $name;
            impl Test for $name {
                #[inline(always)]
                fn of(self, $x: m128i) -> m128i {
                    $is
                }
            }
        )*};
    }
    tests! {
        // They become 80, 82, A0 and A2.
        Bracket |x| equal(bitand_m128i(add_i8_m128i(x, all(0x25)), all(0xdd)), 0x80);
        // `[` and `{` differ in one bit.
        Opening |x| equal(bitor_m128i(x, all(0x20)), b'{');
        Closing |x| equal(bitor_m128i(x, all(0x20)), b'}');
        LineBreak |x| bitor_m128i(equal(x, b'\n'), equal(x, b'\r'));
        QuoteOrSlash |x| bitor_m128i(equal(x, b'"'), equal(x, b'\\'));
        Control |x| at_most(x, 0x1f);
        HexDigit |x| bitor_m128i(
            at_most(sub_i8_m128i(x, all(b'0')), 9),
            at_most(sub_i8_m128i(bitor_m128i(x, all(0x20)), all(b'a')), 5),
        );
        High |x| x;
        // Itself, where a test is made of several.
        Any |x| x;
        Continuing |x| cmp_lt_mask_i8_m128i(x, all(0xc0));
        Special |x| bitor_m128i(bitor_m128i(equal(x, b'"'), equal(x, b'\\')), Control.of(x));
        // As a signed number, what is over 127 is negative.
        ControlOrHigh |x| cmp_lt_mask_i8_m128i(x, all(0x20));
        SlashControlOrHigh |x| bitor_m128i(equal(x, b'\\'), ControlOrHigh.of(x));
        SpecialOrHigh |x| bitor_m128i(equal(x, b'"'), SlashControlOrHigh.of(x));
    }

    #[derive(Clone, Copy)]
    pub(super) struct Eq(pub(super) u8);
    impl Test for Eq {
        #[inline(always)]
        fn of(self, x: m128i) -> m128i {
            equal(x, self.0)
        }
    }

    #[derive(Clone, Copy)]
    pub(super) struct AtLeast(pub(super) u8);
    impl Test for AtLeast {
        #[inline(always)]
        fn of(self, x: m128i) -> m128i {
            cmp_eq_mask_i8_m128i(max_u8_m128i(x, all(self.0)), x)
        }
    }

    #[inline(always)]
    fn all(byte: u8) -> m128i {
        set_splat_i8_m128i(byte.cast_signed())
    }

    #[inline(always)]
    fn equal(x: m128i, byte: u8) -> m128i {
        cmp_eq_mask_i8_m128i(x, all(byte))
    }

    #[inline(always)]
    fn at_most(x: m128i, most: u8) -> m128i {
        cmp_eq_mask_i8_m128i(min_u8_m128i(x, all(most)), x)
    }

    macro_rules! sixteen {
        ($($name:ident $test:ident;)*) => {$(
            /// The same of 16 bytes.
            #[inline(always)]
            pub(in super::super) fn $name(piece: &[u8; 16]) -> u32 {
                move_mask_i8_m128i($test.of(load_unaligned_m128i(piece))).cast_unsigned()
            }
        )*};
    }
    sixteen! {
        sixteen_line_break LineBreak;
        sixteen_special Special;
        sixteen_special_or_high SpecialOrHigh;
        sixteen_quote_or_slash QuoteOrSlash;
    }

    /// The bytes that are `want`, of 16.
    #[inline(always)]
    pub(in super::super) fn sixteen_eq(piece: &[u8; 16], want: u8) -> u32 {
        move_mask_i8_m128i(equal(load_unaligned_m128i(piece), want)).cast_unsigned()
    }

    #[inline(always)]
    fn quarters(block: &Block, test: impl Test) -> [m128i; 4] {
        let (quarters, _) = block.as_chunks::<16>();
        match quarters {
            [a, b, c, d] => [a, b, c, d].map(|quarter| test.of(load_unaligned_m128i(quarter))),
            _ => [all(0); 4],
        }
    }

    #[inline(always)]
    pub(super) fn any(block: &Block, test: impl Test) -> bool {
        move_mask_i8_m128i(fold(quarters(block, test), bitor_m128i)) != 0
    }

    /// Of each four bytes only the least is compared.
    #[inline(always)]
    pub(super) fn has_control(block: &Block) -> bool {
        move_mask_i8_m128i(Control.of(fold(quarters(block, Any), min_u8_m128i))) != 0
    }

    #[inline(always)]
    pub(super) fn has_odd_lead(block: &Block) -> bool {
        // C0 to E0 become the least of all bytes.
        let turned = quarters(block, Any).map(|x| add_i8_m128i(x, all(0x40)));
        let short = at_most(fold(turned, min_u8_m128i), 0x20);
        // ED takes the place of EF, so that it is next to F0 and what is over it: only the greatest is compared.
        let turned = quarters(block, Any).map(|x| bitxor_m128i(x, all(2)));
        let long = AtLeast(0xef).of(fold(turned, max_u8_m128i));
        move_mask_i8_m128i(bitor_m128i(short, long)) != 0
    }

    #[inline(always)]
    pub(super) fn is_plain_text(window: &Window) -> bool {
        let (mut wrong, mut least, mut most) = (all(0), all(0xff), all(0));
        let before = behind(window, 0).iter().zip(behind(window, 1));
        for (piece, (second, first)) in behind(window, 2).iter().zip(before) {
            let [x, first, second] = [piece, first, second].map(load_unaligned_m128i);
            let turned = add_i8_m128i(x, all(0x40));
            least = min_u8_m128i(turned, least);
            most = max_u8_m128i(bitxor_m128i(x, all(2)), most);
            // Both have the top bit where a byte continues a character, and where one of the two before wants that.
            let continues = sub_saturating_u8_m128i(turned, all(0x40));
            let wanted = sub_saturating_u8_m128i(max_u8_m128i(first, second), all(0x60));
            wrong = bitor_m128i(bitxor_m128i(continues, wanted), wrong);
        }
        // As `has_odd_lead` has it.
        let odd = bitor_m128i(at_most(least, 0x20), AtLeast(0xef).of(most));
        move_mask_i8_m128i(bitor_m128i(wrong, odd)) == 0
    }

    #[inline(always)]
    fn fold([a, b, c, d]: [m128i; 4], of_two: impl Fn(m128i, m128i) -> m128i) -> m128i {
        of_two(of_two(a, b), of_two(c, d))
    }

    #[inline(always)]
    pub(super) fn mask(block: &Block, test: impl Test) -> u64 {
        let [a, b, c, d] =
            quarters(block, test).map(|bits| u64::from(move_mask_i8_m128i(bits).cast_unsigned()));
        a | b << 16 | c << 32 | d << 48
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(block: &Block, is: impl Fn(u8) -> bool) -> u64 {
        block.iter().rev().fold(0, |all, &byte| all << 1 | u64::from(is(byte)))
    }

    fn agree(block: &Block) {
        let control = |b: u8| b < 0x20;
        let special = |b: u8| matches!(b, b'"' | b'\\') || control(b);
        let any = |is: &dyn Fn(u8) -> bool| block.iter().any(|&b| is(b));
        assert_eq!(eq(block, b':'), bits(block, |b| b == b':'));
        assert_eq!(brackets(block), bits(block, |b| b"[]{}".contains(&b)));
        assert_eq!(opening(block), bits(block, |b| b"[{".contains(&b)));
        assert_eq!(closing(block), bits(block, |b| b"]}".contains(&b)));
        assert_eq!(controls(block), bits(block, control));
        assert_eq!(specials(block), bits(block, special));
        assert_eq!(high(block), bits(block, |b| b >= 0x80));
        assert_eq!(continuing(block), bits(block, |b| b & 0xc0 == 0x80));
        assert_eq!(at_least(block, 0xe0), bits(block, |b| b >= 0xe0));
        assert_eq!(has_odd_lead(block), any(&|b| matches!(b, 0xc0..=0xe0 | 0xed | 0xf0..)));
        assert_eq!(hex_digits(block), bits(block, |b| b.is_ascii_hexdigit()));
        assert_eq!(has_control(block), any(&control));
        assert_eq!(has_special(block), any(&special));
        assert_eq!(has_quote_or_slash(block), any(&|b| matches!(b, b'"' | b'\\')));
        assert_eq!(has_high(block), any(&|b| b >= 0x80));
        assert_eq!(has_control_or_high(block), any(&|b| control(b) || b >= 0x80));
        assert_eq!(has_slash_control_or_high(block), any(&|b| control(b) || b >= 0x80 || b == b'\\'));
        assert_eq!(has_special_or_high(block), any(&|b| special(b) || b >= 0x80));
    }

    /// What [`is_plain_text`] says, a byte at a time.
    fn is_plain(window: &Window) -> bool {
        let is_lead = |byte: u8| byte >= 0xe0;
        window.windows(3).all(|three| match *three {
            [first, second, third] if is_lead(first) || is_lead(second) => matches!(third, 0x80..=0xbf),
            [.., third] => matches!(third, 0..=0x7f | 0xe1..=0xec | 0xee | 0xef),
            _ => false,
        })
    }

    #[test]
    fn every_byte_at_every_place_of_a_window() {
        let plain: Window = core::array::from_fn(|at| [0xe8, 0xaf, 0xad][at % 3]);
        let ascii = [b'a'; 2 * WIDTH + 2];
        for byte in 0..=255 {
            for place in 0..plain.len() {
                for window in [plain, ascii] {
                    let mut changed = window;
                    changed[place] = byte;
                    assert_eq!(is_plain_text(&changed), is_plain(&changed), "{byte:x} at {place}");
                    assert_eq!(plain::is_plain_text(&changed), is_plain(&changed), "{byte:x} at {place}");
                    if let Some(three) = changed.get_mut(place..place + 3) {
                        three.copy_from_slice(&[byte, 0x80, 0xbf]);
                        assert_eq!(is_plain_text(&changed), is_plain(&changed), "{byte:x} at {place}");
                        assert_eq!(plain::is_plain_text(&changed), is_plain(&changed), "{byte:x} at {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=255 {
            for place in 0..64 {
                let mut block = [b'a'; 64];
                block[place] = byte;
                agree(&block);
            }
        }
    }

    proptest! {
        #[test]
        fn bytes_that_matter_together(block in prop::collection::vec(prop::sample::select(&b"\"\\:[]{}Yy_\x7f\x80\xff\x1f\n a"[..]), 64)) {
            agree(&block.try_into().unwrap());
        }

        #[test]
        fn escapes(bytes in prop::collection::vec(any::<bool>(), 192)) {
            let (mut carry, mut due) = (0, false);
            for block in bytes.chunks(64) {
                let slashes = block.iter().rev().fold(0, |all, &slash| all << 1 | u64::from(slash));
                let ours = escaped(slashes, &mut carry);
                for (i, &slash) in block.iter().enumerate() {
                    prop_assert_eq!(ours >> i & 1 == 1, due);
                    due = slash && !due;
                }
            }
        }
    }

    #[test]
    fn parities() {
        assert_eq!(parity(0b1_0010_0100), (!0 << 8) | 0b0001_1100);
    }
}

//! The tests run with checked arithmetic: a number that wraps unseen would make all of them worth less.
#![allow(clippy::panic)]
use core::hint::black_box;

const _: () = assert!(cfg!(debug_assertions), "tests need debug assertions: see [profile.dev] in Cargo.toml");

#[test]
#[should_panic(expected = "attempt to add with overflow")]
#[allow(clippy::arithmetic_side_effects)]
fn arithmetic_is_checked() {
    let _ = black_box(black_box(u8::MAX) + 1);
}

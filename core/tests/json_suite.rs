//! The files of JSONTestSuite: `y_` must be accepted, `n_` refused, `i_` may be either.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]

mod json_common;

use json_common::{accepts, same_at_every_split, suite};

#[test]
fn json_test_suite() {
    let Some(files) = suite() else { return };
    let (mut accepted, mut refused) = (0, 0);
    for (name, text) in files {
        if name.starts_with("y_") {
            assert!(accepts(&text), "{name} is refused");
            accepted += 1;
        } else if name.starts_with("n_") {
            assert!(!accepts(&text), "{name} is accepted");
            refused += 1;
        }
        if text.len() < 10_000 {
            let _ = same_at_every_split(&text);
            // The same as an element, so that the text ends with a bracket.
            let element = [&b"["[..], &text, b"]"].concat();
            if name.starts_with("y_") {
                assert!(accepts(&element), "[{name}] is refused");
            }
            let _ = same_at_every_split(&element);
        }
    }
    assert!(accepted > 90 && refused > 180, "only {accepted} + {refused} files");
}

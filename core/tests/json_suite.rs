//! The files of JSONTestSuite: `y_` must be accepted, `n_` refused, `i_` may be either.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]

mod json_common;

use json_common::{accepts, same_at_every_split};
use std::path::PathBuf;

#[test]
fn json_test_suite() {
    let shared = std::env::var_os("BAREWIRE_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let folder = shared.join("data/json-test-suite/test_parsing");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no JSONTestSuite at {}", folder.display());
        return;
    };
    let (mut accepted, mut refused) = (0, 0);
    for file in files {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read(&path).unwrap();
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

//! What does not compile, and what is said then: one sentence each, at the place.
use std::process::Command;

/// The derive's own sentences.
const OWN: [&str; 3] = ["tables", "types", "rules"];
/// Where the compiler says its part, in words that change from version to version; these are of one.
const COMPILER: [&str; 3] = ["arm", "constants", "foreign"];
const VERSION: &str = "rustc 1.95.";

#[test]
fn sentences() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("rustc runs");
    let words_are_known = version.stdout.starts_with(VERSION.as_bytes());
    let cases = trybuild::TestCases::new();
    for case in OWN.iter().chain(COMPILER.iter().filter(|_| words_are_known)) {
        cases.compile_fail(format!("tests/ui/{case}.rs"));
    }
}

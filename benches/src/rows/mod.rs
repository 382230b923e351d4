//! Contenders that need nothing but the standard library, memchr and serde_json: those of the plain bench.

mod limits;
mod lines;
mod serde;

use crate::{Group, Row, row};

/// Ours, and beside it what is at hand without more crates.
#[must_use]
pub fn light() -> Vec<Row> {
    let mut rows = crate::ours::rows();
    rows.extend(limits::rows());
    rows.push(
        row(Group::Framing, "std read_until", "of the compiler", |_| Some(lines::ReadUntil::default()))
            .note("io::BufReader with 8 KiB, one Vec for all lines"),
    );
    rows.extend(serde::rows());
    rows
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_are_those_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock");
        for (name, version) in [("serde_json", super::serde::VERSION), ("memchr", super::limits::MEMCHR)] {
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"");
            assert!(lock.contains(&entry), "{name} is no more at {version}: say so in its rows");
        }
    }
}

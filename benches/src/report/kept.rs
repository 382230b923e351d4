//! Figures of other builds, kept in files: the core with other features beside the one that is measured here.
//!
//! Two builds cannot be in one process. So each is measured beside the same yardstick, and it is the ratios to that which are
//! compared.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::Report;
use crate::measure::{Cell, Column};
use crate::ours::{BASE, VERSION};
use crate::{Contender, Digest, Group, Row, row};

/// The row of the plain core.
pub const PLAIN: &str = "barewire, plain";

/// The core with other features.
#[derive(Debug)]
pub(super) struct Build {
    /// The option that names its file.
    pub(super) option: &'static str,
    /// The name of its row.
    pub(super) name: &'static str,
    note: &'static str,
    groups: &'static [Group],
}

pub(super) const BUILDS: [Build; 2] = [
    Build {
        option: "--plain",
        name: PLAIN,
        note: "without the feature `simd`; measured in a run of its own beside the same yardstick",
        groups: &[Group::Framing, Group::Read, Group::Typed, Group::Write, Group::Escape, Group::Unescape],
    },
    // Where texts become a `str`.
    Build {
        option: "--simdutf8",
        name: "barewire, simdutf8",
        note: "with the feature `simdutf8`, too, so that a `str` is checked by that crate; measured as the plain one",
        groups: &[Group::Typed, Group::Unescape],
    },
];

/// Which contender is measured in both builds.
const fn yardstick(group: Group) -> Option<&'static str> {
    Some(match group {
        Group::Framing => "std read_until",
        Group::Read => "serde_json RawValue",
        Group::Typed => "serde_json borrowed",
        Group::Write => "serde_json to_writer",
        Group::Escape | Group::Unescape => "serde_json",
        Group::RoundTrip => return None,
    })
}

/// Ours beside the yardstick, by group and corpus.
type Ratios = Vec<(String, String, f64)>;

/// What another build had.
pub(super) struct Kept {
    build: &'static Build,
    ratios: Ratios,
}

/// The figures to keep: a line for each column, its parts between tabs.
pub(super) fn text(report: &Report<'_>) -> String {
    let mut out = String::new();
    for column in &report.columns {
        if let Some(ratio) = yardstick(column.group).and_then(|yard| column.ratio(BASE, yard)) {
            let _ = writeln!(out, "{}\t{}\t{}", column.group.word(), column.corpus, ratio.median);
        }
    }
    out
}

pub(super) fn read(build: &'static Build, file: &Path) -> Result<Kept, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    match parse(&text).filter(|ratios| !ratios.is_empty()) {
        Some(ratios) => Ok(Kept { build, ratios }),
        None => Err(format!("{}: not written by --save", file.display())),
    }
}

fn parse(text: &str) -> Option<Ratios> {
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let kept = (parts.next()?.to_owned(), parts.next()?.to_owned(), parts.next()?.parse().ok()?);
        parts.next().is_none().then_some(kept)
    };
    text.lines().map(line).collect()
}

impl Kept {
    /// Adds the rows that the figures stand in; nothing runs for them.
    pub(super) fn register(&self, rows: &mut Vec<Row>) {
        struct Nobody;
        impl Contender for Nobody {
            fn read(&mut self, _: &[u8]) -> Digest {
                Digest::UNKNOWN
            }
        }
        let Build { name, note, groups, .. } = *self.build;
        for group in groups {
            let at = rows.iter().position(|row| row.group == *group).map_or(rows.len(), |at| at + 1);
            rows.insert(at, row(*group, name, VERSION, |_| None::<Nobody>).note(note));
        }
    }

    /// Adds the other build to a column.
    pub(super) fn add_to(&self, column: &mut Column) {
        if !self.build.groups.contains(&column.group) {
            return;
        }
        let kept = self
            .ratios
            .iter()
            .find(|(group, corpus, _)| group == column.group.word() && corpus == column.corpus);
        let yard = yardstick(column.group).and_then(|yard| column.cell(yard));
        if let (Some((.., ratio)), Some(yard)) = (kept, yard) {
            let ns = yard.ns.iter().map(|ns| ns * ratio).collect();
            // Its features change no allocation.
            let allocations = column.cell(BASE).map_or(0.0, |ours| ours.allocations);
            column.cells.push(Cell { name: self.build.name, ns, allocations });
        }
    }
}

/// Whether a row is ours with other features.
pub(super) fn is_build(name: &str) -> bool {
    BUILDS.iter().any(|build| build.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_the_yardstick() {
        let cell = |name, ns: &[f64]| Cell { name, ns: ns.to_vec(), allocations: 0.0 };
        let mut column = Column {
            group: Group::Read,
            corpus: "call",
            bytes: 100.0,
            cells: vec![cell(BASE, &[10.0]), cell("serde_json RawValue", &[40.0])],
        };
        // In its own run the plain core took half of serde_json's time.
        let ratios = parse("read\tcall\t0.5\nread\tlist\t0.1\n").unwrap();
        let [plain, simdutf8] = BUILDS.each_ref().map(|build| Kept { build, ratios: ratios.clone() });
        plain.add_to(&mut column);
        assert_eq!(column.ratio(PLAIN, BASE).unwrap().median, 2.0);
        assert_eq!(column.ratio("serde_json RawValue", PLAIN).unwrap().median, 2.0);
        // It has no row in this group.
        simdutf8.add_to(&mut column);
        assert_eq!(column.cells.len(), 3);
        for text in ["read", "read\tcall\tx", "a\tb\t1\t2"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}

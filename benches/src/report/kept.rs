//! Figures of another build, kept in a file: the core without the feature `simd` beside the one with it.
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
pub(super) struct Kept(Vec<(String, String, f64)>);

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

pub(super) fn read(file: &Path) -> Result<Kept, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let kept = parse(&text);
    kept.filter(|kept| !kept.0.is_empty()).ok_or_else(|| format!("{}: not written by --save", file.display()))
}

fn parse(text: &str) -> Option<Kept> {
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let kept = (parts.next()?.to_owned(), parts.next()?.to_owned(), parts.next()?.parse().ok()?);
        parts.next().is_none().then_some(kept)
    };
    text.lines().map(line).collect::<Option<_>>().map(Kept)
}

/// The row that the figures stand in; nothing runs for it.
pub(super) fn register(rows: &mut Vec<Row>) {
    struct Nobody;
    impl Contender for Nobody {
        fn read(&mut self, _: &[u8]) -> Digest {
            Digest::UNKNOWN
        }
    }
    for group in Group::ALL.into_iter().filter(|group| yardstick(*group).is_some()) {
        let at = rows.iter().position(|row| row.group == group).map_or(rows.len(), |at| at + 1);
        let plain = row(group, PLAIN, VERSION, |_| None::<Nobody>)
            .note("without the feature `simd`; measured in a run of its own beside the same yardstick");
        rows.insert(at, plain);
    }
}

impl Kept {
    /// Adds the plain core to a column.
    pub(super) fn add_to(&self, column: &mut Column) {
        let kept =
            self.0.iter().find(|(group, corpus, _)| group == column.group.word() && corpus == column.corpus);
        let yard = yardstick(column.group).and_then(|yard| column.cell(yard));
        if let (Some((.., ratio)), Some(yard)) = (kept, yard) {
            let ns = yard.ns.iter().map(|ns| ns * ratio).collect();
            // With or without, it allocates the same.
            let allocations = column.cell(BASE).map_or(0.0, |ours| ours.allocations);
            column.cells.push(Cell { name: PLAIN, ns, allocations });
        }
    }
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
        parse("read\tcall\t0.5\nread\tlist\t0.1\n").unwrap().add_to(&mut column);
        assert_eq!(column.ratio(PLAIN, BASE).unwrap().median, 2.0);
        assert_eq!(column.ratio("serde_json RawValue", PLAIN).unwrap().median, 2.0);
        for text in ["read", "read\tcall\tx", "a\tb\t1\t2"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}

//! Tables in Markdown.

use std::fmt::Write as _;

use super::{GOALS, Goal, PLAIN, Report};
use crate::measure::{Column, Ratio};
use crate::ours::BASE;
use crate::{Group, strict};

/// The ratios of a group: a row for each contender, a column for each corpus. Many corpora make several tables.
#[must_use]
pub fn ratios(report: &Report<'_>, group: Group) -> String {
    let mut columns: Vec<_> = report.of(group).collect();
    let mut tables = Vec::new();
    while !columns.is_empty() {
        let ends = columns
            .iter()
            .position(|column| group == Group::Read && matches!(column.corpus, "result" | "zh51k"));
        let rest = columns.split_off(ends.map_or(columns.len(), |at| at + 1));
        tables.push(table(report, group, &columns));
        columns = rest;
    }
    tables.join("\n")
}

fn table(report: &Report<'_>, group: Group, columns: &[&Column]) -> String {
    let mut out = String::from("| |");
    for column in columns {
        let _ = write!(out, " {} |", column.corpus);
    }
    out += "\n|---|";
    out += &"---:|".repeat(columns.len());
    out += "\n| *bytes of a message* |";
    for column in columns {
        let _ = write!(out, " {} |", size(column.bytes));
    }
    out.push('\n');
    for row in report.rows.iter().filter(|row| row.group == group) {
        let cells: Vec<_> = columns.iter().map(|column| cell(column, row.name)).collect();
        if cells.iter().all(|cell| cell == NONE) {
            continue;
        }
        let name = if row.limit { format!("*{}*", row.name) } else { row.name.to_owned() };
        let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
    }
    out
}

/// Of who takes no part.
const NONE: &str = "–";

fn cell(column: &Column, name: &str) -> String {
    let (Some(cell), Some(ratio)) = (column.cell(name), column.ratio(name, BASE)) else {
        return NONE.into();
    };
    let mut text =
        if name == BASE { format!("**1** ({})", time(cell.median())) } else { times(ratio.median) };
    if cell.allocations > 0.0 {
        let _ = write!(text, " [{}]", count(cell.allocations));
    }
    text
}

/// Who the contenders of a group are: versions, notes, and what readers let pass.
#[must_use]
pub fn contenders(report: &Report<'_>, group: Group) -> String {
    let mut out = String::from(if group == Group::Read {
        "| | version | how | refuses | lets pass |\n|---|---|---|---|---|\n"
    } else {
        "| | version | how |\n|---|---|---|\n"
    });
    for row in report.rows.iter().filter(|row| row.group == group) {
        let _ = write!(out, "| {} | {} | {} |", row.name, row.version, row.note);
        if group == Group::Read {
            match strict::lets_pass(row) {
                Some(passed) => {
                    let (all, words) = (strict::kinds(), passed.join(", "));
                    let _ = write!(out, " {} of {all} | {words} |", all - passed.len());
                }
                None => out += " | |",
            }
        }
        out.push('\n');
    }
    out
}

/// The goals, and which are reached; those whose peers took no part are left out.
#[must_use]
pub fn goals(report: &Report<'_>) -> String {
    let mut out = String::from(
        "| work | on | against | at least | is | least and most of the rounds | plain | |\n|---|---|---|---:|---:|---:|---:|---|\n",
    );
    for goal in GOALS {
        let Some((name, ratio)) = fastest(report, goal) else { continue };
        // Who is not here may be the fastest.
        let all = goal.against.iter().all(|name| report.rows.iter().any(|row| row.name.starts_with(name)));
        let reached = if !all {
            "others were not measured"
        } else if ratio.median >= goal.least {
            "reached"
        } else {
            "**not reached**"
        };
        let column = report.of(goal.group).find(|column| column.corpus == goal.corpus);
        let plain = column.filter(|_| goal.ours == BASE).and_then(|column| column.ratio(name, PLAIN));
        let _ = writeln!(
            out,
            "| {} | {} | {name} | {} | {} | {} – {} | {} | {reached} |",
            goal.group.word(),
            goal.corpus,
            times(goal.least),
            times(ratio.median),
            times(ratio.least),
            times(ratio.most),
            plain.map_or_else(String::new, |plain| times(plain.median))
        );
    }
    for (group, corpus) in [
        (Group::Framing, "call"),
        (Group::Read, "call"),
        (Group::Typed, "list50"),
        (Group::RoundTrip, "small"),
    ] {
        let Some(cell) = report.of(group).find(|c| c.corpus == corpus).and_then(|c| c.cell(BASE)) else {
            continue;
        };
        let reached = if cell.allocations == 0.0 { "reached" } else { "**not reached**" };
        let _ = writeln!(
            out,
            "| {} | {corpus} | | 0 allocations | {} | | | {reached} |",
            group.word(),
            count(cell.allocations)
        );
    }
    out
}

fn fastest(report: &Report<'_>, goal: &Goal) -> Option<(&'static str, Ratio)> {
    let column = report.of(goal.group).find(|column| column.corpus == goal.corpus)?;
    let rivals =
        column.cells.iter().filter(|cell| goal.against.iter().any(|name| cell.name.starts_with(name)));
    let ratios = rivals.filter_map(|cell| Some((cell.name, column.ratio(cell.name, goal.ours)?)));
    ratios.min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
}

/// A ratio.
pub(super) fn times(ratio: f64) -> String {
    format!("{}x", digits(ratio))
}

/// Three digits.
fn digits(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        v if v < 0.0095 => format!("{v:.4}"),
        v if v < 0.095 => format!("{v:.3}"),
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// How many, on average.
fn count(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { digits(value) }
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{} ns", digits(ns)),
        ns if ns < 1e6 => format!("{} µs", digits(ns / 1e3)),
        ns => format!("{} ms", digits(ns / 1e6)),
    }
}

pub(crate) fn size(bytes: f64) -> String {
    match bytes {
        b if b < 1e4 => format!("{b:.0}"),
        b if b < 1e6 => format!("{:.0} k", b / 1e3),
        b => format!("{:.1} M", b / 1e6),
    }
}

//! Plots in SVG: for each corpus who takes how many times as long as we do.

use std::fmt::Write as _;

use super::Report;
use super::table::times;
use crate::Group;
use crate::measure::Column;
use crate::ours::BASE;

/// What is longer ends here, with a gap in it; the number says how long it is.
const CLIP: f64 = 8.0;
const BAR: f64 = 18.0;
const WIDTH: f64 = 440.0;
const NAMES: f64 = 170.0;

/// The corpora that a plot shows; all would be too many.
const fn shown(group: Group) -> &'static [&'static str] {
    match group {
        Group::Framing => &["call", "text51k"],
        Group::Read => &["call", "call_2026", "list50", "text51k"],
        Group::Typed => &["list50", "text51k"],
        Group::Write => &["call", "result", "list50", "text51k"],
        Group::Escape | Group::Unescape => &["short40", "text51k", "img1m", "zh51k"],
        Group::RoundTrip => &["small", "text51k"],
    }
}

/// A plot of a group; `None` if nothing of it was measured. Its colours follow the page that it stands on.
#[must_use]
pub fn plot(report: &Report<'_>, group: Group) -> Option<String> {
    let mut columns: Vec<_> = report.of(group).filter(|c| shown(group).contains(&c.corpus)).collect();
    if columns.is_empty() {
        columns = report.of(group).take(4).collect();
    }
    let bars: Vec<Vec<(&str, f64)>> = columns.iter().map(|column| bars(report, column)).collect();
    let longest = bars.iter().map(Vec::len).max().filter(|n| *n > 0)?;
    let panel = BAR.mul_add(longest as f64, 44.0);
    let height = panel.mul_add(columns.len().div_ceil(2) as f64, 40.0);
    let width = if columns.len() > 1 { 2.0 * WIDTH } else { WIDTH };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{0}: time beside Barewire's\">\n\
         <style>\n\
         text {{ font: 12px system-ui, sans-serif; fill: #24292f }} .head {{ font-weight: 600 }} .faint {{ fill: #656d76 }}\n\
         .bar {{ fill: #8c959f }} .ours {{ fill: #0969da }} .gap {{ fill: #ffffff }}\n\
         @media (prefers-color-scheme: dark) {{\n\
         text {{ fill: #e6edf3 }} .faint {{ fill: #9198a1 }} .bar {{ fill: #6e7681 }} .ours {{ fill: #4493f8 }} .gap {{ fill: #0d1117 }}\n\
         }}\n</style>\n\
         <text class=\"head\" x=\"8\" y=\"18\">{0}: time for a message, Barewire = 1 (shorter is faster)</text>\n",
        group.word()
    );
    for (at, (column, bars)) in columns.iter().zip(&bars).enumerate() {
        let (left, top) = ((at % 2) as f64 * WIDTH, panel.mul_add((at / 2) as f64, 44.0));
        let _ = writeln!(
            out,
            "<text class=\"head\" x=\"{}\" y=\"{top}\">{}</text><text class=\"faint\" x=\"{}\" y=\"{top}\">{} bytes</text>",
            left + 8.0,
            column.corpus,
            left + NAMES,
            super::table::size(column.bytes)
        );
        for (place, (name, ratio)) in bars.iter().enumerate() {
            bar(&mut out, left, BAR.mul_add(place as f64, top + 8.0), name, *ratio);
        }
    }
    out += "</svg>\n";
    Some(out)
}

/// Names and ratios, the fastest first.
fn bars<'c>(report: &Report<'_>, column: &'c Column) -> Vec<(&'c str, f64)> {
    let is_limit =
        |name| report.rows.iter().any(|row| row.group == column.group && row.name == name && row.limit);
    let cells = column.cells.iter().filter(|cell| !is_limit(cell.name));
    let mut bars: Vec<_> =
        cells.filter_map(|cell| Some((cell.name, column.ratio(cell.name, BASE)?.median))).collect();
    bars.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    bars
}

fn bar(out: &mut String, left: f64, y: f64, name: &str, ratio: f64) {
    let room = WIDTH - NAMES - 60.0;
    let (x, length) = (left + NAMES, room * ratio.min(CLIP) / CLIP);
    let class = if name == BASE { "ours" } else { "bar" };
    let _ = writeln!(
        out,
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text><rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.0}\" width=\"{length:.1}\" height=\"{}\" rx=\"2\"/>",
        x - 6.0,
        y + 12.0,
        escaped(name),
        BAR - 4.0
    );
    if ratio > CLIP {
        let gap = x + length - 14.0;
        let _ = writeln!(
            out,
            "<rect class=\"gap\" x=\"{gap:.1}\" y=\"{y:.0}\" width=\"4\" height=\"{}\"/>",
            BAR - 4.0
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"faint\" x=\"{:.1}\" y=\"{:.0}\">{}</text>",
        x + length + 5.0,
        y + 12.0,
        times(ratio)
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

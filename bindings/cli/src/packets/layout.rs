//! Rows of members in columns: name, value, meaning.

use super::model::Row;
use crate::paint::Paint;
use crate::text::{columns, shortened, wrapped};

/// Before every row.
const INDENT: usize = 5;
/// Between columns.
const GAP: usize = 2;
/// A name that is longer does not widen its column.
const NAME: usize = 28;
/// A value that is longer does not widen its column.
const VALUE: usize = 40;
/// An entry of a list that is longer is cut.
const ENTRY: usize = 120;

/// The lines for rows, each with its LF.
pub(super) fn lines(rows: &[&Row], width: usize, paint: Paint) -> String {
    let (list, members): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.list);
    let name = widest(members.iter().map(|row| columns(&row.key)), 15, NAME);
    let with_gloss = members.iter().filter(|row| !row.gloss.is_empty());
    let value = widest(with_gloss.map(|row| columns(&row.value)), 13, VALUE);
    let entries = Entries::of(&list, width);
    let mut out = String::new();
    for row in rows {
        out += &if row.list { entries.line(row, paint) } else { member(row, name, value, width, paint) };
    }
    out
}

/// One member.
fn member(row: &Row, name: usize, value: usize, width: usize, paint: Paint) -> String {
    let start = format!("{}{}  {}", " ".repeat(INDENT), padded(&row.key, name), row.value);
    if row.gloss.is_empty() {
        return start.trim_end().to_owned() + "\n";
    }
    let start = padded(&start, INDENT + name + GAP + value) + "  ";
    let under = INDENT + name + GAP;
    let room = width.saturating_sub(columns(&start));
    let beside = columns(&row.gloss) <= room || room >= 40;
    let (indent, room) = if beside { (columns(&start), room) } else { (under, width.saturating_sub(under)) };
    let mut out = if beside { start } else { start.trim_end().to_owned() + "\n" + &" ".repeat(indent) };
    for (i, line) in wrapped(&row.gloss, room).iter().enumerate() {
        if i > 0 {
            out += &format!("\n{}", " ".repeat(indent));
        }
        out += &paint.dim(line);
    }
    out + "\n"
}

/// How a list of like things is laid out: in columns where all fit, else in two lines each.
struct Entries {
    key: usize,
    value: usize,
    fits: bool,
}

impl Entries {
    fn of(list: &[&Row], width: usize) -> Self {
        let most = |part: fn(&Row) -> &str| list.iter().map(|row| columns(part(row))).max().unwrap_or(0);
        let (key, value, gloss) = (most(|r| &r.key), most(|r| &r.value), most(|r| &r.gloss));
        Self { key, value, fits: INDENT + key + GAP + value + GAP + gloss <= width }
    }

    fn line(&self, row: &Row, paint: Paint) -> String {
        let indent = " ".repeat(INDENT);
        let gloss = paint.dim(&row.gloss);
        if self.fits {
            let line = format!(
                "{indent}{}  {}  {gloss}",
                padded(&row.key, self.key),
                padded(&row.value, self.value)
            );
            return line.trim_end().to_owned() + "\n";
        }
        let first = format!("{indent}{}  {gloss}", shortened(&row.key, ENTRY));
        let second =
            if row.value.is_empty() { String::new() } else { format!("{indent}    {}\n", row.value) };
        format!("{}\n{second}", first.trim_end())
    }
}

fn widest(widths: impl Iterator<Item = usize>, least: usize, most: usize) -> usize {
    widths.filter(|&width| width <= most).max().unwrap_or(0).max(least)
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

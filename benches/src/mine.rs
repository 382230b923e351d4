//! The program `mine`: the tables for one's own traffic.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use barewire::json::Raw;
use barewire::rpc::Message;

use crate::capture::{self, Messages};
use crate::measure::{self, Column, Effort};
use crate::ours::BASE;
use crate::report::{Machine, Report, ratios};
use crate::{Corpus, Group, Row, proof};

const HELP: &str = "Measures how fast your own messages are framed and read.
usage: mine FILE
FILE has lines of JSON, or is what `barewire tap --log FILE -- COMMAND…` wrote. Build it with --release.";

/// Measures the messages of the file that the program's one argument names.
#[must_use]
pub fn main(rows: Vec<Row>, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let (Some(file), None) = (arguments.next(), arguments.next()) else {
        eprintln!("{HELP}");
        return ExitCode::from(2);
    };
    if file == "--help" || file == "-h" {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let read = std::fs::read(&file).map_err(|error| error.to_string());
    let effort = Effort { rounds: 7, slice: Duration::from_millis(5) };
    match read.and_then(|bytes| tables(&bytes, rows, effort)) {
        Ok(tables) => {
            println!("{tables}");
            if cfg!(debug_assertions) {
                eprintln!(
                    "mine: none of this is optimised, so the figures mean nothing: build it with --release"
                );
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("mine: {}: {error}", file.display());
            ExitCode::FAILURE
        }
    }
}

/// The tables for a file's messages.
///
/// # Errors
/// Why there is nothing to measure, in words.
pub fn tables(file: &[u8], mut rows: Vec<Row>, effort: Effort) -> Result<String, String> {
    let messages = capture::read(file).map_err(|error| error.to_string())?;
    let mut out = kinds(&messages);
    let corpora = corpora(messages);
    // Whoever reads these messages in another way is left out, and it is said.
    rows.retain(|row| {
        for corpus in corpora.iter().filter(|(group, _)| *group == row.group).map(|(_, corpus)| corpus) {
            if let Err(error) = proof::prove(row, corpus) {
                let _ = writeln!(out, "Left out: {error}\n");
                return false;
            }
        }
        true
    });
    let columns: Vec<Column> =
        corpora.iter().map(|(group, corpus)| measure::column(&rows, *group, corpus, effort)).collect();
    let report = Report { rows: &rows, columns, effort, machine: Machine::here() };
    let _ = writeln!(
        out,
        "Time beside Barewire's for the same messages (above 1: Barewire is faster); in square brackets allocations for a message.\n"
    );
    for (group, title) in [(Group::Read, "Reading a message"), (Group::Framing, "Framing")] {
        let _ = writeln!(out, "## {title}\n\n{}", ratios(&report, group));
    }
    out.push_str(&beside(&report));
    Ok(out)
}

/// What there is, and how much of it.
fn kinds(messages: &Messages) -> String {
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for line in &messages.lines {
        let kind = kinds.entry(kind(line)).or_default();
        *kind = (kind.0 + 1, kind.1 + line.len());
    }
    let mut out = String::from("| kind | messages | bytes | bytes of one |\n|---|---:|---:|---:|\n");
    for (kind, (count, bytes)) in &kinds {
        let _ = writeln!(out, "| {kind} | {count} | {bytes} | {} |", bytes / count);
    }
    let bytes: usize = messages.lines.iter().map(Vec::len).sum();
    let _ = writeln!(
        out,
        "| all | {} | {bytes} | {} |\n",
        messages.lines.len(),
        bytes / messages.lines.len().max(1)
    );
    if messages.left_out > 0 {
        let _ = writeln!(out, "Lines that are no messages, and left out: {}.\n", messages.left_out);
    }
    out
}

fn kind(line: &[u8]) -> String {
    // A method is a peer's: nothing of it but words may get into the table.
    let word = |method: Raw<'_>| {
        let text = method.as_string().map(|text| text.to_string()).unwrap_or_default();
        text.chars()
            .map(|c| if c.is_ascii_alphanumeric() || "/_-.".contains(c) { c } else { '?' })
            .take(60)
            .collect()
    };
    match Message::parse(line) {
        Ok(Message::Request { method, .. } | Message::Notification { method, .. }) => word(method),
        Ok(Message::Response { .. }) => "(result)".into(),
        Ok(Message::Error { .. }) => "(error)".into(),
        Ok(_) => "(batch)".into(),
        Err(_) => "(none)".into(),
    }
}

fn corpora(messages: Messages) -> Vec<(Group, Corpus)> {
    let mut stream = Vec::new();
    let (mut requests, mut notifications, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    for line in &messages.lines {
        stream.extend_from_slice(line);
        stream.push(b'\n');
        match Message::parse(line) {
            Ok(Message::Request { .. }) => requests.push(line.clone()),
            Ok(Message::Notification { .. }) => notifications.push(line.clone()),
            Ok(Message::Response { .. } | Message::Error { .. }) => answers.push(line.clone()),
            _ => {}
        }
    }
    let framing = Corpus { each: messages.lines.len(), ..Corpus::new("all", vec![stream]) };
    // Batches are an array of messages, which no contender here takes apart.
    let all = [&requests[..], &notifications, &answers].concat();
    let parts =
        [("all", all), ("requests", requests), ("notifications", notifications), ("answers", answers)];
    let parts = parts.into_iter().filter(|(_, lines)| !lines.is_empty());
    let mut corpora: Vec<_> = parts.map(|(name, lines)| (Group::Read, Corpus::new(name, lines))).collect();
    corpora.push((Group::Framing, framing));
    corpora
}

/// One sentence for those in a hurry.
fn beside(report: &Report<'_>) -> String {
    let serde = "serde_json RawValue";
    let Some(column) = report.of(Group::Read).next() else { return String::new() };
    let (Some(ours), Some(theirs), Some(ratio)) =
        (column.cell(BASE), column.cell(serde), column.ratio(serde, BASE))
    else {
        return String::new();
    };
    let speed = |ns: f64| column.bytes / ns * 1e3;
    format!(
        "All of it is read {:.2} times as fast as by serde_json with raw values ({:.2} to {:.2} in the rounds): {:.0} against {:.0} MB/s here and now, \
         {:.2} against {:.2} allocations for a message.",
        ratio.median,
        ratio.least,
        ratio.most,
        speed(ours.median()),
        speed(theirs.median()),
        ours.allocations,
        theirs.allocations
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Effort = Effort { rounds: 2, slice: Duration::from_nanos(1) };

    #[test]
    fn a_session() {
        let file = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}
{"jsonrpc":"2.0","id":1,"result":{}}
Server started
{"jsonrpc":"2.0","method":"notifications/|x"}
{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}
{"jsonrpc":"2.0","id":2,"method":"ping"}
"#;
        let tables = tables(file.as_bytes(), crate::rows::light(), QUICK).unwrap();
        for part in [
            "| ping | 2 | 80 | 40 |",
            "| notifications/?x | 1 |",
            "| (error) | 1 |",
            "| all | 5 |",
            "left out: 1.",
            "| | all | requests | notifications | answers |",
            "| barewire | **1** (",
            "times as fast as by serde_json",
        ] {
            assert!(tables.contains(part), "{part} is not in {tables}");
        }
    }

    #[test]
    fn nothing_to_measure() {
        let why = tables(b"", crate::rows::light(), QUICK).unwrap_err();
        assert_eq!(why, "it is empty");
    }
}

//! Every transcript, in every revision that the matrix names, in all ways of cutting it up.

use barewire_tests::schema::{Checker, Direction};
use barewire_tests::transcript::{Act, Cell, How, Matrix, Op, REVISIONS, Script, check, run};

fn all_of(revision: &'static str) {
    let folder = Script::folder();
    let matrix = Matrix::read(&folder).unwrap_or_else(|e| panic!("{e}"));
    let only = std::env::var("TRANSCRIPT").ok();
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for name in matrix.runs(revision).filter(|name| only.as_deref().is_none_or(|only| only == *name)) {
        match Script::read(&folder, name, revision).and_then(|script| check(&script)) {
            Ok(_) => ran += 1,
            Err(e) => wrong.push(format!("{name} ({revision}): {e}")),
        }
    }
    println!("{revision}: {ran} transcripts as expected, {} not", wrong.len());
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), wrong.len() + ran, wrong.join("\n"));
}

#[test]
fn revision_2024_11_05() {
    all_of(REVISIONS[0]);
}

#[test]
fn revision_2025_03_26() {
    all_of(REVISIONS[1]);
}

#[test]
fn revision_2025_06_18() {
    all_of(REVISIONS[2]);
}

#[test]
fn revision_2025_11_25() {
    all_of(REVISIONS[3]);
}

#[test]
fn revision_2026_07_28() {
    all_of(REVISIONS[4]);
}

#[test]
fn no_cell_is_empty() {
    let matrix = Matrix::read(&Script::folder()).unwrap_or_else(|e| panic!("{e}"));
    let cells = || matrix.rows.iter().flat_map(|(_, cells)| cells);
    let run = cells().filter(|cell| **cell == Cell::Run).count();
    println!("{} behaviours, {} cells, {run} run", matrix.rows.len(), cells().count());
    assert!(run >= 250, "{run} cells are run");
}

/// What the judge can't follow, since it knows a conversation less exactly than the peers.
const BEYOND_THE_JUDGE: [(&str, &str); 7] = [
    ("handshake-id-in-flight", "a request replaces one with the same id"),
    ("handshake-twice-serial", "a request replaces one with the same id"),
    ("reboot-discover", "a request replaces one with the same id"),
    ("method-escaped", "keys of the envelope with escapes"),
    ("too-long", "keys of the envelope with escapes"),
    ("id-left-out", "two eras on one line share the errors without id"),
    ("batch-forbidden", "a claim inside of a batch counts for nothing"),
];

/// What was said, line by line between what the peer said, before the judge of the official schemas.
fn judge(script: &Script) -> Result<(), String> {
    let said = run(script, &How::WHOLE)?;
    let mut lines = said.out.split_inclusive(|b| *b == b'\n');
    // What claims nothing obeys the newest legacy revision; each claim is judged by its own.
    let mut checker = Checker::new(script.revision.min(REVISIONS[3]));
    for (number, op) in &script.ops {
        match op {
            // Where messages are kept apart, a line feed is white space.
            Op::In(bytes) if script.config == "messages" => {
                let line: Vec<u8> = bytes.iter().map(|b| if *b == b'\n' { b' ' } else { *b }).collect();
                checker.note_part(Direction::ToServer, &line);
            }
            Op::In(bytes) => checker.note_part(Direction::ToServer, bytes),
            Op::Act(Act::End) => checker.note_part(Direction::ToServer, b"\n"),
            Op::Act(Act::Eof) => checker.note_rest(Direction::ToServer),
            Op::Out(_) => {
                let line = lines.next().ok_or("a line is missing")?;
                checker.line(Direction::ToClient, line).map_err(|e| format!("line {number}: {e}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn every_line_is_what_the_official_schema_of_its_revision_allows() {
    let folder = Script::folder();
    let matrix = Matrix::read(&folder).unwrap_or_else(|e| panic!("{e}"));
    let mut wrong = Vec::new();
    for revision in REVISIONS {
        for name in matrix.runs(revision).filter(|name| !BEYOND_THE_JUDGE.iter().any(|(n, _)| n == name)) {
            if let Err(e) = Script::read(&folder, name, revision).and_then(|script| judge(&script)) {
                wrong.push(format!("{name} ({revision}) {e}"));
            }
        }
    }
    println!("schemas at hand: {}", Checker::has_schemas());
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

//! Every transcript, in every revision that the matrix names, in all ways of cutting it up.

use barewire_tests::transcript::{Cell, Matrix, REVISIONS, Script, check};

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

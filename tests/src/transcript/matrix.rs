//! The table behaviour x revision.

use std::fs;
use std::path::Path;

use super::script::REVISIONS;

/// Why a behaviour may not exist in a revision: every other cell must be run.
pub const REASONS: [(&str, &str); 2] = [
    ("no-handshake", "2026-07-28 has no handshake: each request speaks for itself"),
    ("one-client", "a recorded client that speaks one revision only"),
];

/// One cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// The behaviour is run in this revision.
    Run,
    /// It can't be, for one of [`REASONS`].
    NotApplicable(String),
}

/// The whole table.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Behaviours (names of transcripts) with a cell for each revision.
    pub rows: Vec<(String, Vec<Cell>)>,
}

impl Matrix {
    /// Reads `matrix.txt`.
    ///
    /// # Errors
    /// Every row with an empty cell or an unknown reason, every behaviour without a file, every file without a row.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(folder.join("matrix.txt")).map_err(|e| format!("matrix.txt: {e}"))?;
        let (mut rows, mut wrong) = (Vec::<(String, Vec<Cell>)>::new(), Vec::new());
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default().to_owned();
            let mut cells = Vec::new();
            for word in words {
                cells.push(match word {
                    "run" => Cell::Run,
                    reason => {
                        if !REASONS.iter().any(|(known, _)| *known == reason) {
                            wrong.push(format!("{name}: {reason} is no reason"));
                        }
                        Cell::NotApplicable(reason.into())
                    }
                });
            }
            if cells.len() != REVISIONS.len() {
                wrong.push(format!("{name}: {} cells of {} are filled", cells.len(), REVISIONS.len()));
            }
            if !folder.join(format!("{name}.txt")).exists() {
                wrong.push(format!("{name}: no transcript"));
            }
            if rows.iter().any(|(row, _)| *row == name) {
                wrong.push(format!("{name}: two rows"));
            }
            rows.push((name, cells));
        }
        for entry in fs::read_dir(folder).map_err(|e| e.to_string())? {
            let file = entry.map_err(|e| e.to_string())?.file_name();
            let name = file.to_string_lossy().into_owned();
            let stem = name.strip_suffix(".txt").filter(|stem| *stem != "matrix");
            if stem.is_some_and(|stem| !rows.iter().any(|(row, _)| row == stem)) {
                wrong.push(format!("{name}: no row in the matrix"));
            }
        }
        if wrong.is_empty() { Ok(Self { rows }) } else { Err(wrong.join("\n")) }
    }

    /// The behaviours that run in a revision.
    pub fn runs(&self, revision: &str) -> impl Iterator<Item = &str> {
        let column = REVISIONS.iter().position(|r| *r == revision);
        self.rows
            .iter()
            .filter(move |(_, cells)| column.and_then(|c| cells.get(c)) == Some(&Cell::Run))
            .map(|(name, _)| name.as_str())
    }
}

//! The page: tables of ratios, the goals, the plots.

mod command;
mod goals;
mod kept;
mod machine;
mod plot;
mod table;

pub use command::{KEEP, main};
pub use goals::{GOALS, Goal};
pub use kept::PLAIN;
pub use machine::Machine;
pub use plot::plot;
pub use table::{contenders, goals, ratios};

use crate::measure::{Column, Effort};
use crate::{Group, Row};

/// What was measured, and on what.
#[derive(Debug)]
pub struct Report<'r> {
    /// The contenders.
    pub rows: &'r [Row],
    /// Their figures.
    pub columns: Vec<Column>,
    /// How long was measured.
    pub effort: Effort,
    /// Where.
    pub machine: Machine,
}

impl Report<'_> {
    /// The columns of a group.
    pub fn of(&self, group: Group) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(move |column| column.group == group)
    }
}

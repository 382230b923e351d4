//! What came of a run.

use crate::Check;
use core::{fmt, time::Duration};

/// What came of all checks. Its `Display` is a line for each, and a paragraph for each that failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// In the order in which they ran.
    pub results: Vec<Ran>,
}

/// One check and what came of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ran {
    /// Which.
    pub check: &'static Check,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
}

/// How a check ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The transport has the property; in what extent it was tried.
    Passed(String),
    /// It has not; what was seen.
    Failed(String),
    /// It does not apply; why.
    Skipped(String),
}

impl Report {
    /// How many passed.
    pub fn passed(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Passed(_)))
    }

    /// How many failed.
    pub fn failed(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Failed(_)))
    }

    /// How many did not apply.
    pub fn skipped(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Skipped(_)))
    }

    /// What came of the check with this name, if it ran.
    pub fn outcome(&self, name: &str) -> Option<&Outcome> {
        self.results.iter().find(|ran| ran.check.name == name).map(|ran| &ran.outcome)
    }

    /// For tests: does nothing unless a check failed.
    ///
    /// # Panics
    /// With the whole report, if a check failed.
    pub fn assert_passed(&self) {
        assert!(self.failed() == 0, "the transport does not pass\n\n{self}");
    }

    fn count(&self, of: impl Fn(&Outcome) -> bool) -> usize {
        self.results.iter().filter(|ran| of(&ran.outcome)).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Ran { check, outcome, took } in &self.results {
            let name = check.name;
            match outcome {
                Outcome::Passed(what) if what.is_empty() => writeln!(f, "ok       {name:<17} {took:.1?}")?,
                Outcome::Passed(what) => writeln!(f, "ok       {name:<17} {what}, {took:.1?}")?,
                Outcome::Skipped(why) => writeln!(f, "skipped  {name:<17} {why}")?,
                Outcome::Failed(what) => {
                    writeln!(f, "FAILED   {name:<17} {what}")?;
                    writeln!(f, "         why it matters:   {}", check.reason)?;
                    writeln!(f, "         what to fix:      {}", check.fix)?;
                }
            }
        }
        write!(f, "{} passed, {} failed, {} skipped", self.passed(), self.failed(), self.skipped())
    }
}

//! Runs the checks.

use crate::{
    Check, Claims, Link, Outcome, Ran, Report,
    bench::{Bench, Halt},
    checks,
};
use core::time::Duration;
use std::{io, time::Instant};

/// The checks to run on a transport, and how.
///
/// **A process of its own:** the check `shutdown` looks for threads and descriptors that the whole process has gained.
/// Nothing else may run beside it: give the suite a test binary with a single `#[test]`.
///
/// ```
/// use barewire_testkit::{Claims, Suite, duplex};
/// # let suite = Suite::new(Claims::stream()).only("concurrency").only("half-close");
/// # let _ = "
/// let suite = Suite::new(Claims::stream().half_close());
/// # ";
/// let report = suite.run(|| Ok(duplex(1 << 16)));
/// println!("{report}");
/// report.assert_passed();
/// # assert_eq!((report.passed(), report.skipped()), (1, 1));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Suite {
    claims: Claims,
    patience: Duration,
    only: Vec<String>,
    without: Vec<String>,
}

impl Suite {
    /// All checks, with a patience of 20 s.
    pub fn new(claims: Claims) -> Self {
        Self { claims, patience: Duration::from_secs(20), only: Vec::new(), without: Vec::new() }
    }

    /// How long nothing may happen before that counts as a fault. No check takes this long on a transport that works.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Runs this check, and others only if they are named too.
    ///
    /// # Panics
    /// If there is no such check.
    pub fn only(mut self, name: &str) -> Self {
        self.only.push(known(name));
        self
    }

    /// Leaves this check out.
    ///
    /// # Panics
    /// If there is no such check.
    pub fn without(mut self, name: &str) -> Self {
        self.without.push(known(name));
        self
    }

    /// Runs the checks. `connect` makes a new connection through the transport each time that it is called: two
    /// [`End`](crate::End)s, the client's first, or a [`Link`]. It must not wait for the far end to be used.
    pub fn run<L: Into<Link>>(&self, mut connect: impl FnMut() -> io::Result<L>) -> Report {
        let mut connect = || connect().map(Into::into);
        let mut bench = Bench { claims: self.claims, patience: self.patience, connect: &mut connect };
        let results = checks()
            .iter()
            .filter(|check| self.only.is_empty() || self.only.iter().any(|name| name == check.name))
            .map(|check| self.one(check, &mut bench));
        Report { results: results.collect() }
    }

    fn one(&self, check: &'static Check, bench: &mut Bench<'_>) -> Ran {
        let started = Instant::now();
        let outcome = if self.without.iter().any(|name| name == check.name) {
            Outcome::Skipped("it was left out".to_owned())
        } else if let Some(why) = check.skip(&self.claims) {
            Outcome::Skipped(why.to_owned())
        } else {
            match (check.run)(bench) {
                Ok(what) => Outcome::Passed(what),
                Err(Halt::Failed(what)) => Outcome::Failed(what),
                Err(Halt::Skip(why)) => Outcome::Skipped(why.to_owned()),
            }
        };
        Ran { check, outcome, took: started.elapsed() }
    }
}

fn known(name: &str) -> String {
    assert!(checks().iter().any(|check| check.name == name), "there is no check named {name:?}");
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "there is no check named \"speed\"")]
    fn a_check_that_is_not_there_cannot_be_left_out() {
        let _ = Suite::new(Claims::stream()).without("speed");
    }

    #[test]
    fn names_differ_and_every_check_says_why_and_what_to_do() {
        let names: std::collections::BTreeSet<&str> = checks().iter().map(|check| check.name).collect();
        assert_eq!(names.len(), checks().len());
        for check in checks() {
            assert!(check.reason.ends_with('.') && check.fix.ends_with('.'), "{}", check.name);
            assert!(!check.fix.contains("  "), "{}", check.name);
        }
    }
}

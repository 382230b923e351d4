//! Interleaved rounds: in each, all contenders of a cell run one after the other, in every second one backwards.

use std::time::Duration;

use crate::clock::thread_time;
use crate::contender::Runs;
use crate::corpora::Corpus;
use crate::count::allocations;
use crate::{Digest, Group, Row};

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds, 5 or more to be believed.
    pub rounds: usize,
    /// How long a contender runs in a round, at least.
    pub slice: Duration,
}

/// One contender on one corpus.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its name.
    pub name: &'static str,
    /// Nanoseconds for one message, a figure for each round.
    pub ns: Vec<f64>,
    /// Allocations for one message, after the first pass.
    pub allocations: f64,
}

/// All contenders of a group on one corpus.
#[derive(Clone, Debug)]
pub struct Column {
    /// What they did.
    pub group: Group,
    /// The corpus.
    pub corpus: &'static str,
    /// The length of a message, on average.
    pub bytes: f64,
    /// Those that take part, in the order of the rows.
    pub cells: Vec<Cell>,
}

impl Column {
    /// The cell of a contender.
    #[must_use]
    pub fn cell(&self, name: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.name == name)
    }

    /// How many times as long as `base` a contender takes: the median of the rounds' ratios, the least and the greatest.
    #[must_use]
    pub fn ratio(&self, name: &str, base: &str) -> Option<Ratio> {
        let (ours, theirs) = (self.cell(base)?, self.cell(name)?);
        Some(Ratio::new(theirs.ns.iter().zip(&ours.ns).map(|(theirs, ours)| theirs / ours).collect()))
    }
}

/// A ratio over several rounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ratio {
    /// The median.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub most: f64,
}

impl Ratio {
    fn new(mut ratios: Vec<f64>) -> Self {
        ratios.sort_by(f64::total_cmp);
        Self {
            median: median(&ratios),
            least: ratios.first().copied().unwrap_or(f64::NAN),
            most: ratios.last().copied().unwrap_or(f64::NAN),
        }
    }
}

/// The median of figures that are in order.
fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

impl Cell {
    /// The median of the rounds.
    #[must_use]
    pub fn median(&self) -> f64 {
        let mut sorted = self.ns.clone();
        sorted.sort_by(f64::total_cmp);
        median(&sorted)
    }
}

struct Lane {
    name: &'static str,
    contender: Box<dyn Runs>,
    passes: u32,
    allocations: f64,
    ns: Vec<f64>,
}

/// Measures all rows of a group on a corpus.
#[must_use]
pub fn column(rows: &[Row], group: Group, corpus: &Corpus, effort: Effort) -> Column {
    let count = corpus.count() as f64;
    let mut lanes: Vec<Lane> = Vec::new();
    for row in rows.iter().filter(|row| row.group == group) {
        let Some(mut contender) = row.ready(corpus) else { continue };
        // Once to warm up, once to count, then as often as a slice needs.
        contender.pass(&corpus.messages);
        let allocated = allocations(|| contender.pass(&corpus.messages));
        let once = run(&mut *contender, corpus, 1).max(Duration::from_nanos(1));
        let passes = (effort.slice.as_nanos() / once.as_nanos()).clamp(1, 1 << 20) as u32;
        lanes.push(Lane {
            name: row.name,
            contender,
            passes,
            allocations: allocated as f64 / count,
            ns: Vec::new(),
        });
    }
    for round in 0..effort.rounds {
        let (n, backwards) = (lanes.len(), round % 2 == 1);
        for at in 0..n {
            let lane = &mut lanes[if backwards { n - 1 - at } else { at }];
            let time = run(&mut *lane.contender, corpus, lane.passes);
            lane.ns.push(time.as_nanos() as f64 / f64::from(lane.passes) / count);
        }
    }
    let cells =
        lanes.into_iter().map(|lane| Cell { name: lane.name, ns: lane.ns, allocations: lane.allocations });
    Column { group, corpus: corpus.name, bytes: corpus.bytes() as f64 / count, cells: cells.collect() }
}

/// A contender's work as a function that takes one message after the other; `None` where it does not take part.
pub fn turn<'c>(row: &Row, corpus: &'c Corpus) -> Option<impl FnMut() -> Digest + use<'c>> {
    let (mut contender, mut messages) = (row.ready(corpus)?, corpus.messages.iter().cycle());
    Some(move || contender.one(messages.next().map_or(&[], Vec::as_slice)))
}

fn run(contender: &mut dyn Runs, corpus: &Corpus, passes: u32) -> Duration {
    let start = thread_time();
    for _ in 0..passes {
        contender.pass(&corpus.messages);
    }
    thread_time().saturating_sub(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_one_round() {
        let cell = |name, ns: &[f64]| Cell { name, ns: ns.to_vec(), allocations: 0.0 };
        // The second round was slow for both: the ratio does not see it.
        let cells = vec![cell("ours", &[10.0, 100.0, 11.0]), cell("theirs", &[20.0, 300.0, 22.0])];
        let column = Column { group: Group::Read, corpus: "call", bytes: 1.0, cells };
        let ratio = column.ratio("theirs", "ours").unwrap();
        assert_eq!(ratio, Ratio { median: 2.0, least: 2.0, most: 3.0 });
        assert_eq!(column.cell("ours").unwrap().median(), 11.0);
        assert!(column.ratio("nobody", "ours").is_none());
    }
}

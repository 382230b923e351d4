//! The figures, as people and as programs read them.

use std::io::{self, Write};

use barewire::Version;

use super::drive::Ran;
use super::usage::Usage;
use crate::failure::Failure;
use crate::text::{self, columns, grouped, printable};

/// What was asked of which server, and what came of it.
pub(super) struct Report {
    pub(super) ask: String,
    pub(super) server: String,
    pub(super) rows: Vec<Row>,
}

/// One era, one window.
pub(super) struct Row {
    pub(super) version: Version,
    pub(super) in_flight: usize,
    pub(super) ran: Ran,
    /// What the server used meanwhile; `None` where that can't be known.
    pub(super) cost: Option<Usage>,
}

impl Row {
    fn per_second(&self) -> f64 {
        self.ran.calls as f64 / self.ran.time.as_secs_f64().max(1e-9)
    }

    /// Processor time of the server for one call, in microseconds.
    fn cpu_micros(&self) -> Option<f64> {
        self.cost.map(|cost| cost.cpu.as_secs_f64() * 1e6 / self.ran.calls.max(1) as f64)
    }
}

impl Report {
    /// One era is not spoken: that is no failure, but said.
    pub(super) fn not_spoken(&self, version: Version, failure: &Failure, json: bool) {
        if !json {
            // Nobody may be reading stderr.
            let _ = writeln!(
                io::stderr(),
                "barewire: not measured with {}: {}",
                version.as_str(),
                printable(&failure.message)
            );
        }
    }

    /// Why a run had nothing but errors, if one had.
    pub(super) fn failing(&self) -> Option<String> {
        let ran =
            self.rows.iter().map(|row| &row.ran).find(|ran| ran.errors == ran.calls && ran.calls > 0)?;
        ran.error.as_deref().map(printable)
    }

    pub(super) fn print(&self, json: bool) -> Result<(), Failure> {
        let out = if json { self.in_json() } else { self.in_words().into_bytes() };
        let mut stdout = io::stdout().lock();
        stdout.write_all(&out).and_then(|()| stdout.flush()).map_err(Failure::stdout)
    }

    fn in_json(&self) -> Vec<u8> {
        let mut line = text::object(|o| {
            o.str("server", &self.server);
            o.str("request", &self.ask);
            o.array("runs", |a| {
                for row in &self.rows {
                    a.object(|o| {
                        o.str("protocol", row.version.as_str());
                        o.uint("in_flight", u64::try_from(row.in_flight).unwrap_or(u64::MAX));
                        o.uint("calls", row.ran.calls);
                        o.uint("errors", row.ran.errors);
                        o.float("seconds", row.ran.time.as_secs_f64());
                        o.float("calls_per_second", row.per_second());
                        o.float("p50_us", row.ran.percentile(0.5));
                        o.float("p99_us", row.ran.percentile(0.99));
                        o.float("max_us", row.ran.percentile(1.0));
                        o.uint("bytes_in", row.ran.sent);
                        o.uint("bytes_out", row.ran.received);
                        if let (Some(cost), Some(cpu)) = (row.cost, row.cpu_micros()) {
                            o.float("server_cpu_us_per_call", cpu);
                            o.uint("server_rss_bytes", cost.resident);
                            o.uint("server_peak_rss_bytes", cost.peak);
                        }
                    });
                }
            });
        });
        line.push(b'\n');
        line
    }

    fn in_words(&self) -> String {
        let heads =
            ["protocol", "in flight", "calls/s", "p50", "p99", "max", "server CPU", "memory", "errors"];
        let mut table = vec![heads.map(String::from)];
        for row in &self.rows {
            table.push([
                row.version.as_str().into(),
                row.in_flight.to_string(),
                grouped(row.per_second() as usize),
                micros(row.ran.percentile(0.5)),
                micros(row.ran.percentile(0.99)),
                micros(row.ran.percentile(1.0)),
                row.cpu_micros().map_or_else(|| "?".into(), |cpu| format!("{} a call", micros(cpu))),
                row.cost.map_or_else(|| "?".into(), |cost| format!("{:.1} MB", cost.resident as f64 / 1e6)),
                row.ran.errors.to_string(),
            ]);
        }
        let mut out = format!("{}: {}\n", printable(&self.server), printable(&self.ask));
        let width = |column: usize| table.iter().map(|row| columns(&row[column])).max().unwrap_or(0);
        let widths: [usize; 9] = core::array::from_fn(width);
        for row in &table {
            let cells = row.iter().zip(widths);
            let cells: Vec<String> = cells.map(|(cell, width)| format!("{cell:>width$}")).collect();
            out += &format!("{}\n", cells.join("  "));
        }
        out
    }
}

/// A time with three digits or so.
fn micros(micros: f64) -> String {
    match micros {
        m if m < 10.0 => format!("{m:.1} µs"),
        m if m < 10_000.0 => format!("{m:.0} µs"),
        m if m < 10_000_000.0 => format!("{:.0} ms", m / 1e3),
        m => format!("{:.0} s", m / 1e6),
    }
}

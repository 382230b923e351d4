//! `barewire bench`: load for any server, and what it costs that server.
//!
//! The client is the sans-IO machine in one thread: it fills a window of requests, writes them together, and reads answers as
//! they come, so that what is measured is the server.

mod drive;
mod report;
mod signals;
mod usage;

use core::time::Duration;

use barewire::Version;
use barewire::json::Raw;

use crate::args::Bench;
use crate::failure::{Failure, code};
use crate::far::Far;
use drive::{Ask, Link};
use report::{Report, Row};

/// Runs it and shows the figures on stdout.
pub(crate) fn run(bench: &Bench) -> Result<(), Failure> {
    let far = Far::parse(&bench.server)?;
    let arguments = bench.args.as_deref().unwrap_or("{}");
    if Raw::new(arguments).is_none_or(|json| !json.as_bytes().starts_with(b"{")) {
        return Err(Failure::usage("--args must be a JSON object"));
    }
    if bench.args.is_some() && bench.call.is_none() {
        return Err(Failure::usage("--args are those of a tool: name it with --call TOOL"));
    }
    let ask = match &bench.call {
        Some(tool) => Ask::Call { tool, arguments },
        None => Ask::List,
    };
    signals::catch()?;
    let mut report = Report { ask: ask.to_string(), server: String::new(), rows: Vec::new() };
    let mut refused = None;
    for version in bench.versions() {
        let mut link = match Link::open(&far, version, bench.timeout) {
            Ok(link) => link,
            Err(failure) => {
                // Many servers speak one era only.
                refused.get_or_insert((version, failure));
                continue;
            }
        };
        report.server.clone_from(&link.server);
        for in_flight in bench.windows() {
            // Caches and buffers grow to what they will be, a JIT compiles.
            link.load(&ask, in_flight, bench.seconds.min(Duration::from_secs(1)) / 4)?;
            let before = link.usage();
            let ran = link.load(&ask, in_flight, bench.seconds)?;
            let cost = before.zip(link.usage()).map(|(before, after)| after.since(before));
            report.rows.push(Row { version: link.version, in_flight, ran, cost });
        }
    }
    match refused {
        Some((_, failure)) if report.rows.is_empty() => return Err(failure),
        Some((version, failure)) => report.not_spoken(version, &failure, bench.json),
        None => {}
    }
    report.print(bench.json)?;
    match report.failing() {
        Some(why) => Err(Failure::new(code::SERVER, "errors", format!("{ask} failed every time: {why}"))),
        None => Ok(()),
    }
}

/// The revision that stands for an era.
pub(crate) const LEGACY: Version = Version::V2025_11_25;
/// The same of the stateless one.
pub(crate) const MODERN: Version = Version::V2026_07_28;

/// A server that does not answer is told so.
fn silent(what: &str, after: Duration) -> Failure {
    Failure::new(code::TIMEOUT, "timeout", format!("no answer to {what} within {} s", after.as_secs_f32()))
}

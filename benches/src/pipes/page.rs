//! What was measured, as tables, as JSON, and as a part of `RESULTS.md`.

use std::fs;
use std::io;
use std::path::Path;

use barewire_benches::report::{KEEP, Machine};

use crate::load::{Mode, Sample};
use crate::place::Place;
use crate::{Cell, OURS, Options};

/// What is to be reached: a load, who is beside us, whether he is to cost so much more than we do or we no more than so much more
/// than he does.
type Goal = (&'static str, usize, &'static str, &'static str, f64);

const GOALS: &[Goal] = &[
    ("get_alerts", 1, "echo", "at most", 1.3),
    ("get_alerts", 1, "rmcp, stdio_pipes()", "at least", 3.7),
    ("get_alerts", 1, "TypeScript SDK 1.x", "at least", 25.0),
    ("get_alerts", 1, "TypeScript SDK 2.x", "at least", 25.0),
    ("get_alerts", 1, "Python SDK 2.x", "at least", 100.0),
    ("get_alerts", 64, "echo", "at most", 16.0),
    ("get_alerts", 64, "rmcp, stdio_pipes()", "at least", 17.0),
    ("get_alerts", 64, "TypeScript SDK 1.x", "at least", 100.0),
    ("get_alerts", 64, "TypeScript SDK 2.x", "at least", 100.0),
    ("get_alerts", 64, "Python SDK 2.x", "at least", 500.0),
    ("get_alerts_full", 1, "rmcp, stdio_pipes()", "at least", 3.5),
];

/// Puts the tables between the marks of the page.
pub(crate) fn write(cells: &[Cell<'_>], options: &Options) -> io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("RESULTS.md");
    let old = fs::read_to_string(&path)?;
    let parts = old.split_once(KEEP.0).and_then(|(before, rest)| Some((before, rest.split_once(KEEP.1)?.1)));
    let Some((before, after)) = parts else {
        return Err(io::Error::other(format!("{} has no place for pipes", path.display())));
    };
    let machine = Machine::here();
    let mut tables = Vec::new();
    table(&mut tables, cells)?;
    let text = format!(
        "## Over pipes\n\n\
         Written by `pipes --write` on {}; {}. SDKs as `tests/peers/install.sh` and `benches/pipes/rmcp` name them. Whole servers as child processes, each with the same two tools; what counts is the processor time of the server's process for \
         each call, all its threads together. {} rounds, every second one backwards, {} s each and a quarter of that before; medians. *echo* writes what it \
         reads and is no server: the pipes alone. *legacy* is 2025-11-25 after a handshake, *modern* 2026-07-28 with its `_meta`. All is measured twice: with both processes held on one processor, which is what the goals are \
         judged by, and free to run on all. Free, the two wake each other's idle processor for every single call, which costs more than the native servers do: see how the spread of the \
         bare echo grows. p50 is the client's view, and doubtful below 10 µs. Ours is `barewire_stdio::Serve` as it is by default, and without threads.\n\n\
         {}\n{}\n",
        machine.date,
        machine.processor,
        options.rounds,
        options.time.as_secs_f64(),
        goals(cells),
        String::from_utf8_lossy(&tables).trim_start(),
    );
    fs::write(&path, [before, KEEP.0, &text, KEEP.1, after].concat())
}

fn goals(cells: &[Cell<'_>]) -> String {
    let mut out = String::from(
        "| what | beside | goal | is | spread | reached | free | spread |\n|---|---|---|--:|---|---|--:|---|\n",
    );
    for &(tool, in_flight, who, how, goal) in GOALS {
        let of = |name: &str, mode: Mode, place: Place| {
            cells.iter().find(|cell| {
                cell.contender.name == name
                    && cell.place == place
                    && (cell.load.tool, cell.load.in_flight) == (tool, in_flight)
                    && (cell.load.mode == mode || cell.load.mode == Mode::Echo)
            })
        };
        for mode in [Mode::Legacy, Mode::Modern] {
            // The median, the least and the most.
            let ratios = |place: Place| {
                let (ours, theirs) = (of(OURS, mode, place)?, of(who, mode, place)?);
                let (above, below) = if how == "at most" { (ours, theirs) } else { (theirs, ours) };
                let mut ratios: Vec<f64> =
                    above.samples.iter().zip(&below.samples).map(|(a, b)| a.cpu / b.cpu).collect();
                ratios.sort_by(f64::total_cmp);
                Some((median(ratios.iter().copied()), *ratios.first()?, *ratios.last()?))
            };
            let (held, free) = (ratios(Place::Held), ratios(Place::Free));
            let Some((ratio, least, most)) = held.or(free) else { continue };
            let reached = if how == "at most" { ratio <= goal } else { ratio >= goal };
            let beside = match (held, free) {
                (Some(_), Some((ratio, least, most))) => format!("{ratio:.2} | {least:.2}–{most:.2}"),
                _ => "– | –".into(),
            };
            out += &format!(
                "| {}, {in_flight} in flight, {} | {who} | {how} {goal} | {ratio:.2} | {least:.2}–{most:.2} | {} | {beside} |\n",
                size(tool),
                era(mode),
                if reached { "yes" } else { "**no**" },
            );
        }
    }
    out
}

fn era(mode: Mode) -> String {
    format!("{mode:?}").to_lowercase()
}

fn size(tool: &str) -> &'static str {
    if tool == "get_alerts" { "a short answer" } else { "51 KB" }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The cells of one load, each as a line with its ratio to ours.
pub(crate) fn table(out: &mut impl io::Write, cells: &[Cell<'_>]) -> io::Result<()> {
    let mut of = None;
    for cell in cells {
        let key = (cell.load.tool, cell.load.in_flight, cell.place);
        if of != Some(key) {
            of = Some(key);
            writeln!(out, "\n#### {}, {} in flight, {}\n", size(key.0), key.1, key.2)?;
            writeln!(
                out,
                "| server | era | CPU of the server, µs a call | spread | to ours | p50, µs | calls/s | peak, MB |"
            )?;
            writeln!(out, "|---|---|--:|---|--:|--:|--:|--:|")?;
        }
        let cpu = |cell: &Cell<'_>| median(cell.samples.iter().map(|sample| sample.cpu));
        let same = |other: &&Cell<'_>| {
            other.contender.name == OURS
                && (other.load.tool, other.load.in_flight, other.place) == key
                && (other.load.mode == cell.load.mode || cell.load.mode == Mode::Echo)
        };
        let ratio = cells.iter().find(same).map_or(f64::NAN, |ours| cpu(cell) / cpu(ours));
        let all = || cell.samples.iter().map(|sample| sample.cpu / 1e3);
        let (least, most) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
        let p50 = median(cell.samples.iter().map(|sample| sample.p50)) / 1e3;
        writeln!(
            out,
            "| {} | {} | {:.2} | {least:.2}–{most:.2} | {ratio:.2} | {} | {:.0} | {:.1} |",
            cell.contender.name,
            era(cell.load.mode),
            cpu(cell) / 1e3,
            if p50.is_nan() { "–".into() } else { format!("{p50:.1}") },
            median(cell.samples.iter().map(|sample| sample.per_second)),
            median(cell.samples.iter().map(|sample| sample.peak as f64)) / 1e6,
        )?;
    }
    Ok(())
}

pub(crate) fn json(out: &mut impl io::Write, cells: &[Cell<'_>]) -> io::Result<()> {
    write!(out, "[")?;
    for (n, cell) in cells.iter().enumerate() {
        let list = |value: fn(&Sample) -> f64| {
            let all: Vec<String> =
                cell.samples.iter().map(|sample| format!("{:.0}", value(sample))).collect();
            if all.iter().any(|text| text == "NaN") {
                "null".to_owned()
            } else {
                format!("[{}]", all.join(","))
            }
        };
        write!(
            out,
            "{}\n{{\"server\":\"{}\",\"era\":\"{:?}\",\"tool\":\"{}\",\"in_flight\":{},\"place\":\"{}\",\"cpu_ns\":{},\"p50_ns\":{},\"per_second\":{},\"peak\":{}}}",
            if n > 0 { "," } else { "" },
            cell.contender.name,
            cell.load.mode,
            cell.load.tool,
            cell.load.in_flight,
            cell.place,
            list(|sample| sample.cpu),
            list(|sample| sample.p50),
            list(|sample| sample.per_second),
            list(|sample| sample.peak as f64),
        )?;
    }
    writeln!(out, "\n]")
}

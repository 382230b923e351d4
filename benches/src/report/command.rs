//! The program `results`, for any list of contenders.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{fs, io};

use super::kept::{self, BUILDS, Build};
use super::{Machine, Report, contenders, goals, plot, ratios};
use crate::measure::{self, Effort};
use crate::{Group, Row, corpora, proof};

const HELP: &str = "Measures contenders in interleaved rounds and prints tables of ratios.
usage: results [--rounds N] [--slice MS] [--save FILE] [--plain FILE] [--simdutf8 FILE] [--write] [GROUP…]
  --rounds N  rounds, 7 unless given
  --slice MS  how long each contender runs in a round, 5 unless given
  --save FILE   keep the figures in a file
  --plain FILE, --simdutf8 FILE
                those of a core without the feature `simd`, or with `simdutf8`, kept before: they get rows of their own
  --write     write RESULTS.md and the plots beside it, in place of printing; needs all groups
groups: framing, read, typed, write, escape, unescape, round-trip; all unless named
Build it with --release.";

struct Ask {
    effort: Effort,
    write: bool,
    save: Option<PathBuf>,
    /// Figures of other builds.
    kept: Vec<(&'static Build, PathBuf)>,
    groups: Vec<Group>,
}

/// Runs the contenders as the program's `arguments` (without its name) ask. `about` says in the page how it was run.
#[must_use]
pub fn main(rows: Vec<Row>, about: &str, arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let ask = match ask(arguments) {
        Ok(Some(ask)) => ask,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("results: {error}");
            return ExitCode::from(2);
        }
    };
    match run(rows, &ask, about) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("results: {error}");
            ExitCode::FAILURE
        }
    }
}

fn ask(arguments: impl IntoIterator<Item = String>) -> Result<Option<Ask>, String> {
    let mut ask = Ask {
        effort: Effort { rounds: 7, slice: Duration::from_millis(5) },
        write: false,
        save: None,
        kept: vec![],
        groups: vec![],
    };
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let mut file = || {
            let file = arguments.next().ok_or_else(|| format!("{argument} wants a file"));
            file.map(PathBuf::from)
        };
        if let Some(build) = BUILDS.iter().find(|build| build.option == argument) {
            ask.kept.push((build, file()?));
            continue;
        }
        if argument == "--save" {
            ask.save = Some(file()?);
            continue;
        }
        let mut number = || {
            let next = arguments.next().unwrap_or_default();
            next.parse::<u32>()
                .ok()
                .filter(|n| *n > 0)
                .ok_or(format!("{argument} wants a number above 0, not `{next}`"))
        };
        match argument.as_str() {
            "-h" | "--help" => return Ok(None),
            "--rounds" => ask.effort.rounds = number()? as usize,
            "--slice" => ask.effort.slice = Duration::from_millis(number()?.into()),
            "--write" => ask.write = true,
            word => match Group::ALL.into_iter().find(|group| group.word() == word) {
                Some(group) => ask.groups.push(group),
                None => return Err(format!("there is no group `{word}`; --help names them")),
            },
        }
    }
    if ask.write && !ask.groups.is_empty() {
        return Err("--write writes the whole page: leave the groups out".into());
    }
    if ask.groups.is_empty() {
        ask.groups = Group::ALL.to_vec();
    }
    Ok(Some(ask))
}

fn run(mut rows: Vec<Row>, ask: &Ask, about: &str) -> Result<(), String> {
    let kept = ask.kept.iter().map(|(build, file)| kept::read(build, file));
    let kept = kept.collect::<Result<Vec<_>, _>>()?;
    // Each goes right behind ours, so the first of them goes last.
    kept.iter().rev().for_each(|kept| kept.register(&mut rows));
    let (mut columns, mut machine) = (Vec::new(), Machine::here());
    for group in &ask.groups {
        for corpus in corpora::of(*group) {
            // Who reads something else is not measured: the run ends.
            for row in rows.iter().filter(|row| row.group == *group) {
                proof::prove(row, &corpus)
                    .map_err(|error| format!("{} on {}: {error}", group.word(), corpus.name))?;
            }
            eprintln!("{} {}", group.word(), corpus.name);
            let mut column = measure::column(&rows, *group, &corpus, ask.effort);
            kept.iter().for_each(|kept| kept.add_to(&mut column));
            columns.push(column);
        }
    }
    machine.done();
    let report = Report { rows: &rows, columns, effort: ask.effort, machine };
    if let Some(file) = &ask.save {
        save(file, &kept::text(&report))?;
    }
    if !ask.write {
        for group in &ask.groups {
            println!("{}: {}\n\n{}", group.word(), explain(*group), ratios(&report, *group));
        }
        println!("{}\n{}", goals(&report), noise(&report));
        return Ok(());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("RESULTS.md");
    let old = fs::read_to_string(&path).unwrap_or_default();
    save(&path, &page(&report, about, &other(&old)))?;
    for group in Group::ALL {
        if let Some(svg) = plot(&report, group) {
            save(&folder.join("plots").join(format!("{}.svg", group.word())), &svg)?;
        }
    }
    Ok(())
}

fn save(path: &Path, text: &str) -> Result<(), String> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| fs::write(path, text))
        .map_err(|error: io::Error| format!("{}: {error}", path.display()))
}

/// From the first of these lines on `RESULTS.md` has what other programs write; this one keeps it. The program `pipes` writes between the two.
pub const KEEP: (&str, &str) =
    ("<!-- pipes: written by another program, kept as they are -->\n", "<!-- end of pipes -->\n");

/// What other programs have written into the old page, with their marks.
fn other(old: &str) -> String {
    let kept = old.find(KEEP.0).and_then(|from| old.get(from..));
    kept.map_or_else(|| [KEEP.0, KEEP.1].concat(), str::to_owned)
}

fn page(report: &Report<'_>, about: &str, other: &str) -> String {
    let Machine { processor, system, rustc, date, .. } = &report.machine;
    let Effort { rounds, slice } = report.effort;
    let mut out = format!(
        "# Speed, beside others\n\n\
         Written by `{about}` on {date}; not by hand. {processor}; {system}; {rustc}.\n\n\
         **How to read it.** Figures are ratios: the time that somebody takes, divided by the time that Barewire takes for the same \
         messages in the same round; above 1 Barewire is faster. The one time in a table, in Barewire's own row, is there to see what the ratios \
         are of, and is true of this machine alone. In square brackets: allocations for one message, where there are any. *Limits* do a part of the work only. \
         A dash: it cannot do that.\n\n\
         **How it is measured.** All contenders of a column in one process and one thread, one after the other, {rounds} rounds, every second one backwards, \
         each for {} ms of the thread's processor time at least; the median of the rounds' ratios. Before that each contender must give the same digest of every \
         message as serde_json in its plainest way (kind, id, method, params or result; texts, names, schemas; what was written): who reads something else stops the run. \
         Parsers that change their input get a copy of the message, and pay for it. All is built with thin link-time optimisation; the program `results` alone has the \
         workspace's profile, and other figures. Corpora are made from seeds: 1,000 distinct messages of each small kind. \
         `_spaced` is JSON as Python's `json.dumps` writes it; `zh` is Chinese; `_2026` are requests of 2026-07-28 with their `_meta`; `call_ts` has the TypeScript SDK's order of keys.\n\n\
         **How noisy it was.** {}\n\n\
         ## What the core must reach\n\nThe fastest of those that are named, beside ours; under *plain* beside the core without its feature `simd`.\n\n{}\n",
        slice.as_millis(),
        noise(report),
        goals(report)
    );
    for group in Group::ALL {
        let word = group.word();
        out += &format!(
            "## {}\n\n{}\n\n![{word}](plots/{word}.svg)\n\n{}\n<details><summary>Who they are</summary>\n\n{}\n</details>\n\n",
            title(group),
            explain(group),
            ratios(report, group),
            contenders(report, group)
        );
    }
    out + other
}

/// How far apart the rounds were, in words.
fn noise(report: &Report<'_>) -> String {
    let mut spreads: Vec<f64> = Vec::new();
    for column in &report.columns {
        for cell in &column.cells {
            if let Some(ratio) = column.ratio(cell.name, crate::ours::BASE)
                && cell.name != crate::ours::BASE
                && !kept::is_build(cell.name)
            {
                spreads.push((ratio.most - ratio.least) / ratio.median * 100.0);
            }
        }
    }
    spreads.sort_by(f64::total_cmp);
    let at = |part: f64| spreads.get((spreads.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN);
    let load = |load: Option<f64>| load.map_or_else(|| "unknown".into(), |load| format!("{load:.1}"));
    format!(
        "Between the least and the greatest ratio of the rounds lay {:.0} % in the middle of all {} cells, {:.0} % in the worst twentieth; \
         the load of the machine was {} before and {} after. Take ratios below 1.15 for ties.",
        at(0.5),
        spreads.len(),
        at(0.95),
        load(report.machine.load.0),
        load(report.machine.load.1)
    )
}

const fn title(group: Group) -> &'static str {
    match group {
        Group::Framing => "Framing",
        Group::Read => "Reading a message",
        Group::Typed => "Reading what is in it",
        Group::Write => "Writing",
        Group::Escape => "Escaping",
        Group::Unescape => "Unescaping",
        Group::RoundTrip => "A call through client and server",
    }
}

const fn explain(group: Group) -> &'static str {
    match group {
        Group::Framing => "A stream of lines, 8 KiB at a time, into lines.",
        Group::Read => {
            "Kind, id, method and params or result of one message, as spans of the line. What each refuses of twelve kinds of messages \
             that are none stands below the table: it was tried out."
        }
        Group::Typed => {
            "Of `tools/list` each tool's name, description and raw schema; of a call's result the text, unescaped."
        }
        Group::Write => "A message from values into memory that is at hand.",
        Group::Escape => "Text into a JSON string.",
        Group::Unescape => "A JSON string, checked, into text.",
        Group::RoundTrip => {
            "The client writes a call, the server reads it, a tool answers, the client reads the answer: one thread, no pipes, sessions long open."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &str) -> Result<Option<Ask>, String> {
        ask(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments() {
        let all = asked("--rounds 3 --slice 1 --write").unwrap().unwrap();
        assert_eq!((all.effort.rounds, all.groups.len(), all.write), (3, 7, true));
        let some = asked("read round-trip").unwrap().unwrap();
        assert_eq!(some.groups, [Group::Read, Group::RoundTrip]);
        assert!(asked("--help").unwrap().is_none());
        for (words, says) in [
            ("--rounds 0", "above 0"),
            ("--slice", "above 0"),
            ("raed", "no group `raed`"),
            ("--write read", "whole page"),
        ] {
            let error = asked(words).err().unwrap_or_default();
            assert!(error.contains(says), "{words}: {error}");
        }
    }

    #[test]
    fn a_page() {
        let rows = crate::rows::light();
        let effort = Effort { rounds: 2, slice: Duration::from_nanos(1) };
        let corpus = corpora::of(Group::Read).swap_remove(1);
        let columns = vec![measure::column(&rows, Group::Read, &corpus, effort)];
        let report = Report { rows: &rows, columns, effort, machine: Machine::here() };
        let kept = [KEEP.0, "pipes as they were\n", KEEP.1, "more\n"].concat();
        assert_eq!(other(&["# Old\n", &kept].concat()), kept);
        assert_eq!(other("# Old\n"), [KEEP.0, KEEP.1].concat());
        let page = page(&report, "a test", &kept);
        for part in [
            "| barewire | **1** (",
            "| serde_json Value |",
            "## A call through",
            "12 of 12 |",
            "pipes as they were\n<!-- end of pipes -->\nmore\n",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        let svg = plot(&report, Group::Read).unwrap();
        assert!(
            svg.starts_with("<svg")
                && svg.ends_with("</svg>\n")
                && svg.matches("class=\"ours\"").count() == 1,
            "{svg}"
        );
        assert!(plot(&report, Group::Write).is_none());
    }
}

//! Stdio servers side by side: processor time of the server for each call, one call at a time and 64 at once, short answers and 51 KB.
//!
//! `cargo run --release -p barewire-benches --bin pipes -- [--rounds N] [--seconds S] [--only WORD] [--peers FOLDER] [--json | --write]`
//!
//! `--write` puts the tables, and the goals with them, into `benches/RESULTS.md`.
//!
//! `pipes flat CALLS` looks whether the memory of our server stays what it is, under so many calls.
//!
//! The servers are the bare echo (the floor), ours, and with `--peers` those of the folder that `tests/peers/install.sh` fills, and the one of
//! `benches/pipes/rmcp` if it is built. Rounds are interleaved, every second one in reverse order; figures are medians.
//!
//! Every load is measured with both processes held on one processor, and left free. Free, an idle processor has to be woken for each
//! message of a quiet exchange, which costs several times what any of the native servers does, and differs from run to run.

mod load;
mod page;
mod place;

use core::time::Duration;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use load::{Load, Mode, Sample, Server};
use place::{Place, Places};

const HELP: &str =
    "usage: pipes [--rounds N] [--seconds S] [--only WORD] [--peers FOLDER] [--json | --write]";

struct Options {
    rounds: usize,
    time: Duration,
    only: Option<String>,
    peers: Option<PathBuf>,
    json: bool,
    write: bool,
}

/// A server, and the eras that it speaks.
struct Contender {
    name: &'static str,
    command: Vec<String>,
    modes: &'static [Mode],
}

/// A server under one load: a line of the table.
struct Cell<'a> {
    contender: &'a Contender,
    load: Load<'static>,
    place: Place,
    samples: Vec<Sample>,
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--echo") {
        return load::echo().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    if std::env::args().nth(1).as_deref() == Some("flat") {
        return match flat(std::env::args().nth(2).and_then(|calls| calls.parse().ok()).unwrap_or(1_000_000)) {
            Ok(flat) => ExitCode::from(u8::from(!flat)),
            Err(error) => {
                eprintln!("pipes: {error}");
                ExitCode::from(2)
            }
        };
    }
    match options().and_then(|options| run(&options).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pipes: {error}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        rounds: 5,
        time: Duration::from_secs(1),
        only: None,
        peers: None,
        json: false,
        write: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value; {HELP}"));
        match arg.as_str() {
            "--rounds" => options.rounds = value()?.parse().map_err(|_| "--rounds is a number".to_owned())?,
            "--seconds" => {
                let seconds = value()?.parse().map_err(|_| "--seconds is a number".to_owned())?;
                options.time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
            }
            "--only" => options.only = Some(value()?),
            "--peers" => options.peers = Some(value()?.into()),
            "--json" => options.json = true,
            "--write" => options.write = true,
            _ => return Err(HELP.to_owned()),
        }
    }
    if options.rounds == 0 || options.time.is_zero() {
        return Err("at least one round of some time".to_owned());
    }
    Ok(options)
}

/// Ours as it is by default.
const OURS: &str = "barewire";
const BOTH: &[Mode] = &[Mode::Legacy, Mode::Modern];

/// The contenders that are there; those that are not are named.
fn contenders(peers: Option<&Path>) -> io::Result<Vec<Contender>> {
    let own = std::env::current_exe()?;
    let beside = own.with_file_name("pipe-server");
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut all = vec![
        Contender { name: "echo", command: vec![text(&own), "--echo".into()], modes: &[Mode::Echo] },
        Contender { name: OURS, command: vec![text(&beside)], modes: BOTH },
        Contender {
            name: "barewire, one thread",
            command: vec![text(&beside), "--threads".into(), "0".into()],
            modes: BOTH,
        },
    ];
    if let Some(peers) = peers {
        let rmcp = text(&peers.join("rmcp-server/release/rmcp-server"));
        let python = text(&peers.join("venvs/mcp2/bin/python"));
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipes");
        all.extend([
            Contender {
                name: "rmcp, stdio_pipes()",
                command: vec![rmcp.clone(), "pipes".into()],
                modes: BOTH,
            },
            Contender { name: "rmcp, stdio()", command: vec![rmcp, "stdio".into()], modes: BOTH },
        ]);
        for (name, package, file, modes) in [
            ("TypeScript SDK 1.x", "sdk1", "ts1.mjs", &BOTH[..1]),
            ("TypeScript SDK 2.x", "sdk2", "ts2.mjs", BOTH),
        ] {
            // Node looks for packages from the file's own folder.
            let to = peers.join("npm").join(package).join(format!("bench-{file}"));
            if to.parent().is_some_and(Path::exists) {
                std::fs::copy(here.join(file), &to)?;
            }
            all.push(Contender { name, command: vec!["node".into(), text(&to)], modes });
        }
        all.push(Contender {
            name: "Python SDK 2.x",
            command: vec![python, text(&here.join("py.py"))],
            modes: BOTH,
        });
    }
    all.retain(|contender| {
        let there = contender.command.iter().all(|part| !part.contains('/') || Path::new(part).exists());
        if !there {
            eprintln!("left out, not there: {} ({})", contender.name, contender.command.join(" "));
        }
        there
    });
    Ok(all)
}

/// 51,305 bytes of text with a line feed or quote in every 60 bytes or so.
fn full() -> String {
    let line = "Heat index values up to 109 expected in \"Bexar\" county today.\n";
    let mut text = line.repeat(51_305 / line.len() + 1);
    text.truncate(51_305);
    text
}

/// Whether the server has no more memory after all the calls than after the first ten thousand, within a page or two.
fn flat(calls: u64) -> io::Result<bool> {
    // A byte for each call would be a megabyte. Threads and the memory of calls, which is kept for the next ones, may reach their most late.
    const SLACK: u64 = 256 << 10;
    let text = write_text()?;
    let mut flat = true;
    for ours in contenders(None)?.iter().filter(|contender| contender.name.starts_with(OURS)) {
        for &mode in ours.modes {
            let load = Load { mode, tool: "get_alerts", in_flight: 64, time: Duration::ZERO, calls };
            let mut server = Server::start(&ours.command, mode, &text)?;
            let before = server.run(&Load { calls: 10_000, ..load })?;
            let after = server.run(&load)?;
            let name = format!("{}, {}", ours.name, format!("{mode:?}").to_lowercase());
            println!(
                "{name}: {} bytes after 10000 calls, {} after {calls} more",
                before.resident, after.resident
            );
            flat &= after.resident <= before.resident + SLACK;
        }
    }
    std::fs::remove_file(&text)?;
    Ok(flat)
}

fn write_text() -> io::Result<PathBuf> {
    let text = std::env::temp_dir().join(format!("barewire-bench-{}.txt", std::process::id()));
    std::fs::write(&text, full())?;
    Ok(text)
}

fn run(options: &Options) -> io::Result<()> {
    let contenders = contenders(options.peers.as_deref())?;
    let text = write_text()?;
    let done = rounds(options, &contenders, &text);
    std::fs::remove_file(&text)?;
    let cells = done?;
    let mut out = io::stdout().lock();
    match (options.json, options.write) {
        (true, _) => page::json(&mut out, &cells),
        (_, true) => page::write(&cells, options),
        _ => page::table(&mut out, &cells),
    }
}

fn rounds<'a>(options: &Options, contenders: &'a [Contender], text: &Path) -> io::Result<Vec<Cell<'a>>> {
    let mut places = Places::here()?;
    let mut cells = Vec::new();
    let loads = [("get_alerts", 1), ("get_alerts", 64), ("get_alerts_full", 1), ("get_alerts_full", 64)];
    for (place, (tool, in_flight)) in
        places.all().iter().flat_map(|place| loads.iter().map(move |load| (*place, *load)))
    {
        for contender in contenders {
            for &mode in contender.modes {
                // An echo of the request says nothing of a long answer.
                if mode == Mode::Echo && tool != "get_alerts" {
                    continue;
                }
                let wanted = |word: &String| {
                    format!("{} {mode:?} {tool} {in_flight} {place}", contender.name).contains(word)
                };
                if options.only.as_ref().is_none_or(wanted) {
                    let load = Load { mode, tool, in_flight, time: options.time, calls: 0 };
                    cells.push(Cell { contender, load, place, samples: Vec::new() });
                }
            }
        }
    }
    for round in 0..options.rounds {
        let mut order: Vec<&mut Cell<'_>> = cells.iter_mut().collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for cell in order {
            let name = cell.contender.name;
            let fails = |error: &dyn core::fmt::Display| io::Error::other(format!("{name}: {error}"));
            places.go(cell.place)?;
            let mut server = Server::start(&cell.contender.command, cell.load.mode, text)
                .map_err(|error| fails(&error))?;
            let answer = server.check(&cell.load).map_err(|error| fails(&error))?;
            if cell.load.tool == "get_alerts_full" && answer != full() {
                return Err(fails(&format!("a text of {} bytes came, not the one asked for", answer.len())));
            }
            // Caches and buffers grow to what they will be, a JIT compiles.
            server.run(&Load { time: cell.load.time / 4, ..cell.load }).map_err(|error| fails(&error))?;
            cell.samples.push(server.run(&cell.load).map_err(|error| fails(&error))?);
        }
    }
    Ok(cells)
}

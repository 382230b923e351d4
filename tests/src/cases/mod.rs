//! The runner of the cases: faults that users met elsewhere, as input with the right answer, on our real programs.
//!
//! Server, parser and transport cases go to a `fixture-server` process; client cases to our client, whose peer is this
//! program again (`--peer`); command line cases to the `barewire` binary. What a case `assert`s is judged in full, and
//! so is every byte by the [checker](crate::schema). A case without `assert` is judged by what its own lines make
//! right: its requests, its answers, its words.

mod case;
mod cli;
mod client;
mod judge;
mod modern;
mod peer;
#[cfg(unix)]
mod serial;
mod server;
mod trigger;

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use case::Case;
pub use peer::play;

/// One of the two ways to speak.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Era {
    Legacy,
    Modern,
}

/// What a run came to, if nothing was wrong.
enum Verdict {
    Passed,
    /// With a reason of [`REASONS`].
    Inapplicable(&'static str),
}

/// Why a case may not be applicable: what it needs is not there yet.
const REASONS: [&str; 10] = [
    "needs resources",
    "needs prompts",
    "needs completion",
    "needs logging",
    "needs elicitation",
    "needs subscriptions",
    "needs a serial port",
    "needs python3",
    "needs a shell",
    "is not for machines",
];

/// The programs that are tested, and this one.
struct Programs {
    fixture: PathBuf,
    barewire: PathBuf,
    own: PathBuf,
}

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The one case to run.
    pub only: Option<&'a str>,
    /// Whether the programs under test are built first.
    pub build: bool,
}

/// How many cases went which way.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Tally {
    /// In every era that they have.
    pub passed: usize,
    /// In one of them at least.
    pub failed: usize,
    /// Not run.
    pub inapplicable: usize,
    /// Those that were run over a serial line as well, and were right there.
    pub on_a_line: usize,
    /// Those that were not.
    pub failed_on_a_line: usize,
}

/// Runs all cases of the files, and prints a line for each that fails or is not applicable.
///
/// # Errors
/// When a file cannot be read, is not of the format, or the programs cannot be built.
pub fn run(files: &[PathBuf], options: Options<'_>) -> io::Result<Tally> {
    let programs = programs(options.build)?;
    let only = options.only;
    let mut tally = Tally::default();
    for file in files {
        let text = fs::read_to_string(file)
            .map_err(|wrong| io::Error::new(wrong.kind(), format!("{}: {wrong}", file.display())))?;
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let case: Case = serde_json::from_str(line).map_err(|wrong| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("{}:{}: {wrong}", file.display(), number + 1),
                )
            })?;
            if only.is_none_or(|only| case.id == only) {
                one(&case, &programs, &mut tally);
                #[cfg(unix)]
                on_a_line(&case, &programs, &mut tally);
            }
        }
    }
    if tally.on_a_line + tally.failed_on_a_line > 0 {
        println!("over a serial line: {} passed, {} failed", tally.on_a_line, tally.failed_on_a_line);
    }
    println!("{} passed, {} failed, {} not applicable", tally.passed, tally.failed, tally.inapplicable);
    Ok(tally)
}

fn one(case: &Case, programs: &Programs, tally: &mut Tally) {
    let mut wrong = Vec::new();
    let mut reason = None;
    for era in &eras(case) {
        let verdict = match case.side.as_str() {
            "server" | "parser" | "transport" => match server::inapplicable(case) {
                Some(reason) => Ok(Verdict::Inapplicable(reason)),
                None => server::run(case, *era, programs),
            },
            "client" => client::run(case, *era, programs),
            "cli" => cli::run(case, *era, programs),
            side => Err(format!("the runner does not know the side {side:?}")),
        };
        match verdict {
            Ok(Verdict::Passed) => {}
            Ok(Verdict::Inapplicable(because)) => reason = Some(because),
            Err(why) => wrong.push(format!("{era:?}: {why}")),
        }
    }
    match (wrong.is_empty(), reason) {
        (false, _) => {
            tally.failed += 1;
            println!("{} failed: {}", case.id, in_one_line(&wrong));
        }
        (true, Some(reason)) => {
            debug_assert!(REASONS.contains(&reason));
            tally.inapplicable += 1;
            println!("{} not applicable: {reason}", case.id);
        }
        (true, None) => tally.passed += 1,
    }
}

fn eras(case: &Case) -> Vec<Era> {
    match case.side.as_str() {
        "server" | "parser" | "transport" => server::eras(case),
        "client" => client::eras(case),
        _ => cli::eras(case),
    }
}

/// Runs the case over a serial line too, where it has a meaning there.
#[cfg(unix)]
fn on_a_line(case: &Case, programs: &Programs, tally: &mut Tally) {
    if !serial::applies(case) {
        return;
    }
    let run = |era| serial::run(case, era, programs).err().map(|why| format!("{era:?}: {why}"));
    let wrong: Vec<String> = eras(case).into_iter().filter_map(run).collect();
    if wrong.is_empty() {
        tally.on_a_line += 1;
    } else {
        tally.failed_on_a_line += 1;
        println!("{} failed over a serial line: {}", case.id, in_one_line(&wrong));
    }
}

fn in_one_line(wrong: &[String]) -> String {
    wrong.join(" | ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Builds what is beside this program, so that no old build is tested; where cargo is not there, takes what is.
fn programs(build: bool) -> io::Result<Programs> {
    let own = env::current_exe()?;
    let folder = own.parent().map(Path::to_owned).unwrap_or_default();
    if let Some(cargo) = env::var_os("CARGO").filter(|_| build) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "-p", "barewire-tests", "--bin", "fixture-server"]);
        build.args(["-p", "barewire-cli", "--bin", "barewire"]).current_dir(root);
        if folder.ends_with("release") {
            build.arg("--release");
        }
        if let Some(target) = folder.parent() {
            build.arg("--target-dir").arg(target);
        }
        if !build.status()?.success() {
            return Err(io::Error::other("the programs under test do not build"));
        }
    }
    let beside = |name: &str| folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
    Ok(Programs { fixture: beside("fixture-server"), barewire: beside("barewire"), own })
}

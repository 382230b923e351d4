//! Runs cases: `cases FILE…` (`--only ID` for one of them, `--no-build` for programs that are built already);
//! `--peer FILE` plays the peer of a client case, and `--copy` writes its input to its output.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, io};

use barewire_tests::cases::{self, Options};

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["--peer", script] => cases::play(Path::new(script)).map(|()| true),
        ["--copy"] => io::copy(&mut io::stdin().lock(), &mut io::stdout().lock()).map(|_| true),
        ["--only", id, files @ ..] => run(files, Options { only: Some(id), build: true }),
        ["--no-build", files @ ..] => run(files, Options { only: None, build: false }),
        files => run(files, Options { only: None, build: true }),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(wrong) => {
            eprintln!("cases: {wrong}");
            ExitCode::from(2)
        }
    }
}

fn run(files: &[&str], options: Options<'_>) -> io::Result<bool> {
    if files.is_empty() || files.iter().any(|file| file.starts_with('-')) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "usage: cases [--only ID | --no-build] FILE…",
        ));
    }
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    let tally = cases::run(&files, options)?;
    Ok(tally.failed + tally.failed_on_a_line == 0)
}

//! The barewire command line.
//!
//! Results go to stdout, everything else to stderr; exit codes are those of [`failure::code`], and 130 for Ctrl-C.

mod args;
mod arguments;
mod capture;
mod commands;
mod failure;
mod packets;
mod paint;
mod samples;
mod sys;
mod text;

use std::io;
use std::io::Write;

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;

fn main() {
    let cli = Cli::parse();
    let code = match run(cli) {
        Ok(code) => code,
        Err(failure) => {
            failure.report(false);
            failure.code
        }
    };
    std::process::exit(code);
}

fn run(cli: Cli) -> Result<i32, Failure> {
    match cli.command {
        Command::Tap { log, log_format, trace, show, server } => {
            let mut live = trace.then(|| {
                let look = show.look(cli.color.for_stream(&io::stderr()));
                (packets::tracker::Tracker::new(look.table), packets::view::View::new(look))
            });
            commands::tap::Tap { command: server, log, format: log_format }.run(move |entry| {
                if let Some((tracker, view)) = &mut live {
                    for item in tracker.take(entry) {
                        let _ = io::stderr().write_all(view.item(&item).as_bytes());
                    }
                }
            })
        }
        Command::Serve { sample } => commands::serve::run(sample).map(|()| 0),
        Command::Explain { file, json, show } => {
            commands::explain::run(&file, show.look(cli.color.for_stream(&io::stdout())), json).map(|()| 0)
        }
    }
}

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

use std::io::{self, Write};

use barewire::Era;
use clap::Parser;

use args::{Cli, Command};
use arguments::Given;
use capture::{Event, What};
use commands::record::Show;
use commands::{call, demo, explain, list, serve, tap};
use failure::Failure;
use packets::tracker::Tracker;
use packets::view::{Look, View};

fn main() {
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    let json = match cli.command {
        Command::Demo { json, .. } | Command::List { json, .. } => json,
        Command::Call { json, .. } | Command::Explain { json, .. } => json,
        Command::Tap { .. } | Command::Serve { .. } => false,
    };
    let outcome = run(cli);
    commands::connect::yield_to_signals();
    let code = match outcome {
        Ok(code) => code,
        Err(failure) => {
            failure.report(json);
            failure.code
        }
    };
    std::process::exit(code);
}

/// Help and version end well; anything else is bad usage, told as JSON where JSON was asked for.
fn refuse(error: &clap::Error) -> ! {
    let own = std::env::args().take_while(|argument| argument != "--");
    if error.use_stderr() && own.skip(1).any(|argument| argument == "--json") {
        let told = error.to_string();
        let told = told.strip_prefix("error: ").unwrap_or(&told);
        let failure = Failure::usage(told.split("\n\n").next().unwrap_or(told).trim());
        failure.report(true);
        std::process::exit(failure.code);
    }
    error.exit()
}

fn run(cli: Cli) -> Result<i32, Failure> {
    let on_stdout = cli.color.for_stream(&io::stdout());
    let on_stderr = cli.color.for_stream(&io::stderr());
    match cli.command {
        Command::Demo { reach, json, show } => {
            let connect = reach.connect(Vec::new(), json, Era::Legacy);
            demo::run(connect, show.look(on_stdout), json)
        }
        Command::List { reach, trace, json, show, server } => {
            let look = show.look(on_stderr);
            let connect = reach.connect(server.clone(), json, Era::Auto);
            let session = connect.start(look.table, traced(trace.trace, look), server)?;
            let listed = list::run(&session, json, on_stdout).map(|()| 0);
            session.conclude(listed, json)
        }
        Command::Call { tool, arguments, args, save, reach, trace, json, show, server } => {
            let look = show.look(on_stderr);
            let given = Given { pairs: arguments, args };
            given.check()?;
            let whole = given.whole()?;
            let connect = reach.connect(server.clone(), json, Era::Auto);
            let aloud = connect.aloud;
            let session = connect.start(look.table, traced(trace.trace, look), server)?;
            let called = call::Call { tool, given, whole, save, json, aloud }.run(&session);
            session.conclude(called, json)
        }
        Command::Tap { log, log_format, trace, show, server } => {
            let look = show.look(on_stderr);
            let mut live = trace.then(|| (Tracker::new(look.table), View::new(look)));
            tap::Tap { command: server, log, format: log_format }.run(move |entry| {
                if let Some((tracker, view)) = &mut live {
                    let mut told: String = tracker.take(entry).iter().map(|item| view.item(item)).collect();
                    if let What::Event(Event::Exit { .. }) = entry.what {
                        told += &view.summary(&tracker.finish().1);
                    }
                    // Nobody may be reading stderr.
                    let _ = io::stderr().write_all(told.as_bytes());
                }
            })
        }
        Command::Explain { file, json, show } => explain::run(&file, show.look(on_stdout), json).map(|()| 0),
        Command::Serve { sample } => serve::run(sample).map(|()| 0),
    }
}

/// Packets on stderr, if they are asked for.
fn traced(trace: bool, look: Look) -> Show {
    if trace { Show::Words(View::new(look), Box::new(io::stderr())) } else { Show::Nothing }
}

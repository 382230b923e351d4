//! The barewire command line.
//!
//! Results go to stdout, everything else to stderr; exit codes are those of [`failure::code`], and 130 for Ctrl-C.

mod args;
mod arguments;
#[cfg(unix)]
mod bench;
mod bridge;
mod capture;
mod commands;
mod failure;
mod far;
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
use capture::Entry;
use commands::record::Show;
use commands::{call, demo, explain, list, ports, serve, tap, testkit};
use failure::Failure;
use far::{Far, is_target};
use packets::tracker::Tracker;
use packets::view::{Look, View};

fn main() {
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    let json = match cli.command {
        Command::Demo { json, .. } | Command::List { json, .. } => json,
        Command::Call { json, .. } | Command::Explain { json, .. } => json,
        Command::Ports(args::Ports { json, .. }) => json,
        #[cfg(unix)]
        Command::Bench(args::Bench { json, .. }) => json,
        Command::Tap { .. } | Command::Bridge(_) | Command::Serve { .. } | Command::Testkit(_) => false,
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
    let own = std::env::args_os().take_while(|argument| argument != "--");
    let json = own.skip(1).any(|argument| argument == "--json");
    let told = match args::explained(error) {
        Some(told) => told,
        None if json && error.use_stderr() => {
            let told = error.to_string();
            let told = told.strip_prefix("error: ").unwrap_or(&told);
            told.split("\n\n").next().unwrap_or(told).trim().to_owned()
        }
        None => error.exit(),
    };
    let failure = Failure::usage(told);
    failure.report(json);
    std::process::exit(failure.code);
}

fn run(cli: Cli) -> Result<i32, Failure> {
    let on_stdout = cli.color.for_stream(&io::stdout());
    let on_stderr = cli.color.for_stream(&io::stderr());
    match cli.command {
        Command::Demo { reach, json, show } => {
            let connect = reach.connect(Far::Command(Vec::new()), json, Era::Legacy)?;
            demo::run(connect, show.look(on_stdout), json)
        }
        Command::List { reach, trace, json, show, server } => {
            let look = show.look(on_stderr);
            let far = Far::parse(&server)?;
            let shown = far.words();
            let connect = reach.connect(far, json, Era::Auto)?;
            let session = connect.start(look.table, traced(trace.trace || show.is_chosen(), look), shown)?;
            let listed = list::run(&session, json, on_stdout).map(|()| 0);
            session.conclude(listed, json)
        }
        Command::Call { tool, mut arguments, args, save, reach, trace, json, show, mut server } => {
            let look = show.look(on_stderr);
            // Without a command the last argument names the server.
            if server.is_empty() {
                server.extend(arguments.pop_if(|last| is_target(last.as_ref())).map(Into::into));
            }
            if server.is_empty()
                && let Some(early) = arguments.iter().find(|word| is_target(word.as_ref()))
            {
                return Err(Failure::usage(format!("`{early}` names the server: put it last")));
            }
            let far = Far::parse(&server)?;
            let given = Given { pairs: arguments, args };
            given.check()?;
            let whole = given.whole()?;
            if let Some(path) = save.as_ref().filter(|path| path.exists() && !path.is_dir()) {
                return Err(Failure::usage(format!("--save {}: it is no folder", path.display())));
            }
            let shown = far.words();
            let connect = reach.connect(far, json, Era::Auto)?;
            let aloud = connect.aloud;
            let session = connect.start(look.table, traced(trace.trace || show.is_chosen(), look), shown)?;
            let called = call::Call { tool, given, whole, save, json, aloud }.run(&session);
            session.conclude(called, json)
        }
        Command::Tap { log, log_format, trace, show, server } => {
            let look = show.look(on_stderr);
            let far = Far::parse(&server)?;
            let watch = live(trace || show.is_chosen(), look);
            tap::Tap { far, log, format: log_format }.run(watch)
        }
        Command::Bridge(own) => {
            let watch = live(own.trace || own.show.is_chosen(), own.show.look(on_stderr));
            commands::bridge::run(own, on_stderr, watch)
        }
        #[cfg(unix)]
        Command::Bench(bench) => bench::run(&bench).map(|()| 0),
        Command::Ports(ports) => ports::run(&ports, on_stdout).map(|()| 0),
        Command::Explain { file, json, show } => explain::run(&file, show.look(on_stdout), json).map(|()| 0),
        Command::Serve { sample } => serve::run(sample).map(|()| 0),
        Command::Testkit(testkit) => testkit::run(&testkit),
    }
}

/// Packets on stderr, if they are asked for.
fn traced(trace: bool, look: Look) -> Show {
    if trace { Show::Words(View::new(look), Box::new(io::stderr())) } else { Show::Nothing }
}

/// Shows packets on stderr while they pass, if that is asked for.
fn live(shown: bool, look: Look) -> impl FnMut(Option<&Entry>) + Send + 'static {
    let mut live = shown.then(|| (Tracker::new(look.table), View::new(look).of_others()));
    move |entry| {
        let Some((tracker, view)) = &mut live else { return };
        let told: String = match entry {
            Some(entry) => tracker.take(entry).iter().map(|item| view.item(item)).collect(),
            None => {
                let (items, summary) = tracker.finish();
                let last: String = items.iter().map(|item| view.item(item)).collect();
                last + &view.summary(&summary)
            }
        };
        // Nobody may be reading stderr.
        let _ = io::stderr().write_all(told.as_bytes());
    }
}

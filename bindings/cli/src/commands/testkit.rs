//! `barewire testkit`: whether a relay carries MCP right, whatever it carries it over.

use std::io::{self, Write};

use barewire_testkit::{Suite, Through, checks, serve_stdio};

use crate::args::Testkit;
use crate::failure::Failure;

/// Runs the suite; the exit code is 1 if a check failed.
pub(crate) fn run(testkit: &Testkit) -> Result<i32, Failure> {
    if testkit.serve {
        return serve_stdio().map(|()| 0).map_err(|error| Failure::io("serving failed", &error));
    }
    let mut out = io::stdout();
    if testkit.list {
        for check in checks() {
            writeln!(out, "{:<17} {}", check.name, check.reason).map_err(Failure::stdout)?;
        }
        return Ok(0);
    }
    let mut words = testkit.through.as_deref().unwrap_or_default().split_whitespace();
    let Some(program) = words.next() else {
        return Err(Failure::usage("--through needs the program of a relay"));
    };
    let own =
        std::env::current_exe().map_err(|error| Failure::io("can't find this program's own file", &error))?;
    let relay = words.fold(Through::new(program), Through::arg);
    let relay = relay.server([own.as_os_str(), "testkit".as_ref(), "--serve".as_ref()]);
    // What can't be started at all is no matter for twenty checks.
    drop(relay.connect().map_err(|error| Failure::spawn(program, &error))?);

    let mut suite = Suite::new(testkit.claims).patience(testkit.patience);
    for name in &testkit.only {
        suite = suite.only(name);
    }
    for name in &testkit.without {
        suite = suite.without(name);
    }
    let report = suite.run(|| relay.connect());
    writeln!(out, "{report}").map_err(Failure::stdout)?;
    Ok(i32::from(report.failed() > 0))
}

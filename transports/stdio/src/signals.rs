//! Ctrl-C for programs that have nothing else to do on it (feature `signals`).

use core::time::Duration;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use std::{io, thread};

/// Starts a thread which, on SIGINT, SIGTERM or SIGHUP, ends all children ([`kill_all`](crate::kill_all), 1 s) and
/// exits with 128 and the number of the signal: 130 for Ctrl-C. A second signal exits at once.
pub fn exit_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().name("mcp-signals".into()).stack_size(128 << 10).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let second = thread::Builder::new().stack_size(64 << 10).spawn(move || {
                if let Some(signal) = signals.forever().next() {
                    std::process::exit(128 + signal);
                }
            });
            crate::kill_all(Duration::from_secs(1));
            drop(second);
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}

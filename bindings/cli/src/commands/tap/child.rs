//! A server that is a child process: its three streams, its signals, its status.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::ffi::OsString;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

use super::pump::{Pumped, Stop, pump, tell};
use crate::capture::queue::Log;
use crate::capture::{Event, Stream, What};
use crate::failure::Failure;
use crate::sys::{self, Signals};

/// How long output may still come after the child is gone: from grandchildren that hold its pipes.
const AFTERMATH: Duration = Duration::from_millis(500);

/// Passes everything on until the child is gone; its status is ours.
pub(super) fn run(mut child: Child, mut signals: Signals, log: &Log) -> Result<i32, Failure> {
    let leader = child.id();
    let signal_log = log.clone();
    let to_end = Arc::new(AtomicBool::new(false));
    let signalled = Arc::clone(&to_end);
    thread::spawn(move || {
        while let Some((signal, name)) = signals.wait() {
            signalled.store(true, Ordering::SeqCst);
            signal_log.put(What::Event(Event::Signal(name.into())));
            signal_log.hurry();
            sys::signal_group(leader, signal);
        }
    });

    let (ended, ends) = mpsc::channel();
    let writing_out = Arc::new(AtomicUsize::new(0));
    pump_all(&mut child, log, &ended, &writing_out);
    let status = child.wait().map_err(|error| Failure::io("can't wait for the server", &error))?;
    // Two streams come from the child. Its own words are in the pipes by now; a grandchild may hold them open.
    let mut open = 2;
    while open > 0 {
        match ends.recv_timeout(AFTERMATH) {
            Ok(Pumped::Moved) => {}
            Ok(Pumped::Ended) => open -= 1,
            // A host that reads slowly gets all the same, unless it wants an end.
            Err(_) if writing_out.load(Ordering::SeqCst) > 0 && !to_end.load(Ordering::SeqCst) => {}
            Err(_) => break,
        }
    }
    log.put(What::Event(exit_event(status)));
    Ok(exit_code(status))
}

/// Starts the server.
pub(super) fn spawn(command: &[OsString]) -> Result<Child, Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Failure::usage("no command given: put it after --"));
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: signals reach grandchildren too, and Ctrl-C comes from us alone.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map_err(|error| Failure::spawn(&program.to_string_lossy(), &error))
}

fn pump_all(child: &mut Child, log: &Log, ended: &Sender<Pumped>, writing: &Arc<AtomicUsize>) {
    if let Some(mut to) = child.stdin.take() {
        let log = log.clone();
        thread::spawn(move || {
            let mut from = sys::stdin();
            if pump(&mut *from, &mut to, Stream::C2s, &log, |_| ()) == Stop::Writer {
                sys::close_stdin();
            }
            // Dropping `to` passes the end of input on.
        });
    }
    if let Some(mut from) = child.stdout.take() {
        let (log, ended, writing) = (log.clone(), ended.clone(), Arc::clone(writing));
        thread::spawn(move || {
            let mut to = sys::stdout();
            let moved = |begins| tell(&ended, &writing, begins);
            if pump(&mut from, &mut *to, Stream::S2c, &log, moved) != Stop::Writer {
                sys::close_stdout();
            }
            // When the host closed its end, dropping `from` lets the server see that.
            _ = ended.send(Pumped::Ended);
        });
    }
    if let Some(mut from) = child.stderr.take() {
        let (log, ended, writing) = (log.clone(), ended.clone(), Arc::clone(writing));
        thread::spawn(move || {
            let mut to = io::stderr();
            let moved = |begins| tell(&ended, &writing, begins);
            if pump(&mut from, &mut to, Stream::Err, &log, moved) == Stop::Writer {
                // Nobody reads our stderr; the server's must be drained all the same.
                pump(&mut from, &mut io::sink(), Stream::Err, &log, moved);
            }
            _ = ended.send(Pumped::Ended);
        });
    }
}

fn exit_event(status: ExitStatus) -> Event {
    Event::Exit { code: status.code(), signal: signal_of(status) }
}

/// The child's code, or 128 and its signal as shells have it.
pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| signal_of(status).map(|signal| 128 + signal)).unwrap_or(1)
}

#[cfg(unix)]
pub(crate) fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
pub(crate) fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}

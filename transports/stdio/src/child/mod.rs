//! A server as a child process: started in a group of its own, watched, stopped, reaped.
//!
//! Death is noticed by waiting for the process, not by the end of its output: a grandchild may hold the pipe open.
//! The leader is waited for without reaping it, so that its process group's number stays taken until the last
//! signal to the group has been sent.

mod registry;
mod sys;
#[cfg(all(test, unix))]
mod tests;

pub(crate) use registry::all_ended;
pub use registry::kill_all;

pub use barewire::owned::Ended;

use crate::{Stderr, Trace, bell::Bell, client::Tracer, lock};
use barewire::owned::StderrLog;
use core::{sync::atomic::AtomicBool, time::Duration};
use std::{
    io::{self, Read},
    process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread,
};

/// After the process is gone: how long to wait for what is left in its pipes.
pub(crate) const LEFTOVERS: Duration = Duration::from_millis(500);
/// Threads here only copy bytes, but a trace callback may format and print.
pub(crate) const STACK: usize = 256 << 10;

pub(crate) struct Child {
    pid: u32,
    grace: Duration,
    state: Mutex<State>,
    changed: Bell,
    log: Mutex<StderrLog>,
    kill: AtomicBool,
}

struct State {
    exited: Option<ExitStatus>,
    stdout_open: bool,
    stderr_open: bool,
    how: Ended,
    reaped: bool,
}

impl Child {
    /// Starts it. `on_exit` is called once, when it is dead and its pipes are drained as far as they can be.
    pub(crate) fn spawn(
        command: &mut Command,
        stderr: Stderr,
        grace: Duration,
        tracer: &Tracer,
        on_exit: impl FnOnce(ExitStatus) + Send + 'static,
    ) -> io::Result<(Arc<Self>, ChildStdin, ChildStdout)> {
        let start = registry::Start::begin().ok_or_else(ended)?;
        sys::own_group(command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let child = Arc::new(Self {
            pid: process.id(),
            grace,
            state: Mutex::new(State {
                exited: None,
                stdout_open: true,
                stderr_open: true,
                how: Ended::ByItself,
                reaped: false,
            }),
            changed: Bell::default(),
            log: Mutex::new(StderrLog::new(stderr)),
            kill: AtomicBool::new(false),
        });
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(stdin), Some(stdout), Some(errors)) = pipes else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        start.add(&child);
        tracer.trace(Trace::Started { pid: child.pid });
        let (watched, seen) = (Arc::clone(&child), tracer.clone());
        // `process` is shared with a thread that may fail to start; then it is killed here.
        let process = Arc::new(Mutex::new(process));
        let owned = Arc::clone(&process);
        let threads = thread::Builder::new()
            .name("mcp-wait".into())
            .stack_size(STACK)
            .spawn(move || watched.watch(&mut lock(&owned), &seen, on_exit))
            .and_then(|_| {
                let (drained, seen) = (Arc::clone(&child), tracer.clone());
                let builder = thread::Builder::new().name("mcp-stderr".into()).stack_size(STACK);
                builder.spawn(move || drained.drain(errors, stderr, &seen))
            });
        if let Err(error) = threads {
            child.signal(Ended::Killed);
            let _ = lock(&process).wait();
            registry::remove(&child);
            return Err(error);
        }
        Ok((child, stdin, stdout))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The reader of its output met the end.
    pub(crate) fn stdout_ended(&self) {
        lock(&self.state).stdout_open = false;
        self.changed.ring();
    }

    /// A half of the connection ended: is that because it exits? Then `on_exit` tells, or has told.
    pub(crate) fn exits(&self) -> bool {
        self.wait_for(LEFTOVERS, |state| state.exited.is_some()).exited.is_some()
    }

    /// The shutdown ladder, its input being closed already: wait, SIGTERM to the group, wait, SIGKILL, reap.
    pub(crate) fn stop(&self) -> (Option<ExitStatus>, Ended) {
        for next in [Ended::Terminated, Ended::Killed] {
            if self.wait_for(self.grace, |state| state.exited.is_some()).exited.is_some() {
                break;
            }
            self.signal(next);
        }
        self.wait_reaped(self.grace + 4 * LEFTOVERS);
        let state = lock(&self.state);
        (state.exited, state.how)
    }

    /// Everything that was kept of its stderr.
    pub(crate) fn stderr(&self) -> Vec<u8> {
        lock(&self.log).kept()
    }

    /// The last lines of its stderr.
    pub(crate) fn stderr_tail(&self) -> String {
        lock(&self.log).tail()
    }

    fn wait_reaped(&self, at_most: Duration) -> bool {
        self.wait_for(at_most, |state| state.reaped).reaped
    }

    fn wait_for(&self, at_most: Duration, done: impl Fn(&State) -> bool) -> std::sync::MutexGuard<'_, State> {
        self.changed.wait_until(&self.state, at_most, done)
    }

    /// SIGTERM or SIGKILL to the group, unless it has been reaped.
    fn signal(&self, how: Ended) {
        let mut state = lock(&self.state);
        if state.reaped {
            return;
        }
        if state.exited.is_none() {
            state.how = how;
        }
        sys::signal_group(self.pid, how == Ended::Killed, &self.kill);
    }

    /// The thread that waits for it.
    fn watch(
        &self,
        process: &mut std::process::Child,
        tracer: &Tracer,
        on_exit: impl FnOnce(ExitStatus) + Send + 'static,
    ) {
        let status = sys::wait_without_reaping(process, &self.kill);
        lock(&self.state).exited = Some(status);
        self.changed.ring();
        let quiet = |state: &State| !state.stdout_open && !state.stderr_open;
        let held = !quiet(&self.wait_for(LEFTOVERS, quiet));
        tracer.trace(Trace::Exited(status));
        on_exit(status);
        // What it left behind in its group goes too, if it holds our pipes or if the group had to be told to end.
        let how = lock(&self.state).how;
        if held && how != Ended::Killed {
            self.signal(Ended::Terminated);
            drop(self.wait_for(self.grace, quiet));
        }
        if held || how != Ended::ByItself {
            self.signal(Ended::Killed);
        }
        let mut state = lock(&self.state);
        let _ = process.wait();
        state.reaped = true;
        drop(state);
        registry::remove(self);
        self.changed.ring();
    }

    /// The thread that reads its stderr, whatever the rest does: a full pipe would stop the server.
    fn drain(&self, mut errors: impl Read, mode: Stderr, tracer: &Tracer) {
        let mut chunk = [0; 8192];
        loop {
            let n = match errors.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let bytes = chunk.get(..n).unwrap_or_default();
            lock(&self.log).add(bytes);
            tracer.trace(Trace::Stderr(bytes));
            if mode == Stderr::Pass {
                // Nobody can be told that stderr is gone.
                let _ = io::Write::write_all(&mut io::stderr(), bytes);
            }
        }
        lock(&self.state).stderr_open = false;
        self.changed.ring();
    }
}

/// Why none is started after [`kill_all`].
fn ended() -> io::Error {
    io::Error::other("all servers were ended, and none is started any more")
}

//! A server on standard input and output, or on any `Read` and `Write`.

mod call;
mod pool;
mod stdio;

pub use call::ToolCall;

use barewire::{
    Buffers, Limits, Noise, Server, ServerConfig, Tool,
    owned::{Answer, Fail, ToolResult},
};
use call::{Copies, Flag, Job, Line};
use core::{panic::AssertUnwindSafe, time::Duration};
use pool::Shared;
use std::{
    io::{self, Read, Write},
    panic::catch_unwind,
    thread,
};

/// Serves on stdin and stdout with a pool of 4 threads and a queue of 64 calls, until the input ends.
///
/// The same as [`Serve::new(config).run(tools)`](Serve::run).
pub fn serve(
    config: &ServerConfig<'_>,
    tools: impl Fn(&mut ToolCall<'_>) -> Result<ToolResult, Fail> + Sync,
) -> io::Result<()> {
    Serve::new(config).run(tools)
}

/// Tools that are made at run time, for [`ServerConfig::dynamic_tools`].
pub trait ToolSource: Sync {
    /// The tool at `index`, `None` past the last one. An index may be asked for twice.
    fn tool(&self, index: usize) -> Option<Tool<'_>>;
}

/// How to serve.
#[must_use]
pub struct Serve<'c> {
    config: &'c ServerConfig<'c>,
    source: Option<&'c dyn ToolSource>,
    threads: usize,
    queue: usize,
    limits: Limits,
    hint: bool,
}

impl<'c> Serve<'c> {
    /// A pool of 4 threads at most, a queue of 64 calls.
    pub fn new(config: &'c ServerConfig<'c>) -> Self {
        Self { config, source: None, threads: 4, queue: 64, limits: Limits::default(), hint: true }
    }

    /// How many tools run at once. With 0 they run one after the other in the thread that reads: then a cancel is
    /// read only after the call it is for, and no call is refused but those of a batch beyond [`Limits::calls`].
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// How many calls may wait for a thread, or for the peer to read what was answered already: no tool starts while more than 32 KiB of
    /// that wait. Beyond that nothing is read as long as calls end quickly. If in 50 ms fewer ended than threads and queue take (but 16 at least,
    /// and 64 will do), one more is answered with -32603 "busy", until half of the queue is empty; in a batch (2025-03-26) at once.
    pub fn queue(mut self, calls: usize) -> Self {
        self.queue = calls;
        self
    }

    /// The longest message read and the longest reply; the number of calls is threads and queue.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Where the tools are listed from, if the config says [`ServerConfig::dynamic_tools`].
    pub fn source(mut self, source: &'c dyn ToolSource) -> Self {
        self.source = Some(source);
        self
    }

    /// Whether to say on stderr what may be pasted, when stdin is a terminal. On by default.
    pub fn hint(mut self, hint: bool) -> Self {
        self.hint = hint;
        self
    }

    /// Serves on stdin and stdout until the input ends or the peer stops reading.
    ///
    /// On Unix the real stdout and stdin are moved aside first, for good: file descriptor 1 points to stderr and 0 to
    /// the null device, so that nothing that a tool, a C library or a child process prints or reads reaches the
    /// peer's lines. Elsewhere a tool must not print to stdout.
    ///
    /// At the end of the input accepted calls are answered, for `ServerConfig::drain` at most. If a tool still runs
    /// then and does not heed [`ToolCall::is_cancelled`], or a write to a peer that does not read, the process exits
    /// with 0: nothing else could stop it. (Without threads, a write can hold it, and what was read before the end is
    /// answered first, however long that takes.)
    /// A tool that panics is answered with -32603, unless panics abort in this build.
    /// A peer that has gone is a normal end. SIGTERM is left alone and ends the process at once.
    pub fn run(self, tools: impl Fn(&mut ToolCall<'_>) -> Result<ToolResult, Fail> + Sync) -> io::Result<()> {
        if self.hint {
            stdio::hint(self.config);
        }
        let (read, write) = stdio::take()?;
        self.drive(read, write, tools, stdio::hung_up, || std::process::exit(0))
    }

    /// Serves over any two halves, under the rules of [`run`](Self::run), except that it returns only after
    /// all its threads have: a tool that never ends, or a write that never ends, holds it.
    pub fn run_over<R: Read + Send, W: Write + Send>(
        self,
        read: R,
        write: W,
        tools: impl Fn(&mut ToolCall<'_>) -> Result<ToolResult, Fail> + Sync,
    ) -> io::Result<()> {
        self.drive(read, write, tools, |_| false, || {})
    }

    fn drive<R: Read + Send, W: Write + Send>(
        self,
        read: R,
        write: W,
        tools: impl Fn(&mut ToolCall<'_>) -> Result<ToolResult, Fail> + Sync,
        hung_up: fn(&R) -> bool,
        when_stuck: impl FnOnce(),
    ) -> io::Result<()> {
        let tool = |job: &Job, copies: &mut Copies, cancelled: &Flag, line: &dyn Line| {
            // The machine is not touched by a tool that unwinds, and the tool's own state is its own affair.
            match catch_unwind(AssertUnwindSafe(|| job.run(line, copies, cancelled, &tools))) {
                Ok(outcome) => Answer::new(outcome),
                Err(_) => Answer::panicked(),
            }
        };
        // On a pipe a line that is no JSON is a mistake worth an answer, not noise.
        let mut config = self.config.noise(Noise::Answer);
        let mut limits = self.limits;
        if self.threads > 0 {
            config = config.refuse_when_full();
            limits.calls = self.threads.saturating_add(self.queue).min(usize::from(u16::MAX));
        }
        let drain = Duration::from_millis(config.drain.0);
        let size = (self.threads, limits.calls.max(1));
        let server = Server::new(&config, Buffers::growing(limits));
        let shared = Shared::new(server, (read, write), self.source, size, hung_up, drain);
        if self.threads == 0 {
            shared.serve(0, &tool);
            let over = shared.take_over();
            if !shared.finish(drain, |_| Ok(())) {
                when_stuck();
            }
            return over.map(drop).and(shared.into_result());
        }
        let result = thread::scope(|scope| {
            let spawn = |worker| {
                let builder = thread::Builder::new().name("mcp-tool".into());
                let (shared, tool) = (&shared, &tool);
                builder.spawn_scoped(scope, move || shared.serve(worker, tool)).map(drop)
            };
            shared.start(spawn)?;
            let over = shared.watch(spawn);
            // What was not read for `drain` is not waited for once more.
            let left = if matches!(over, Ok(pool::Over::Stuck)) { Duration::ZERO } else { drain };
            if !shared.finish(left, spawn) {
                when_stuck();
            }
            over.map(drop)
        });
        result.and(shared.into_result())
    }
}

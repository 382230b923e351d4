//! The machine in a mutex that nobody holds while reading, writing or running a tool.
//!
//! The reading thread never writes and never runs a tool (unless there are no other threads), so ping, cancel and
//! further calls are taken in whatever the tools and the peer's appetite for output do. Workers write what they
//! answered; a thread of its own writes what the machine itself says.

use super::{
    ToolSource,
    call::{Flag, Job, Line},
};
use crate::{
    bell::{Bell, linger},
    lock,
};
use barewire::{Call, CallId, Millis, Output, Progress, Refused, Server, ServerEvent, owned::Answer};
use core::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};
use std::{
    collections::VecDeque,
    io::{self, Read, Write},
    sync::{Arc, Mutex, MutexGuard},
    time::Instant,
};

/// Bytes asked for at once. The pages of the chunk are touched only as far as they are filled.
const CHUNK: usize = 64 << 10;
/// What the writers' buffers may keep between writes.
const KEEP: usize = 64 << 10;

pub(super) struct Shared<'s, W> {
    state: Mutex<State<'s, W>>,
    /// A job came, or the end.
    work: Bell,
    /// Output was taken or a call ended: there may be room again.
    moved: Bell,
    /// The machine has output that nobody is writing.
    speak: Bell,
    born: Instant,
    /// How many jobs wait, for a worker to look at without the mutex.
    queued: AtomicUsize,
    source: Option<&'s dyn ToolSource>,
    threads: usize,
}

struct State<'s, W> {
    server: Server<'s>,
    jobs: VecDeque<Job>,
    running: Vec<(CallId, Arc<Flag>)>,
    /// Taken by whoever writes; that thread looks for more before it gives it back.
    out: Option<W>,
    /// All is answered and taken.
    closed: bool,
    /// The peer reads no more; `Some(error)` if that is not a normal close.
    broken: Option<Option<io::Error>>,
    /// A worker looks for the next call before it sleeps.
    lingering: bool,
    ended: bool,
}

type Guard<'g, 's, W> = MutexGuard<'g, State<'s, W>>;

impl<'s, W: Write> Shared<'s, W> {
    pub(super) fn new(
        server: Server<'s>,
        out: W,
        source: Option<&'s dyn ToolSource>,
        threads: usize,
    ) -> Self {
        let state = State {
            server,
            jobs: VecDeque::new(),
            running: Vec::new(),
            out: Some(out),
            closed: false,
            broken: None,
            lingering: false,
            ended: false,
        };
        Self {
            state: Mutex::new(state),
            work: Bell::default(),
            moved: Bell::default(),
            speak: Bell::default(),
            born: Instant::now(),
            queued: AtomicUsize::new(0),
            source,
            threads,
        }
    }

    fn now(&self) -> Millis {
        Millis(u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Drains the machine's events. `true`: it has output.
    fn poll(&self, state: &mut State<'s, W>) -> bool {
        let now = self.now();
        loop {
            match state.server.poll(now) {
                Output::Event(ServerEvent::Call(Call { name, args, reply, context, .. })) => {
                    let cancelled = Arc::new(Flag::default());
                    let (name, args) = (name.to_owned(), args.json().as_str().to_owned());
                    let meta = context.meta.map(|meta| meta.as_str().to_owned());
                    let (version, wants_progress) = (context.version, context.wants_progress);
                    let id = reply.defer();
                    state.jobs.push_back(Job { id, name, args, version, wants_progress, meta, cancelled });
                    if self.threads == 0 {
                        return true;
                    }
                    self.queued.store(state.jobs.len(), Relaxed);
                    if !state.lingering || state.jobs.len() > 1 {
                        self.work.ring_one();
                    }
                }
                Output::Event(ServerEvent::Cancelled(id)) => {
                    state.jobs.retain(|job| job.id != id);
                    for (_, flag) in state.running.iter().filter(|(running, _)| *running == id) {
                        flag.raise();
                    }
                }
                Output::Event(ServerEvent::List(list)) => {
                    list.tools(|index| self.source.and_then(|source| source.tool(index)));
                }
                Output::Event(_) => {}
                Output::Send(_) => return true,
                Output::Wait { .. } | Output::Blocked { .. } => return false,
                Output::Closed => {
                    state.closed = true;
                    return false;
                }
            }
        }
    }

    /// Polls, and sees to it that somebody writes what there is.
    fn pump(&self, state: &mut State<'s, W>) {
        if self.poll(state) && state.out.is_some() && self.threads > 0 {
            self.speak.ring_one();
        }
    }

    /// Writes until there is nothing to write, if nobody else does already.
    fn write<'g>(&'g self, mut state: Guard<'g, 's, W>) -> Guard<'g, 's, W> {
        let Some(mut out) = state.out.take() else { return state };
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            bytes.shrink_to(KEEP);
            if self.threads > 0 {
                self.poll(&mut state);
            }
            state.server.take_output(&mut bytes);
            if bytes.is_empty() {
                break;
            }
            self.moved.ring();
            if state.broken.is_some() {
                continue;
            }
            drop(state);
            let result = out.write_all(&bytes).and_then(|()| out.flush());
            state = lock(&self.state);
            if let Err(error) = result {
                state.broken = Some(Some(error).filter(|error| !is_close(error)));
                for (_, flag) in &state.running {
                    flag.raise();
                }
            }
        }
        state.out = Some(out);
        self.moved.ring();
        state
    }

    /// The thread that writes what the machine itself says.
    pub(super) fn writer(&self) {
        let mut state = lock(&self.state);
        while !state.ended {
            if state.out.is_some() && !state.server.output().is_empty() {
                state = self.write(state);
            } else {
                state = self.speak.wait(state, None);
            }
        }
    }

    /// A thread of the pool.
    pub(super) fn worker(&self, tool: &(impl Fn(&Job, &dyn Line) -> Answer + Sync)) {
        let mut state = lock(&self.state);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                self.queued.store(state.jobs.len(), Relaxed);
                state = self.run(state, &job, tool);
                state = self.write(state);
                if state.jobs.is_empty() && !state.lingering {
                    state = self.linger(state);
                }
            } else if state.ended {
                return;
            } else {
                state = self.work.wait(state, None);
            }
        }
    }

    fn linger<'g>(&'g self, mut state: Guard<'g, 's, W>) -> Guard<'g, 's, W> {
        state.lingering = true;
        drop(state);
        linger(|| self.queued.load(Relaxed) > 0);
        state = lock(&self.state);
        state.lingering = false;
        state
    }

    fn run<'g>(
        &'g self,
        mut state: Guard<'g, 's, W>,
        job: &Job,
        tool: &impl Fn(&Job, &dyn Line) -> Answer,
    ) -> Guard<'g, 's, W> {
        state.running.push((job.id, Arc::clone(&job.cancelled)));
        drop(state);
        let result = tool(job, self);
        state = lock(&self.state);
        state.running.retain(|(id, _)| *id != job.id);
        loop {
            let refused = match state.server.resume(job.id) {
                Ok(reply) => {
                    // `Full` was told to the peer, and there is nobody else to tell.
                    let _ = result.write(reply);
                    None
                }
                Err(refused) => Some(refused),
            };
            if refused != Some(Refused::Full) || state.broken.is_some() || state.ended {
                break;
            }
            if state.out.is_some() {
                state = self.write(state);
            } else {
                state = self.moved.wait(state, None);
            }
        }
        self.poll(&mut state);
        self.moved.ring();
        state
    }

    /// Reads until the input or the output ends.
    pub(super) fn read(
        &self,
        mut input: impl Read,
        tool: &impl Fn(&Job, &dyn Line) -> Answer,
    ) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK];
        loop {
            let n = match input.read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_close(&error) => return Ok(()),
                Err(error) => return Err(error),
            };
            let mut rest = chunk.get(..n).unwrap_or_default();
            let mut state = lock(&self.state);
            while !rest.is_empty() {
                if state.broken.is_some() {
                    return Ok(());
                }
                let taken = state.server.feed(rest);
                rest = rest.get(taken..).unwrap_or_default();
                state = self.advance(state, tool);
                if taken == 0 && state.server.space().is_empty() && state.broken.is_none() {
                    // The peer does not read what it asked for: it is its turn.
                    state = self.moved.wait(state, None);
                }
            }
        }
    }

    /// After input: lets the other threads know, or does their work here if there are none.
    fn advance<'g>(
        &'g self,
        mut state: Guard<'g, 's, W>,
        tool: &impl Fn(&Job, &dyn Line) -> Answer,
    ) -> Guard<'g, 's, W> {
        if self.threads > 0 {
            self.pump(&mut state);
            return state;
        }
        loop {
            let more = self.poll(&mut state);
            if let Some(job) = state.jobs.pop_front() {
                state = self.run(state, &job, tool);
            } else if !more {
                return state;
            }
            state = self.write(state);
        }
    }

    /// The input ended: accepted calls are answered, for `drain` at most. `false`: something is stuck.
    pub(super) fn finish(&self, drain: Duration, tool: &impl Fn(&Job, &dyn Line) -> Answer) -> bool {
        let until = crate::after(drain);
        let mut state = lock(&self.state);
        state.server.end_of_input();
        loop {
            state = self.advance(state, tool);
            if state.broken.is_some() || state.closed && state.out.is_some() {
                break;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.moved.wait(state, Some(left));
        }
        let written = state.out.is_some();
        state.ended = true;
        state.jobs.clear();
        for (_, flag) in &state.running {
            flag.raise();
        }
        self.work.ring();
        self.speak.ring();
        self.moved.ring();
        // A tool that heeds the flag needs a moment to return.
        let until = Instant::now() + Duration::from_millis(100);
        while !state.running.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.moved.wait(state, Some(left));
        }
        written
    }

    /// What went wrong with the output, if that was more than the peer's leaving.
    pub(super) fn into_result(self) -> io::Result<()> {
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.broken.flatten().map_or(Ok(()), Err)
    }
}

impl<W: Write> Line for Shared<'_, W> {
    fn progress(&self, call: CallId, progress: Progress<'_>) {
        let mut state = lock(&self.state);
        let behind = state.server.output().len() > KEEP;
        if !behind && state.server.progress(call, progress).is_ok() {
            if self.threads > 0 {
                self.pump(&mut state);
            } else {
                drop(self.write(state));
            }
        }
    }
}

/// The peer has gone: a normal end.
fn is_close(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset | ConnectionAborted)
}

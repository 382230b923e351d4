//! The machine in a mutex that nobody holds while reading, writing or running a tool.
//!
//! All workers do the same: they run the next call, or write what is there, or else one of them reads, who then runs himself what he
//! has read. So a short call costs no change of threads, and the answers to what was read together are written together. Before
//! a tool runs or bytes are written the input is put back. The watching thread looks once in a [`TICK`] whether it still lies there: then
//! another worker is woken and reads on, so ping, cancel and further calls are taken whatever the tools and the peer's
//! appetite for output do. Likewise for answers that lie there unwritten while a tool runs, and for calls and input that had to
//! wait for the peer to read. Where the queue is full nothing more is taken in as long as calls end quickly: what has no room is refused, and that
//! shall tell of slow tools, not of a peer that is quick with asking. There are two workers more than may run tools, so one can read and one write whatever the tools do:
//! three at first, and more when calls wait for one.

mod pause;
#[cfg(test)]
mod tests;

use super::{
    ToolSource,
    call::{Copies, Flag, Job, Line},
};
use crate::{bell::Bell, lock};
use barewire::{CallId, Millis, Output, Progress, Refused, Server, ServerEvent, owned::Answer};
use core::time::Duration;
use pause::Pause;
use std::{
    collections::VecDeque,
    io::{self, Read, Write},
    sync::{Mutex, MutexGuard},
    time::Instant,
};

/// Bytes asked for at once, at first, and when so many come.
const CHUNK: usize = 8 << 10;
const LONG_CHUNK: usize = 64 << 10;
/// Workers beside those that run tools: one can always read, and one write.
const BESIDE: usize = 2;
/// How long input may lie unread, or an answer unwritten, because of a tool that runs; twice that at most.
const TICK: Duration = Duration::from_millis(1);
/// How often to look whether the peer has closed its end, while it reads nothing and so its input cannot be read.
const LOOK: Duration = Duration::from_millis(100);
/// Output is written when it is longer, even if calls wait. No tool starts, and no progress is told, while so much waits for the peer.
const LONG: usize = 32 << 10;
/// What a buffer may keep between writes.
const KEEP: usize = 128 << 10;

pub(super) struct Shared<'s, R, W> {
    state: Mutex<State<'s, R, W>>,
    /// For workers: there is something to do, or the end.
    work: Bell,
    /// Output was taken or a call ended: there may be room again.
    moved: Bell,
    /// For the watching thread: somebody does something other than reading, or the input is over.
    watch: Bell,
    born: Instant,
    source: Option<&'s dyn ToolSource>,
    threads: usize,
    /// How many calls the server takes.
    room: usize,
    /// For each worker: the call that it runs is cancelled. Raised and lowered under the mutex.
    cancelled: Vec<Flag>,
    /// Whether the peer has closed its end, read or not.
    hung_up: fn(&R) -> bool,
    drain: Duration,
}

struct State<'s, R, W> {
    server: Server<'s>,
    /// Calls beyond those that may run at once.
    jobs: VecDeque<Job>,
    /// With the numbers of the workers that run them.
    running: Vec<(CallId, usize)>,
    /// Calls that are over, for their memory.
    spare: Vec<Job>,
    /// How many ended.
    ends: usize,
    /// Calls are too slow to wait for when the queue is full.
    stalled: bool,
    /// Taken by whoever reads. Gone when it is over.
    input: Option<Input<R>>,
    over: Option<io::Result<Over>>,
    /// It is over.
    drains: bool,
    /// Workers that are there.
    started: usize,
    /// And that may be: fewer than there should be once a thread could not be had.
    most: usize,
    /// Somebody waits for input.
    reading: bool,
    /// Taken by whoever writes; that thread looks for more before it gives it back.
    out: Option<Out<W>>,
    /// How often input and output were taken.
    reads: usize,
    writes: usize,
    /// Output has lain there long enough, or can't wait: it is written before the next tool runs.
    overdue: bool,
    /// The machine may have more to say: its last word was not that it needs input.
    more: bool,
    /// The watching thread waits until somebody does something other than reading.
    unwatched: bool,
    /// All is answered and taken.
    closed: bool,
    /// The peer reads no more; `Some(error)` if that is not a normal close.
    broken: Option<Option<io::Error>>,
    ended: bool,
}

/// What is read from, and what of that is not fed yet.
struct Input<R> {
    read: R,
    chunk: Vec<u8>,
    fed: usize,
    end: usize,
    /// When to give up a peer that has closed its end and reads nothing.
    until: Option<Instant>,
}

struct Out<W> {
    write: W,
    bytes: Vec<u8>,
}

/// How the input ended.
pub(super) enum Over {
    /// It is over, or the output is.
    Ended,
    /// The peer closed its end long ago, and does not read either.
    Stuck,
}

type Guard<'g, 's, R, W> = MutexGuard<'g, State<'s, R, W>>;

impl<'s, R: Read, W: Write> Shared<'s, R, W> {
    /// With no threads, the one that calls [`serve`](Self::serve) does all. `room`: how many calls the server takes.
    pub(super) fn new(
        server: Server<'s>,
        (read, write): (R, W),
        source: Option<&'s dyn ToolSource>,
        (threads, room): (usize, usize),
        hung_up: fn(&R) -> bool,
        drain: Duration,
    ) -> Self {
        let state = State {
            server,
            jobs: VecDeque::new(),
            running: Vec::new(),
            spare: Vec::new(),
            ends: 0,
            stalled: false,
            input: Some(Input { read, chunk: vec![0; CHUNK], fed: 0, end: 0, until: None }),
            over: None,
            drains: false,
            started: usize::from(threads == 0),
            most: workers(threads),
            reading: false,
            out: Some(Out { write, bytes: Vec::new() }),
            reads: 0,
            writes: 0,
            overdue: false,
            more: false,
            unwatched: false,
            closed: false,
            broken: None,
            ended: false,
        };
        Self {
            state: Mutex::new(state),
            work: Bell::default(),
            moved: Bell::default(),
            watch: Bell::default(),
            born: Instant::now(),
            source,
            threads,
            room,
            cancelled: (0..workers(threads)).map(|_| Flag::default()).collect(),
            hung_up,
            drain,
        }
    }

    fn now(&self) -> Millis {
        Millis(u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Polls up to the next call, which is put to the waiting ones. `false`: there is none now.
    fn poll(&self, state: &mut State<'s, R, W>) -> bool {
        // The machine counts time only from the end of input on.
        let now = if state.drains { self.now() } else { Millis(0) };
        state.more = true;
        loop {
            match state.server.poll(now) {
                Output::Event(ServerEvent::Call(call)) => {
                    let job = Job::take(state.spare.pop(), call);
                    state.jobs.push_back(job);
                    return true;
                }
                Output::Event(ServerEvent::Cancelled(id)) => {
                    state.jobs.retain(|job| job.id != id);
                    self.cancel(state, |running| running == id);
                }
                Output::Event(ServerEvent::List(list)) => {
                    list.tools(|index| self.source.and_then(|source| source.tool(index)));
                }
                Output::Event(_) => {}
                Output::Send(_) => return false,
                Output::Wait { .. } | Output::Blocked { .. } => {
                    state.more = false;
                    return false;
                }
                Output::Closed => {
                    (state.closed, state.more) = (true, false);
                    self.moved.ring();
                    return false;
                }
            }
        }
    }

    /// The next call that may run now. Those that may not are queued: while all threads run tools, or the peer is behind with reading.
    fn next(&self, state: &mut State<'s, R, W>) -> Option<Job> {
        let most = match state.server.output().len() {
            len if len > LONG => 0,
            _ => state.started.saturating_sub(BESIDE).max(1),
        };
        loop {
            if state.running.len() < most
                && let Some(job) = state.jobs.pop_front()
            {
                return Some(job);
            }
            if self.holds(state) || !self.poll(state) {
                if Self::is_short(state) {
                    self.watch.ring();
                }
                return None;
            }
        }
    }

    /// Calls wait for workers that are still to be started.
    fn is_short(state: &State<'s, R, W>) -> bool {
        let wanted = state.running.len() + state.jobs.len() + BESIDE;
        !state.jobs.is_empty() && state.started < wanted.min(state.most)
    }

    /// There are as many calls as may run at once, but not the workers. More are not looked at before: those that have no room in the
    /// queue are refused, which is not to depend on how fast a thread starts.
    fn is_taken(state: &State<'s, R, W>) -> bool {
        Self::is_short(state) && state.running.len() + state.jobs.len() + BESIDE >= state.most
    }

    /// Starts the first workers before any of them begins: if one can't be had, none waits for input that may never come.
    pub(super) fn start(&self, mut spawn: impl FnMut(usize) -> io::Result<()>) -> io::Result<()> {
        let mut state = lock(&self.state);
        state.started = BESIDE + 1;
        let started = (0..state.started).try_for_each(&mut spawn);
        state.ended = started.is_err();
        started
    }

    /// Starts a worker for each call that waits for one. A thread that can't be had is done without from then on.
    fn grow(&self, state: &mut State<'s, R, W>, spawn: &mut impl FnMut(usize) -> io::Result<()>) {
        while Self::is_short(state) {
            match spawn(state.started) {
                Ok(()) => state.started += 1,
                Err(_) => state.most = state.started,
            }
        }
    }

    /// A thread of the pool; or, without threads, all there is to do until the input is over.
    ///
    /// `worker`: its number, below that of the [`workers`].
    pub(super) fn serve(&self, worker: usize, tool: &impl Fn(&Job, &mut Copies, &Flag, &dyn Line) -> Answer) {
        let Some(cancelled) = self.cancelled.get(worker) else { return };
        let mut copies = Copies::default();
        let mut state = lock(&self.state);
        while !state.ended {
            // Who is alone can't be woken to write in time, so nothing is left lying before a tool runs.
            let due = match state.server.output().len() {
                len if self.threads > 0 => len > LONG || state.overdue && len > 0,
                len => len > 0,
            };
            if !(due && state.out.is_some())
                && let Some(job) = self.next(&mut state)
            {
                cancelled.lower();
                state.running.push((job.id, worker));
                state = self.run(state, &job, |job| tool(job, &mut copies, cancelled, self));
                if state.spare.len() <= self.threads {
                    state.spare.push(job);
                }
            } else if state.out.is_some() && !state.server.output().is_empty() {
                state = self.write(state);
            } else if !self.holds(&state)
                && let Some(input) = state.input.take()
            {
                state = self.read(state, input);
            } else if self.threads == 0 {
                return;
            } else {
                state = self.work.wait(state, None);
            }
        }
    }

    /// Reads, if all that was read is fed, and feeds. Puts the input back unless it is over.
    fn read<'g>(&'g self, mut state: Guard<'g, 's, R, W>, mut input: Input<R>) -> Guard<'g, 's, R, W> {
        state.reads = state.reads.wrapping_add(1);
        if input.fed == input.end && state.broken.is_none() {
            state.reading = true;
            drop(state);
            let result = input.fill();
            state = lock(&self.state);
            state.reading = false;
            if state.ended {
                self.moved.ring();
            }
            match result {
                Ok(0) => return self.over(state, Ok(Over::Ended)),
                Ok(_) => {}
                Err(error) if is_close(&error) => return self.over(state, Ok(Over::Ended)),
                Err(error) => return self.over(state, Err(error)),
            }
        }
        if state.broken.is_some() {
            return self.over(state, Ok(Over::Ended));
        }
        let taken = state.server.feed(input.chunk.get(input.fed..input.end).unwrap_or_default());
        input.fed = input.fed.saturating_add(taken);
        if taken > 0 || !state.server.space().is_empty() {
            input.until = None;
        } else {
            // The peer does not read what it asked for: it is its turn. Its end of input may be behind.
            state = self.moved.wait(state, Some(LOOK));
            if (self.hung_up)(&input.read)
                && Instant::now() > *input.until.get_or_insert_with(|| crate::after(self.drain))
            {
                return self.over(state, Ok(Over::Stuck));
            }
        }
        state.input = Some(input);
        state
    }

    fn over<'g>(&'g self, mut state: Guard<'g, 's, R, W>, how: io::Result<Over>) -> Guard<'g, 's, R, W> {
        state.over = Some(how);
        state.drains = true;
        state.server.end_of_input();
        self.watch.ring();
        state
    }

    /// Writes until there is nothing to write, if nobody else does already.
    fn write<'g>(&'g self, mut state: Guard<'g, 's, R, W>) -> Guard<'g, 's, R, W> {
        let Some(mut out) = state.out.take() else { return state };
        state.writes = state.writes.wrapping_add(1);
        state.overdue = false;
        self.noticed(&mut state);
        loop {
            if out.bytes.capacity() > KEEP {
                out.bytes = Vec::new();
            }
            state.server.swap_output(&mut out.bytes);
            if out.bytes.is_empty() {
                break;
            }
            self.moved.ring();
            if state.broken.is_some() {
                continue;
            }
            drop(state);
            let result = out.write.write_all(&out.bytes).and_then(|()| out.write.flush());
            state = lock(&self.state);
            if let Err(error) = result {
                let gone = is_close(&error);
                state.broken = Some(Some(error).filter(|_| !gone));
                self.cancel(&state, |_| true);
                if gone && state.over.is_none() {
                    // Who reads would hear of it at the next input, which may never come.
                    state = self.over(state, Ok(Over::Ended));
                }
            }
        }
        state.out = Some(out);
        self.moved.ring();
        state
    }

    /// Tells the tools that run the calls which `is_meant`.
    fn cancel(&self, state: &State<'s, R, W>, is_meant: impl Fn(CallId) -> bool) {
        let meant = state.running.iter().filter(|(call, _)| is_meant(*call));
        meant.filter_map(|(_, worker)| self.cancelled.get(*worker)).for_each(Flag::raise);
    }

    /// Output lies there.
    fn is_held(state: &State<'s, R, W>) -> bool {
        state.out.is_some() && !state.server.output().is_empty()
    }

    /// Whoever reads left something behind that had to wait for the peer or for a tool, and need not any more.
    fn is_left(&self, state: &State<'s, R, W>) -> bool {
        let runs =
            state.running.len() < state.most.saturating_sub(BESIDE) && state.server.output().len() <= LONG;
        state.input.is_none() && (runs && !state.jobs.is_empty() || state.more && state.out.is_some())
    }

    /// Somebody shall write what is there, before anything else.
    fn hurry(&self, state: &mut State<'s, R, W>) {
        state.overdue = true;
        self.work.ring_one();
    }

    /// The thread that sees to it that nothing lies there, until the input is over.
    pub(super) fn watch(&self, mut spawn: impl FnMut(usize) -> io::Result<()>) -> io::Result<Over> {
        let mut state = lock(&self.state);
        let mut seen = (state.reads, state.writes);
        let mut pause = Pause::new(&state);
        loop {
            if let Some(over) = state.over.take() {
                return over;
            }
            self.look_at_pause(&mut state, &mut pause, Instant::now());
            if Self::is_short(&state) {
                let before = state.started;
                self.grow(&mut state, &mut spawn);
                // Else the new ones go on.
                if state.started == before {
                    self.work.ring_one();
                }
            }
            let (held, left) = (Self::is_held(&state), self.is_left(&state));
            if state.input.is_none() && !held && !left {
                state.unwatched = true;
                state = self.watch.wait(state, None);
                state.unwatched = false;
                seen = (state.reads, state.writes);
                continue;
            }
            state = self.watch.wait(state, Some(TICK));
            if Self::is_short(&state) {
                continue;
            }
            if state.input.is_some() && state.reads == seen.0 || left && self.is_left(&state) {
                self.work.ring_one();
            }
            if held && state.writes == seen.1 {
                self.hurry(&mut state);
            }
            seen = (state.reads, state.writes);
        }
    }

    /// Something other than reading begins.
    fn noticed(&self, state: &mut State<'s, R, W>) {
        if core::mem::take(&mut state.unwatched) {
            self.watch.ring();
        }
    }

    fn run<'g>(
        &'g self,
        mut state: Guard<'g, 's, R, W>,
        job: &Job,
        tool: impl FnOnce(&Job) -> Answer,
    ) -> Guard<'g, 's, R, W> {
        self.noticed(&mut state);
        drop(state);
        let result = tool(job);
        state = lock(&self.state);
        let mut polled = false;
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
            if !polled {
                // Amid a batch, or a list that the application makes, nothing else can be said: only polling ends that.
                while self.poll(&mut state) {}
                polled = true;
                continue;
            }
            polled = false;
            if state.out.is_some() {
                state = self.write(state);
            } else {
                state = self.moved.wait(state, None);
            }
        }
        // Only now, since until its answer has room it takes a worker.
        state.running.retain(|(id, _)| *id != job.id);
        self.ended(&mut state);
        state
    }

    /// The input ended: accepted calls are answered, for `drain` at most. `false`: something is stuck.
    pub(super) fn finish(&self, drain: Duration, mut spawn: impl FnMut(usize) -> io::Result<()>) -> bool {
        let until = crate::after(drain);
        let mut state = lock(&self.state);
        let mut pause = Pause::new(&state);
        loop {
            self.look_at_pause(&mut state, &mut pause, Instant::now());
            while !self.is_paused(&state) && self.poll(&mut state) {}
            if state.broken.is_some() || state.closed && state.out.is_some() {
                break;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            if !state.jobs.is_empty() {
                self.grow(&mut state, &mut spawn);
                self.work.ring();
            }
            if Self::is_held(&state) {
                self.hurry(&mut state);
            }
            let wait = if self.is_paused(&state) { left.min(TICK) } else { left };
            state = self.moved.wait(state, Some(wait));
        }
        let written = state.out.is_some();
        state.ended = true;
        state.jobs.clear();
        self.cancel(&state, |_| true);
        self.work.ring();
        self.moved.ring();
        // A tool that heeds the flag needs a moment to return, and so does who reads if the peer has just gone.
        let until = Instant::now() + Duration::from_millis(100);
        while !state.running.is_empty() || state.reading {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.moved.wait(state, Some(left));
        }
        written
    }

    /// How the input ended, if nobody watched.
    pub(super) fn take_over(&self) -> io::Result<Over> {
        lock(&self.state).over.take().unwrap_or(Ok(Over::Ended))
    }

    /// What went wrong with the output, if that was more than the peer's leaving.
    pub(super) fn into_result(self) -> io::Result<()> {
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.broken.flatten().map_or(Ok(()), Err)
    }
}

impl<R: Read, W: Write> Line for Shared<'_, R, W> {
    fn progress(&self, call: CallId, progress: Progress<'_>) {
        let mut state = lock(&self.state);
        let behind = state.server.output().len() > LONG;
        if !behind && state.server.progress(call, progress).is_ok() {
            if self.threads == 0 {
                drop(self.write(state));
            } else if state.out.is_some() {
                self.hurry(&mut state);
            }
        }
    }
}

impl<R: Read> Input<R> {
    /// How many bytes were read.
    fn fill(&mut self) -> io::Result<usize> {
        if self.end == self.chunk.len() && self.end < LONG_CHUNK {
            self.chunk = vec![0; LONG_CHUNK];
        }
        loop {
            match self.read.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(n) => {
                    (self.fed, self.end) = (0, n);
                    return Ok(n);
                }
            }
        }
    }
}

/// With those beside the ones that run tools. Without threads, who serves.
fn workers(threads: usize) -> usize {
    if threads == 0 { 1 } else { threads.saturating_add(BESIDE) }
}

/// The peer has gone: a normal end.
fn is_close(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset | ConnectionAborted)
}

//! One connection: the machine in a mutex, a thread that reads, a thread that writes.
//!
//! Nobody holds the mutex while reading, writing or calling back. A peer that does not read stops the writing thread
//! and nothing else, so that deadlines hold. Each thread that waits for a result also minds the machine's clock.

use super::{
    Settings, StartError, Tracer,
    linger::linger,
    settings::{Trace, millis},
    state::{Gone, Guard, Polled, Session, State},
};
use crate::{
    bell::Bell,
    child::{Child, LEFTOVERS, STACK},
    lock,
};
use barewire::{Buffers, Client as Machine, ClientConfig, Millis, owned::ServerInfo};
use core::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};
use std::{
    io::{self, Read, Write},
    sync::{Arc, Mutex},
    thread,
    time::Instant,
};

/// Bytes asked for at once; pages are touched only as far as they are filled.
const CHUNK: usize = 64 << 10;

pub(super) struct Line {
    pub(super) state: Mutex<State>,
    /// The handshake got further.
    opened: Bell,
    /// There is output, or it is time to close.
    speak: Bell,
    /// The same, for a writer that does not sleep yet.
    to_write: AtomicBool,
    /// Output was taken, or a call ended.
    pub(super) room: Bell,
    tracer: Tracer,
    born: Instant,
}

impl Line {
    pub(super) fn new(config: &ClientConfig<'_>, settings: &Settings) -> Arc<Self> {
        // `open` keeps the time, over both tries of a child that has to be started twice.
        let config = config.start(None);
        let state = State::new(Machine::owning(&config, Buffers::growing(settings.limits)));
        Arc::new(Self {
            state: Mutex::new(state),
            opened: Bell::default(),
            speak: Bell::default(),
            to_write: AtomicBool::new(false),
            room: Bell::default(),
            tracer: settings.tracer.clone(),
            born: Instant::now(),
        })
    }

    /// Starts the two threads.
    pub(super) fn run(
        self: &Arc<Self>,
        read: impl Read + Send + 'static,
        write: impl Write + Send + 'static,
        child: Option<Arc<Child>>,
    ) -> io::Result<()> {
        let (line, watched) = (Arc::clone(self), child.clone());
        let builder = thread::Builder::new().name("mcp-write".into()).stack_size(STACK);
        builder.spawn(move || line.write(write, watched.as_deref()))?;
        let line = Arc::clone(self);
        let builder = thread::Builder::new().name("mcp-read".into()).stack_size(STACK);
        builder.spawn(move || line.read(read, child.as_deref()))?;
        Ok(())
    }

    pub(super) fn now(&self) -> Millis {
        millis(self.born.elapsed())
    }

    /// How long a waiting thread may sleep before the machine wants its clock told.
    pub(super) fn nap(&self, state: &State) -> Option<Duration> {
        let until = state.machine.deadline()?;
        // One more millisecond, as the clock counts whole ones.
        Some(Duration::from_millis(until.0.saturating_sub(self.now().0).saturating_add(1)))
    }

    /// Waits until the session is open, or until it is clear that it will not be.
    pub(super) fn open(&self, until: Instant) -> Result<ServerInfo, Failed> {
        let mut state = lock(&self.state);
        loop {
            state = self.pump(state);
            match core::mem::replace(&mut state.session, Session::Opening) {
                Session::Open(info) => return Ok(*info),
                Session::Failed(error) => return Err(Failed::For(error)),
                Session::Opening => {}
            }
            if state.content_length {
                return Err(Failed::For(StartError::ContentLength));
            }
            if let Some(gone) = state.gone {
                return Err(Failed::Gone(gone, state.junk.clone()));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Failed::TimedOut(state.junk.clone()));
            }
            let nap = self.nap(&state).map_or(left, |nap| nap.min(left));
            state = self.opened.wait(state, Some(nap));
        }
    }

    /// The connection has ended: whoever waits hears of it.
    pub(super) fn lost(&self, gone: Gone) {
        let mut state = lock(&self.state);
        match (state.gone, gone) {
            // Closed by itself; that it then exited says more.
            (Some(Gone::Closed), Gone::Exited(_)) if !state.closing => state.gone = Some(gone),
            (Some(_), _) => return,
            (None, _) => {
                state.gone = Some(gone);
                state.machine.end_of_input();
                state = self.pump(state);
            }
        }
        drop(state);
        self.opened.ring();
        self.room.ring();
    }

    /// This side is done: requests end, what is written is sent, and then the writing half is closed.
    pub(super) fn close(&self) {
        lock(&self.state).closing = true;
        self.lost(Gone::Closed);
        self.speak.ring();
    }

    /// Drains the machine's events and gives the writer what it wants to say.
    pub(super) fn pump<'g>(&'g self, mut state: Guard<'g>) -> Guard<'g> {
        let mut junk = Vec::new();
        let now = self.now();
        loop {
            match state.poll(now, &mut junk) {
                Polled::Event => {}
                Polled::Opened => self.opened.ring(),
                Polled::Ended => self.room.ring(),
                Polled::Send if state.mute => {
                    let n = state.machine.output().len();
                    state.machine.sent(n);
                }
                Polled::Send => {
                    self.to_write.store(true, Relaxed);
                    self.speak.ring();
                    break;
                }
                Polled::Quiet => break,
            }
        }
        if junk.is_empty() {
            return state;
        }
        drop(state);
        for (line, fault) in &junk {
            self.tracer.trace(Trace::Junk { line, fault: *fault });
        }
        self.opened.ring();
        lock(&self.state)
    }

    fn read(&self, mut input: impl Read, child: Option<&Child>) {
        let mut chunk = vec![0; CHUNK];
        loop {
            let n = match input.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let mut rest = chunk.get(..n).unwrap_or_default();
            self.tracer.trace(Trace::Received(rest));
            let mut state = lock(&self.state);
            while !rest.is_empty() && state.gone.is_none() {
                let taken = state.machine.feed(rest);
                rest = rest.get(taken..).unwrap_or_default();
                state = self.pump(state);
                if taken == 0 && state.machine.space().is_empty() {
                    let nap = self.nap(&state);
                    state = self.room.wait(state, nap);
                }
            }
        }
        if let Some(child) = child {
            child.stdout_ended();
        }
        self.ended(child);
    }

    /// A half of the connection ended. What happened to a child is told by the thread that waits for it.
    fn ended(&self, child: Option<&Child>) {
        if !child.is_some_and(Child::exits) {
            self.lost(Gone::Closed);
        }
    }

    fn write(&self, output: impl Write, child: Option<&Child>) {
        let mut output = Some(output);
        let mut bytes = Vec::new();
        let mut wrote = false;
        let mut state = lock(&self.state);
        loop {
            state = self.pump(state);
            bytes.clear();
            bytes.shrink_to(CHUNK);
            state.machine.take_output(&mut bytes);
            state.writing = !bytes.is_empty() && output.is_some();
            if bytes.is_empty() {
                if state.closing {
                    return;
                }
                if core::mem::take(&mut wrote) {
                    drop(state);
                    linger(|| self.to_write.load(Relaxed));
                    state = lock(&self.state);
                } else {
                    state = self.speak.wait(state, None);
                }
                continue;
            }
            self.to_write.store(false, Relaxed);
            wrote = true;
            drop(state);
            self.room.ring();
            if let Some(to) = &mut output {
                self.tracer.trace(Trace::Sent(&bytes));
                if to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
                    output = None;
                }
            }
            state = lock(&self.state);
            if output.is_none() && !state.mute {
                state.mute = true;
                drop(state);
                // What the peer said before it went is read first.
                drop(self.room.wait_until(&self.state, LEFTOVERS, |state| state.gone.is_some()));
                self.ended(child);
                state = lock(&self.state);
            }
        }
    }
}

/// Why a session was not opened.
pub(super) enum Failed {
    For(StartError),
    Gone(Gone, Option<String>),
    TimedOut(Option<String>),
}

//! A server under test, fed and emptied in pieces.

use core::fmt::Write as _;

use barewire::{Buffers, CallId, Millis, Output, Progress, Refused, Server, ServerEvent, Slot};

use super::fixture::{self, Left};
use super::script::{Act, Op, Script};

/// In which pieces bytes go in and out.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Input is cut here, counted over the whole transcript.
    pub cut: Option<usize>,
    /// Input is fed in pieces of at most this.
    pub chunk: usize,
    /// Output is written in pieces of at most this.
    pub write: usize,
    /// The peer waits for the answers that the transcript shows before it goes on.
    pub paced: bool,
}

impl How {
    /// As much as there is at once.
    pub const WHOLE: Self = Self { cut: None, chunk: usize::MAX, write: usize::MAX, paced: false };
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Said {
    /// All bytes that the server wrote.
    pub out: Vec<u8>,
    /// All that it told its application, a line each.
    pub events: String,
    /// Allocations while it ran, if [`crate::alloc::Counting`] is the allocator.
    pub allocations: u64,
}

impl Said {
    /// How many lines were written.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.out.iter().filter(|b| **b == b'\n').count()
    }
}

/// What the last poll said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    Wait,
    Blocked,
    Closed,
}

/// A server with its application.
#[derive(Debug)]
pub struct Rig<'b> {
    server: Server<'b>,
    how: How,
    now: Millis,
    fed: usize,
    out: Vec<u8>,
    events: String,
    kept: [Option<CallId>; 32],
    deferred: usize,
    stream: Option<fixture::Stream>,
    rest: Rest,
}

/// Runs a script on a new server.
///
/// # Errors
/// What the machine's contract forbids, or an act that went wrong.
pub fn run(script: &Script, how: &How) -> Result<Said, String> {
    let config = fixture::config(&script.config).ok_or_else(|| format!("no config {}", script.config))?;
    let (rx, tx, calls) = script.sizes;
    let (mut rx, mut tx) = (vec![0; rx], vec![0; tx]);
    let mut slots: Vec<Slot> = (0..calls).map(|_| Slot::FREE).collect();
    let mut rig = Rig {
        server: Server::new(config, Buffers::new(&mut rx, &mut tx, &mut slots)),
        how: *how,
        now: Millis(0),
        fed: 0,
        // All that the run needs, so that every allocation in it is the machine's.
        out: Vec::with_capacity(script.output_room()),
        events: String::with_capacity(1 << 14),
        kept: [None; 32],
        deferred: 0,
        stream: None,
        rest: Rest::Wait,
    };
    // Neighbouring lines go in together, as a peer that does not wait would send them.
    let mut input = Vec::with_capacity(script.input_len());
    let before = crate::alloc::count();
    let (mut expected, mut answered) = (0, false);
    for (number, op) in &script.ops {
        if how.paced && answered && matches!(op, Op::In(_) | Op::Act(_)) {
            answered = false;
            rig.drive(&mut input)?;
            let lines = rig.out.iter().filter(|b| **b == b'\n').count();
            if lines != expected {
                return Err(format!(
                    "{}.txt:{number}: {lines} lines were written so far, {expected} are shown",
                    script.name
                ));
            }
        }
        match op {
            Op::In(bytes) => input.extend_from_slice(bytes),
            Op::Event(_) => {}
            Op::Out(_) => (expected, answered) = (expected + 1, true),
            Op::Act(act) => {
                let done = rig.drive(&mut input).and_then(|()| rig.act(act));
                done.map_err(|e| format!("{}.txt:{number}: {e}", script.name))?;
            }
        }
    }
    rig.drive(&mut input)?;
    let allocations = crate::alloc::count() - before;
    if !input.is_empty() {
        return Err(format!("{} bytes of input were not taken", input.len()));
    }
    Ok(Said { out: rig.out, events: rig.events, allocations })
}

impl Rig<'_> {
    /// Feeds all of `input`, as far as the machine takes it, until nothing more happens.
    fn drive(&mut self, input: &mut Vec<u8>) -> Result<(), &'static str> {
        let mut at = 0;
        loop {
            self.rest = self.settle()?;
            if self.rest != Rest::Wait || at == input.len() {
                break;
            }
            let mut n = self.how.chunk.min(input.len() - at);
            if let Some(cut) = self.how.cut.filter(|cut| (self.fed + 1..self.fed + n).contains(cut)) {
                n = cut - self.fed;
            }
            let taken = self.server.feed(&input[at..at + n]);
            if taken == 0 {
                return Err("the machine waits for input and takes none");
            }
            at += taken;
            self.fed += taken;
        }
        input.drain(..at);
        Ok(())
    }

    /// Polls until nothing more happens.
    fn settle(&mut self) -> Result<Rest, &'static str> {
        // A machine that never comes to rest is a fault, not a hanging test.
        for _ in 0..10_000_000 {
            match self.server.poll(self.now) {
                Output::Send(bytes) => {
                    let n = bytes.len().min(self.how.write);
                    if n == 0 {
                        return Err("an empty Send");
                    }
                    self.out.extend_from_slice(&bytes[..n]);
                    self.server.sent(n);
                }
                Output::Event(event) => {
                    let left = match event {
                        ServerEvent::Call(call) => fixture::call(call),
                        ServerEvent::More(reply) => match self.stream.take() {
                            Some(stream) => fixture::go_on(stream, reply),
                            None => return Err("More without a paused result"),
                        },
                        ServerEvent::List(list) => {
                            list.tools(fixture::dynamic);
                            Left::Nothing
                        }
                        ServerEvent::Cancelled(id) => {
                            let n = self.kept.iter().position(|kept| *kept == Some(id));
                            let _ = writeln!(self.events, "cancelled #{}", n.map_or(0, |n| n + 1));
                            Left::Nothing
                        }
                        ServerEvent::Opened { client, version } => {
                            let _ = writeln!(self.events, "opened {} {client}", version.as_str());
                            Left::Nothing
                        }
                        ServerEvent::Fault { fault, .. } => {
                            let _ = writeln!(self.events, "fault {fault:?}");
                            Left::Nothing
                        }
                        ServerEvent::Notified { method, params } => {
                            let params = params.map_or("", |p| p.as_str());
                            let _ = writeln!(self.events, "notified {method} {params}");
                            Left::Nothing
                        }
                        _ => return Err("an event that the fixture does not know"),
                    };
                    match left {
                        Left::Nothing => {}
                        Left::Later(id) => {
                            *self.kept.get_mut(self.deferred).ok_or("too many deferred calls")? = Some(id);
                            self.deferred += 1;
                        }
                        Left::Streaming(stream) => self.stream = Some(stream),
                    }
                }
                Output::Wait { .. } => return Ok(Rest::Wait),
                Output::Blocked { .. } => return Ok(Rest::Blocked),
                Output::Closed => return Ok(Rest::Closed),
            }
        }
        Err("the machine does not come to rest")
    }

    fn act(&mut self, act: &Act) -> Result<(), &'static str> {
        let call = |n: &usize| self.kept.get(n - 1).copied().flatten().ok_or("no such deferred call");
        match act {
            Act::Answer(n, text) => {
                let reply = self.server.resume(call(n)?).map_err(|_| "can't be answered now")?;
                reply.text(text).finish().map_err(|_| "the answer did not fit")?;
            }
            Act::Fail(n, code) => {
                let reply = self.server.resume(call(n)?).map_err(|_| "can't be answered now")?;
                reply.fail(barewire::Code(*code), "it failed");
            }
            Act::Progress(n, done) => {
                let progress = Progress { done: *done, total: None, message: None };
                self.server.progress(call(n)?, progress).map_err(|_| "no room for progress")?;
            }
            Act::Gone(n) => match self.server.resume(call(n)?) {
                Err(Refused::Gone) => {}
                _ => return Err("the call is not gone"),
            },
            Act::End => self.server.end_of_message(),
            Act::Eof => self.server.end_of_input(),
            Act::Wait(ms) => self.now = self.now.after(Millis(*ms)),
            Act::Reset => self.server.reset(),
            Act::Changed => self.server.tools_changed(),
            Act::Closed => return (self.rest == Rest::Closed).then_some(()).ok_or("not closed"),
            Act::Blocked => return (self.rest == Rest::Blocked).then_some(()).ok_or("not blocked"),
        }
        self.rest = self.settle()?;
        Ok(())
    }
}

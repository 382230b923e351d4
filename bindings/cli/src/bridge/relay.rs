//! The relay: bytes of the host and of the far end in, bytes for both and words for people out.
//!
//! It reads no clock and does no I/O. Its rules:
//!
//! * **Lines pass as they are.** No JSON is rewritten and no id changed; a line is kept back, or an element of a batch, or it
//!   goes through byte for byte.
//! * **Every request of the host is answered exactly once**, by the far end or by an error of the relay, unless the host
//!   cancelled it; and never by a far end that did not get it.
//! * **One connection, one session.** What a connection said is nothing to the next one: answers to it, and questions in it,
//!   end with it.
//! * **Bounded.** Lines up to 16 MiB, held lines, open requests and questions have limits; for the rest the driver stops reading
//!   ([`Relay::host_is_behind`], [`Relay::far_is_behind`]).

use barewire::frame::{Frame, Lines};

use super::LIMIT;
use super::errors::Reason;
use super::state::State;

/// What the far end is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Medium {
    /// A child process: one that dies before it ever answered will not do better later.
    Command,
    /// A socket.
    Stream,
    /// A serial line: what is sent to a device that boots is lost.
    Serial,
}

/// What the relay is told once.
pub(crate) struct Terms {
    /// The far end, as it is named in messages.
    pub(crate) name: String,
    /// What it is like.
    pub(crate) medium: Medium,
    /// How long a request may wait for the far end to be there, in milliseconds.
    pub(crate) patience: u64,
}

/// Something for people to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Note {
    /// A line of the far end that is no message: what a device prints.
    Console(Vec<u8>),
    /// What happened, in a sentence.
    Told(String),
}

/// Between a host and a far end that comes and goes. Times are milliseconds of any clock that does not go back.
pub(crate) struct Relay {
    from_host: Lines<'static>,
    from_far: Lines<'static>,
    state: State,
}

impl Relay {
    pub(crate) fn new(terms: Terms) -> Self {
        let lines = || Lines::growing(LIMIT + 1);
        Self { from_host: lines(), from_far: lines(), state: State::new(terms) }
    }

    /// The host wrote something.
    pub(crate) fn host(&mut self, bytes: &[u8], now: u64) {
        self.state.tick(now);
        feed(&mut self.from_host, bytes, |frame| self.state.host_frame(frame));
    }

    /// The host will write no more.
    pub(crate) fn host_ended(&mut self, now: u64) {
        self.state.tick(now);
        self.from_host.end_of_input();
        drain(&mut self.from_host, &mut |frame| self.state.host_frame(frame));
        self.state.host_ended();
    }

    /// There is a connection to the far end. It knows nothing of any session yet.
    pub(crate) fn far_up(&mut self, now: u64) {
        self.state.tick(now);
        self.from_far = Lines::growing(LIMIT + 1);
        self.state.far_up();
    }

    /// The far end wrote something.
    pub(crate) fn far(&mut self, bytes: &[u8], now: u64) {
        self.state.tick(now);
        feed(&mut self.from_far, bytes, |frame| self.state.far_frame(frame));
    }

    /// The connection is over.
    pub(crate) fn far_down(&mut self, reason: &Reason, now: u64) {
        self.state.tick(now);
        self.from_far.end_of_input();
        self.state.ending = true;
        drain(&mut self.from_far, &mut |frame| self.state.far_frame(frame));
        self.state.far_down(reason);
    }

    /// No connection came about, and why.
    pub(crate) fn far_trouble(&mut self, why: String, now: u64) {
        self.state.tick(now);
        self.state.trouble(why);
    }

    /// There will be no connection any more.
    pub(crate) fn give_up(&mut self, reason: &'static str, why: &str) {
        self.state.give_up(reason, why);
    }

    /// Time passes.
    pub(crate) fn tick(&mut self, now: u64) {
        self.state.tick(now);
    }

    /// When [`tick`](Self::tick) has something to do.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.state.deadline()
    }

    /// Takes what the host is to read.
    pub(crate) fn take_for_host(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.state.to_host)
    }

    /// Takes what the far end is to read, by this connection.
    pub(crate) fn take_for_far(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.state.to_far)
    }

    pub(crate) fn has_for_host(&self) -> bool {
        !self.state.to_host.is_empty()
    }

    pub(crate) fn has_for_far(&self) -> bool {
        !self.state.to_far.is_empty()
    }

    /// Takes what people are to read.
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        core::mem::take(&mut self.state.notes)
    }

    /// The server has just said that it offers checked lines; says so once.
    pub(crate) fn take_offer(&mut self) -> bool {
        core::mem::take(&mut self.state.offered)
    }

    /// So much waits for the host that the far end must not be read.
    pub(crate) const fn host_is_behind(&self) -> bool {
        self.state.to_host.len() >= super::BACKLOG
    }

    /// So much waits for the far end that the host must not be read.
    pub(crate) const fn far_is_behind(&self) -> bool {
        self.state.to_far.len() >= super::BACKLOG
    }

    /// The host has ended, and everything that it asked is answered, or took too long.
    pub(crate) fn is_done(&self) -> bool {
        self.state.is_done()
    }

    /// Whether this connection's far end has answered anything.
    pub(crate) const fn has_answered(&self) -> bool {
        self.state.answered
    }

    /// Whether any has.
    pub(crate) const fn ever_answered(&self) -> bool {
        self.state.ever_answered
    }
}

fn feed(lines: &mut Lines<'static>, mut bytes: &[u8], mut take: impl FnMut(Frame<'_>)) {
    while !bytes.is_empty() {
        let taken = lines.feed(bytes);
        bytes = &bytes[taken..];
        drain(lines, &mut take);
    }
}

fn drain(lines: &mut Lines<'static>, take: &mut dyn FnMut(Frame<'_>)) {
    loop {
        match lines.next() {
            Frame::More => return,
            frame => take(frame),
        }
    }
}

//! The doors of the machine, and what comes next.
use super::config::Config;
use super::event::ServerEvent;
use super::jobs::{Job, To, What};
use super::line::Line;
use super::reply::write_progress;
use super::slot::Open;
use super::state::{Server, Step};
use super::{Progress, Reply, ServerConfig};
use crate::json::decode;
use crate::machine::slots::State;
use crate::machine::{Buffers, CallId, Full, Io, Millis, Output, Refused, Stats};
use crate::mcp::Session;

impl<'b> Server<'b> {
    /// A machine that has met nobody yet.
    #[must_use]
    pub fn new(config: &'b ServerConfig<'b>, buffers: Buffers<'b>) -> Self {
        Self::with(Config::Lent(config), buffers)
    }

    /// Copies the names out of `config`, for bindings whose strings die early; its table counts as [`Source::Dynamic`](crate::Source::Dynamic).
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn owning(config: &ServerConfig<'_>, buffers: Buffers<'b>) -> Self {
        Self::with(Config::owning(config), buffers)
    }

    /// Room to read into. Empty only while input is pending, or the machine is blocked.
    pub fn space(&mut self) -> &mut [u8] {
        self.settle();
        self.rx.space()
    }

    /// Says how much was read into `space`.
    pub fn filled(&mut self, n: usize) {
        self.rx.filled(n);
    }

    /// Copies input in; returns how much was taken.
    pub fn feed(&mut self, bytes: &[u8]) -> usize {
        self.settle();
        self.rx.feed(bytes)
    }

    /// With [`Framing::Messages`](crate::Framing::Messages): what was fed since the last one is one message. Poll before feeding the next.
    pub fn end_of_message(&mut self) {
        self.settle();
        self.rx.end_of_message();
    }

    /// The peer will send no more. A last line without line feed is served if it is complete. Accepted calls may still be answered, for
    /// [`ServerConfig::drain`] at most; then `poll` says `Closed`.
    pub fn end_of_input(&mut self) {
        self.rx.end_of_input();
    }

    /// The line is new (a port came back): forgets session, input and output. `Cancelled` follows for each open call.
    pub fn reset(&mut self) {
        self.settle();
        self.rx.clear();
        self.tx.clear();
        self.line = Line::default();
        self.session = Session::default();
        self.waiting = false;
        self.noise = 0;
        self.drain_until = None;
        self.doom_all();
    }

    /// What to do next. Never fails: a peer's mistake is an event, answered already. `now` must not go back.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn poll(&mut self, now: Millis) -> Output<'_, ServerEvent<'_>> {
        self.settle();
        match self.advance(now) {
            Step::Call(slot) => self.lend_call(slot),
            Step::More(slot) => match self.lend(slot) {
                Some(reply) => Output::Event(ServerEvent::More(reply)),
                None => Output::Wait { until: None },
            },
            Step::List => self.lend_list(),
            Step::Cancelled(id) => Output::Event(ServerEvent::Cancelled(id)),
            Step::Opened { version, client } => {
                let client = match client.of_mut(self.rx.bytes_mut()) {
                    [_, body @ .., _] => decode(body),
                    _ => "",
                };
                Output::Event(ServerEvent::Opened { client, version })
            }
            Step::Fault(fault, at) => {
                Output::Event(ServerEvent::Fault { fault, line: at.of(self.rx.bytes()) })
            }
            Step::Notified { method, params } => self.notified(method, params),
            Step::Blocked => Output::Blocked { until: self.deadline() },
            Step::Again | Step::Send => Output::Send(self.tx.output()),
            Step::Idle => self.idle(),
        }
    }

    /// Finished bytes that may be sent now, also between polls: to send early while a slow tool runs.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.tx.output()
    }

    /// Space and output at once, for a driver that reads while it writes.
    pub fn io(&mut self) -> Io<'_> {
        self.settle();
        Io { space: self.rx.space(), output: self.tx.output() }
    }

    /// `n` bytes of `output` have left.
    pub fn sent(&mut self, n: usize) {
        self.settle();
        self.tx.sent(n);
    }

    /// Appends all output to `into` and counts it as sent, so that a lock is not held while writing.
    #[cfg(feature = "alloc")]
    pub fn take_output(&mut self, into: &mut alloc::vec::Vec<u8>) {
        self.settle();
        let n = self.output().len();
        into.extend_from_slice(self.output());
        self.tx.sent(n);
    }

    /// Puts all output into `into` and counts it as sent. What `into` held is dropped. Unlike [`take_output`](Self::take_output) it
    /// does not copy long output, but changes the memory of the two.
    #[cfg(feature = "alloc")]
    pub fn swap_output(&mut self, into: &mut alloc::vec::Vec<u8>) {
        self.settle();
        self.tx.swap(into);
    }

    /// The moment by which `poll` must be called, whatever it said last.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        self.drain_until.filter(|_| self.slots.in_use() > 0)
    }

    /// High-water marks since the machine was made.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats { receive: self.rx.high_water(), transmit: self.tx.high_water(), calls: self.most_calls }
    }

    /// The reply of a call that was deferred or paused, where it left off. In any order, between polls.
    ///
    /// # Errors
    /// [`Refused::Gone`] if the call was cancelled or has ended; [`Refused::Full`] if bytes must be sent first.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn resume(&mut self, call: CallId) -> Result<Reply<'_>, Refused> {
        self.settle();
        let state = self.slots.of(call).map(|slot| slot.state);
        let own = match state {
            Some(State::Open) => false,
            Some(State::Streaming) => true,
            _ => return Err(Refused::Gone),
        };
        self.run_job();
        let cap = self.config.get().rest().reply.unwrap_or(usize::MAX);
        let taken = self.line.job.is_some() || self.line.batch.is_some_and(|_| !own);
        let other = self.line.streaming.is_some_and(|slot| slot != call.slot);
        if taken || other || !own && !self.tx.has_room(cap) {
            return Err(Refused::Full);
        }
        self.lend(call.slot).ok_or(Refused::Gone)
    }

    /// Progress of a deferred call; dropped unless the peer asked for it and it rises.
    ///
    /// # Errors
    /// [`Full`] if there is no room now.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn progress(&mut self, call: CallId, progress: Progress<'_>) -> Result<(), Full> {
        self.settle();
        self.run_job();
        if self.line.job.is_some() || self.line.streaming.is_some() || self.line.batch.is_some() {
            return Err(Full);
        }
        let Some(slot) = self.slots.of(call).filter(|slot| slot.state == State::Open) else { return Ok(()) };
        let Some(open) = Open::of(slot) else { return Ok(()) };
        let mut out = self.tx.lend(usize::MAX);
        let mark = out.end();
        if write_progress(&mut out, open.token.get(), open.own, progress) {
            out.commit();
            Ok(())
        } else {
            out.roll_back(mark);
            Err(Full)
        }
    }

    /// The tools are others now. Remembered, and told when there is room to legacy peers, if [`ServerConfig::list_changed`]
    /// announced it.
    pub fn tools_changed(&mut self) {
        self.changed = self.config.get().rest().list_changed;
    }

    /// Takes the next step, if need be after several that nobody has to know of.
    #[cfg_attr(target_os = "none", inline(never))]
    fn advance(&mut self, now: Millis) -> Step {
        loop {
            if !self.run_job() {
                let dynamic =
                    matches!(self.line.job, Some(Job { what: What::Tools { .. }, .. })) && self.is_dynamic();
                return if dynamic && self.tx.output().is_empty() { Step::List } else { Step::Send };
            }
            if let Some(slot) = self.slots.find(|slot| slot.state == State::Doomed) {
                return self.cancelled(slot);
            }
            if self.rx.is_over() {
                let until = *self.drain_until.get_or_insert(now.after(self.config.get().rest().drain));
                if now >= until {
                    self.cut_stream();
                    if self.doom_all() {
                        continue;
                    }
                }
            }
            if let Some(slot) = self.line.streaming {
                let sent = self.tx.output().is_empty();
                if sent && core::mem::take(&mut self.line.more) {
                    return Step::More(slot);
                }
                return if sent { Step::Blocked } else { Step::Send };
            }
            // Inside of a batch's array nothing else can be said.
            if self.line.batch.is_none() && core::mem::take(&mut self.changed) {
                // Nobody lists tools any more after the end of input.
                if self.session.legacy.is_some() && !self.rx.is_over() {
                    self.line.start(To::Nobody, What::Changed);
                    continue;
                }
            }
            match self.read_on() {
                Some(Step::Again) => {}
                Some(Step::Blocked) if !self.tx.output().is_empty() => return Step::Send,
                Some(step) => return step,
                None => return Step::Idle,
            }
        }
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn idle(&mut self) -> Output<'_, ServerEvent<'_>> {
        if !self.tx.output().is_empty() {
            return Output::Send(self.tx.output());
        }
        if !self.rx.is_over() {
            return Output::Wait { until: None };
        }
        if self.slots.in_use() == 0 { Output::Closed } else { Output::Blocked { until: self.deadline() } }
    }
}

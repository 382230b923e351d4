//! The machine itself: its state, its doors, and what comes next.
use super::config::Config;
use super::event::{Call, Context, ServerEvent};
use super::jobs::{Around, Data, Job, Part, Say, To};
use super::lend::Line;
use super::list::{List, write_list};
use super::message::{Current, Lend};
use super::reply::write_progress;
use super::slot::{Open, SlotServer};
use super::{Args, Progress, Reply, ServerConfig, Source};
use crate::frame::{Found, Lines};
use crate::json::{Raw, Sink, unescape};
use crate::machine::mem::Span;
use crate::machine::slots::{Side, Slot, Slots, State};
use crate::machine::tx::{Tx, Window};
use crate::machine::{Buffers, CallId, Full, Io, Millis, Output, Refused, Stats};
use crate::mcp::{Session, Version};
use crate::rpc::{Code, Fault};

/// The server's machine. It never reads a clock, never does I/O, never allocates in lent buffers, and never fails: a peer's mistake is an event,
/// answered already.
///
/// **Drain rule:** after any call that changes the machine, call [`poll`](Self::poll) until it returns `Wait`, `Blocked` or `Closed`.
/// **Read rule:** read only into a [`space`](Self::space) that is not empty; after `Wait` it never is.
/// **One at a time:** whatever a call lends ends at the next call on the machine, which settles it. Nothing half written is ever visible in
/// [`output`](Self::output).
/// **Room:** a reply always has the same room ([`ServerConfig::reply`], or all of the transmit buffer), so what fits never depends on timing.
/// **Line:** between `pause` and `finish` nothing else can be sent. **Slots:** every call takes one from lending to its end.
///
/// ```
/// use barewire::{Millis, Output, Server, ServerConfig, ServerEvent, Storage, Tool};
/// static TOOLS: &[Tool<'static>] = &[Tool::new("greet", "Says hello.", r#"{"type":"object"}"#)];
/// static CONFIG: ServerConfig<'static> = ServerConfig::new("hello", "1.0.0").tools(TOOLS);
///
/// fn run(mut read: impl FnMut(&mut [u8]) -> usize, mut write: impl FnMut(&[u8]) -> usize) {
///     let mut storage = Storage::<1024, 1024, 1>::new();
///     let mut server = Server::new(&CONFIG, storage.buffers());
///     loop {
///         match server.poll(Millis(0)) {
///             Output::Send(bytes) => { let n = write(bytes); server.sent(n); }
///             Output::Event(ServerEvent::Call(call)) => { let _ = call.reply.text("hello").finish(); }
///             Output::Event(_) => {}
///             Output::Wait { .. } | Output::Blocked { .. } => match read(server.space()) {
///                 0 => server.end_of_input(),
///                 n => server.filled(n),
///             },
///             Output::Closed => return,
///         }
///     }
/// }
/// # let mut input = &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"[..];
/// # let mut out = Vec::new();
/// # run(|b| { let n = b.len().min(input.len()); b[..n].copy_from_slice(&input[..n]); input = &input[n..]; n },
/// #     |b| { out.extend_from_slice(b); b.len() });
/// # assert_eq!(out, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
/// ```
pub struct Server<'b> {
    pub(super) config: Config<'b>,
    pub(super) rx: Lines<'b>,
    pub(super) tx: Tx<'b>,
    pub(super) slots: Slots<'b>,
    pub(super) line: Line,
    pub(super) session: Session,
    pub(super) current: Option<Current>,
    pub(super) serial: u32,
    /// Noise answered in a row.
    pub(super) noise: u8,
    changed: bool,
    drain_until: Option<Millis>,
    most_calls: usize,
}

impl core::fmt::Debug for Server<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Server")
            .field("session", &self.session)
            .field("calls", &self.slots.in_use())
            .finish_non_exhaustive()
    }
}

/// What comes next, without borrowing anything.
pub(super) enum Step {
    Again,
    Send,
    Blocked,
    Call(u16, Lend),
    More(u16),
    List,
    Cancelled(CallId),
    Opened { version: Version, client: Option<Span> },
    Fault(Fault, Span),
    Notified { method: Span, params: Option<Span> },
    Idle,
}

impl<'b> Server<'b> {
    /// A machine that has met nobody yet.
    #[must_use]
    pub fn new(config: &'b ServerConfig<'b>, buffers: Buffers<'b>) -> Self {
        Self::with(Config::Lent(config), buffers)
    }

    /// Copies the names out of `config`, for bindings whose strings die early; its table counts as [`Source::Dynamic`].
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn owning(config: &ServerConfig<'_>, buffers: Buffers<'b>) -> Self {
        Self::with(Config::owning(config), buffers)
    }

    fn with(config: Config<'b>, buffers: Buffers<'b>) -> Self {
        let framing = config.get().framing;
        Self {
            config,
            rx: Lines::over(buffers.rx, framing),
            tx: Tx::new(buffers.tx),
            slots: buffers.slots,
            line: Line::default(),
            session: Session::default(),
            current: None,
            serial: 1,
            noise: 0,
            changed: false,
            drain_until: None,
            most_calls: 0,
        }
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
        self.current = None;
        self.noise = 0;
        self.drain_until = None;
        self.doom_all();
    }

    /// What to do next. Never fails: a peer's mistake is an event, answered already. `now` must not go back.
    pub fn poll(&mut self, now: Millis) -> Output<'_, ServerEvent<'_>> {
        self.settle();
        match self.advance(now) {
            Step::Call(slot, lend) => self.lend_call(slot, lend),
            Step::More(slot) => match self.lend(slot) {
                Some(reply) => Output::Event(ServerEvent::More(reply)),
                None => Output::Wait { until: None },
            },
            Step::List => self.lend_list(),
            Step::Cancelled(id) => Output::Event(ServerEvent::Cancelled(id)),
            Step::Opened { version, client } => {
                let client = match client.map(|c| c.of_mut(self.rx.bytes_mut())) {
                    Some([_, body @ .., _]) => unescape(body),
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
    pub fn resume(&mut self, call: CallId) -> Result<Reply<'_>, Refused> {
        self.settle();
        let state = self.slots.of(call).map(|slot| slot.state);
        let own = match state {
            Some(State::Open) => false,
            Some(State::Streaming) => true,
            _ => return Err(Refused::Gone),
        };
        self.run_job();
        let cap = self.config.get().reply.unwrap_or(usize::MAX);
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
        self.changed = self.config.get().list_changed;
    }

    /// Takes the next step, if need be after several that nobody has to know of.
    fn advance(&mut self, now: Millis) -> Step {
        loop {
            if !self.run_job() {
                let dynamic = matches!(self.line.job, Some(Job::Tools { .. })) && self.is_dynamic();
                return if dynamic && self.tx.output().is_empty() { Step::List } else { Step::Send };
            }
            if let Some(slot) = self.slots.find(|slot| slot.state == State::Doomed) {
                return self.cancelled(slot);
            }
            if self.rx.is_over() {
                let until = *self.drain_until.get_or_insert(now.after(self.config.get().drain));
                if now >= until && self.doom_all() {
                    continue;
                }
            }
            if let Some(slot) = self.line.streaming {
                let sent = self.tx.output().is_empty();
                if sent && core::mem::take(&mut self.line.more) {
                    return Step::More(slot);
                }
                return if sent { Step::Blocked } else { Step::Send };
            }
            if core::mem::take(&mut self.changed)
                && self.line.batch.is_none()
                && self.session.legacy.is_some()
            {
                self.line.start(Job::Changed);
                continue;
            }
            match self.read_on() {
                Some(Step::Again) => {}
                Some(Step::Blocked) if !self.tx.output().is_empty() => return Step::Send,
                Some(step) => return step,
                None => return Step::Idle,
            }
        }
    }

    fn idle(&mut self) -> Output<'_, ServerEvent<'_>> {
        if !self.tx.output().is_empty() {
            return Output::Send(self.tx.output());
        }
        if !self.rx.is_over() {
            return Output::Wait { until: None };
        }
        if self.slots.in_use() == 0 { Output::Closed } else { Output::Blocked { until: self.deadline() } }
    }

    fn is_dynamic(&self) -> bool {
        matches!(self.config.get().tools, Source::Dynamic)
    }

    /// Cancels all open calls that are `meant`.
    pub(super) fn doom(&mut self, meant: impl Fn(&Slot) -> bool) {
        for slot in self.slots.all_mut().iter_mut().filter(|s| s.state == State::Open && meant(s)) {
            slot.state = State::Doomed;
        }
    }

    /// Cancels everything, results that are half on the wire included.
    fn doom_all(&mut self) -> bool {
        self.line.streaming = None;
        let mut any = false;
        for slot in self.slots.all_mut().iter_mut().filter(|s| s.state != State::Free) {
            slot.state = State::Doomed;
            any = true;
        }
        any
    }

    /// Where the line at hand starts in the receive buffer.
    fn base(&mut self) -> usize {
        match self.rx.look() {
            Found::Line { at, .. } => at.start,
            _ => 0,
        }
    }

    /// Writes as much of the machine's own message as fits; true if none is left.
    pub(super) fn run_job(&mut self) -> bool {
        let Some(job) = self.line.job else { return true };
        let base = if matches!(job, Job::Tail { .. } | Job::Changed | Job::Done) { 0 } else { self.base() };
        let config = self.config.get();
        let around =
            if matches!(job, Job::BatchEnd | Job::Changed) { Around::LINE } else { self.line.around() };
        let line = self.rx.bytes().get(base..).unwrap_or(&[]);
        let say = Say { config: &config, line, around, omits_id: self.session.omits_id() };
        match job {
            Job::Tools { part, .. } => {
                let table = match config.tools {
                    Source::Table(table) => Some(table),
                    _ => None,
                };
                // Only the application knows a dynamic source's tools; the tail is the machine's own.
                if table.is_some() || matches!(part, Part::Tail { .. }) {
                    let mut out = self.tx.lend_piece();
                    write_list(&mut out, &mut self.line, &say, &mut |i| table?.get(i).copied());
                }
            }
            Job::Done => {}
            _ => {
                let slot = job_slot(&job).and_then(|slot| self.slots.at(slot));
                let mut out = self.tx.lend_piece();
                let mut window = Window::new(&mut out, self.line.at);
                say.job(&mut window, &job, slot.as_deref());
                let (done, written) = (window.is_complete(), window.written());
                self.line.at = self.line.at.saturating_add(written);
                out.commit();
                if done {
                    if !matches!(job, Job::BatchEnd | Job::Changed) {
                        self.line.answered();
                    }
                    self.ended(&job);
                    return true;
                }
            }
        }
        if matches!(self.line.job, Some(Job::Done)) {
            self.ended(&Job::Done);
            return true;
        }
        false
    }

    /// A job is out: what it was about is over.
    fn ended(&mut self, job: &Job) {
        self.line.job = None;
        self.line.at = 0;
        match job_slot(job) {
            Some(slot) => {
                if self.line.streaming == Some(slot) {
                    self.line.streaming = None;
                }
                if let Some(slot) = self.slots.at(slot) {
                    slot.free();
                }
            }
            None if matches!(job, Job::BatchEnd) => self.rx.consume(),
            None if matches!(job, Job::Changed) => {}
            None => self.next_message(),
        }
    }

    /// Whatever is still lent ends here.
    fn settle(&mut self) {
        if core::mem::take(&mut self.line.lent_list) {
            self.settle_list();
        }
        let Some(slot) = self.line.lent.take() else { return };
        self.tx.roll_back();
        let streaming = self.line.streaming == Some(slot);
        if streaming {
            if let Some(reply) = self.lend(slot) {
                reply.fail(Code::INTERNAL, "");
            }
        } else {
            let text = "the tool gave no answer";
            self.line.start(Job::Error { to: To::Slot(slot), code: Code::INTERNAL, text, data: Data::None });
        }
        self.run_job();
    }

    /// The application did not answer `List`: an error, or the end of what is half written.
    fn settle_list(&mut self) {
        let Some(Job::Tools { id, version, part, item, until }) = self.line.job else { return };
        if part == Part::Items && self.line.at == 0 {
            self.line.job = Some(Job::Tools { id, version, part: Part::Tail { more: false }, item, until });
            return;
        }
        if part != Part::Head || self.line.at > 0 {
            // A tool that was given before is half on the wire: nothing but a line feed can end that.
            let mut out = self.tx.lend_piece();
            if !out.put(b"\n") {
                let end = out.end();
                out.roll_back(end);
            }
            out.commit();
        }
        let text = "the tools can't be listed now";
        self.line.start(Job::Error { to: To::Message(id), code: Code::INTERNAL, text, data: Data::None });
    }

    /// Notes a call in its slot; false if its id does not fit.
    pub(super) fn fill(&mut self, index: u16, lend: &Lend) -> bool {
        let long = self.slots.keeps_long();
        let serial = self.serial;
        let Some(slot) = self.slots.at(index) else { return false };
        let bytes = self.rx.bytes();
        if !slot.id.set(lend.id.of(bytes), long) {
            return false;
        }
        // A token that does not fit only means that no progress is told.
        slot.token.set(lend.token.unwrap_or_default().of(bytes), long);
        slot.serial = serial;
        slot.state = State::Lent;
        slot.side = Side::Server(SlotServer::new(lend.ready.version));
        self.serial = self.serial.wrapping_add(1).max(1);
        self.most_calls = self.most_calls.max(self.slots.in_use());
        true
    }

    /// Lends the reply of the call in a slot, where it left off.
    fn lend(&mut self, index: u16) -> Option<Reply<'_>> {
        lend(&mut self.slots, &mut self.tx, &mut self.line, self.config.get(), index)
    }

    fn lend_call(&mut self, index: u16, call: Lend) -> Output<'_, ServerEvent<'_>> {
        let reply = lend(&mut self.slots, &mut self.tx, &mut self.line, self.config.get(), index);
        let Some(reply) = reply else { return Output::Wait { until: None } };
        // Name, arguments and `_meta` are disjoint parts of the message; only the arguments are decoded in place.
        let bytes = self.rx.bytes_mut();
        let mut name = call.name;
        if let [_, body @ .., _] = call.name.of_mut(bytes) {
            let from = call.name.start.saturating_add(1);
            name = Span::new(from, from.saturating_add(unescape(body).len()));
        }
        let args = call.args.unwrap_or_default();
        let (before, rest) = bytes.split_at_mut_checked(args.start).unwrap_or((&mut [], &mut []));
        let (args_bytes, after) = rest.split_at_mut_checked(args.len()).unwrap_or((&mut [], &mut []));
        let (before, after) = (&*before, &*after);
        let part = |span: Span| {
            if span.end <= args.start {
                span.of(before)
            } else {
                Span::new(span.start.saturating_sub(args.end), span.end.saturating_sub(args.end)).of(after)
            }
        };
        let name = core::str::from_utf8(part(name)).unwrap_or("");
        let context = Context {
            version: call.ready.version,
            can: call.ready.can,
            log: call.ready.log,
            wants_progress: !reply.slot.token.get().is_empty(),
            meta: call.meta.map(|meta| Raw::trusted(part(meta))),
        };
        Output::Event(ServerEvent::Call(Call { name, args: Args::new(args_bytes), reply, context }))
    }

    fn lend_list(&mut self) -> Output<'_, ServerEvent<'_>> {
        let base = self.base();
        self.line.lent_list = true;
        let message = self.rx.bytes().get(base..).unwrap_or(&[]);
        let around = self.line.around();
        let out = self.tx.lend_piece();
        Output::Event(ServerEvent::List(List {
            out,
            line: &mut self.line,
            config: self.config.get(),
            around,
            message,
        }))
    }

    fn notified(&mut self, method: Span, params: Option<Span>) -> Output<'_, ServerEvent<'_>> {
        let mut end = 0;
        if let [_, body @ .., _] = method.of_mut(self.rx.bytes_mut()) {
            end = unescape(body).len();
        }
        let bytes = self.rx.bytes();
        let body = method.of(bytes).get(1..end.saturating_add(1)).unwrap_or(&[]);
        let params = params.map(|p| Raw::trusted(p.of(bytes))).filter(|p| !p.is_null());
        Output::Event(ServerEvent::Notified { method: core::str::from_utf8(body).unwrap_or(""), params })
    }
}

fn lend<'m>(
    slots: &'m mut Slots<'_>,
    tx: &'m mut Tx<'_>,
    line: &'m mut Line,
    config: ServerConfig<'m>,
    index: u16,
) -> Option<Reply<'m>> {
    let around = line.around();
    let slot = slots.at(index)?;
    let id = CallId { slot: index, serial: slot.serial };
    let slot = Open::of(slot)?;
    let streaming = *slot.state == State::Streaming;
    if !streaming {
        *slot.state = State::Lent;
    }
    line.lent = Some(index);
    let cap = if streaming { usize::MAX } else { config.reply.unwrap_or(usize::MAX) };
    let out = tx.lend(cap);
    let mark = out.end();
    Some(Reply { out, slot, line, config, around, id, mark, content_at: None, lost: false, pieces: false })
}

fn job_slot(job: &Job) -> Option<u16> {
    match job {
        Job::Error { to: To::Slot(slot), .. } | Job::BadArgs { slot, .. } | Job::Tail { slot } => Some(*slot),
        _ => None,
    }
}

//! The machine itself: its state, its doors, and what comes next.
use super::config::Config;
use super::handshake::Phase;
use super::jobs::{Job, Method, Say};
use super::lend::{Ending, Step};
use super::message::Batch;
use super::request::Answers;
use super::result::Current;
use super::slot::{Kind, NEVER, SlotClient, own};
use super::{ClientConfig, ClientEvent, Request, SendError};
use crate::frame::Lines;
use crate::json::{Raw, write_raw};
use crate::machine::slots::{Side, Slot, Slots, State};
use crate::machine::tx::Tx;
use crate::machine::{Buffers, Io, Millis, Output, Stats};
use crate::mcp::{Version, write};

/// The client's machine. It never reads a clock, never does I/O, never allocates in lent buffers, and never fails: a
/// server's mistake is an event.
///
/// It opens the session by itself, in either era ([`Era`](crate::Era)), answers pings, follows pages, and gives requests up in time.
///
/// **Drain rule:** after any call that changes the machine, call [`poll`](Self::poll) until it returns `Wait` or `Closed` (it never
/// returns `Blocked`). **Read rule:** read only into a [`space`](Self::space) that is not empty; after `Wait` it never is.
/// **One at a time:** whatever a call lends ends at the next call on the machine; a [`Request`] that was not sent is taken back.
/// **Room:** a request is written whole into the transmit buffer, or refused; what the machine says itself goes through any buffer of 64 bytes or
/// more. **Slots:** every request takes one from `send` to its `Ended`.
///
/// ```
/// use barewire::{Client, ClientConfig, ClientEvent, Content, Millis, Output, Storage};
/// static CONFIG: ClientConfig<'static> = ClientConfig::new("button", "1.0.0");
///
/// /// Calls one tool; says whether it answered with text.
/// fn press(mut read: impl FnMut(&mut [u8]) -> usize, mut write: impl FnMut(&[u8]) -> usize) -> bool {
///     let mut storage = Storage::<1024, 512, 1>::new();
///     let mut client = Client::new(&CONFIG, storage.buffers());
///     let mut lit = false;
///     loop {
///         match client.poll(Millis(0)) {
///             Output::Send(bytes) => { let n = write(bytes); client.sent(n); }
///             Output::Event(ClientEvent::Opened { .. }) => {
///                 let request = client.call_tool("lamp").map(|r| r.args(|o| { o.bool("on", true); }));
///                 if request.and_then(|r| r.send()).is_err() { return false; }
///             }
///             Output::Event(ClientEvent::Content { content: Content::Text(text), .. }) => lit = text == "on",
///             Output::Event(ClientEvent::Ended { .. } | ClientEvent::NotOpened(_)) => return lit,
///             Output::Event(_) => {}
///             Output::Wait { .. } | Output::Blocked { .. } => match read(client.space()) {
///                 0 => client.end_of_input(),
///                 n => client.filled(n),
///             },
///             Output::Closed => return false,
///         }
///     }
/// }
/// # use barewire::{Server, ServerConfig, ServerEvent, Tool};
/// # static TOOLS: &[Tool<'static>] = &[Tool::new("lamp", "A lamp.", r#"{"type":"object"}"#)];
/// # static SERVER: ServerConfig<'static> = ServerConfig::new("board", "1.0.0").tools(TOOLS);
/// # let mut storage = Storage::<1024, 1024, 1>::new();
/// # let server = core::cell::RefCell::new(Server::new(&SERVER, storage.buffers()));
/// # let lit = press(
/// #     |space| { let s = server.borrow(); let n = s.output().len().min(space.len());
/// #         space[..n].copy_from_slice(&s.output()[..n]); drop(s); server.borrow_mut().sent(n); n },
/// #     |bytes| { let mut s = server.borrow_mut(); let n = s.feed(bytes);
/// #         loop { match s.poll(Millis(0)) {
/// #             Output::Event(ServerEvent::Call(call)) => call.reply.text("on").finish().unwrap(),
/// #             Output::Event(_) => {} _ => break n } } },
/// # );
/// # assert!(lit);
/// ```
// What is small comes first, as in `Server`.
#[repr(C)]
pub struct Client<'b> {
    /// The slip of the message at hand was told.
    pub(super) told: bool,
    /// Some slot is doomed.
    pub(super) doomed: bool,
    /// Some request is lost.
    pub(super) losing: bool,
    pub(super) config: Config<'b>,
    pub(super) slots: Slots<'b>,
    pub(super) line: Line,
    pub(super) tx: Tx<'b>,
    pub(super) phase: Phase,
    /// The answer that is being handed out.
    pub(super) current: Option<Current>,
    pub(super) batch: Option<Batch>,
    most_calls: usize,
    pub(super) now: Millis,
    /// When the session must be open.
    pub(super) start_until: Option<Millis>,
    /// No request expires before.
    pub(super) soonest: Millis,
    pub(super) rx: Lines<'b>,
}

/// What a request being written needs of the machine.
#[derive(Debug)]
pub(super) struct Line {
    /// The slot of the request in the application's hands.
    pub(super) lent: Option<u16>,
    pub(super) job: Option<Job>,
    /// How many bytes of the job are written.
    pub(super) at: usize,
    /// The next id. Ids are never used twice, so a late answer finds nobody.
    pub(super) serial: u32,
    /// A request was sent since the last poll.
    pub(super) fresh: bool,
}

/// `{:#?}` shows all of the state, for telling two states apart.
impl core::fmt::Debug for Client<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if f.alternate() {
            let Self { tx, line, phase, current, batch, now, told, start_until, soonest, .. } = self;
            write!(f, "{:#?} {tx:?} {line:?} {phase:?} {current:?} {batch:?} {now:?} {told} ", self.rx)?;
            write!(f, "{start_until:?} {soonest:?} {} {}", self.doomed, self.losing)?;
            return self.slots.all().iter().try_for_each(|slot| write!(f, " [{slot:#?}]"));
        }
        f.debug_struct("Client")
            .field("phase", &self.phase)
            .field("calls", &self.slots.in_use())
            .finish_non_exhaustive()
    }
}

impl<'b> Client<'b> {
    /// A machine that has met nobody yet. The handshake starts with the first `poll`.
    #[must_use]
    pub fn new(config: &'b ClientConfig<'b>, buffers: Buffers<'b>) -> Self {
        Self::with(Config::Lent(config), buffers)
    }

    /// Copies the names out of `config`, for bindings whose strings die early.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn owning(config: &ClientConfig<'_>, buffers: Buffers<'b>) -> Self {
        Self::with(Config::owning(config), buffers)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn with(config: Config<'b>, buffers: Buffers<'b>) -> Self {
        let ClientConfig { framing, first_id, .. } = config.get();
        Self {
            config,
            rx: Lines::over(buffers.rx, framing),
            tx: Tx::new(buffers.tx),
            slots: buffers.slots.fresh(),
            line: Line { lent: None, job: None, at: 0, serial: first_id.max(1), fresh: false },
            phase: Phase::START,
            current: None,
            batch: None,
            now: Millis(0),
            told: false,
            start_until: None,
            soonest: NEVER,
            doomed: false,
            losing: false,
            most_calls: 0,
        }
    }

    /// Room to read into. Empty only while input is pending.
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

    /// The server is gone. What came before is still read; then each request ends with [`End::Lost`](crate::End::Lost), and `poll` says
    /// `Closed`. Output that has not left is dropped.
    pub fn end_of_input(&mut self) {
        self.settle();
        self.tx.clear();
        self.rx.end_of_input();
    }

    /// The line is new, or the server was started again: forgets session, input and output. Each request ends with
    /// [`End::Lost`](crate::End::Lost), then the handshake starts again, after `Closed` too.
    ///
    /// With [`Era::Auto`](crate::Era::Auto), if the first question (`server/discover`) was never answered, the new handshake starts with
    /// `initialize`: legacy servers are known that die of it.
    pub fn reset(&mut self) {
        self.settle();
        self.rx.clear();
        self.tx.clear();
        (self.line.job, self.line.at) = (None, 0);
        (self.current, self.batch, self.told, self.start_until) = (None, None, false, None);
        self.phase = self.phase.restarted();
        self.lose_all();
    }

    /// What to do next. Never fails. `now` must not go back.
    pub fn poll(&mut self, now: Millis) -> Output<'_, ClientEvent<'_>> {
        self.settle();
        let step = self.advance(now);
        self.lend(step)
    }

    /// Finished bytes that may be sent now, also between polls.
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
        let calls = self.slots.all().iter().filter(|s| s.state == State::Open).filter_map(own);
        let calls = calls.map(|own| own.until).filter(|until| *until != NEVER);
        let handshake = [self.start_until, self.phase.silent_at()].into_iter().flatten();
        calls.chain(handshake).min()
    }

    /// High-water marks since the machine was made.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats { receive: self.rx.high_water(), transmit: self.tx.high_water(), calls: self.most_calls }
    }

    /// What is spoken, while the session is open.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        match self.phase {
            Phase::Open(version) if !self.rx.is_over() => Some(version),
            _ => None,
        }
    }

    /// Starts a call of the tool `name`. Its result comes as [`Content`](ClientEvent::Content), [`Structured`](ClientEvent::Structured) and
    /// [`Meta`](ClientEvent::Meta). A result without `content` counts as an empty one, as the official TypeScript and Rust SDKs have it.
    ///
    /// # Errors
    /// [`SendError`], if no request can be made now; what does not fit is told by [`Request::send`].
    pub fn call_tool(&mut self, name: &str) -> Result<Request<'_>, SendError> {
        let mut request = self.start(Method::Known("tools/call"), Kind::Call)?;
        request.part(",\"name\":", |out| write::string(out, name));
        Ok(request)
    }

    /// Starts a list of the tools, from the first or from the page at `cursor` (a string as received). They come as
    /// [`Tool`](ClientEvent::Tool), those of the pages that follow too ([`ClientConfig::follow_pages`]).
    ///
    /// # Errors
    /// As [`call_tool`](Self::call_tool).
    pub fn list_tools(&mut self, cursor: Option<Raw<'_>>) -> Result<Request<'_>, SendError> {
        let mut request = self.start(Method::Known("tools/list"), Kind::Tools)?;
        if let Some(cursor) = cursor {
            request.wrong |= cursor.as_string().is_none();
            let _ = request.own.pages.meet(cursor.as_bytes());
            request.part(",\"cursor\":", |out| write_raw(out, cursor));
        }
        Ok(request)
    }

    /// Starts a request of any other method. Its whole result comes as [`Json`](ClientEvent::Json).
    ///
    /// # Errors
    /// As [`call_tool`](Self::call_tool).
    pub fn request(&mut self, method: &str) -> Result<Request<'_>, SendError> {
        self.start(Method::Any(method), Kind::Json)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn start(&mut self, method: Method<'_>, kind: Kind) -> Result<Request<'_>, SendError> {
        self.settle();
        let version = self.version().ok_or(SendError::NotOpen)?;
        loop {
            if !self.run_job() {
                return Err(SendError::Full);
            }
            if !self.tell_doomed() {
                break;
            }
        }
        let serial = self.line.serial;
        if serial == u32::MAX {
            return Err(SendError::TooManyCalls);
        }
        let index = self.slots.find_free(serial).ok_or(SendError::TooManyCalls)?;
        let alone = self.tx.output().is_empty();
        let in_use = self.slots.in_use().saturating_add(1);
        let slot = self.slots.at(index).ok_or(SendError::TooManyCalls)?;
        self.most_calls = self.most_calls.max(in_use);
        self.line.lent = Some(index);
        slot.serial = serial;
        slot.side = Side::Client(SlotClient::new(kind, serial));
        let Slot { state, side: Side::Client(own), .. } = slot else { return Err(SendError::TooManyCalls) };
        *state = State::Lent;
        let mut request = Request {
            out: self.tx.lend(usize::MAX),
            state,
            line: &mut self.line,
            config: &self.config,
            version,
            own,
            index,
            marks: (0, 0, 0),
            alone,
            any: false,
            has_args: false,
            answers: Answers::None,
            meta: None,
            log: None,
            wrong: false,
        };
        request.begin(method);
        Ok(request)
    }

    /// Takes the next step, if need be after several that nobody has to know of.
    #[cfg_attr(target_os = "none", inline(never))]
    fn advance(&mut self, now: Millis) -> Step {
        self.now = self.now.max(now);
        if let Some(step) = self.expire() {
            return step;
        }
        loop {
            if let Some(step) = self.lose_one() {
                return step;
            }
            if matches!(self.phase, Phase::Shut { .. }) {
                return Step::Closed;
            }
            if !self.run_job() {
                return Step::Send;
            }
            if self.tell_doomed() {
                continue;
            }
            let step = self.shake().or_else(|| match self.current {
                Some(_) => Some(self.hand_out()),
                None => self.read_on(),
            });
            match step {
                Some(Step::Again) => {}
                Some(step) => return step,
                None if !self.rx.is_over() => return Step::Idle,
                None if !matches!(self.phase, Phase::Open(_)) => return self.not_opened(Ending::Lost),
                None if !self.lose_all() => return Step::Closed,
                None => {}
            }
        }
    }

    pub(super) fn say(&mut self, job: Job) {
        (self.line.job, self.line.at) = (Some(job), 0);
    }

    pub(super) fn take_serial(&mut self) -> Option<u32> {
        let serial = self.line.serial;
        self.line.serial = serial.checked_add(1)?;
        Some(serial)
    }

    /// Writes as much of the machine's own message as fits; true if none is left.
    #[cfg_attr(target_os = "none", inline(never))]
    fn run_job(&mut self) -> bool {
        let Some(job) = self.line.job else { return true };
        if !self.rx.is_over() {
            let base = if job.needs_line() { self.line_start() } else { 0 };
            let config = self.config.get();
            let line = self.rx.bytes().get(base..).unwrap_or(&[]);
            let say = Say { config: &config, line, version: self.phase.version() };
            let mut out = self.tx.lend_piece();
            let begun = out.begin(self.line.at);
            say.job(&mut out, &job);
            let (done, written) = out.end_piece(begun);
            self.line.at = self.line.at.saturating_add(written);
            out.commit();
            if !done {
                return false;
            }
        }
        // Nobody reads any more: as good as said.
        (self.line.job, self.line.at) = (None, 0);
        match job {
            Job::Cancelled { slot, .. } => {
                if let Some(slot) = self.slots.at(slot) {
                    slot.free();
                }
            }
            _ if job.needs_line() => self.next_message(),
            _ => {}
        }
        true
    }

    /// A request that was not sent is taken back.
    pub(super) fn settle(&mut self) {
        if let Some(index) = self.line.lent.take() {
            self.tx.roll_back();
            if let Some(slot) = self.slots.at(index) {
                slot.free();
            }
        }
    }
}

//! The state of the machine, and what its parts tell each other.
use super::config::Config;
use super::line::Line;
use crate::frame::Lines;
use crate::json::Raw;
use crate::machine::mem::Span;
use crate::machine::slots::{Slot, Slots, State};
use crate::machine::tx::Tx;
use crate::machine::{Buffers, CallId, Millis};
use crate::mcp::{Ready, Session, Version};
use crate::rpc::Fault;

/// The server's machine. It never reads a clock, never does I/O, never allocates in lent buffers, and never fails: a peer's mistake is an event,
/// answered already.
///
/// **Drain rule:** after any call that changes the machine, call [`poll`](Self::poll) until it returns `Wait`, `Blocked` or `Closed`.
/// **Read rule:** read only into a [`space`](Self::space) that is not empty; after `Wait` it never is.
/// **One at a time:** whatever a call lends ends at the next call on the machine, which settles it. Nothing half written is ever visible in
/// [`output`](Self::output).
/// **Room:** a reply always has the same room ([`ServerConfig::reply`](crate::ServerConfig::reply), or all of the transmit buffer), so what fits never depends on timing.
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
// What is small comes first: the smallest processors reach only the first bytes of a struct by one instruction.
#[repr(C)]
pub struct Server<'b> {
    /// Noise answered in a row.
    pub(super) noise: u8,
    pub(super) changed: bool,
    /// The request at hand is a call that was read and waits for a slot or for room, so that nothing of it is read twice.
    pub(super) waiting: bool,
    pub(super) session: Session,
    pub(super) line: Line,
    pub(super) config: Config<'b>,
    pub(super) slots: Slots<'b>,
    pub(super) asked: Asked,
    pub(super) serial: u32,
    pub(super) tx: Tx<'b>,
    pub(super) most_calls: usize,
    pub(super) drain_until: Option<Millis>,
    pub(super) rx: Lines<'b>,
}

/// `{:#?}` shows all of the state, for telling two states apart.
impl core::fmt::Debug for Server<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if f.alternate() {
            let Self { tx, line, session, asked, serial, noise, changed, drain_until, .. } = self;
            // What is left of a request that is over means nothing.
            let waiting = Some(asked).filter(|_| self.waiting);
            write!(f, "{:#?} {tx:?} {line:?} {session:?} {waiting:?} ", self.rx)?;
            write!(f, "{serial} {noise} {changed} {drain_until:?}")?;
            return self.slots.all().iter().try_for_each(|slot| write!(f, " [{slot:#?}]"));
        }
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
    /// The call that waits, in this slot.
    Call(u16),
    More(u16),
    List,
    Cancelled(CallId),
    Opened {
        version: Version,
        client: Span,
    },
    Fault(Fault, Span),
    Notified {
        method: Span,
        params: Option<Span>,
    },
    Idle,
}

/// The message at hand: its line in the receive buffer, and where in that it stands.
#[derive(Clone, Copy)]
pub(super) struct Hand {
    pub(super) line: Span,
    pub(super) at: Span,
    /// A line feed came.
    pub(super) ended: bool,
}

impl Hand {
    /// Where the message stands in the receive buffer.
    #[inline(never)]
    pub(super) fn place(&self) -> Span {
        self.at.shifted(self.line.start)
    }

    /// A member of the message; null if it is not there.
    #[inline(never)]
    pub(super) fn part<'m>(&self, buffer: &'m [u8], member: Option<Span>) -> Raw<'m> {
        Raw::trusted(member.unwrap_or_default().of(self.place().of(buffer)))
    }
}

/// The request at hand: its parts, from the start of the line. What is not there, or null, is empty. Each request is written over the
/// last one, whose parts are then never looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) id: Span,
    pub(super) params: Span,
    /// The tool, with its quotes; the client's name, from the start of the buffer, once a handshake was agreed on.
    pub(super) name: Span,
    pub(super) arguments: Span,
    pub(super) cursor: Span,
    pub(super) meta: Span,
    pub(super) token: Span,
    /// The revision that was asked for.
    pub(super) version: Span,
    /// All of the message.
    pub(super) at: Span,
    /// The place of the tool in the table, where that spares decoding the name.
    pub(super) tool: Option<u16>,
    /// What it is served with.
    pub(super) ready: Ready,
}

impl Asked {
    const NOTHING: Self = {
        let none = Span::new(0, 0);
        Self {
            id: none,
            params: none,
            name: none,
            arguments: none,
            cursor: none,
            meta: none,
            token: none,
            version: none,
            at: none,
            tool: None,
            ready: Ready::NOT,
        }
    };
}

impl<'b> Server<'b> {
    pub(super) fn with(config: Config<'b>, buffers: Buffers<'b>) -> Self {
        let framing = config.get().rest().framing;
        Self {
            config,
            rx: Lines::over(buffers.rx, framing),
            tx: Tx::new(buffers.tx),
            slots: buffers.slots.fresh(),
            line: Line::default(),
            session: Session::default(),
            waiting: false,
            asked: Asked::NOTHING,
            serial: 1,
            noise: 0,
            changed: false,
            drain_until: None,
            most_calls: 0,
        }
    }
}

impl Server<'_> {
    /// The message at hand needs nothing more.
    pub(super) fn next_message(&mut self) {
        self.waiting = false;
        if self.line.batch.is_none() {
            self.rx.consume();
        }
    }

    /// Where the line at hand starts in the receive buffer.
    pub(super) const fn base(&self) -> usize {
        self.rx.line_start()
    }

    /// Cancels all open calls that are `meant`.
    pub(super) fn doom(&mut self, meant: impl Fn(&Slot) -> bool) {
        for slot in self.slots.all_mut().iter_mut().filter(|s| s.state == State::Open && meant(s)) {
            slot.state = State::Doomed;
        }
    }

    /// Cancels everything, results that are half on the wire included.
    pub(super) fn doom_all(&mut self) -> bool {
        self.line.streaming = None;
        let mut any = false;
        for slot in self.slots.all_mut().iter_mut().filter(|s| s.state != State::Free) {
            slot.state = State::Doomed;
            any = true;
        }
        any
    }

    pub(super) fn cancelled(&mut self, slot: u16) -> Step {
        let Some(s) = self.slots.at(slot) else { return Step::Again };
        let id = CallId { slot, serial: s.serial };
        s.free();
        Step::Cancelled(id)
    }
}

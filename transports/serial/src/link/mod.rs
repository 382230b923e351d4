//! The link layer: what stands between a machine and a line that loses, damages and adds bytes.
mod bytes;
mod plain;
mod receiver;
mod sender;
mod session;
mod wire;

use barewire::Millis;
use plain::{Echo, Line, is_handshake};
use receiver::Receiver;
use sender::Sender;
pub use wire::OVERHEAD;
use wire::{CRC, Head, Kind, Offset, Opening, START, sum};

/// Least room for the receive buffer of a link: any control frame fits.
pub const LEAST_RX: usize = 64;
/// Least room for the transmit buffer of a link that offers the checked mode.
pub const LEAST_TX: usize = 96;
/// First and longest time between two tries to open a session.
const RETRY: u64 = 200;
const RETRY_MOST: u64 = 1000;
/// Then the line stays plain: the server announced what it does not do.
const TRIES: u8 = 12;
/// A client that has nothing to say acknowledges so often, so that a server without the session can say so.
const ALIVE: Millis = Millis(400);
/// A server gives up repeating itself after so many timeouts in a row: nobody is there any more.
const SILENCE: u16 = 30;

/// Which end this is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It opens sessions.
    Client,
    /// It answers.
    Server,
}

/// Whether lines are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Checked {
    /// Never: the line is as good as a pipe, or every byte of RAM counts.
    Never,
    /// As soon as the peer turns out to offer it too. Until then, and with all others, the line is plain.
    #[default]
    Offer,
    /// From the first byte, handshake included, on a line where not even that would get through. For clients, of which the
    /// peer must be a server with [`Offer`](Self::Offer); for a server it is the same as `Offer`.
    Always,
}

/// What a link heard, beside bytes for the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Heard<'a> {
    /// The peer was started again: whatever was agreed is over. Client only.
    Restarted,
    /// A client starts anew; what the machine remembers of the last one is over. Server only.
    NewClient,
    /// From now on lines are checked.
    Checked,
    /// A line between frames that is none: boot text, logs, damage. In plain mode such lines go to the machine, which reports
    /// them.
    Noise(&'a [u8]),
    /// What this end wrote, coming back.
    Echo,
}

/// What happened on a link, since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct LinkStats {
    /// Frames with data that were sent.
    pub frames: u32,
    /// Those of them that had been sent before.
    pub resent: u32,
    /// Acknowledgements that did not come in time.
    pub timeouts: u32,
    /// Lines that were damaged, or no frames.
    pub damaged: u32,
    /// Requests to send again.
    pub asked: u32,
    /// Sessions.
    pub sessions: u32,
}

/// Memory of a link, usable in a `static`. `RX` is at least [`LEAST_RX`], `TX` at least [`LEAST_TX`], or 0 for a line that is
/// never checked.
///
/// The longest frame that the peer may send is a little shorter than `RX`. `TX` holds what the peer has not acknowledged
/// yet: what the line carries in the time of a round trip, 1 KiB at 921,600 baud if that takes 10 ms.
#[derive(Debug)]
pub struct LinkStorage<const RX: usize, const TX: usize> {
    rx: [u8; RX],
    tx: [u8; TX],
}

impl<const RX: usize, const TX: usize> LinkStorage<RX, TX> {
    /// All of it unused.
    #[must_use]
    pub const fn new() -> Self {
        assert!(RX >= LEAST_RX, "too small to receive anything");
        assert!(TX == 0 || TX >= LEAST_TX, "too small for the checked mode");
        Self { rx: [0; RX], tx: [0; TX] }
    }
}

impl<const RX: usize, const TX: usize> Default for LinkStorage<RX, TX> {
    fn default() -> Self {
        Self::new()
    }
}

/// One end of a serial line: sans-IO, without allocation, the same for both ends. [`Node`](crate::Node) joins it with a machine;
/// use that unless the messages come from elsewhere.
///
/// **Wire:** what is read goes into [`receive`](Self::receive), what is to be written comes from [`output`](Self::output), and
/// [`sent`](Self::sent) says how much of it has left. **Stream:** [`ready`](Self::ready) has the peer's bytes, and
/// [`taken`](Self::taken) says how many were used; while [`is_plain`](Self::is_plain), what this end says is written to the wire
/// as it is and told by [`wrote`](Self::wrote), else it goes into [`push`](Self::push).
/// **Time:** [`tick`](Self::tick) before anything else, and again at the [`deadline`](Self::deadline).
pub struct Link<'b> {
    role: Role,
    checked: Checked,
    state: State,
    now: Millis,
    seed: u32,
    rx: Receiver<'b>,
    tx: Sender<'b>,
    window: usize,
    line: Line,
    /// No message came yet: boot text may stand before the first one without a line feed.
    early: bool,
    echo: Echo,
    /// Nothing is half written on the wire.
    between: bool,
    /// A session is to be opened when nothing is half written.
    opens: bool,
    /// What was half written will not go on: a line feed ends it.
    broken: bool,
    due: Due,
    control: Control,
    /// When a client must show that it is there.
    alive: Millis,
    stats: LinkStats,
}

/// How far a session of the checked mode is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Plain,
    /// Client: asks until the answer comes.
    Opening {
        fresh: bool,
        again: Option<Millis>,
        pause: u64,
        tries: u8,
    },
    /// Server: the session starts when the plain message that is being written is over.
    Switching,
    Checked,
}

/// Control frames that are to be written.
#[derive(Clone, Copy, Default)]
struct Due {
    hello: bool,
    reset: bool,
    open: bool,
}

/// A control frame that is being written.
#[derive(Clone, Copy)]
struct Control {
    bytes: [u8; 40],
    len: usize,
    at: usize,
}

impl Control {
    const NONE: Self = Self { bytes: [0; 40], len: 0, at: 0 };

    fn put(&mut self, bytes: &[u8]) {
        if let Some(room) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            bytes::copy(room, bytes);
            self.len += bytes.len();
        }
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..self.len).unwrap_or(&[])
    }
}

impl<'b> Link<'b> {
    /// An end over `storage`. A server says at once that it has started (unless it never checks lines), so that a client which
    /// knows better does not wait for answers of the one before.
    #[must_use]
    pub fn new<const RX: usize, const TX: usize>(
        role: Role,
        checked: Checked,
        storage: &'b mut LinkStorage<RX, TX>,
    ) -> Self {
        Self::over(role, checked, &mut storage.rx, &mut storage.tx)
    }

    /// The same over slices. One that is too short for the checked mode means that lines are never checked.
    #[must_use]
    pub fn over(role: Role, checked: Checked, rx: &'b mut [u8], tx: &'b mut [u8]) -> Self {
        let fits = tx.len() >= LEAST_TX && rx.len() >= LEAST_RX;
        let checked = if fits { checked } else { Checked::Never };
        let hello = checked != Checked::Never && role == Role::Server;
        let mut link = Self {
            role,
            checked,
            state: State::Plain,
            now: Millis(0),
            seed: 0,
            window: rx.len(),
            rx: Receiver::new(rx),
            tx: Sender::new(tx),
            line: Line::Start,
            early: true,
            echo: Echo::default(),
            between: true,
            opens: false,
            // Whoever used the line before may have stopped in the middle of a line.
            broken: hello || role == Role::Client,
            due: Due { hello, reset: false, open: false },
            control: Control::NONE,
            alive: Millis(0),
            stats: LinkStats::default(),
        };
        link.state = link.home();
        link
    }

    /// How many bytes may be under way to this end, if that is more than its receive buffer: the driver's own buffers, and what
    /// is read while the rest arrives.
    #[must_use]
    pub fn window(mut self, bytes: usize) -> Self {
        self.window = bytes.clamp(self.rx.capacity(), Offset::HALF - 1);
        self
    }

    /// Tells sessions of a client apart from those before it; any number that is another one after each start, such as a clock's.
    #[must_use]
    pub fn seed(mut self, seed: u32) -> Self {
        self.seed = seed;
        self
    }

    /// A server without the line that says that it has started.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        (self.due.hello, self.broken) = (false, self.role == Role::Client);
        self
    }

    /// What time it is. It must not go back.
    pub fn tick(&mut self, now: Millis) {
        self.now = self.now.max(now);
        match &mut self.state {
            State::Opening { fresh: false, again: Some(at), tries: TRIES.., .. } if self.now >= *at => {
                self.state = State::Plain;
            }
            State::Opening { again, pause, tries, .. } if again.is_none_or(|at| self.now >= at) => {
                *tries = tries.saturating_add(1);
                if again.is_some() {
                    *pause = (*pause * 2).min(RETRY_MOST);
                }
                *again = Some(self.now.after(Millis(*pause)));
                self.due.open = true;
            }
            State::Checked => {
                if self.tx.tick(self.now) {
                    self.stats.timeouts = self.stats.timeouts.wrapping_add(1);
                }
                self.rx.ack_due |= self.role == Role::Client && self.now >= self.alive;
            }
            _ => {}
        }
    }

    /// The moment by which [`tick`](Self::tick) must be called.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        match self.state {
            State::Opening { again, .. } => again,
            State::Checked => {
                let alive = (self.role == Role::Client).then_some(self.alive);
                alive.into_iter().chain(self.tx.deadline()).min()
            }
            _ => None,
        }
    }

    /// The peer offers the checked mode, and the MCP session is open: starts using it, when what is half written is over. Does
    /// nothing at an end that does not.
    pub fn open(&mut self) {
        if self.offers() && self.role == Role::Client && self.state == State::Plain {
            if !self.between && !self.broken {
                self.opens = true;
                return;
            }
            self.state = State::Opening { fresh: false, again: None, pause: RETRY, tries: 0 };
            self.seed = self.seed.wrapping_add(1);
            self.opens = false;
        }
    }

    /// The line is new (a port came back): forgets everything but the statistics.
    pub fn reset(&mut self) {
        self.end_session();
        self.rx.forget();
        (self.line, self.early, self.broken) = (Line::Start, true, true);
    }

    /// How much [`receive`](Self::receive) takes for sure. 0: the machine must take what is ready.
    #[must_use]
    pub fn room(&self) -> usize {
        match self.state {
            // What does not fit is dropped there, and sent again.
            State::Checked => usize::MAX,
            // Two bytes may be added to a line.
            _ => self.rx.room().saturating_sub(2),
        }
    }

    /// Takes bytes from the wire, and says how many. What is not for the machine goes to `heard`.
    pub fn receive(&mut self, bytes: &[u8], heard: &mut dyn FnMut(Heard<'_>)) -> usize {
        let mut rest = bytes;
        loop {
            let n = match self.state {
                _ if rest.is_empty() => 0,
                State::Checked => self.receive_checked(rest, heard),
                _ => self.receive_plain(rest, heard),
            };
            if n == 0 {
                return bytes.len() - rest.len();
            }
            rest = rest.get(n..).unwrap_or(&[]);
        }
    }

    /// Bytes of the peer's stream, in order.
    #[must_use]
    pub fn ready(&self) -> &[u8] {
        self.rx.ready()
    }

    /// The machine took `n` of the ready bytes.
    pub fn taken(&mut self, n: usize) {
        self.rx.taken(n);
    }

    /// Is what this end says written as it is? Neither so while a session is being opened by a client, nor with checked lines;
    /// never while `output` has something.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        matches!(self.state, State::Plain | State::Switching)
    }

    /// Are lines checked?
    #[must_use]
    pub fn is_checked(&self) -> bool {
        self.state == State::Checked
    }

    /// Bytes of this end's stream, for the checked mode; returns how many were taken.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        if self.state == State::Checked { self.tx.push(bytes) } else { 0 }
    }

    /// These bytes of the stream were written to the wire as they are.
    pub fn wrote(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.between = *last == b'\n';
            if self.role == Role::Client {
                self.echo.wrote(bytes);
                if self.opens {
                    self.open();
                }
            }
        }
    }

    const fn offers(&self) -> bool {
        !matches!(self.checked, Checked::Never)
    }

    /// How it starts, and where it goes back to.
    fn home(&self) -> State {
        if self.checked == Checked::Always && self.role == Role::Client {
            State::Opening { fresh: true, again: None, pause: RETRY, tries: 0 }
        } else {
            State::Plain
        }
    }

    /// Everything was delivered, as far as this end knows.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.control.rest().is_empty() && self.tx.is_empty()
    }

    /// What happened so far.
    #[must_use]
    pub const fn stats(&self) -> LinkStats {
        self.stats
    }
}

impl core::fmt::Debug for Link<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Link")
            .field("role", &self.role)
            .field("state", &self.state)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

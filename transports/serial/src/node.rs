//! A machine and a link, joined: what a firmware polls.
use crate::link::{Heard, Link, Role};
use barewire::json::Raw;
use barewire::{Client, ClientEvent, Millis, Output, Server, ServerEvent};

/// A machine that can sit on a serial line: [`Server`] or [`Client`]. What it has to do is known to this crate alone.
pub trait Machine: sealed::Sealed {
    /// Which end it is.
    const ROLE: Role;
    /// What it tells the application.
    type Event<'m>
    where
        Self: 'm;
    #[doc(hidden)]
    fn feed(&mut self, bytes: &[u8]) -> usize;
    #[doc(hidden)]
    fn output(&self) -> &[u8];
    #[doc(hidden)]
    fn sent(&mut self, n: usize);
    #[doc(hidden)]
    fn reset(&mut self);
    #[doc(hidden)]
    fn poll(&mut self, now: Millis) -> Output<'_, Self::Event<'_>>;
    /// Does this say that the peer, a server, offers the checked mode?
    #[doc(hidden)]
    fn offers(event: &Self::Event<'_>) -> bool;
}

mod sealed {
    #[allow(unnameable_types)]
    pub trait Sealed {}
}

impl sealed::Sealed for Server<'_> {}

impl Machine for Server<'_> {
    const ROLE: Role = Role::Server;
    type Event<'m>
        = ServerEvent<'m>
    where
        Self: 'm;

    fn feed(&mut self, bytes: &[u8]) -> usize {
        Self::feed(self, bytes)
    }

    fn output(&self) -> &[u8] {
        Self::output(self)
    }

    fn sent(&mut self, n: usize) {
        Self::sent(self, n);
    }

    fn reset(&mut self) {
        Self::reset(self);
    }

    fn poll(&mut self, now: Millis) -> Output<'_, ServerEvent<'_>> {
        Self::poll(self, now)
    }

    fn offers(_: &ServerEvent<'_>) -> bool {
        false
    }
}

impl sealed::Sealed for Client<'_> {}

impl Machine for Client<'_> {
    const ROLE: Role = Role::Client;
    type Event<'m>
        = ClientEvent<'m>
    where
        Self: 'm;

    fn feed(&mut self, bytes: &[u8]) -> usize {
        Self::feed(self, bytes)
    }

    fn output(&self) -> &[u8] {
        Self::output(self)
    }

    fn sent(&mut self, n: usize) {
        Self::sent(self, n);
    }

    fn reset(&mut self) {
        Self::reset(self);
    }

    fn poll(&mut self, now: Millis) -> Output<'_, ClientEvent<'_>> {
        Self::poll(self, now)
    }

    fn offers(event: &ClientEvent<'_>) -> bool {
        matches!(event, ClientEvent::Opened { capabilities: Some(json), .. } if offers_checked(*json))
    }
}

/// The vendor key that announces the checked mode, among the `experimental` or `extensions` of a server's capabilities.
pub const KEY: &str = "dev.barewire/checked";

/// What a server with a [`Link`] announces: `ServerConfig::extensions(barewire_serial::EXTENSIONS)`.
pub const EXTENSIONS: &str = r#"{"dev.barewire/checked":{"version":1}}"#;

/// Do these capabilities of a server offer the checked mode of [this version](crate::format)?
#[must_use]
pub fn offers_checked(capabilities: Raw<'_>) -> bool {
    ["experimental", "extensions"].iter().any(|name| {
        let key = capabilities.get(name).and_then(|keys| keys.get(KEY));
        key.and_then(|key| key.get("version")).and_then(Raw::as_u64) == Some(1)
    })
}

/// What a node wants.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn<E> {
    /// Something for the application.
    Event(E),
    /// Read and write, in any of the ways of this crate, then poll again.
    Transfer {
        /// If nothing is to be written, nothing is to be done until bytes arrive, or until this moment.
        until: Option<Millis>,
    },
    /// The machine has closed: a client's handshake failed. [`Node::reset`] tries again; on a line that loses bytes give
    /// `ClientConfig::start` a few seconds, so that this comes soon.
    Closed,
}

/// A machine on a serial line: a [`Server`] or a [`Client`] above a [`Link`].
///
/// **Loop:** [`poll`](Self::poll); on [`Turn::Event`] act, on [`Turn::Transfer`] move bytes: by [`blocking::transfer`](crate::blocking::transfer),
/// by [`asynch::transfer`](crate::asynch::transfer), or by hand with [`output`](Self::output), [`sent`](Self::sent),
/// [`room`](Self::room) and [`receive`](Self::receive). None of them waits, so the last form fits a super-loop or an interrupt.
#[derive(Debug)]
pub struct Node<'b, M> {
    machine: M,
    link: Link<'b>,
    restarts: u32,
    busy: bool,
    /// Where async drivers read to, and what they did last.
    chunk: [u8; CHUNK],
    moved: Moved,
}

/// Bytes that async drivers read at once.
const CHUNK: usize = 64;

/// What a driver did while it held halves of the node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moved {
    Nothing,
    /// Bytes of the chunk.
    Read(usize),
    /// Bytes of the output.
    Written(usize),
}

/// A server on a serial line.
pub type SerialServer<'b> = Node<'b, Server<'b>>;
/// A client on a serial line.
pub type SerialClient<'b> = Node<'b, Client<'b>>;

impl<'b, M: Machine> Node<'b, M> {
    /// Joins them.
    #[must_use]
    pub const fn new(machine: M, link: Link<'b>) -> Self {
        Self { machine, link, restarts: 0, busy: true, chunk: [0; CHUNK], moved: Moved::Nothing }
    }

    /// The machine, to resume calls, to call tools, and so on. Poll afterwards.
    pub fn machine(&mut self) -> &mut M {
        self.settle();
        &mut self.machine
    }

    /// The link.
    pub fn link(&mut self) -> &mut Link<'b> {
        self.settle();
        &mut self.link
    }

    /// How often the peer was started again: of a client, its server; then requests ended with `End::Lost`, and the
    /// handshake starts anew by itself. Of a server, its client, as far as the link can tell; then calls are cancelled.
    pub const fn restarts(&self) -> u32 {
        self.restarts
    }

    /// The line is new (a port came back): both machine and link forget the session.
    pub fn reset(&mut self) {
        self.moved = Moved::Nothing;
        self.machine.reset();
        self.link.reset();
    }

    /// What to do next.
    pub fn poll(&mut self, now: Millis) -> Turn<M::Event<'_>> {
        self.settle();
        self.link.tick(now);
        self.shuffle();
        let until = match self.machine.poll(now) {
            Output::Event(event) => {
                if M::offers(&event) {
                    self.link.open();
                }
                return Turn::Event(event);
            }
            Output::Send(_) => {
                self.busy = true;
                None
            }
            Output::Wait { until } | Output::Blocked { until } => {
                self.busy = false;
                until
            }
            Output::Closed => return Turn::Closed,
        };
        Turn::Transfer { until: until.into_iter().chain(self.link.deadline()).min() }
    }

    /// Bytes for the wire; write some, and say how many by [`sent`](Self::sent). Ask again after anything else was called.
    pub fn output(&mut self) -> &[u8] {
        self.settle();
        self.shuffle();
        output(&self.machine, &mut self.link)
    }

    /// `n` bytes of `output` have left.
    pub fn sent(&mut self, n: usize) {
        self.settle();
        self.wrote(n);
    }

    fn wrote(&mut self, n: usize) {
        if !self.link.output().is_empty() {
            self.link.sent(n);
        } else if let Some(bytes) = self.machine.output().get(..n) {
            self.link.wrote(bytes);
            self.machine.sent(n);
        }
    }

    /// How many bytes [`receive`](Self::receive) takes now. 0: poll first; while it stays 0, the application must act.
    pub fn room(&mut self) -> usize {
        self.settle();
        self.shuffle();
        self.link.room()
    }

    /// Takes bytes from the wire; returns how many. Those beyond [`room`](Self::room) may be left.
    pub fn receive(&mut self, bytes: &[u8]) -> usize {
        self.settle();
        self.take(bytes)
    }

    fn take(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        loop {
            let Self { machine, link, restarts, .. } = self;
            let n = link.receive(rest, &mut |heard| {
                if matches!(heard, Heard::Restarted | Heard::NewClient) {
                    *restarts = restarts.wrapping_add(1);
                    machine.reset();
                }
            });
            rest = rest.get(n..).unwrap_or(&[]);
            self.shuffle();
            if n == 0 || rest.is_empty() {
                return bytes.len() - rest.len();
            }
        }
    }

    /// Has the machine more to say, now that its output has left? Then poll instead of waiting for input.
    pub fn is_busy(&mut self) -> bool {
        self.settle();
        self.shuffle();
        self.busy && self.machine.output().is_empty()
    }

    /// Where to read to, what to write, and where to say what was done of it: apart, so that a future can hold all of them.
    pub(crate) fn halves(&mut self) -> (&mut [u8], &[u8], &mut Moved) {
        let room = self.room().min(CHUNK);
        let Self { machine, link, chunk, moved, .. } = self;
        (chunk.get_mut(..room).unwrap_or_default(), output(machine, link), moved)
    }

    /// Does what a driver has left to do.
    fn settle(&mut self) {
        match core::mem::replace(&mut self.moved, Moved::Nothing) {
            Moved::Nothing => {}
            Moved::Read(n) => {
                let chunk = self.chunk;
                self.take(chunk.get(..n).unwrap_or(&[]));
            }
            Moved::Written(n) => self.wrote(n),
        }
    }

    /// Moves what is there between machine and link.
    fn shuffle(&mut self) {
        while !self.link.ready().is_empty() {
            let n = self.machine.feed(self.link.ready());
            if n == 0 {
                break;
            }
            self.link.taken(n);
        }
        if self.link.is_checked() {
            let n = self.link.push(self.machine.output());
            if n > 0 {
                self.machine.sent(n);
            }
        }
    }
}

fn output<'n, M: Machine>(machine: &'n M, link: &'n mut Link<'_>) -> &'n [u8] {
    if !link.output().is_empty() {
        return link.output();
    }
    if link.is_plain() { machine.output() } else { &[] }
}

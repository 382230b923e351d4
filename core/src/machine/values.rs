//! Small values of the run loop.
use core::fmt;

/// Milliseconds since any fixed moment; the caller owns the clock. It must never go back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// The moment `later` after this one; stays at the end of time instead of wrapping.
    #[must_use]
    pub const fn after(self, later: Self) -> Self {
        Self(self.0.saturating_add(later.0))
    }
}

/// What `poll` wants. Closed on purpose: a run loop must know every arm.
#[must_use]
#[derive(Debug)]
pub enum Output<'m, E> {
    /// Write some of it, then say how much with `sent`. Whole messages end in LF and hold no other LF; a piece may end
    /// anywhere. Comes only when no event can be lent, so that many answers make one write; `output` shows the same
    /// bytes at any time.
    Send(&'m [u8]),
    /// Something for the application.
    Event(E),
    /// Read, or come back at `until`.
    Wait {
        /// The moment by which `poll` must be called although nothing was read.
        until: Option<Millis>,
    },
    /// Nothing goes on until the application acts: deferred calls hold all slots and one more waits, a result is
    /// paused, or the input is over and deferred calls are still open.
    Blocked {
        /// The moment by which `poll` must be called although nothing was done.
        until: Option<Millis>,
    },
    /// Everything is answered and sent after `end_of_input`, or the connection never opened.
    Closed,
}

/// Both directions at once, for a driver that reads while a write is under way.
#[derive(Debug)]
pub struct Io<'m> {
    /// Room to read into; say how much was read with `filled`.
    pub space: &'m mut [u8],
    /// Bytes to write; say how much was written with `sent`.
    pub output: &'m [u8],
}

/// How input is divided into messages. Output is the same in both: one LF after each message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Framing {
    /// At line feeds, as the specification has it for byte streams (2026-07-28, basic/transports/stdio).
    #[default]
    Lines,
    /// By `end_of_message`; a line feed inside a message is white space. For WebSocket, MQTT, MessagePort and the like.
    Messages,
}

/// What becomes of input that carries no readable request id: bytes that are not JSON, scalars, arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Noise {
    /// It is only reported. Right where lines get lost or echoed, as on a serial port.
    #[default]
    Ignore,
    /// It is answered, eight times in a row at most. Right on pipes.
    Answer,
}

/// There is no room. After bytes were sent it may succeed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message does not fit its room in the transmit buffer")
    }
}
impl core::error::Error for Full {}

/// Why a deferred or paused call can't be answered now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// It was cancelled, has ended, or never was: drop the answer.
    Gone,
    /// There is no room, or another message is half on the wire: send, then try again.
    Full,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "the call was cancelled or has ended; drop its answer",
            Self::Full => "the transmit buffer is in use; send, then try again",
        })
    }
}
impl core::error::Error for Refused {}

/// High-water marks, for choosing sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// The most bytes of input that waited at once, the message being read included.
    pub receive: usize,
    /// The most bytes of output that waited at once.
    pub transmit: usize,
    /// The most calls that were open at once.
    pub calls: usize,
}

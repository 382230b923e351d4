//! What a transport says of itself.

use crate::faults::{SpecError, number, wrong};
use core::str::FromStr;

/// What is carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Form {
    /// Bytes without borders: a pipe, a socket, a serial line.
    Stream,
    /// Messages that arrive whole or not at all: a WebSocket, a queue, a radio that reassembles.
    Messages,
}

/// What a transport claims. The suite checks what is claimed, and skips by name what is not.
///
/// A claim that is left out costs checks, never correctness: claim all that you want to rely on.
///
/// ```
/// use barewire_testkit::Claims;
/// let tcp = Claims::stream().half_close();
/// let radio = Claims::messages().largest(64 << 10);
/// assert_eq!(radio, "messages,largest=64k".parse().unwrap());
/// # let _ = tcp;
/// ```
///
/// As text, for command lines: `stream` or `messages`, then any of `half-close`, `noise`, `unreliable`, `unordered`, `single`,
/// `endless`, `largest=BYTES`, `holds=BYTES`, with commas between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct Claims {
    pub(crate) form: Form,
    pub(crate) reliable: bool,
    pub(crate) ordered: bool,
    pub(crate) half_close: bool,
    pub(crate) noise: bool,
    pub(crate) single: bool,
    pub(crate) endless: bool,
    pub(crate) largest: usize,
    pub(crate) holds: usize,
}

impl Claims {
    /// A byte stream that loses nothing and keeps the order.
    pub const fn stream() -> Self {
        Self::new(Form::Stream)
    }

    /// A message channel that loses nothing and keeps the order.
    pub const fn messages() -> Self {
        Self::new(Form::Messages)
    }

    const fn new(form: Form) -> Self {
        Self {
            form,
            reliable: true,
            ordered: true,
            half_close: false,
            noise: false,
            single: false,
            endless: false,
            largest: usize::MAX,
            holds: 16 << 20,
        }
    }

    /// One direction can end while the other goes on. MCP over pipes needs it: a client closes the server's input,
    /// and the server answers what it has accepted.
    pub const fn half_close(mut self) -> Self {
        self.half_close = true;
        self
    }

    /// What is not a message goes through, or is dropped, and does no harm to its neighbours.
    pub const fn noise(mut self) -> Self {
        self.noise = true;
        self
    }

    /// Messages may get lost. What is left to check is that the rest arrives whole, and that everything ends.
    pub const fn unreliable(mut self) -> Self {
        self.reliable = false;
        self
    }

    /// Messages may overtake each other.
    pub const fn unordered(mut self) -> Self {
        self.ordered = false;
        self
    }

    /// There is one connection at a time, as on a serial line.
    pub const fn single(mut self) -> Self {
        self.single = true;
        self
    }

    /// There is no end that the far end could see: a line between two UARTs. A peer that goes is only silent, and the next
    /// one comes over the same line. Each connection is then another session with the same server, which never ends: hand
    /// over [`Link::to_server`](crate::Link::to_server). Its client's end is given up by dropping the writing half; the
    /// reading half ends with it.
    pub const fn endless(mut self) -> Self {
        self.endless = true;
        self
    }

    /// Bytes of the longest message, without its line feed. Without a limit, messages of more than 16 MiB are tried.
    /// The suite's own messages take up to 1,024 bytes, so a lower limit leaves most checks out.
    pub const fn largest(mut self, bytes: usize) -> Self {
        self.largest = bytes;
        self
    }

    /// The most bytes that lie inside the transport while nobody reads; 16 MiB unless set.
    pub const fn holds(mut self, bytes: usize) -> Self {
        self.holds = bytes;
        self
    }

    /// `size`, or what of it fits into the longest message beside the envelope.
    pub(crate) fn payload(&self, size: usize) -> usize {
        size.min(self.largest.saturating_sub(ENVELOPE))
    }
}

/// What the suite's messages need beside their payload.
pub(crate) const ENVELOPE: usize = 512;
/// The least that `largest` may be for checks that call tools.
pub(crate) const LEAST: usize = 1024;

impl FromStr for Claims {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        const FORM: &str = "stream or messages, which comes first";
        const CLAIM: &str =
            "one of half-close, noise, unreliable, unordered, single, endless, largest=BYTES, holds=BYTES";
        let mut parts = text.split(',').map(str::trim);
        let mut claims = match parts.next().unwrap_or_default() {
            "stream" => Self::stream(),
            "messages" => Self::messages(),
            other => return Err(wrong(other, FORM)),
        };
        for part in parts {
            let bytes = |value: &str| number(value).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
            claims = match part.split_once('=') {
                None => match part {
                    "half-close" => claims.half_close(),
                    "noise" => claims.noise(),
                    "unreliable" => claims.unreliable(),
                    "unordered" => claims.unordered(),
                    "single" => claims.single(),
                    "endless" => claims.endless(),
                    _ => return Err(wrong(part, CLAIM)),
                },
                Some(("largest", value)) => claims.largest(bytes(value)?),
                Some(("holds", value)) => claims.holds(bytes(value)?),
                Some(_) => return Err(wrong(part, CLAIM)),
            };
        }
        Ok(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_as_text() {
        let all = Claims::stream().half_close().noise().unreliable().unordered().single().endless();
        assert_eq!(
            "stream, half-close,noise,unreliable,unordered,single,endless,largest=2k,holds=5".parse(),
            Ok(all.largest(2048).holds(5))
        );
        for bad in ["", "half-close", "stream,fast", "stream,largest", "stream,largest=x", "stream,size=1"] {
            assert!(bad.parse::<Claims>().is_err(), "{bad}");
        }
    }
}

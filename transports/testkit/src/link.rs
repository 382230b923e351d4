//! One connection through the transport under test.

use crate::lines::{Inbox, Outbox};
use core::{fmt, time::Duration};
use std::io::{self, Read, Write};

/// The reading half of a byte stream.
pub(crate) type Input = Box<dyn Read + Send>;
/// The writing half of a byte stream.
pub(crate) type Output = Box<dyn Write + Send>;
/// Sends one message.
pub(crate) type Sender = Box<dyn FnMut(&[u8]) -> io::Result<()> + Send>;
/// Receives one message; `None` at the end.
pub(crate) type Receiver = Box<dyn FnMut() -> io::Result<Option<Vec<u8>>> + Send>;

/// One end of a connection: a half that writes and a half that reads, usable in two threads.
///
/// **Dropping the writing half ends the output:** the peer reads all that was written, then the end. If the transport
/// claims [`half_close`](crate::Claims::half_close), the other direction goes on until its own writing half is dropped.
///
/// **Dropping both halves ends everything:** whoever waits at the peer, reading or writing, is released.
pub struct End(pub(crate) Halves);

pub(crate) enum Halves {
    Stream(Input, Output),
    Messages(Sender, Receiver),
}

impl End {
    /// An end of a byte stream. Both halves block.
    pub fn stream(read: impl Read + Send + 'static, write: impl Write + Send + 'static) -> Self {
        Self(Halves::Stream(Box::new(read), Box::new(write)))
    }

    /// An end of a message channel. Each call of `send` is one message, each `Some` of `receive` is one; `None` is the
    /// end. Both block. The halves are dropped by dropping the closures.
    pub fn messages(
        send: impl FnMut(&[u8]) -> io::Result<()> + Send + 'static,
        receive: impl FnMut() -> io::Result<Option<Vec<u8>>> + Send + 'static,
    ) -> Self {
        Self(Halves::Messages(Box::new(send), Box::new(receive)))
    }

    /// An end of an asynchronous byte stream; each half is driven by the thread that uses it. What your runtime needs
    /// to make progress (its reactor) must run in threads of its own.
    #[cfg(feature = "futures")]
    pub fn futures(
        read: impl futures_lite::AsyncRead + Send + Unpin + 'static,
        write: impl futures_lite::AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        use futures_lite::io::BlockOn;
        Self::stream(BlockOn::new(read), BlockOn::new(write))
    }

    /// As a stream of lines, whatever it is: this is how a message channel is given to a driver of byte streams.
    /// Each line becomes one message without its line feed, and each message one line; a line feed inside a message
    /// is white space and becomes a space.
    ///
    /// ```
    /// # fn f(end: barewire_testkit::End) -> std::io::Result<()> {
    /// let (read, write) = end.into_lines();
    /// barewire_testkit::serve(read, write)
    /// # }
    /// ```
    pub fn into_lines(self) -> (Box<dyn Read + Send>, Box<dyn Write + Send>) {
        match self.0 {
            Halves::Stream(read, write) => (read, write),
            Halves::Messages(send, receive) => (Box::new(Inbox::new(receive)), Box::new(Outbox::new(send))),
        }
    }
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Halves::Stream(..) => "End::Stream",
            Halves::Messages(..) => "End::Messages",
        })
    }
}

/// Says whether the far end is gone within a time; an error says what is still there.
pub(crate) type Gone = Box<dyn FnOnce(Duration) -> Result<(), String> + Send>;

/// A connection from a client to a server through the transport.
#[derive(Debug)]
pub struct Link {
    pub(crate) client: End,
    pub(crate) far: Far,
}

/// Where the server's end is.
pub(crate) enum Far {
    Here(End),
    There(Option<Gone>),
}

impl fmt::Debug for Far {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Here(_) => "Here",
            Self::There(_) => "There",
        })
    }
}

impl Link {
    /// Both ends are in this process; the suite runs its server at the second.
    pub fn pair(client: End, server: End) -> Self {
        Self { client, far: Far::Here(server) }
    }

    /// The server's end is elsewhere, and the suite's server ([`serve`](crate::serve)) runs behind it already.
    /// Checks that need both ends in their hands see less, or are skipped.
    pub fn to_server(client: End) -> Self {
        Self { client, far: Far::There(None) }
    }

    /// How to find out, after the client's end was closed, that nothing is left of the far end: given a time to wait
    /// at most, an error says what is still there.
    #[must_use]
    pub fn gone(mut self, gone: impl FnOnce(Duration) -> Result<(), String> + Send + 'static) -> Self {
        if let Far::There(slot) = &mut self.far {
            *slot = Some(Box::new(gone));
        }
        self
    }
}

/// The client's end, then the server's.
impl From<(End, End)> for Link {
    fn from((client, server): (End, End)) -> Self {
        Self::pair(client, server)
    }
}

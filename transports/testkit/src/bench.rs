//! What checks work with: connections, servers, time.

use crate::{
    Claims, Link,
    link::{End, Far, Gone},
    motion::{Moved, Pieces},
    peer::Peer,
    serve,
    wrap::{Counted, Cut},
};
use core::time::Duration;
use std::{
    io::{self, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc},
    thread,
};

/// Why a check did not pass.
#[derive(Debug)]
pub(crate) enum Halt {
    Failed(String),
    Skip(&'static str),
}

impl From<String> for Halt {
    fn from(what: String) -> Self {
        Self::Failed(what)
    }
}

pub(crate) struct Bench<'f> {
    pub(crate) claims: Claims,
    pub(crate) patience: Duration,
    pub(crate) connect: &'f mut dyn FnMut() -> io::Result<Link>,
}

impl Bench<'_> {
    pub(crate) fn link(&mut self) -> Result<Link, Halt> {
        let link = (self.connect)()
            .map_err(|error| Halt::Failed(format!("no connection could be made: {error}")))?;
        match link.far {
            Far::Here(_) if self.claims.endless => Err(Halt::Failed(
                "a server whose input never ends can't be ended by the suite: hand over `Link::to_server`"
                    .into(),
            )),
            _ => Ok(link),
        }
    }

    /// Both ends in our hands, the client's first.
    pub(crate) fn pair(&mut self) -> Result<(End, End), Halt> {
        let link = self.link()?;
        match link.far {
            Far::Here(server) => Ok((link.client, server)),
            Far::There(_) => Err(Halt::Skip("it needs both ends, and the far one is elsewhere")),
        }
    }

    /// The same, or nothing where the far end is elsewhere.
    pub(crate) fn both_ends(&mut self) -> Result<Option<(End, End)>, Halt> {
        match self.pair() {
            Ok(pair) => Ok(Some(pair)),
            Err(Halt::Skip(_)) => Ok(None),
            Err(failed) => Err(failed),
        }
    }

    /// A client by hand, connected to the suite's server.
    pub(crate) fn open(&mut self) -> Result<Session, Halt> {
        self.open_with(Pieces::LARGE, |write| write)
    }

    /// The same, in pieces, with the server's writing half wrapped.
    pub(crate) fn open_with<W: Write + Send + 'static>(
        &mut self,
        pieces: Pieces,
        wrap: impl FnOnce(Box<dyn Write + Send>) -> W,
    ) -> Result<Session, Halt> {
        let link = self.link()?;
        let moved = Moved::default();
        let server = match link.far {
            Far::There(gone) => Server::There(gone),
            Far::Here(end) => {
                let (read, write) = end.into_lines();
                let write = Counted(wrap(write), Arc::clone(&moved));
                Server::start(Cut(read, pieces.read), Cut(write, pieces.write)).map_err(broken)?
            }
        };
        let (read, write) = link.client.into_lines();
        let mut peer = Peer::new(read, write, pieces, moved, self.patience).map_err(broken)?;
        if self.claims.endless {
            peer.greet()?;
        }
        Ok(Session { peer, server })
    }

    /// The client's end as lines, and the server running behind it.
    pub(crate) fn lines(&mut self) -> Result<(Halves, Server), Halt> {
        let link = self.link()?;
        let server = match link.far {
            Far::There(gone) => Server::There(gone),
            Far::Here(end) => {
                let (read, write) = end.into_lines();
                Server::start(read, write).map_err(broken)?
            }
        };
        Ok((link.client.into_lines(), server))
    }

    /// How often something may be tried, and how long each time.
    pub(crate) fn tries(&self) -> (usize, Duration) {
        if self.claims.reliable { (1, self.patience) } else { (20, self.patience / 10) }
    }
}

/// Two halves of an end.
pub(crate) type Halves = (Box<dyn Read + Send>, Box<dyn Write + Send>);

pub(crate) struct Session {
    pub(crate) peer: Peer,
    pub(crate) server: Server,
}

pub(crate) enum Server {
    Here(mpsc::Receiver<Result<(), String>>),
    There(Option<Gone>),
}

impl Server {
    pub(crate) fn start(
        read: impl Read + Send + 'static,
        write: impl Write + Send + 'static,
    ) -> io::Result<Self> {
        let (tell, ended) = mpsc::channel();
        thread::Builder::new().name("kit-server".into()).spawn(move || {
            let served = catch_unwind(AssertUnwindSafe(|| serve(read, write)));
            let _ = tell.send(match served {
                Ok(served) => served.map_err(|error| error.to_string()),
                Err(_) => Err("it panicked".to_owned()),
            });
        })?;
        Ok(Self::Here(ended))
    }

    /// Waits for its end; `Err` says that it did not come. What the server says of a broken line is no fault here.
    pub(crate) fn ended(&mut self, patience: Duration) -> Result<(), String> {
        match self {
            Self::Here(ended) => match ended.recv_timeout(patience) {
                Ok(Err(what)) if what == "it panicked" => Err("the transport panicked at the server".into()),
                Ok(_) => Ok(()),
                Err(_) => Err(format!("the server had not seen the end after {patience:?}")),
            },
            Self::There(gone) => gone.take().map_or(Ok(()), |gone| gone(patience)),
        }
    }
}

/// Runs it in a thread of its own; `None` if it takes longer than `patience`, and then the thread is left to itself.
pub(crate) fn within<T: Send + 'static>(
    patience: Duration,
    run: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (tell, result) = mpsc::channel();
    let spawned = thread::Builder::new().name("kit-try".into()).spawn(move || {
        let _ = tell.send(run());
    });
    spawned.ok()?;
    result.recv_timeout(patience).ok()
}

pub(crate) fn broken(error: io::Error) -> Halt {
    Halt::Failed(format!("this system starts no more threads: {error}"))
}

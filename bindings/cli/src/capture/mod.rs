//! Captures: what went over the wire, read by read, and the files that hold it.
//!
//! An [`Entry`] is one read of one stream, or one event. The format is described in `docs/capture.md`; this module
//! reads it ([`read`]) and writes it ([`write`]). It never looks inside the bytes that were carried.

pub(crate) mod base64;
pub(crate) mod queue;
pub(crate) mod read;
pub(crate) mod write;

/// Microseconds since the session began.
pub(crate) type Micros = u64;

/// Which stream bytes belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stream {
    /// Client to server: the server's stdin.
    C2s,
    /// Server to client: the server's stdout.
    S2c,
    /// The server's stderr.
    Err,
}

impl Stream {
    /// The name in a capture.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::C2s => "c2s",
            Self::S2c => "s2c",
            Self::Err => "err",
        }
    }

    /// The stream of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::C2s, Self::S2c, Self::Err].into_iter().find(|stream| stream.name() == name)
    }

    /// The stream's place in arrays that hold one thing per stream.
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::C2s => 0,
            Self::S2c => 1,
            Self::Err => 2,
        }
    }
}

/// One read, or one event, with its time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// When, or `None` where the file has no times.
    pub(crate) at: Option<Micros>,
    /// What.
    pub(crate) what: What,
}

/// What an entry says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// The bytes of one read.
    Bytes(Stream, Vec<u8>),
    /// Something that is no bytes.
    Event(Event),
}

/// What happened besides bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// The server was started: always the first entry.
    Start {
        /// The command and its arguments; empty where the file does not say.
        command: Vec<String>,
        /// Its process id, where known.
        pid: Option<u32>,
    },
    /// The stream's writer closed it.
    Eof(Stream),
    /// A signal was passed on to the server.
    Signal(String),
    /// The server is gone.
    Exit {
        /// Its exit code, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
    },
    /// The log could not keep up: so many reads are missing here.
    Lost(u64),
    /// An event that this version does not know.
    Other(String),
}

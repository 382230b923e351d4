//! What is compared: contenders, and the digest that each must give.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::corpora::Corpus;

/// Somebody who does a group's work.
///
/// ```
/// use barewire_benches::{Contender, Digest, Group, Kind, Seen, row};
///
/// /// Reads nothing at all.
/// struct Guess;
/// impl Contender for Guess {
///     fn read(&mut self, message: &[u8]) -> Digest {
///         Digest { kind: Kind::Request, body: Seen::of(message), ..Digest::UNKNOWN }
///     }
/// }
/// let mine = row(Group::Read, "guess", "1.0", |_| Some(Guess));
/// # assert_eq!(mine.name, "guess");
/// ```
pub trait Contender {
    /// Does the work on one message, and says what it read.
    fn read(&mut self, message: &[u8]) -> Digest;
}

/// What work is done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Group {
    /// A stream into lines; `body` is all of them.
    Framing,
    /// Kind, id, method, params or result of one message.
    Read,
    /// Of `tools/list` each name, description (both unescaped) and raw schema; of a call's result the text, unescaped. All in `body`.
    Typed,
    /// A message written; `body` from [`Seen::written`].
    Write,
    /// Text to a JSON string, which is the `body`.
    Escape,
    /// A JSON string to text, which is the `body`.
    Unescape,
    /// A call through a client and a server in one thread: `read` is given what the tool answers, and the `body` is what the client got.
    RoundTrip,
}

impl Group {
    /// All of them, in the order of the page.
    pub const ALL: [Self; 7] =
        [Self::Framing, Self::Read, Self::Typed, Self::Write, Self::Escape, Self::Unescape, Self::RoundTrip];

    /// A word for files and arguments.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Framing => "framing",
            Self::Read => "read",
            Self::Typed => "typed",
            Self::Write => "write",
            Self::Escape => "escape",
            Self::Unescape => "unescape",
            Self::RoundTrip => "round-trip",
        }
    }
}

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It has a method and an id.
    Request,
    /// It has a method.
    Notification,
    /// It has a result.
    Response,
    /// It has an error.
    Error,
    /// It is none of these: the contender refuses it.
    Refused,
    /// The contender does not say.
    Unknown,
}

/// What a contender read. It proves that all of them read the same; parts that one cannot give are unknown, and not compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest {
    /// What the message is.
    pub kind: Kind,
    /// The raw id: `7`, `"a"`.
    pub id: Seen,
    /// The method, without its quotes.
    pub method: Seen,
    /// Raw params or result; in other groups what their page says.
    pub body: Seen,
}

impl Digest {
    /// Nothing is known.
    pub const UNKNOWN: Self =
        Self { kind: Kind::Unknown, id: Seen::UNKNOWN, method: Seen::UNKNOWN, body: Seen::UNKNOWN };
    /// The contender says that the message is invalid.
    pub const REFUSED: Self = Self { kind: Kind::Refused, ..Self::UNKNOWN };

    /// A body alone.
    #[must_use]
    pub const fn of(body: Seen) -> Self {
        Self { body, ..Self::UNKNOWN }
    }

    /// Whether both say the same, as far as both say anything.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        let kinds = self.kind == other.kind || self.kind == Kind::Unknown || other.kind == Kind::Unknown;
        let same = |a: Seen, b: Seen| a == b || a == Seen::UNKNOWN || b == Seen::UNKNOWN;
        kinds
            && same(self.id, other.id)
            && same(self.method, other.method)
            && same(self.body, other.body)
            && (self.kind == Kind::Refused) == (other.kind == Kind::Refused)
    }
}

/// While this is not 0, contents are hashed. Under the clock only lengths are taken: a hash of 51 KB takes longer than reading them.
static PROVING: AtomicUsize = AtomicUsize::new(0);

/// Runs `work` with contents hashed.
pub(crate) fn proving<T>(work: impl FnOnce() -> T) -> T {
    PROVING.fetch_add(1, Ordering::Relaxed);
    let done = work();
    PROVING.fetch_sub(1, Ordering::Relaxed);
    done
}

/// Bytes that a contender gave: their length, and while contenders are proved their hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    len: u64,
    hash: u64,
}

impl Seen {
    /// The contender cannot give it.
    pub const UNKNOWN: Self = Self { len: u64::MAX, hash: 0 };
    /// The message has none.
    pub const ABSENT: Self = Self { len: u64::MAX - 1, hash: 0 };
    /// None yet; see [`add`](Self::add).
    pub const EMPTY: Self = Self { len: 0, hash: 0 };

    /// These bytes.
    #[inline]
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut seen = Self::EMPTY;
        seen.add(bytes);
        seen
    }

    /// These bytes, or none.
    #[inline]
    #[must_use]
    pub fn maybe(bytes: Option<&[u8]>) -> Self {
        bytes.map_or(Self::ABSENT, Self::of)
    }

    /// Bytes that a contender has only as a value: they are made while it is proved, not under the clock.
    #[inline]
    #[must_use]
    pub fn made(make: impl FnOnce() -> String) -> Self {
        if PROVING.load(Ordering::Relaxed) == 0 { Self::EMPTY } else { Self::of(make().as_bytes()) }
    }

    /// A message that was written. Order of members and white space are the contender's own, so the values are what counts.
    #[inline]
    #[must_use]
    pub fn written(json: &[u8]) -> Self {
        if PROVING.load(Ordering::Relaxed) == 0 {
            Self::of(json)
        } else {
            Self::of(&crate::proof::canonical(json))
        }
    }

    /// Adds a piece.
    #[inline]
    pub fn add(&mut self, bytes: &[u8]) {
        self.len = self.len.wrapping_add(bytes.len() as u64 + 1);
        if PROVING.load(Ordering::Relaxed) != 0 {
            self.hash = bytes.iter().fold(self.hash ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        }
    }
}

/// A contender of a group, as it stands in a table.
pub struct Row {
    /// What it does.
    pub group: Group,
    /// Who it is.
    pub name: &'static str,
    /// In which version.
    pub version: &'static str,
    /// What a reader should know: what it leaves out, or does besides.
    pub note: &'static str,
    /// It does only a part of the work: a bound that no contender passes.
    pub limit: bool,
    make: Box<Make>,
}

type Make = dyn Fn(&Corpus) -> Option<Box<dyn Runs>>;

impl core::fmt::Debug for Row {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {} {}", self.group.word(), self.name, self.version)
    }
}

/// Registers a contender. `make` gets the corpus that it will read, and says `None` where it cannot do that.
pub fn row<C: Contender + 'static>(
    group: Group,
    name: &'static str,
    version: &'static str,
    make: impl Fn(&Corpus) -> Option<C> + 'static,
) -> Row {
    let make = move |corpus: &Corpus| make(corpus).map(|made| Box::new(made) as Box<dyn Runs>);
    Row { group, name, version, note: "", limit: false, make: Box::new(make) }
}

impl Row {
    /// Says what a reader should know.
    #[must_use]
    pub const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// It does only a part of the work.
    #[must_use]
    pub const fn limit(mut self) -> Self {
        self.limit = true;
        self
    }

    /// The contender, ready to run.
    pub(crate) fn ready(&self, corpus: &Corpus) -> Option<Box<dyn Runs>> {
        (self.make)(corpus)
    }
}

/// A contender behind one call for many messages, so that `read` itself is called directly and may be inlined.
pub(crate) trait Runs {
    fn pass(&mut self, messages: &[Vec<u8>]);
    fn one(&mut self, message: &[u8]) -> Digest;
}

impl<C: Contender> Runs for C {
    fn pass(&mut self, messages: &[Vec<u8>]) {
        for message in messages {
            core::hint::black_box(self.read(core::hint::black_box(message)));
        }
    }

    fn one(&mut self, message: &[u8]) -> Digest {
        self.read(message)
    }
}

//! What is known about a packet once the session before it was seen.

use super::envelope::Looks;
use super::lines::Line;
use super::rules::Finding;
use crate::capture::{Event, Micros};

/// Something to show, in the order of time.
#[derive(Debug)]
pub(crate) enum Item {
    /// A line of the client or the server that is not blank.
    Packet(Box<Packet>),
    /// A line that the server wrote to stderr.
    Stderr {
        /// Without its end.
        text: String,
    },
    /// The server started or ended, a stream was closed, a signal passed.
    Event {
        /// When.
        at: Option<Micros>,
        /// What.
        event: Event,
    },
}

/// One line of the wire.
#[derive(Debug)]
pub(crate) struct Packet {
    /// Counted from 1, over both directions.
    pub(crate) number: usize,
    /// Its bytes, direction and time.
    pub(crate) line: Line,
    /// What it says. A batch's own head comes first and its elements follow; anything else is one message.
    pub(crate) messages: Vec<Message>,
    /// The state of the session after it, in words; empty if there is nothing to say.
    pub(crate) state: String,
    /// Whether that differs from the packet before.
    pub(crate) state_changed: bool,
    /// Packets whose answers are awaited after it.
    pub(crate) open: Vec<usize>,
}

/// One message, or one line that is none.
#[derive(Debug, Default)]
pub(crate) struct Message {
    /// Its kind.
    pub(crate) kind: Kind,
    /// The method: its own, or that of the request it answers.
    pub(crate) method: Option<String>,
    /// The id as it was sent.
    pub(crate) id: Option<String>,
    /// What is called: `get_alerts(state: "TX")`.
    pub(crate) call: Option<String>,
    /// The request that it answers.
    pub(crate) answers: Option<Answers>,
    /// What it says, in plain words.
    pub(crate) sentence: String,
    /// The same, shortly: for the second time that such a message appears.
    pub(crate) brief: String,
    /// Members that matter.
    pub(crate) rows: Vec<Row>,
    /// Broken rules.
    pub(crate) findings: Vec<Finding>,
    /// Whether this is the first of its kind in the session.
    pub(crate) first: bool,
}

/// The kind of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Kind {
    Request,
    Notification,
    Result,
    Error,
    /// Several messages in one line.
    Batch(usize),
    /// A line that is no message, and what it looks like.
    Junk(Looks),
    /// An object that is no message.
    #[default]
    Nonsense,
}

impl Kind {
    /// The protocol's own word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Result => "result",
            Self::Error => "error",
            Self::Batch(_) => "batch",
            Self::Junk(_) | Self::Nonsense => "junk",
        }
    }
}

/// Which request is answered, and how long it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Answers {
    /// The packet that asked.
    pub(crate) number: usize,
    /// Time between the two.
    pub(crate) after: Option<Micros>,
}

/// A member with its meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    /// The member's name, or its place.
    pub(crate) key: String,
    /// Its value, shortened.
    pub(crate) value: String,
    /// What that means.
    pub(crate) gloss: String,
    /// When it is shown.
    pub(crate) when: When,
    /// Whether it is one of a list of like things.
    pub(crate) list: bool,
}

/// When a row is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// Always, also in the short form: it is what the message is about.
    Always,
    /// In the long form.
    Long,
    /// Where everything is told at length, however often it was told before.
    Teach,
    /// Only with `--full`.
    Full,
}

impl Row {
    /// A row of the long form.
    pub(crate) fn new(key: impl Into<String>, value: impl Into<String>, gloss: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into(), gloss: gloss.into(), when: When::Long, list: false }
    }

    /// The same, shown at another time.
    pub(crate) fn when(mut self, when: When) -> Self {
        self.when = when;
        self
    }

    /// The same, as one of a list.
    pub(crate) fn listed(mut self) -> Self {
        self.list = true;
        self
    }
}

/// Totals at the end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Summary {
    /// Packets and bytes of each direction.
    pub(crate) packets: [usize; 2],
    pub(crate) bytes: [usize; 2],
    /// From the first packet to the last.
    pub(crate) span: Option<Micros>,
    /// Requests, and how many of them were answered.
    pub(crate) requests: usize,
    pub(crate) answered: usize,
    /// Broken rules, over all packets.
    pub(crate) findings: usize,
    /// Of those, MUSTs.
    pub(crate) errors: usize,
    /// Requests that were not answered, with what explains it.
    pub(crate) unanswered: Vec<Unanswered>,
    /// Whether the capture begins in the middle.
    pub(crate) late: bool,
}

/// A request without an answer at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unanswered {
    /// The packet.
    pub(crate) number: usize,
    /// `#9 ▶ tools/call slow()`.
    pub(crate) name: String,
    /// Its id as sent.
    pub(crate) id: String,
    /// Whether the client asked.
    pub(crate) by_client: bool,
    /// How long it was open.
    pub(crate) open: Option<Micros>,
    /// A later request that was answered meanwhile.
    pub(crate) meanwhile: Option<usize>,
    /// BW205, where the session is over; a capture of a living one is not judged.
    pub(crate) finding: Option<Finding>,
}

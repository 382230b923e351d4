//! What an application asks, what the server answers, and in which surroundings.

use barewire::{Era, Millis};

/// What a request is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A call of a tool.
    Call,
    /// A list of the tools.
    List,
    /// Any other method.
    Other,
}

/// What the server answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// As it should.
    Good,
    /// A list with this many pages more.
    Pages(u8),
    /// An error.
    Error,
    /// A result that is none.
    Invalid,
    /// One that is longer than the receive buffer.
    Long,
    /// Nothing.
    Never,
}

/// A request of the application.
#[derive(Clone, Debug)]
pub struct Request {
    /// What it is.
    pub kind: Kind,
    /// What the server answers.
    pub answer: Answer,
    /// How long it may take.
    pub limit: Option<Millis>,
    /// The application may give it up, at any time, once.
    pub cancels: bool,
    /// The server may answer again.
    pub again: bool,
    /// What tells its call and its content from others.
    pub tag: String,
}

/// What may happen.
#[derive(Clone, Debug)]
pub struct Script {
    /// For people.
    pub name: &'static str,
    /// What the server speaks.
    pub revision: &'static str,
    /// What the client expects.
    pub era: Era,
    /// What the application asks.
    pub requests: Vec<Request>,
    /// What the server says by itself, once each; without line feed.
    pub extras: Vec<&'static str>,
    /// Slots for requests.
    pub slots: usize,
    /// Bytes to receive.
    pub rx: usize,
    /// Bytes to transmit.
    pub tx: usize,
    /// How many bytes may be sent at once.
    pub drains: &'static [usize],
    /// The server's lines come in two pieces.
    pub cuts: bool,
    /// The input may end at any time.
    pub ends: bool,
    /// The line may be reset, once.
    pub resets: bool,
    /// Other calls may come between one poll and the next.
    pub between: bool,
    /// How often the clock moves.
    pub ticks: u8,
}

impl Script {
    /// A client that expects `era`, and a server that speaks `revision`.
    #[must_use]
    pub const fn new(name: &'static str, era: Era, revision: &'static str) -> Self {
        Self {
            name,
            revision,
            era,
            requests: Vec::new(),
            extras: Vec::new(),
            slots: 2,
            rx: 512,
            tx: 512,
            drains: &[usize::MAX],
            cuts: false,
            ends: false,
            resets: false,
            between: false,
            ticks: 0,
        }
    }

    /// One request more.
    #[must_use]
    pub fn ask(mut self, kind: Kind, answer: Answer) -> Self {
        let tag = format!("<{}>", self.requests.len());
        self.requests.push(Request { kind, answer, limit: None, cancels: false, again: false, tag });
        self
    }

    /// The request before may be given up.
    #[must_use]
    pub fn cancels(mut self) -> Self {
        self.requests.iter_mut().next_back().into_iter().for_each(|r| r.cancels = true);
        self
    }

    /// The request before may be answered twice.
    #[must_use]
    pub fn again(mut self) -> Self {
        self.requests.iter_mut().next_back().into_iter().for_each(|r| r.again = true);
        self
    }

    /// The request before may take so long.
    #[must_use]
    pub fn limit(mut self, ms: u64) -> Self {
        self.requests.iter_mut().next_back().into_iter().for_each(|r| r.limit = Some(Millis(ms)));
        self
    }

    /// The server says this by itself.
    #[must_use]
    pub fn extra(mut self, line: &'static str) -> Self {
        self.extras.push(line);
        self
    }

    /// Slots for requests, and the sizes of the buffers.
    #[must_use]
    pub const fn room(mut self, slots: usize, rx: usize, tx: usize) -> Self {
        (self.slots, self.rx, self.tx) = (slots, rx, tx);
        self
    }

    /// How many bytes may be sent at once.
    #[must_use]
    pub const fn drains(mut self, drains: &'static [usize]) -> Self {
        self.drains = drains;
        self
    }

    /// The server's lines come in two pieces.
    #[must_use]
    pub const fn cuts(mut self) -> Self {
        self.cuts = true;
        self
    }

    /// The input may end at any time.
    #[must_use]
    pub const fn ends(mut self) -> Self {
        self.ends = true;
        self
    }

    /// The line may be reset, once.
    #[must_use]
    pub const fn resets(mut self) -> Self {
        self.resets = true;
        self
    }

    /// Other calls may come between one poll and the next.
    #[must_use]
    pub const fn between(mut self) -> Self {
        self.between = true;
        self
    }

    /// The clock moves so often.
    #[must_use]
    pub const fn ticks(mut self, ticks: u8) -> Self {
        self.ticks = ticks;
        self
    }
}

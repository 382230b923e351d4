//! What a client says to the server, and in which surroundings.

/// What a request asks, and so what it must get.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ask {
    /// `initialize`.
    Open,
    /// `server/discover`.
    Discover,
    /// `ping`.
    Ping,
    /// A method that does not exist.
    Unknown,
    /// `tools/list`.
    List,
    /// A call that is answered at once.
    Now,
    /// A call that is deferred.
    Later,
    /// A call that is deferred, and whose reply is dropped when it is taken up.
    Forgotten,
    /// A call that is deferred, and then answered in pieces.
    LaterStream,
    /// A call that is answered in pieces.
    Stream,
    /// A call that is answered in pieces and stops after the first until it is told to go on.
    Slow,
    /// A call whose reply is dropped.
    Mute,
    /// A call that is answered by an error of its own.
    Fail,
    /// A call that tells progress, then is deferred.
    Progress,
    /// Longer than the receive buffer.
    Long,
    /// Not JSON: answered without an id, or not at all.
    Junk,
}

impl Ask {
    /// The tool of a call.
    #[must_use]
    pub const fn tool(self) -> Option<&'static str> {
        Some(match self {
            Self::Now => "now",
            Self::Later => "later",
            Self::Forgotten => "forgotten",
            Self::LaterStream => "later-stream",
            Self::Stream => "stream",
            Self::Slow => "slow",
            Self::Mute => "mute",
            Self::Fail => "fail",
            Self::Progress => "progress",
            _ => return None,
        })
    }
}

/// A request in a line.
#[derive(Clone, Debug)]
pub struct Request {
    /// In which line it stands.
    pub line: usize,
    /// What it asks.
    pub ask: Ask,
    /// Its id, as JSON.
    pub id: &'static str,
    /// What a call must be answered with.
    pub tag: String,
}

/// What may happen.
#[derive(Clone, Debug)]
pub struct Script {
    /// For people.
    pub name: &'static str,
    /// The revision of requests outside of any handshake.
    pub revision: &'static str,
    /// The lines of the peer, line feeds included.
    pub lines: Vec<Vec<u8>>,
    /// The requests in them.
    pub requests: Vec<Request>,
    /// Which line cancels which id.
    pub cancels: Vec<(usize, &'static str)>,
    /// Slots for calls.
    pub slots: usize,
    /// Bytes to receive.
    pub rx: usize,
    /// Bytes to transmit.
    pub tx: usize,
    /// How many bytes may be sent at once (as many as there are, if that is less).
    pub drains: &'static [usize],
    /// A line comes in pieces that end here: before its line feed is one place, its middle another.
    pub cuts: Cuts,
    /// The input may end at any time.
    pub ends: bool,
    /// The line may be reset, once.
    pub resets: bool,
    /// Other calls may come between one poll and the next.
    pub between: bool,
    /// The list of tools may change, once.
    pub changes: bool,
    /// Calls beyond the slots are refused.
    pub busy: bool,
    /// Noise is answered.
    pub answers_noise: bool,
    /// Whole replies do not fit the transmit buffer.
    pub tight: bool,
}

/// Where a line may be cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cuts {
    /// Nowhere.
    None,
    /// In its middle.
    Middle,
    /// In its middle, and before its line feed.
    Both,
}

/// The revision that claims are about.
pub const MODERN: &str = "2026-07-28";

impl Script {
    /// A peer of `revision`; one with a handshake begins with `initialize`.
    #[must_use]
    pub fn new(name: &'static str, revision: &'static str) -> Self {
        let script = Self {
            name,
            revision,
            lines: Vec::new(),
            requests: Vec::new(),
            cancels: Vec::new(),
            slots: 1,
            rx: 512,
            tx: 128,
            drains: &[usize::MAX],
            cuts: Cuts::None,
            ends: false,
            resets: false,
            between: false,
            changes: false,
            busy: false,
            answers_noise: false,
            tight: false,
        };
        if revision == MODERN { script } else { script.ask(Ask::Open, "\"open\"") }
    }

    fn text(&mut self, ask: Ask, id: &'static str) -> String {
        let tag = format!("<{}>", self.requests.len());
        let line = self.lines.len();
        self.requests.push(Request { line, ask, id, tag: tag.clone() });
        let claim = if self.revision == MODERN {
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"m","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#
        } else {
            r#""_meta":{}"#
        };
        let claim = match ask {
            Ask::Progress => claim.replacen("{", &format!("{{\"progressToken\":{id},"), 1).replace(",}", "}"),
            _ => claim.to_owned(),
        };
        let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"method""#);
        match ask {
            Ask::Open => format!(
                r#"{head}:"initialize","params":{{"protocolVersion":"{}","capabilities":{{}},"clientInfo":{{"name":"m","version":"1"}}}}}}"#,
                self.revision
            ),
            Ask::Discover => format!(r#"{head}:"server/discover","params":{{{claim}}}}}"#),
            Ask::Ping => format!(r#"{head}:"ping"}}"#),
            Ask::Unknown => format!(r#"{head}:"no/such","params":{{{claim}}}}}"#),
            Ask::List => format!(r#"{head}:"tools/list","params":{{{claim}}}}}"#),
            Ask::Long => {
                format!(r#"{head}:"tools/call","params":{{"name":"{}",{claim}}}}}"#, "x".repeat(self.rx))
            }
            Ask::Junk => "{\"jsonrpc\":".to_owned(),
            _ => format!(
                r#"{head}:"tools/call","params":{{"name":"{}","arguments":{{"t":"{tag}"}},{claim}}}}}"#,
                ask.tool().unwrap_or_default()
            ),
        }
    }

    /// One request more, in a line of its own.
    #[must_use]
    pub fn ask(mut self, ask: Ask, id: &'static str) -> Self {
        let text = self.text(ask, id);
        self.lines.push(format!("{text}\n").into_bytes());
        self
    }

    /// Several in one array.
    #[must_use]
    pub fn batch(mut self, asks: &[(Ask, &'static str)]) -> Self {
        let all: Vec<String> = asks.iter().map(|(ask, id)| self.text(*ask, id)).collect();
        self.lines.push(format!("[{}]\n", all.join(",")).into_bytes());
        self
    }

    /// The peer gives a request up.
    #[must_use]
    pub fn cancel(mut self, id: &'static str) -> Self {
        self.cancels.push((self.lines.len(), id));
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        self.lines.push(format!("{line}\n").into_bytes());
        self
    }

    /// Slots for calls, and the sizes of the buffers.
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

    /// Where lines are cut.
    #[must_use]
    pub const fn cuts(mut self, cuts: Cuts) -> Self {
        self.cuts = cuts;
        self
    }

    /// The input may end at any time.
    #[must_use]
    pub const fn ends(mut self) -> Self {
        self.ends = true;
        self
    }

    /// The line may be reset at any time.
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

    /// The tools may change at any time.
    #[must_use]
    pub const fn changes(mut self) -> Self {
        self.changes = true;
        self
    }

    /// Calls beyond the slots are refused.
    #[must_use]
    pub const fn busy(mut self) -> Self {
        self.busy = true;
        self
    }

    /// Whole replies do not fit the transmit buffer.
    #[must_use]
    pub const fn tight(mut self) -> Self {
        self.tight = true;
        self
    }

    /// Noise is answered.
    #[must_use]
    pub const fn answers_noise(mut self) -> Self {
        self.answers_noise = true;
        self
    }

    /// The next piece of input, `at` bytes from its beginning; line feeds included. Empty at the end.
    #[must_use]
    pub fn piece(&self, at: usize) -> &[u8] {
        let mut start = 0;
        for line in &self.lines {
            let end = start + line.len();
            if at < end {
                let inside = at - start;
                let (middle, feed) = (line.len() / 2, line.len() - 1);
                let stop = match self.cuts {
                    Cuts::Middle | Cuts::Both if inside < middle => middle,
                    Cuts::Both if inside < feed => feed,
                    _ => line.len(),
                };
                return &line[inside..stop];
            }
            start = end;
        }
        b""
    }

    /// A call of its own for each slot, to see whether slots are free. The ids are all different from the script's.
    #[must_use]
    pub fn probe(&self, slot: usize) -> Vec<u8> {
        const IDS: [&str; 4] = ["\"p0\"", "\"p1\"", "\"p2\"", "\"p3\""];
        let mut other = Self { requests: Vec::new(), lines: Vec::new(), cancels: Vec::new(), ..self.clone() };
        let text = other.text(Ask::Later, IDS[slot % IDS.len()]);
        format!("{text}\n").into_bytes()
    }

    /// How many bytes all lines before line `index` have.
    #[must_use]
    pub fn start_of(&self, index: usize) -> usize {
        self.lines.iter().take(index).map(Vec::len).sum()
    }
}

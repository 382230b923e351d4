//! The messages that are measured: generated from seeds, so that they are the same everywhere.
//!
//! Small kinds are 1,000 distinct messages; large ones are few. One kind at a time favours everybody's branch predictor
//! alike: what counts are ratios.

mod outgoing;
mod random;
mod spaced;
mod text;

pub(crate) use outgoing::quoted;
pub use outgoing::{Outgoing, ToolDef};
pub use spaced::spaced;

use crate::Group;
use random::Random;
use text::{Language, base64, report, words};

const MANY: usize = 1_000;
const KB51: usize = 51_305;
const MIB: usize = 1 << 20;

/// Messages of one kind.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// A word for the column.
    pub name: &'static str,
    /// What a contender is given, one after the other: lines without their line feeds, but for [`Group::Framing`] one stream
    /// of them, for [`Group::Escape`] text, for [`Group::Unescape`] JSON strings, for [`Group::RoundTrip`] what the tool answers.
    pub messages: Vec<Vec<u8>>,
    /// The same as values, for [`Group::Write`].
    pub outgoing: Vec<Outgoing>,
    /// How many messages one of `messages` holds.
    pub each: usize,
    /// For [`Group::RoundTrip`]: whether 2026-07-28 is spoken.
    pub modern: bool,
}

impl Corpus {
    /// A corpus of one's own, for [`Group::Read`].
    #[must_use]
    pub const fn new(name: &'static str, messages: Vec<Vec<u8>>) -> Self {
        Self { name, messages, outgoing: Vec::new(), each: 1, modern: false }
    }

    fn said(name: &'static str, outgoing: Vec<Outgoing>) -> Self {
        let messages = outgoing.iter().map(|it| it.json().into_bytes()).collect();
        Self { outgoing, ..Self::new(name, messages) }
    }

    fn texts(name: &'static str, texts: impl IntoIterator<Item = String>) -> Self {
        Self::new(name, texts.into_iter().map(String::into_bytes).collect())
    }

    /// Its messages as lines of one stream.
    fn stream(self, lines: usize) -> Self {
        let mut stream = Vec::new();
        for line in self.messages.iter().cycle().take(lines) {
            stream.extend_from_slice(line);
            stream.push(b'\n');
        }
        Self { messages: vec![stream], each: lines, outgoing: Vec::new(), ..self }
    }

    fn spaced(self, name: &'static str) -> Self {
        let lines = self.messages.iter().map(|line| spaced(&String::from_utf8_lossy(line)).into_bytes());
        Self::new(name, lines.collect())
    }

    /// How many messages they are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.messages.len() * self.each
    }

    /// All of their bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.messages.iter().map(Vec::len).sum()
    }
}

/// The corpora of a group.
#[must_use]
pub fn of(group: Group) -> Vec<Corpus> {
    match group {
        Group::Framing => vec![
            call().stream(MANY),
            notification().stream(MANY),
            list("list50", 50, Language::English).stream(30),
            text("text51k", Language::English, KB51).stream(20),
        ],
        Group::Read => vec![
            initialize(),
            ask_list(),
            call(),
            call_ts(),
            call_2026(),
            notification(),
            result(),
            list("list2", 2, Language::English),
            list("list50", 50, Language::English),
            list("list500", 500, Language::English),
            list("zh_list50", 50, Language::Chinese),
            text("text51k", Language::English, KB51),
            text("text1m", Language::English, MIB),
            image(),
            text("zh51k", Language::Chinese, KB51),
            call().spaced("call_spaced"),
            call_2026().spaced("2026_spaced"),
            list("", 50, Language::English).spaced("list50_spaced"),
            text("", Language::Chinese, KB51).spaced("zh51k_spaced"),
        ],
        Group::Typed => vec![
            result(),
            text("text51k", Language::English, KB51),
            text("text1m", Language::English, MIB),
            image(),
            text("zh51k", Language::Chinese, KB51),
            list("list2", 2, Language::English),
            list("list50", 50, Language::English),
            list("list500", 500, Language::English),
            list("zh_list50", 50, Language::Chinese),
        ],
        Group::Write => vec![
            call(),
            notification(),
            result(),
            text("text51k", Language::English, KB51),
            text("text1m", Language::English, MIB),
            text("zh51k", Language::Chinese, KB51),
            list("list50", 50, Language::English),
        ],
        Group::Escape => strings(),
        Group::Unescape => strings()
            .into_iter()
            .map(|corpus| {
                let quote = |text: &Vec<u8>| quoted(&String::from_utf8_lossy(text)).into_bytes();
                Corpus::new(corpus.name, corpus.messages.iter().map(quote).collect())
            })
            .collect(),
        Group::RoundTrip => {
            let mut random = Random::new(11);
            let small: Vec<_> = (0..64).map(|_| words(&mut random, Language::English, 36)).collect();
            let large = vec![report(&mut random, Language::English, KB51)];
            let corpus = |name, texts: &[String], modern| Corpus {
                modern,
                ..Corpus::texts(name, texts.iter().cloned())
            };
            vec![
                corpus("small", &small, false),
                corpus("small_2026", &small, true),
                corpus("text51k", &large, false),
                corpus("text51k_2026", &large, true),
            ]
        }
    }
}

fn state(random: &mut Random) -> &'static str {
    random.pick(&["TX", "CA", "NY", "WA", "FL", "CO", "IL", "OR"])
}

fn call() -> Corpus {
    let mut random = Random::new(1);
    let one = |id| Outgoing::Call {
        id,
        name: "get_alerts".into(),
        arguments: vec![("state".into(), state(&mut random).into())],
    };
    Corpus::said("call", (1..=MANY as u64).map(one).collect())
}

/// In the order of keys of the official TypeScript SDK.
fn call_ts() -> Corpus {
    let mut random = Random::new(1);
    Corpus::texts("call_ts", (1..=MANY).map(|id| {
        format!(r#"{{"method":"tools/call","params":{{"name":"get_alerts","arguments":{{"state":"{}"}}}},"jsonrpc":"2.0","id":{id}}}"#, state(&mut random))
    }))
}

/// With what 2026-07-28 wants in each request.
fn call_2026() -> Corpus {
    let mut random = Random::new(2);
    Corpus::texts("call_2026", (1..=MANY).map(|id| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"get_alerts","arguments":{{"state":"{}"}},"_meta":{{"progressToken":{id},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"host","version":"1.{}.0"}},"io.modelcontextprotocol/clientCapabilities":{{"sampling":{{}},"elicitation":{{}}}}}}}}}}"#, state(&mut random), random.below(40))
    }))
}

fn initialize() -> Corpus {
    let mut random = Random::new(3);
    Corpus::texts("init", (0..MANY).map(|id| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":"2025-06-18","capabilities":{{"roots":{{"listChanged":true}},"sampling":{{}},"elicitation":{{}}}},"clientInfo":{{"name":"example-host","title":"Example Host","version":"1.{}.2"}}}}}}"#, random.below(40))
    }))
}

fn ask_list() -> Corpus {
    Corpus::texts(
        "list",
        (0..MANY).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#)),
    )
}

fn notification() -> Corpus {
    let one = |n: usize| Outgoing::Progress {
        token: (n / 100) as u64,
        done: (n % 100) as u64,
        total: 100,
        message: format!("Reading part {} of 100", n % 100),
    };
    Corpus::said("notification", (0..MANY).map(one).collect())
}

fn result() -> Corpus {
    let mut random = Random::new(4);
    let one = |id| Outgoing::Text { id, text: words(&mut random, Language::English, 36) };
    Corpus::said("result", (1..=MANY as u64).map(one).collect())
}

fn list(name: &'static str, tools: usize, language: Language) -> Corpus {
    let mut random = Random::new(5);
    let distinct = (1_000 / tools).clamp(2, 50);
    let one = |id| Outgoing::Tools {
        id,
        tools: (0..tools).map(|n| ToolDef::random(&mut random, language, n)).collect(),
    };
    Corpus::said(name, (1..=distinct as u64).map(one).collect())
}

fn text(name: &'static str, language: Language, bytes: usize) -> Corpus {
    let mut random = Random::new(6);
    let one = |id| Outgoing::Text { id, text: report(&mut random, language, bytes) };
    Corpus::said(name, (1..=if bytes < MIB { 8 } else { 2 }).map(one).collect())
}

fn image() -> Corpus {
    let mut random = Random::new(7);
    Corpus::texts("img1m", (1..=2).map(|id| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"image","data":"{}","mimeType":"image/png"}}],"isError":false}}}}"#, base64(&mut random, MIB))
    }))
}

fn strings() -> Vec<Corpus> {
    let mut random = Random::new(8);
    let mut few = |name, language, bytes| {
        Corpus::texts(
            name,
            (0..if bytes < MIB { 8 } else { 2 }).map(|_| report(&mut random, language, bytes)),
        )
    };
    let (text, chinese) = (few("text51k", Language::English, KB51), few("zh51k", Language::Chinese, KB51));
    vec![
        Corpus::texts("short40", (0..MANY).map(|_| words(&mut random, Language::English, 36))),
        text,
        Corpus::texts("img1m", (0..2).map(|_| base64(&mut random, MIB))),
        chinese,
    ]
}

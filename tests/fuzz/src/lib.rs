//! What the fuzz targets share: pieces of input, and peers that are driven until they rest.

// Without them arithmetic could wrap unseen (`overflow-checks` is set beside them in Cargo.toml).
const _: () = assert!(cfg!(debug_assertions), "fuzzing needs the checks of [profile.release] in tests/fuzz/Cargo.toml");

use std::fmt::Write as _;

use barewire::{
    BadArgs, Buffers, Call, CallId, Client, ClientConfig, ClientEvent, Fields, FromArgs, Millis, Noise,
    Output, Reply, Server, ServerConfig, ServerEvent, Slot, Tool,
};

/// The first bytes of an input say how it is cut: a seed, a bound of the pieces read, one of the pieces written.
pub struct Cuts<'a> {
    seed: u32,
    read: usize,
    write: usize,
    /// What is left is the input itself.
    pub input: &'a [u8],
}

impl<'a> Cuts<'a> {
    /// `None` for inputs without such a head.
    pub fn new(data: &'a [u8]) -> Option<Self> {
        let [seed, read, write, input @ ..] = data else { return None };
        Some(Self {
            seed: u32::from(*seed) | 1,
            read: 1 + usize::from(*read),
            write: 1 + usize::from(*write),
            input,
        })
    }

    /// The same input in one piece.
    pub fn whole(&self) -> Self {
        Self { seed: 0, read: usize::MAX, write: usize::MAX, input: self.input }
    }

    fn piece(&mut self, most: usize, n: usize) -> usize {
        let n = n.min(most);
        if self.seed == 0 || n < 2 {
            return n;
        }
        self.seed = self.seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1 + (self.seed >> 8) as usize % n
    }

    /// How much to read of `n` bytes.
    pub fn to_read(&mut self, n: usize) -> usize {
        self.piece(self.read, n)
    }

    /// How much to write of `n` bytes.
    pub fn to_write(&mut self, n: usize) -> usize {
        self.piece(self.write, n)
    }
}

/// What a peer wrote, and what it told its application.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Said {
    /// Bytes out.
    pub out: Vec<u8>,
    /// A line for each event.
    pub events: String,
}

impl Said {
    /// Panics unless all that was written is lines of JSON. Only a session that never opened may end within a line: a peer that
    /// answers before it was asked ends it while the question is half out.
    pub fn check(&self) {
        for line in self.out.split_inclusive(|b| *b == b'\n') {
            let Some(text) = line.strip_suffix(b"\n") else {
                assert!(self.events.contains("NotOpened"), "the last line ends");
                continue;
            };
            let value: &serde_json::value::RawValue = serde_json::from_slice(text)
                .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(line)));
            assert!(value.get().starts_with(['{', '[']), "{value}");
        }
    }
}

const ANY: &str = r#"{"type":"object"}"#;
static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "Says it back.", ANY).title("Echo").meta("{}"),
    Tool::new("raw", "Says its arguments back.", ANY),
    Tool::new("later", "Answers later.", ANY),
    Tool::new("stream", "In pieces.", ANY),
    Tool::new("mute", "Never answers.", ANY),
    Tool::new("progress", "Says how far it is.", ANY),
];
static SERVER: ServerConfig<'static> =
    ServerConfig::new("fuzzed", "1").tools(TOOLS).noise(Noise::Answer).page(4).instructions("x");

struct Args<'m> {
    text: &'m str,
    number: f64,
}

impl<'m> FromArgs<'m> for Args<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut args = Self { text: "", number: 0.0 };
        while let Some((key, value)) = fields.next() {
            match key {
                "text" => args.text = value.str("text")?,
                "number" => args.number = value.f64("number")?,
                "inside" => {
                    let mut inside = value.object("inside")?;
                    while let Some((_, value)) = inside.next() {
                        let _ = value.json().kind();
                    }
                }
                _ => {}
            }
        }
        Ok(args)
    }
}

/// A server is fed all of it, with the end of input behind; deferred calls are answered when nothing else goes on.
pub fn server(mut cuts: Cuts<'_>, rx: usize, tx: usize, calls: usize) -> Said {
    let (mut rx, mut tx) = (vec![0; rx], vec![0; tx]);
    let mut slots: Vec<Slot> = (0..calls).map(|_| Slot::FREE).collect();
    let mut server = Server::new(&SERVER, Buffers::new(&mut rx, &mut tx, &mut slots));
    let (mut said, mut waiting) = (Said::default(), Vec::<CallId>::new());
    let (mut rest, mut over, mut left) = (cuts.input, false, 0);
    loop {
        match server.poll(Millis(0)) {
            Output::Send(bytes) => {
                let n = cuts.to_write(bytes.len());
                assert!(n > 0);
                said.out.extend_from_slice(&bytes[..n]);
                server.sent(n);
            }
            Output::Event(ServerEvent::Call(call)) => serve(call, &mut waiting, &mut left),
            Output::Event(ServerEvent::More(reply)) => go_on(reply, &mut left),
            Output::Event(event) => {
                if let ServerEvent::Cancelled(id) = event {
                    waiting.retain(|call| *call != id);
                }
                let _ = writeln!(said.events, "{event:?}");
            }
            Output::Wait { .. } if !rest.is_empty() => {
                let n = cuts.to_read(rest.len());
                let taken = server.feed(&rest[..n]);
                assert!(taken > 0, "waits and takes nothing");
                rest = &rest[taken..];
            }
            Output::Wait { .. } | Output::Blocked { .. } => {
                if !waiting.is_empty() {
                    let id = waiting.remove(0);
                    let _ = server.resume(id).expect("an open call can be resumed").text("now").finish();
                } else {
                    assert!(!over && rest.is_empty(), "blocked without an open call");
                    over = true;
                    server.end_of_input();
                }
            }
            Output::Closed => return said,
        }
    }
}

fn serve(call: Call<'_>, waiting: &mut Vec<CallId>, left: &mut usize) {
    let Call { name, args, mut reply, context, .. } = call;
    match name {
        "raw" => drop(reply.text(args.json().as_str()).finish()),
        "later" => waiting.push(reply.defer()),
        "stream" => {
            *left = 700;
            go_on(reply, left);
        }
        "mute" => drop(reply.text("half")),
        "progress" => {
            for done in [1, 3, 2] {
                let _ = reply.progress(barewire::Progress { done, total: Some(3), message: Some("m\"") });
            }
            let _ = reply.text_fmt(format_args!("{:?}", context.can)).error().finish();
        }
        _ => match args.decode::<Args<'_>>() {
            Ok(args) => drop(reply.text(args.text).text_fmt(format_args!("{:?}", args.number)).finish()),
            Err(bad) => reply.bad_args(bad),
        },
    }
}

fn go_on(mut reply: Reply<'_>, left: &mut usize) {
    static TEXT: &str = match core::str::from_utf8(&[b'"'; 700]) {
        Ok(text) => text,
        Err(_) => "",
    };
    *left -= reply.write_text(&TEXT[700 - *left..]);
    if *left == 0 {
        let _ = reply.finish();
    } else {
        reply.pause();
    }
}

/// A client is fed all of it; it asks for things as soon as it is open.
pub fn client(mut cuts: Cuts<'_>, config: &ClientConfig<'_>, rx: usize, tx: usize) -> Said {
    let (mut rx, mut tx, mut slots) = (vec![0; rx], vec![0; tx], [const { Slot::FREE }; 4]);
    let mut client = Client::new(config, Buffers::new(&mut rx, &mut tx, &mut slots));
    let (mut said, mut rest, mut over) = (Said::default(), cuts.input, false);
    loop {
        let mut opened = false;
        match client.poll(Millis(0)) {
            Output::Send(bytes) => {
                let n = cuts.to_write(bytes.len());
                assert!(n > 0);
                said.out.extend_from_slice(&bytes[..n]);
                client.sent(n);
            }
            Output::Event(event) => {
                opened = matches!(event, ClientEvent::Opened { .. });
                if let ClientEvent::Tool { tool, .. } = event {
                    let _ = writeln!(said.events, "tool {}", tool.json());
                    let tool = tool.decode();
                    let _ = writeln!(said.events, "{tool:?}");
                } else {
                    let _ = writeln!(said.events, "{event:?}");
                }
            }
            Output::Wait { .. } if !rest.is_empty() => {
                let n = cuts.to_read(rest.len());
                let taken = client.feed(&rest[..n]);
                assert!(taken > 0, "waits and takes nothing");
                rest = &rest[taken..];
            }
            Output::Wait { .. } => {
                assert!(!over, "not closed after the end of input");
                over = true;
                client.end_of_input();
            }
            Output::Blocked { .. } => panic!("a client never blocks"),
            Output::Closed => return said,
        }
        if opened {
            let list = client.list_tools(None).and_then(barewire::Request::send);
            let call = client.call_tool("echo").and_then(|r| r.want_progress().send());
            let any = client.request("prompts/list").and_then(barewire::Request::send);
            let _ = writeln!(said.events, "{list:?} {call:?} {any:?}");
        }
    }
}

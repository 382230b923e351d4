//! Both peers in one process: a server and a client, a line between them with latency and pieces, and a clock that is
//! only numbers.
//!
//! Time moves from one thing that happens to the next: bytes arrive, a tool is done, a deadline passes. So a test of
//! an hour takes no time, and the same seed gives the same run.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use barewire::json::Raw;
use barewire::{
    BadArgs, Buffers, Call, CallId, Client, ClientConfig, ClientEvent, Content, Data, End, Fields, FromArgs,
    Millis, Output, Progress, Reply, Server, ServerConfig, ServerEvent, Slot, Tool,
};

use crate::transcript::Random;

const ANY: &str = r#"{"type":"object"}"#;

/// The tools of the simulated server.
pub static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "Says `text` back.", ANY),
    Tool::new("wait", "Answers after `ms`, telling progress every `every` ms.", ANY),
    Tool::new("never", "Never answers.", ANY),
    Tool::new("sum", "Structured.", ANY).title("Sum").output_schema(ANY),
    Tool::new("fail", "Fails.", ANY),
    Tool::new("stream", "`n` bytes in pieces.", ANY),
    Tool::new("image", "A picture of `n` bytes.", ANY),
];

/// How the line between the two behaves.
#[derive(Clone, Copy, Debug)]
pub struct LineConfig {
    /// Milliseconds from writing to arrival, to the server and back.
    pub latency: (u64, u64),
    /// At most this many bytes are written at once.
    pub write: usize,
    /// At most this many bytes are read at once; pieces are of random size up to this if `random`.
    pub read: usize,
    /// Pieces are of random size.
    pub random: Option<u64>,
}

impl LineConfig {
    /// No latency, everything at once.
    pub const DIRECT: Self = Self { latency: (0, 0), write: usize::MAX, read: usize::MAX, random: None };
}

/// Sizes of one side's buffers, and its calls in flight.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Receive.
    pub rx: usize,
    /// Transmit.
    pub tx: usize,
    /// Calls.
    pub calls: usize,
}

/// What the simulated user does, and when.
#[derive(Clone, Debug)]
pub enum Do {
    /// Lists all tools.
    List,
    /// Calls a tool with arguments (JSON); how long it may take, and at most with progress.
    Call(&'static str, String, Option<(u64, Option<u64>)>),
    /// Any request.
    Request(&'static str),
    /// Gives the n-th request up (counted from 1).
    Cancel(usize),
    /// The line breaks: both sides are told that the input is over.
    Break,
    /// The server's list changes.
    Changed,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Story {
    /// What the client was told, a line each; requests are numbered from 1 in the order of sending.
    pub client: Vec<String>,
    /// What the server was told, without calls.
    pub server: Vec<String>,
    /// All that the client wrote.
    pub up: Vec<u8>,
    /// All that the server wrote.
    pub down: Vec<u8>,
    /// What was written, in order: true for the client, and how many bytes.
    pub order: Vec<(bool, usize)>,
    /// When it was over.
    pub end: u64,
}

impl Story {
    /// What the client was told of one request, but for a `_meta` in which a modern server only says who it is.
    #[must_use]
    pub fn of(&self, request: usize) -> Vec<&str> {
        const OWN: &str = r#"meta {"io.modelcontextprotocol/serverInfo":{"name":"board","version":"1.0.0"}}"#;
        let head = format!("{request} ");
        self.client.iter().filter_map(|line| line.strip_prefix(&head)).filter(|line| *line != OWN).collect()
    }
}

struct Wire {
    flying: VecDeque<(u64, Vec<u8>)>,
    /// Arrived and not taken yet.
    waiting: Vec<u8>,
    latency: u64,
}

impl Wire {
    const fn new(latency: u64) -> Self {
        Self { flying: VecDeque::new(), waiting: Vec::new(), latency }
    }

    fn arrive(&mut self, now: u64) {
        while self.flying.front().is_some_and(|(at, _)| *at <= now) {
            self.waiting.extend(self.flying.pop_front().map(|(_, bytes)| bytes).unwrap_or_default());
        }
    }

    fn next(&self) -> Option<u64> {
        self.flying.front().map(|(at, _)| *at)
    }
}

/// A deferred call of the server.
struct Work {
    call: CallId,
    done_at: u64,
    every: u64,
    next: u64,
    told: u64,
}

#[derive(Default)]
struct Args<'m> {
    text: &'m str,
    ms: u64,
    every: u64,
    n: usize,
}

impl<'m> FromArgs<'m> for Args<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut args = Self::default();
        while let Some((key, value)) = fields.next() {
            match key {
                "text" => args.text = value.str("text")?,
                "ms" => args.ms = value.u64("ms")?,
                "every" => args.every = value.u64("every")?,
                "n" => args.n = usize::try_from(value.u64("n")?).map_err(|_| BadArgs::new("n", "less"))?,
                _ => {}
            }
        }
        Ok(args)
    }
}

/// Both peers and the line.
pub struct Pair<'b> {
    server: Server<'b>,
    client: Client<'b>,
    up: Wire,
    down: Wire,
    line: LineConfig,
    random: Random,
    now: u64,
    work: Vec<Work>,
    stream: Option<(usize, usize)>,
    requests: BTreeMap<CallId, usize>,
    sent: Vec<CallId>,
    story: Story,
    opened: bool,
}

impl core::fmt::Debug for Pair<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pair").field("now", &self.now).finish_non_exhaustive()
    }
}

/// Runs a pair: each of `plan` at its moment, counted from when the session is open (or from the start, before it is).
///
/// # Errors
/// When either machine breaks its contract, or a request is refused that should not be.
pub fn run(
    (server, client): (&ServerConfig<'_>, &ClientConfig<'_>),
    (server_sizes, client_sizes): (Sizes, Sizes),
    line: LineConfig,
    plan: &[(u64, Do)],
) -> Result<Story, String> {
    let memory =
        |s: Sizes| (vec![0; s.rx], vec![0; s.tx], (0..s.calls).map(|_| Slot::FREE).collect::<Vec<_>>());
    let (mut s, mut c) = (memory(server_sizes), memory(client_sizes));
    let mut pair = Pair {
        server: Server::new(server, Buffers::new(&mut s.0, &mut s.1, &mut s.2)),
        client: Client::new(client, Buffers::new(&mut c.0, &mut c.1, &mut c.2)),
        up: Wire::new(line.latency.0),
        down: Wire::new(line.latency.1),
        line,
        random: Random::new(line.random.unwrap_or(0)),
        now: 0,
        work: Vec::new(),
        stream: None,
        requests: BTreeMap::new(),
        sent: Vec::new(),
        story: Story::default(),
        opened: false,
    };
    pair.play(plan)?;
    Ok(pair.story)
}

/// When a machine wants to be polled, and whether it is closed.
type Rest = (Option<u64>, bool);

impl Pair<'_> {
    fn play(&mut self, plan: &[(u64, Do)]) -> Result<(), String> {
        let (mut next, mut start) = (0, None);
        for _ in 0..1_000_000 {
            let ((client_until, closed), (server_until, _)) = self.settle()?;
            if self.opened && start.is_none() {
                start = Some(self.now);
            }
            let due = |(at, _): &(u64, Do)| start.map(|start| start + at);
            if let Some((at, act)) = plan.get(next)
                && start.is_some_and(|start| start + at <= self.now)
            {
                next += 1;
                let _ = at;
                self.act(act)?;
                continue;
            }
            let moments = [
                client_until.filter(|_| !closed),
                server_until,
                self.up.next(),
                self.down.next(),
                self.work.iter().map(|w| w.next.min(w.done_at)).min(),
                plan.get(next).and_then(due),
            ];
            let Some(moment) = moments.into_iter().flatten().min() else { break };
            if moment < self.now {
                return Err(format!("a moment in the past: {moment} at {}", self.now));
            }
            if moment == self.now && moments[..2].iter().flatten().any(|m| *m <= self.now) {
                return Err(format!("a machine asks to be polled at {moment}, which it was"));
            }
            self.now = moment;
            if closed && next >= plan.len() {
                break;
            }
        }
        self.story.end = self.now;
        Ok(())
    }

    /// Until neither side can do more now.
    fn settle(&mut self) -> Result<(Rest, Rest), String> {
        for _ in 0..1_000_000 {
            self.up.arrive(self.now);
            self.down.arrive(self.now);
            let before = (self.story.order.len(), self.up.waiting.len(), self.down.waiting.len());
            let client = self.client_side()?;
            self.work_on();
            let server = self.server_side()?;
            self.up.arrive(self.now);
            self.down.arrive(self.now);
            if before == (self.story.order.len(), self.up.waiting.len(), self.down.waiting.len()) {
                return Ok((client, server));
            }
        }
        Err("the two never come to rest".into())
    }

    fn piece(&mut self, most: usize, n: usize) -> usize {
        let n = n.min(most);
        if self.line.random.is_some() && n > 0 { 1 + self.random.below(n) } else { n }
    }

    fn client_side(&mut self) -> Result<Rest, String> {
        for _ in 0..1_000_000 {
            match self.client.poll(Millis(self.now)) {
                Output::Send(bytes) => {
                    let bytes = bytes.to_vec();
                    let n = self.piece(self.line.write, bytes.len());
                    self.story.up.extend_from_slice(&bytes[..n]);
                    self.story.order.push((true, n));
                    self.up.flying.push_back((self.now + self.up.latency, bytes[..n].to_vec()));
                    self.client.sent(n);
                }
                Output::Event(event) => {
                    self.opened |= matches!(event, ClientEvent::Opened { .. });
                    let line = told(event, &self.requests, self.now);
                    self.story.client.push(line);
                }
                Output::Wait { until } => {
                    if self.down.waiting.is_empty() {
                        return Ok((until.map(|u| u.0), false));
                    }
                    let n = self.piece(self.line.read, self.down.waiting.len());
                    let taken = self.client.feed(&self.down.waiting[..n]);
                    if taken == 0 {
                        return Err("the client waits and takes nothing".into());
                    }
                    self.down.waiting.drain(..taken);
                }
                Output::Blocked { .. } => return Err("a client never blocks".into()),
                Output::Closed => {
                    self.down.waiting.clear();
                    return Ok((None, true));
                }
            }
        }
        Err("the client never comes to rest".into())
    }

    fn server_side(&mut self) -> Result<Rest, String> {
        for _ in 0..1_000_000 {
            match self.server.poll(Millis(self.now)) {
                Output::Send(bytes) => {
                    let bytes = bytes.to_vec();
                    let n = self.piece(self.line.write, bytes.len());
                    self.story.down.extend_from_slice(&bytes[..n]);
                    self.story.order.push((false, n));
                    self.down.flying.push_back((self.now + self.down.latency, bytes[..n].to_vec()));
                    self.server.sent(n);
                }
                Output::Event(ServerEvent::Call(call)) => {
                    serve(call, self.now, &mut self.work, &mut self.stream);
                }
                Output::Event(ServerEvent::More(reply)) => go_on(reply, &mut self.stream),
                Output::Event(ServerEvent::Cancelled(id)) => {
                    self.work.retain(|work| work.call != id);
                    self.story.server.push(format!("cancelled at {}", self.now));
                }
                Output::Event(ServerEvent::Opened { client, version }) => {
                    self.story.server.push(format!("opened {} {client}", version.as_str()));
                }
                Output::Event(ServerEvent::Fault { fault, .. }) => {
                    self.story.server.push(format!("fault {fault:?}"));
                }
                Output::Event(event) => self.story.server.push(format!("{event:?}")),
                Output::Wait { until } | Output::Blocked { until } => {
                    let n = self.piece(self.line.read, self.up.waiting.len());
                    let taken = self.server.feed(&self.up.waiting[..n]);
                    if taken == 0 {
                        return Ok((until.map(|u| u.0), false));
                    }
                    self.up.waiting.drain(..taken);
                }
                Output::Closed => {
                    self.up.waiting.clear();
                    return Ok((None, true));
                }
            }
        }
        Err("the server never comes to rest".into())
    }

    /// Tools that are done, or have progress to tell.
    fn work_on(&mut self) {
        let now = self.now;
        let server = &mut self.server;
        self.work.retain_mut(|work| {
            if work.done_at <= now {
                match server.resume(work.call) {
                    Ok(reply) => drop(reply.text("done").finish()),
                    Err(barewire::Refused::Full) => return true,
                    Err(barewire::Refused::Gone) => {}
                }
                return false;
            }
            if work.next <= now {
                let progress = Progress { done: work.told + 1, total: None, message: None };
                if server.progress(work.call, progress).is_ok() {
                    work.told += 1;
                }
                work.next += work.every;
            }
            true
        });
    }

    fn act(&mut self, act: &Do) -> Result<(), String> {
        let sent = match act {
            Do::List => self.client.list_tools(None).and_then(barewire::Request::send),
            Do::Call(name, args, limit) => self.client.call_tool(name).and_then(|request| {
                let request = request.args_json(Raw::new(args).unwrap_or(Raw::NULL)).want_progress();
                let request = match limit {
                    Some((limit, most)) => request.limit(Millis(*limit), most.map(Millis)),
                    None => request,
                };
                request.send()
            }),
            Do::Request(method) => self.client.request(method).and_then(barewire::Request::send),
            Do::Cancel(n) => {
                self.client.cancel(*self.sent.get(n - 1).ok_or("no such request")?);
                return Ok(());
            }
            Do::Break => {
                self.client.end_of_input();
                self.server.end_of_input();
                return Ok(());
            }
            Do::Changed => {
                self.server.tools_changed();
                return Ok(());
            }
        };
        match sent {
            Ok(id) => {
                self.sent.push(id);
                self.requests.insert(id, self.sent.len());
                Ok(())
            }
            Err(e) => Err(format!("{act:?}: {e}")),
        }
    }
}

fn serve(call: Call<'_>, now: u64, work: &mut Vec<Work>, stream: &mut Option<(usize, usize)>) {
    let Call { name, args, reply, .. } = call;
    let args = match args.decode::<Args<'_>>() {
        Ok(args) => args,
        Err(bad) => {
            reply.bad_args(bad);
            return;
        }
    };
    match name {
        "echo" => drop(reply.text(args.text).finish()),
        "sum" => {
            let json = Raw::new(r#"{"sum":[1,{"x":"\u0041"}]}"#).unwrap_or(Raw::NULL);
            let _ = reply.structured(json).meta(Raw::new(r#"{"k":1}"#).unwrap_or(Raw::NULL)).finish();
        }
        "fail" => drop(reply.text("it failed").error().finish()),
        "image" => {
            let bytes: Vec<u8> = (0..args.n).map(|i| i.to_le_bytes()[0]).collect();
            let _ = reply.content(&Content::Image { data: Data::Bytes(&bytes), mime: "image/png" }).finish();
        }
        "stream" => {
            *stream = Some((0, args.n));
            go_on(reply, stream);
        }
        _ => {
            let done_at = if name == "never" { u64::MAX } else { now + args.ms };
            let every = if args.every == 0 { u64::MAX } else { args.every };
            work.push(Work { call: reply.defer(), done_at, every, next: now.saturating_add(every), told: 0 });
        }
    }
}

/// The text that is streamed: lines of 16 bytes.
#[must_use]
pub fn long(n: usize) -> String {
    "0123456789abcde\n".chars().cycle().take(n).collect()
}

fn go_on(mut reply: Reply<'_>, stream: &mut Option<(usize, usize)>) {
    let Some((at, n)) = *stream else { return };
    let text = long(n);
    let at = at + reply.write_text(&text[at..]);
    if at == n {
        *stream = None;
        let _ = reply.finish();
    } else {
        *stream = Some((at, n));
        reply.pause();
    }
}

/// An event in words: whose it is, what, and of long texts how long.
fn told(event: ClientEvent<'_>, requests: &BTreeMap<CallId, usize>, now: u64) -> String {
    let of = |id: CallId| requests.get(&id).map_or_else(|| "?".into(), ToString::to_string);
    let mut line = String::new();
    let _ = match event {
        ClientEvent::Opened { server, version, .. } => {
            write!(line, "opened {server} {} at {now}", version.as_str())
        }
        ClientEvent::NotOpened(end) => write!(line, "not opened: {end} at {now}"),
        ClientEvent::Tool { of: id, tool, .. } => write!(line, "{} tool {}", of(id), tool.decode().name),
        ClientEvent::Content { of: id, content, .. } => match content {
            Content::Text(text) if text.len() > 200 => {
                let same = text == long(text.len());
                write!(line, "{} text of {} ({})", of(id), text.len(), if same { "right" } else { "WRONG" })
            }
            Content::Text(text) => write!(line, "{} text {text:?}", of(id)),
            Content::Image { data: Data::Base64(text), mime } => {
                write!(line, "{} image {mime} of {}", of(id), text.len())
            }
            content => write!(line, "{} {content:?}", of(id)),
        },
        ClientEvent::Structured { of: id, json, .. } => {
            write!(line, "{} structured {}", of(id), json.as_str())
        }
        ClientEvent::Meta { of: id, json, .. } => write!(line, "{} meta {}", of(id), json.as_str()),
        ClientEvent::Json { of: id, json, .. } => write!(line, "{} json {}", of(id), json.as_str()),
        ClientEvent::Progress { of: id, done, .. } => write!(line, "{} progress {done}", of(id)),
        ClientEvent::Ended { of: id, end, .. } => match end {
            End::Done { is_error } => write!(line, "{} {}", of(id), if is_error { "failed" } else { "done" }),
            End::Error { code, .. } => write!(line, "{} error {code}", of(id)),
            End::TimedOut => write!(line, "{} timed out at {now}", of(id)),
            End::Lost => write!(line, "{} lost", of(id)),
            End::Invalid(why) => write!(line, "{} invalid {why:?}", of(id)),
            end => write!(line, "{} {end}", of(id)),
        },
        ClientEvent::Changed { what, .. } => write!(line, "changed {what:?}"),
        ClientEvent::Fault { fault, .. } => write!(line, "fault {fault:?}"),
        event => write!(line, "{event:?}"),
    };
    line
}

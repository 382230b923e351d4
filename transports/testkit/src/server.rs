//! The server that stands behind the transport.

use crate::{
    diary::Ids,
    text::{digest, pattern},
};
use barewire::{ServerConfig, Tool, check_tools, json::Raw};
use barewire_stdio::{Fail, Serve, ToolResult};
use core::time::Duration;
use std::{
    collections::HashSet,
    io::{self, Read, Write},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Instant,
};

/// The tools that the checks call. For servers of your own: see [`Tools`].
pub static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "Gives `text` back.", TEXT),
    Tool::new("sink", "Says how long `text` is, and its digest.", TEXT),
    Tool::new(
        "deaf",
        "Reads no more, and after `number` milliseconds ends as if the input had ended.",
        NUMBER,
    ),
    Tool::new("diary", "Says which ids were received, and which were sent, in what order.", NOTHING),
    Tool::new("source", "Gives a text of `number` bytes.", NUMBER),
    Tool::new("await", "Ends once `text` was raised.", TEXT),
    Tool::new("raise", "Raises `text`.", TEXT),
    Tool::new(
        "hang",
        "Raises `text` with \" runs\" behind it, never ends, and raises it with \" cancelled\" when it is cancelled.",
        TEXT,
    ),
];
const TEXT: &str = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
const NOTHING: &str = r#"{"type":"object"}"#;
const NUMBER: &str = r#"{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}"#;
const _: () = check_tools(TOOLS);

/// How the suite's server presents itself.
pub static CONFIG: ServerConfig<'static> = ServerConfig::new("barewire-testkit", "0.1.0").tools(TOOLS);

/// More than the checks ever leave open at once.
const THREADS: usize = 12;
const QUEUE: usize = 4096;
/// More than the longest payload with its envelope.
const LIMIT: usize = 17 << 20;

/// Serves the suite's tools over any two halves until the input ends: what stands at the far end of a
/// [`Link::to_server`](crate::Link::to_server).
///
/// # Errors
/// What reading or writing failed with; a peer that has gone is a normal end.
pub fn serve(read: impl Read + Send, write: impl Write + Send) -> io::Result<()> {
    let tools = Tools { can_be_deaf: true, ..Tools::default() };
    plan().run_over(Watched(read, &tools), Watched(write, &tools), |call| {
        let cancelled = |time| call.wait_cancelled(time);
        tools.answer(call.name(), call.args_json(), &cancelled).map(ToolResult::text).ok_or(Fail::Unknown)
    })
}

/// The same on stdin and stdout: the `main` of a server for [`Through`](crate::Through).
///
/// # Errors
/// As [`serve`].
pub fn serve_stdio() -> io::Result<()> {
    serve(io::stdin(), io::stdout())
}

/// Tells the tools what passes, and when the input has ended.
struct Watched<'t, T>(T, &'t Tools);

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let deaf = self.1.deaf_until();
        let n = match deaf {
            Some(until) => {
                thread::sleep(until.saturating_duration_since(Instant::now()));
                0
            }
            None => self.0.read(space)?,
        };
        if n == 0 && !space.is_empty() {
            self.1.input_ended();
        }
        self.1.received(&space[..n]);
        Ok(n)
    }
}

impl<W: Write> Write for Watched<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Held meanwhile, so that the peer cannot ask for the diary before this is in it.
        let mut sent = self.1.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let n = self.0.write(bytes)?;
        sent.see(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn plan() -> Serve<'static> {
    let mut limits = barewire::Limits::default();
    (limits.message, limits.reply) = (LIMIT, LIMIT);
    Serve::new(&CONFIG).threads(THREADS).queue(QUEUE).limits(limits)
}

/// What the tools of one server do, for those who want to put a server of their own behind the transport: offer
/// [`TOOLS`], take in calls while others run (12 at once), answer each with the text that [`answer`](Self::answer) gives,
/// and say when the [`input ended`](Self::input_ended) and what bytes were [`received`](Self::received) and
/// [`sent`](Self::sent).
#[derive(Debug, Default)]
pub struct Tools {
    raised: Mutex<HashSet<String>>,
    changed: Condvar,
    received: Mutex<Ids>,
    sent: Mutex<Ids>,
    can_be_deaf: bool,
    deaf: Mutex<Option<Instant>>,
}

impl Tools {
    /// Nothing is raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// These bytes were read. Without it the check `order` does not apply.
    pub fn received(&self, bytes: &[u8]) {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).see(bytes);
    }

    /// These bytes were written. Without it the check `order` does not apply.
    pub fn sent(&self, bytes: &[u8]) {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).see(bytes);
    }

    /// The server's input has ended: raises "end of input".
    pub fn input_ended(&self) {
        self.raise("end of input".to_owned());
    }

    /// Runs a tool to its end; `None` if there is no such tool. `cancelled` sleeps for the given time, or until the
    /// call is cancelled: then it says `true` at once.
    pub fn answer(
        &self,
        name: &str,
        args_json: &str,
        cancelled: &dyn Fn(Duration) -> bool,
    ) -> Option<String> {
        let args = Raw::new(args_json).unwrap_or(Raw::EMPTY_OBJECT);
        let text = || match args.get("text").and_then(Raw::as_string) {
            Some(text) => text.plain().map_or_else(|| text.chars().collect(), str::to_owned),
            None => String::new(),
        };
        Some(match name {
            "echo" => text(),
            "sink" => digest(&text()),
            "deaf" if !self.can_be_deaf => "it cannot".to_owned(),
            "deaf" => {
                let time = args.get("number").and_then(Raw::as_u64).unwrap_or(0).min(60_000);
                let until = Instant::now() + Duration::from_millis(time);
                *self.deaf.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
                "deaf".to_owned()
            }
            "diary" => {
                let list = |ids: &Mutex<Ids>| ids.lock().unwrap_or_else(PoisonError::into_inner).list();
                format!("{};{}", list(&self.received), list(&self.sent))
            }
            "source" => {
                let len = args.get("number").and_then(Raw::as_u64).unwrap_or(0).min(LIMIT as u64);
                pattern(len as usize, len)
            }
            "raise" => {
                self.raise(text());
                "raised".to_owned()
            }
            "await" => {
                let text = text();
                let mut raised = self.lock();
                while !raised.contains(&text) && !cancelled(Duration::ZERO) {
                    // It is woken when something is raised; a cancel is only looked for now and then.
                    raised = self
                        .changed
                        .wait_timeout(raised, Duration::from_millis(20))
                        .unwrap_or_else(PoisonError::into_inner)
                        .0;
                }
                text
            }
            "hang" => {
                let text = text();
                self.raise(format!("{text} runs"));
                while !cancelled(Duration::from_secs(60)) {}
                self.raise(format!("{text} cancelled"));
                text
            }
            _ => return None,
        })
    }

    fn deaf_until(&self) -> Option<Instant> {
        *self.deaf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn raise(&self, text: String) {
        self.lock().insert(text);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

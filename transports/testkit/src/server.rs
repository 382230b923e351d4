//! The server that stands behind the transport.

use crate::text::{digest, pattern};
use barewire::{ServerConfig, Tool, check_tools, json::Raw};
use barewire_stdio::{Fail, Serve, ToolResult};
use core::time::Duration;
use std::{
    collections::HashSet,
    io::{self, Read, Write},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// The tools that the checks call. For servers of your own: see [`Tools`].
pub static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "Gives `text` back.", TEXT),
    Tool::new("sink", "Says how long `text` is, and its digest.", TEXT),
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
pub fn serve(read: impl Read, write: impl Write + Send) -> io::Result<()> {
    let tools = Tools::new();
    plan().run_over(Watched(read, &tools), write, |call| {
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

/// Tells the tools when the input has ended.
struct Watched<'t, R>(R, &'t Tools);

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(space);
        if !space.is_empty() && matches!(n, Ok(0)) {
            self.1.input_ended();
        }
        n
    }
}

fn plan() -> Serve<'static> {
    let mut limits = barewire::Limits::default();
    (limits.message, limits.reply) = (LIMIT, LIMIT);
    Serve::new(&CONFIG).threads(THREADS).queue(QUEUE).limits(limits)
}

/// What the tools of one server do, for those who want to put a server of their own behind the transport: offer
/// [`TOOLS`], take in calls while others run (12 at once), answer each with the text that [`answer`](Self::answer) gives,
/// and say when the [`input ended`](Self::input_ended).
#[derive(Debug, Default)]
pub struct Tools {
    raised: Mutex<HashSet<String>>,
    changed: Condvar,
}

impl Tools {
    /// Nothing is raised.
    pub fn new() -> Self {
        Self::default()
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

    fn raise(&self, text: String) {
        self.lock().insert(text);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

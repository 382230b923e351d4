//! Follows a client's own session: its packets as they go by, the server's last word on stderr, the last answer.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use barewire::Fault;
use barewire::json::Raw;
use barewire_serial::host as serial;
use barewire_stdio::Trace;

use super::tap::signal_of;
use crate::capture::{Entry, Event, Micros, Stream, What};
use crate::failure::{Failure, code, it_wrote};
use crate::packets::export;
use crate::packets::lines::Assembler;
use crate::packets::model::{Item, Summary};
use crate::packets::texts::Table;
use crate::packets::tracker::Tracker;
use crate::packets::view::{View, one_line};
use crate::text::{grouped, printable};

/// The longest line that is looked at: the client reads no longer ones either.
const LINE: usize = 16 << 20;
/// How much is compared to tell a server from an echo.
const SAID: usize = 1 << 10;

/// Where packets are shown.
pub(crate) enum Show {
    /// Nowhere.
    Nothing,
    /// In words, on stderr (`--trace`) or stdout (`demo`).
    Words(View, Box<dyn Write + Send>),
    /// One JSON object each.
    Json(Box<dyn Write + Send>),
}

/// What is remembered of a session; shared with the threads that carry its bytes.
#[derive(Clone)]
pub(crate) struct Record(Arc<Mutex<State>>);

struct State {
    began: Instant,
    tracker: Tracker,
    show: Show,
    command: Vec<String>,
    answers: Assembler,
    /// Whether results are wanted as they came.
    keep: bool,
    /// The newest line of the server with a result, as it came.
    result: Option<Vec<u8>>,
    /// The beginnings of what was written to the server and of what it wrote.
    said: Vec<u8>,
    heard: Vec<u8>,
    stderr: Vec<u8>,
    last_stderr: Option<String>,
    broken: Option<io::Error>,
    pid: Option<u32>,
    told_junk: bool,
}

impl Record {
    /// Begins; `command` is shown as what was started. `keep`: [`result`](Self::result) will be asked for.
    pub(crate) fn new(table: Table, show: Show, command: Vec<String>, keep: bool) -> Self {
        Self(Arc::new(Mutex::new(State {
            began: Instant::now(),
            tracker: Tracker::new(table),
            show,
            command,
            answers: Assembler::new(Stream::S2c, LINE),
            keep,
            result: None,
            said: Vec::new(),
            heard: Vec::new(),
            stderr: Vec::new(),
            last_stderr: None,
            broken: None,
            pid: None,
            told_junk: false,
        })))
    }

    /// Takes what the client traces.
    pub(crate) fn trace(&self, trace: &Trace<'_>) {
        let mut state = self.state();
        let what = match trace {
            Trace::Sent(bytes) => {
                if state.said.is_empty() {
                    state.said.extend(bytes.iter().take(SAID));
                }
                What::Bytes(Stream::C2s, bytes.to_vec())
            }
            Trace::Received(bytes) => {
                let wanted = state.said.len().saturating_sub(state.heard.len());
                state.heard.extend(bytes.iter().take(wanted));
                What::Bytes(Stream::S2c, bytes.to_vec())
            }
            Trace::Stderr(bytes) => {
                state.hear(bytes);
                What::Bytes(Stream::Err, bytes.to_vec())
            }
            Trace::Started { pid } => {
                state.pid = Some(*pid);
                What::Event(Event::Start { command: state.command.clone(), pid: Some(*pid) })
            }
            Trace::Exited(status) => {
                What::Event(Event::Exit { code: status.code(), signal: signal_of(*status) })
            }
            Trace::Restarted => {
                What::Event(Event::Other("the server ended before it answered; it is started again".into()))
            }
            Trace::Junk { line, fault } => {
                state.junk(line, fault);
                return;
            }
            _ => return,
        };
        state.take(what);
    }

    /// Takes what happens at a serial port, its messages aside. `aloud`: what the device prints goes to stderr.
    pub(crate) fn serial(&self, trace: &serial::Trace<'_>, aloud: bool) {
        match trace {
            serial::Trace::Printed(line) => {
                if aloud {
                    let _ = writeln!(io::stderr(), "{}", printable(&String::from_utf8_lossy(line)));
                }
                let line = [line, &b"\n"[..]].concat();
                let mut state = self.state();
                state.hear(&line);
                state.take(What::Bytes(Stream::Err, line));
            }
            serial::Trace::Checked => self.event(Event::Other("from now on lines are checked".into())),
            serial::Trace::Lost(lost) => self.event(Event::Other(lost.to_string())),
            // These are the bytes on the wire; the session's own are traced by its client.
            _ => {}
        }
    }

    /// Adds an event that the client does not trace.
    pub(crate) fn event(&self, event: Event) {
        self.state().take(What::Event(event));
    }

    /// The server's newest line on stderr.
    pub(crate) fn last_stderr(&self) -> Option<String> {
        let state = self.state();
        let partial = String::from_utf8_lossy(&state.stderr).trim().to_owned();
        if partial.is_empty() { state.last_stderr.clone() } else { Some(partial) }
    }

    /// The newest result, as JSON: after a call was answered, that call's.
    pub(crate) fn result(&self) -> Option<String> {
        let line = self.state().result.take()?;
        let raw = Raw::from_bytes(&line).ok()?.get("result")?;
        Some(raw.as_str().to_owned())
    }

    /// Whether the server sends back what is written to it.
    pub(crate) fn echoes(&self) -> bool {
        let state = self.state();
        !state.said.is_empty() && state.heard == state.said
    }

    /// Adds to a failure what the server began to write and did not end.
    pub(crate) fn explain(&self, mut failure: Failure) -> Failure {
        let state = self.state();
        let partial = state.answers.partial();
        if failure.code == code::TIMEOUT && !partial.is_empty() {
            let wrote = format!(
                "{} bytes without a line break, which ends a message: {}",
                grouped(partial.len()),
                one_line(partial)
            );
            failure.message = it_wrote(&failure.message, &wrote);
        }
        failure
    }

    /// Shows what is left, and hands out the totals; an error is that of the output.
    pub(crate) fn finish(&self) -> io::Result<(Summary, Show)> {
        let mut state = self.state();
        let (items, summary) = state.tracker.finish();
        state.show_all(&items);
        let show = core::mem::replace(&mut state.show, Show::Nothing);
        match state.broken.take() {
            Some(error) => Err(error),
            None => Ok((summary, show)),
        }
    }

    /// The child's process id.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.state().pid
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, what: What) {
        let at = Micros::try_from(self.began.elapsed().as_micros()).ok();
        if let What::Bytes(Stream::S2c, bytes) = &what {
            for line in self.answers.push(bytes, at) {
                if self.keep && Raw::from_bytes(&line.bytes).is_ok_and(|raw| raw.get("result").is_some()) {
                    self.result = Some(line.bytes);
                }
            }
        }
        if matches!(self.show, Show::Nothing) {
            return;
        }
        let items = self.tracker.take(&Entry { at, what });
        self.show_all(&items);
    }

    fn show_all(&mut self, items: &[Item]) {
        for item in items {
            let written = match (&mut self.show, item) {
                (Show::Words(view, out), item) => {
                    out.write_all(view.item(item).as_bytes()).and_then(|()| out.flush())
                }
                (Show::Json(out), Item::Packet(packet)) => {
                    out.write_all(&export::packet(packet)).and_then(|()| out.flush())
                }
                _ => Ok(()),
            };
            if let Err(error) = written {
                self.broken.get_or_insert(error);
                self.show = Show::Nothing;
            }
        }
    }

    /// Tells the first slip of the server, unless packets are shown anyway.
    fn junk(&mut self, line: &[u8], fault: &Fault) {
        if core::mem::replace(&mut self.told_junk, true) || !matches!(self.show, Show::Nothing) {
            return;
        }
        let told = match Raw::from_bytes(line.trim_ascii()) {
            Ok(_) => format!("the server slipped ({fault}): {}; --trace shows all", one_line(line)),
            Err(_) if *fault == Fault::Cut => {
                format!("the server's last line was cut off by its end: {}", one_line(line))
            }
            Err(_) => format!("the server wrote {}", not_mcp(line)),
        };
        // Nobody may be reading stderr.
        let _ = writeln!(io::stderr(), "barewire: {told}");
    }

    /// Keeps the newest line of stderr, bounded.
    fn hear(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                b'\n' | b'\r' => {
                    let line = String::from_utf8_lossy(&core::mem::take(&mut self.stderr)).trim().to_owned();
                    if !line.is_empty() {
                        self.last_stderr = Some(line);
                    }
                }
                _ if self.stderr.len() < 1_000 => self.stderr.push(byte),
                _ => {}
            }
        }
    }
}

/// A line that is no message, in words, and how it may have come about.
pub(crate) fn not_mcp(line: &[u8]) -> String {
    let shown = one_line(line);
    if matches!(line.trim_ascii(), b"{" | b"[" | b"[{") {
        return format!("a message over several lines, the first of which is {shown}; each must be one line");
    }
    let means_mcp = line.starts_with(b"{") && line.windows(9).any(|word| word == b"\"jsonrpc\"");
    if means_mcp && Raw::from_bytes(line.trim_ascii()).is_err() {
        return format!("a message that is cut off or spoiled: {shown}");
    }
    format!("a line that is not MCP: {shown}; does it print to stdout?")
}

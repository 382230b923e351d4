//! A client by hand: one thread writes, one reads, and nobody waits for ever.

use crate::{
    motion::{Gate, Moved, Pieces, Seen, reading, still, writing},
    text::shown,
};
use barewire::json::{Raw, write_str};
use core::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};
use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc},
    thread,
};

pub(crate) struct Peer {
    jobs: Option<mpsc::Sender<Vec<u8>>>,
    seen: mpsc::Receiver<Seen>,
    pub(crate) moved: Moved,
    gate: Arc<Gate>,
    serial: u64,
    /// Ids up to this one belong to the sessions before.
    before: u64,
    patience: Duration,
    /// The ids of all answers, as they came.
    pub(crate) came: Vec<u64>,
    /// Lines that are no answers are let pass.
    pub(crate) noisy: bool,
}

/// More than the calls of any session.
const IDS: u64 = 1_000_000;

/// An answer: its text, or what the server refused it with.
type Answer = (u64, Result<String, String>);

impl Peer {
    pub(crate) fn new(
        read: impl Read + Send + 'static,
        write: impl Write + Send + 'static,
        pieces: Pieces,
        moved: Moved,
        patience: Duration,
    ) -> io::Result<Self> {
        let (jobs, todo) = mpsc::channel();
        let (tell, seen) = mpsc::channel();
        let gate = Arc::new(Gate::default());
        let (told, count) = (tell.clone(), Arc::clone(&moved));
        thread::Builder::new().name("kit-write".into()).spawn(move || {
            let mut write = write;
            let written = catch_unwind(AssertUnwindSafe(|| writing(&mut write, &todo, pieces.write, &count)));
            // Told before the half is dropped: what then ends the other direction is a consequence.
            if let Err(error) = written.unwrap_or_else(|_| Err(io::Error::other("it panicked"))) {
                let _ = told.send(Seen::NotWritten(error.to_string()));
            }
        })?;
        let (count, held) = (Arc::clone(&moved), Arc::clone(&gate));
        thread::Builder::new().name("kit-read".into()).spawn(move || {
            let mut rest = Vec::new();
            let read = catch_unwind(AssertUnwindSafe(|| {
                reading(read, &tell, pieces.read, &count, &held, &mut rest)
            }));
            let error = read.unwrap_or_else(|_| Err(io::Error::other("it panicked"))).err();
            let _ = tell.send(Seen::End { rest, error: error.map(|error| error.to_string()) });
        })?;
        Ok(Self {
            jobs: Some(jobs),
            seen,
            moved,
            gate,
            serial: 0,
            before: 0,
            patience,
            came: Vec::new(),
            noisy: false,
        })
    }

    /// Sends a call of a tool with one text; gives its id. Never blocks.
    pub(crate) fn call(&mut self, tool: &str, text: &str) -> u64 {
        let mut args = Vec::from(&b"{\"text\":"[..]);
        write_str(&mut Text(&mut args), text);
        args.push(b'}');
        self.call_with(tool, &args)
    }

    /// The same with a number.
    pub(crate) fn call_number(&mut self, tool: &str, number: usize) -> u64 {
        self.call_with(tool, format!("{{\"number\":{number}}}").as_bytes())
    }

    fn call_with(&mut self, tool: &str, args: &[u8]) -> u64 {
        self.serial += 1;
        let line = call(self.serial, tool, args);
        self.send(line);
        self.serial
    }

    /// Sends a call in two pieces, cut at `at`, or as near to it as it has bytes.
    pub(crate) fn call_cut(&mut self, tool: &str, text: &str, at: usize) -> u64 {
        self.serial += 1;
        let mut line = call(self.serial, tool, format!("{{\"text\":\"{text}\"}}").as_bytes());
        let tail = line.split_off(at.min(line.len() - 1));
        self.send(line);
        self.send(tail);
        self.serial
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        self.send(format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
        ).into_bytes());
    }

    /// Any bytes. An empty piece is not sent.
    pub(crate) fn send(&mut self, bytes: Vec<u8>) {
        if let Some(jobs) = &self.jobs {
            // A writer that has given up has told why.
            let _ = jobs.send(bytes);
        }
    }

    /// The output ends after what was sent.
    pub(crate) fn finish(&mut self) {
        self.jobs = None;
    }

    /// Stops reading, after at most one more piece.
    pub(crate) fn pause(&self) {
        self.gate.set(true);
    }

    pub(crate) fn resume(&self) {
        self.gate.set(false);
    }

    /// Waits until nothing moved for a while, but not longer than its patience.
    pub(crate) fn settle(&self) {
        still(&self.moved, self.patience);
    }

    /// Where nobody sees that a client has gone, the next one says that it is new. What comes before the answer is left
    /// over from the one before, and so is what is answered to ids of that one.
    pub(crate) fn greet(&mut self) -> Result<(), String> {
        static GREETINGS: AtomicU64 = AtomicU64::new(1);
        let session = GREETINGS.fetch_add(1, Relaxed);
        (self.serial, self.before) = (session * IDS, session * IDS);
        let id = format!("\"kit-{session}\"");
        self.send(
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\
                 \"2025-11-25\",\"capabilities\":{{}},\"clientInfo\":{{\"name\":\"kit\",\"version\":\"1\"}}}}}}\n"
            )
            .into_bytes(),
        );
        self.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".to_vec());
        loop {
            match self.next().map_err(|silence| format!("a new session was opened: {silence}"))? {
                Seen::Line(line) if Raw::from_bytes(&line).is_ok_and(|raw| is_answer_to(raw, &id)) => {
                    return Ok(());
                }
                Seen::Line(_) => {}
                Seen::End { .. } => return Err("the line ended while a new session was opened".to_owned()),
                Seen::NotWritten(error) => return Err(format!("a new session could not be opened: {error}")),
            }
        }
    }

    /// The texts of `n` answers, by id.
    pub(crate) fn answers(&mut self, n: usize) -> Result<BTreeMap<u64, String>, String> {
        let mut answers = BTreeMap::new();
        while answers.len() < n {
            let so_far = || match n {
                1 => String::new(),
                n => format!(" ({} of {n} answers had come)", answers.len()),
            };
            let line = match self.next() {
                Ok(Seen::Line(line)) => line,
                Ok(Seen::End { error: None, .. }) => {
                    return Err(format!("the stream ended before the answer came{}", so_far()));
                }
                Ok(Seen::End { error: Some(error), .. }) => {
                    return Err(format!("reading failed: {error}{}", so_far()));
                }
                Ok(Seen::NotWritten(error)) => return Err(format!("writing failed: {error}{}", so_far())),
                Err(silence) => return Err(silence + &so_far()),
            };
            let Some((id, answer)) = self.read(&line)? else { continue };
            if id <= self.before && self.before > 0 {
                continue;
            }
            if id == 0 || id > self.serial {
                return Err(format!("an answer came to a call that was never made: {}", shown(&line)));
            }
            let text =
                answer.map_err(|error| format!("call {id} was refused: {error}; was it sent damaged?"))?;
            self.came.push(id);
            if answers.insert(id, text).is_some() {
                return Err(format!("call {id} was answered twice"));
            }
        }
        Ok(answers)
    }

    /// The text of the answer to `id`, which must be the next one.
    pub(crate) fn answer(&mut self, id: u64) -> Result<String, String> {
        match self.answers(1)?.pop_first() {
            Some((got, text)) if got == id => Ok(text),
            other => Err(format!("the answer to call {:?} came instead of that to {id}", other.map(|a| a.0))),
        }
    }

    /// Calls and checks the answer.
    pub(crate) fn echo(&mut self, text: &str) -> Result<(), String> {
        let id = self.call("echo", text);
        match self.answer(id)? {
            same if same == text => Ok(()),
            other => {
                Err(format!("{} was sent and {} came back", shown(text.as_bytes()), shown(other.as_bytes())))
            }
        }
    }

    /// Everything was read: the stream ends now, at the border of a line.
    pub(crate) fn end(&mut self) -> Result<(), String> {
        loop {
            match self.next() {
                Ok(Seen::End { rest, error: None }) if rest.is_empty() => return Ok(()),
                Ok(Seen::End { rest, error: None }) => {
                    return Err(format!("the stream ends in the middle of a message: {}", shown(&rest)));
                }
                Ok(Seen::End { error: Some(error), .. }) => {
                    return Err(format!("reading failed at the end: {error}"));
                }
                Ok(Seen::Line(line)) => return Err(format!("more came than was sent: {}", shown(&line))),
                Ok(Seen::NotWritten(_)) => {}
                Err(_) => {
                    return Err(format!("the end was not seen within {:?}", self.patience));
                }
            }
        }
    }

    /// The stream ends now, in whatever way.
    pub(crate) fn over(&mut self) -> Result<(), String> {
        loop {
            match self.next() {
                Ok(Seen::End { .. }) => return Ok(()),
                Ok(_) => {}
                Err(_) => return Err(format!("the end was not seen within {:?}", self.patience)),
            }
        }
    }

    /// The next answer, if one comes.
    pub(crate) fn maybe(&mut self) -> Result<Option<(u64, String)>, String> {
        while let Ok(Seen::Line(line)) = self.next() {
            match self.read(&line)? {
                Some((id, Ok(text))) => return Ok(Some((id, text))),
                Some((id, Err(error))) => return Err(format!("call {id} was refused: {error}")),
                None => {}
            }
        }
        Ok(None)
    }

    /// `None`: not an answer, and that is no fault.
    fn read(&self, line: &[u8]) -> Result<Option<Answer>, String> {
        let raw = match Raw::from_bytes(line) {
            Ok(raw) => raw,
            Err(_) if self.noisy || line.iter().all(u8::is_ascii_whitespace) => return Ok(None),
            Err(_) => return Err(format!("a line is not JSON, so a message was torn: {}", shown(line))),
        };
        match answer(raw) {
            Some(answer) => Ok(Some(answer)),
            None if self.noisy => Ok(None),
            None if raw.get("error").is_some() => Err(format!(
                "the server received what it could not read, so a message was torn, changed or made up: {}",
                shown(line)
            )),
            None => Err(format!("a line is not an answer: {}", shown(line))),
        }
    }

    fn next(&self) -> Result<Seen, String> {
        loop {
            let before = self.moved.load(Relaxed);
            match self.seen.recv_timeout(self.patience) {
                Ok(seen) => return Ok(seen),
                Err(mpsc::RecvTimeoutError::Timeout) if self.moved.load(Relaxed) != before => {}
                Err(_) => return Err(format!("nothing came for {:?}", self.patience)),
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.resume();
    }
}

/// The line of a call (2026-07-28: every request stands for itself).
pub(crate) fn call(id: u64, tool: &str, args: &[u8]) -> Vec<u8> {
    let mut line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"_meta\":{{\
         \"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
         \"io.modelcontextprotocol/clientInfo\":{{\"name\":\"kit\",\"version\":\"1\"}},\
         \"io.modelcontextprotocol/clientCapabilities\":{{}}}},\"name\":\"{tool}\",\"arguments\":"
    )
    .into_bytes();
    line.extend_from_slice(args);
    line.extend_from_slice(b"}}\n");
    line
}

fn is_answer_to(raw: Raw<'_>, id: &str) -> bool {
    raw.get("result").is_some() && raw.get("id").is_some_and(|got| got.as_str() == id)
}

fn answer(raw: Raw<'_>) -> Option<Answer> {
    let id = raw.get("id")?.as_u64()?;
    if let Some(error) = raw.get("error") {
        return Some((id, Err(error.as_str().to_owned())));
    }
    let block = raw.get("result")?.get("content")?.elements().next()?;
    let text = block.get("text")?.as_string()?;
    Some((id, Ok(text.plain().map_or_else(|| text.chars().collect(), str::to_owned))))
}

/// A vector as a sink of JSON.
struct Text<'a>(&'a mut Vec<u8>);

impl barewire::json::Sink for Text<'_> {
    fn put(&mut self, bytes: &[u8]) -> bool {
        self.0.extend_from_slice(bytes);
        true
    }
}

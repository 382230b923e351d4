//! Cases for our server: its real process, real pipes, one write for each entry.

use core::time::Duration;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use super::case::{Assert, Case, Step};
use super::judge::Outcome;
use super::modern::{modern, starts_by_initialize};
use super::{Era, Programs, Verdict};
use crate::schema::{Checker, Direction};

/// How long anything may take that the case does not bound itself.
const PATIENCE: Duration = Duration::from_secs(12);

pub(super) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"h-1","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"cases","version":"1"}}}"#;
pub(super) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The eras in which a case has a meaning.
pub(super) fn eras(case: &Case) -> Vec<Era> {
    match case.era.as_str() {
        "legacy" => vec![Era::Legacy],
        "modern" => vec![Era::Modern],
        _ if case.era_note.as_deref() == Some("legacy") => vec![Era::Legacy],
        _ if case.handshake => vec![Era::Legacy, Era::Modern],
        // It shakes hands by itself, or must not: as it stands, and translated where that keeps its point.
        _ if case.steps().is_ok_and(|steps| starts_by_initialize(&steps)) => vec![Era::Legacy, Era::Modern],
        _ => vec![Era::Legacy],
    }
}

/// Why a case cannot be run here.
pub(super) fn inapplicable(case: &Case) -> Option<&'static str> {
    let steps = case.steps().ok()?;
    let bytes =
        steps.iter().filter_map(|step| if let Step::Write(bytes) = step { Some(&bytes[..]) } else { None });
    let mut reason = steps.iter().any(|step| matches!(step, Step::Reopen)).then_some("needs a serial port");
    for line in bytes.flat_map(|bytes| bytes.split(|byte| *byte == b'\n')) {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { continue };
        let wanted = case.assert().ok().flatten().unwrap_or_default().answered.contains(&message["id"]);
        let method = message["method"].as_str().unwrap_or_default();
        reason = reason.or(match method.split('/').next().unwrap_or_default() {
            "subscriptions" => Some("needs subscriptions"),
            "resources" if wanted => Some("needs resources"),
            "prompts" if wanted => Some("needs prompts"),
            "completion" if wanted => Some("needs completion"),
            "logging" if wanted => Some("needs logging"),
            _ if method == "tools/call" && message["params"]["name"] == "ask" => Some("needs elicitation"),
            _ => None,
        });
    }
    reason
}

/// Runs a case in one era.
pub(super) fn run(case: &Case, era: Era, programs: &Programs) -> Result<Verdict, String> {
    let mut steps = case.steps()?;
    let assert = case.assert()?;
    let shakes = case.handshake && era == Era::Legacy;
    if era == Era::Modern && case.era != "modern" {
        steps = modern(&steps);
    }
    let mut checker = Checker::new("2025-11-25");
    checker.either_null(!shakes);
    let server = Running::start(case, programs)?;
    let outcome = server.play(case, &steps, shakes, assert.as_ref(), &mut checker)?;
    checker.note_rest(Direction::ToServer);
    checker
        .lines(Direction::ToClient, &outcome.output)
        .map_err(|wrong| format!("the server wrote what it must not: {wrong}"))?;
    match assert {
        Some(assert) => outcome.judge(&assert)?,
        None => every_request_once(&steps, &outcome)?,
    }
    if outcome.exit != Some(0) {
        return Err(format!(
            "exit status {:?} after the end of input: {}",
            outcome.exit,
            outcome.errors.trim()
        ));
    }
    Ok(Verdict::Passed)
}

/// Without an `assert`: every valid request is answered, and once.
fn every_request_once(steps: &[Step], outcome: &Outcome) -> Result<(), String> {
    let messages = outcome.messages();
    let bytes: Vec<u8> = steps.iter().filter_map(written).flatten().copied().collect();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(asked) = serde_json::from_slice::<Value>(line) else { continue };
        let valid = asked["jsonrpc"] == "2.0" && asked["method"].is_string();
        let id = &asked["id"];
        if valid && (id.is_string() || id.is_i64()) {
            let count = messages.iter().filter(|m| m.get("method").is_none() && m["id"] == *id).count();
            if count != 1 {
                return Err(format!("{count} answers to {id}"));
            }
        }
    }
    Ok(())
}

fn written(step: &Step) -> Option<&Vec<u8>> {
    if let Step::Write(bytes) = step { Some(bytes) } else { None }
}

/// What a server has written so far.
#[derive(Default)]
struct Heard {
    output: Mutex<(Vec<u8>, bool)>,
    more: Condvar,
}

struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    errors: thread::JoinHandle<String>,
}

impl Running {
    fn start(case: &Case, programs: &Programs) -> Result<Self, String> {
        let mut command = Command::new(&programs.fixture);
        command.envs(&case.env).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // What the case says of a small machine becomes the sizes of one.
        for (what, flag) in [("rx", "--rx"), ("tx", "--tx")] {
            if let Some(size) = case.noted(what) {
                command.arg(flag).arg(size.to_string());
            }
        }
        if let Some(limit) = case.noted("frame limit") {
            command.arg("--limit").arg(limit.to_string());
        }
        let mut child = command.spawn().map_err(|wrong| format!("no fixture-server: {wrong}"))?;
        let stdin = child.stdin.take();
        let mut stderr = child.stderr.take().ok_or("no stderr")?;
        let errors = thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Ok(Self { child, stdin, errors })
    }

    fn play(
        mut self,
        case: &Case,
        steps: &[Step],
        shakes: bool,
        assert: Option<&Assert>,
        checker: &mut Checker,
    ) -> Result<Outcome, String> {
        let mut stdout = BufReader::new(self.child.stdout.take().ok_or("no stdout")?);
        if shakes {
            self.write(format!("{INITIALIZE}\n").as_bytes(), checker)?;
            let mut answer = String::new();
            stdout.read_line(&mut answer).map_err(|wrong| format!("no answer to initialize: {wrong}"))?;
            checker.line(Direction::ToClient, answer.as_bytes())?;
            self.write(format!("{INITIALIZED}\n").as_bytes(), checker)?;
        }
        if case.close_reader {
            for step in steps.iter().filter_map(written) {
                self.write(step, checker)?;
            }
            drop(stdout);
            return self.end(Vec::new(), Instant::now());
        }
        let heard = Arc::new(Heard::default());
        let listener = {
            let heard = Arc::clone(&heard);
            thread::spawn(move || listen(&mut stdout, &heard))
        };
        let mut last = Instant::now();
        for step in steps {
            match step {
                Step::Write(bytes) => self.write(bytes, checker)?,
                Step::Wait(ms) => thread::sleep(Duration::from_millis(*ms)),
                other => return Err(format!("{other:?} is for a client's peer")),
            }
            last = Instant::now();
        }
        let mut took = None;
        if !case.eof {
            took = heard.wait(assert, last);
        }
        if case.keep_open && took.is_none() {
            let within = assert.and_then(|assert| assert.within_ms).unwrap_or(0);
            drop(self.stdin.take());
            let _ = self.child.kill();
            let _ = self.child.wait();
            return Err(format!("not all that must come came while stdin was open ({within} ms asked)"));
        }
        let mut outcome = self.end(Vec::new(), last)?;
        let _ = listener.join();
        outcome.output = heard.output.lock().map_err(|_| "a reader died")?.0.clone();
        outcome.took = took.unwrap_or(outcome.took);
        Ok(outcome)
    }

    /// Closes stdin and waits for the end.
    fn end(mut self, output: Vec<u8>, since: Instant) -> Result<Outcome, String> {
        drop(self.stdin.take());
        let limit = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().map_err(|wrong| wrong.to_string())? {
                Some(status) => break status,
                None if Instant::now() > limit => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return Err(format!("it lives {} s after the end of input", PATIENCE.as_secs()));
                }
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        let took = since.elapsed();
        let errors = self.errors.join().unwrap_or_default();
        Ok(Outcome { output, errors, exit: status.code(), took })
    }

    /// One write; a server that is gone already shows in its exit status.
    fn write(&mut self, bytes: &[u8], checker: &mut Checker) -> Result<(), String> {
        checker.note_part(Direction::ToServer, bytes);
        let stdin = self.stdin.as_mut().ok_or("stdin is closed")?;
        let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
        Ok(())
    }
}

impl Heard {
    /// Waits until all that must come has come, and says how long that took.
    fn wait(&self, assert: Option<&Assert>, since: Instant) -> Option<Duration> {
        let assert = assert?;
        let mut guard = self.output.lock().ok()?;
        loop {
            let outcome = Outcome { output: guard.0.clone(), ..Outcome::default() };
            if outcome.complete(assert) {
                return Some(since.elapsed());
            }
            // Later than the case allows there is nothing to wait for.
            let most = assert.within_ms.map_or(PATIENCE, |ms| Duration::from_millis(ms + 500).min(PATIENCE));
            let left = most.checked_sub(since.elapsed())?;
            if guard.1 {
                return None;
            }
            guard = self.more.wait_timeout(guard, left).ok()?.0;
        }
    }
}

fn listen(stdout: &mut impl BufRead, heard: &Heard) {
    loop {
        let (bytes, ended) = match stdout.fill_buf() {
            Ok(bytes) => (bytes.to_vec(), bytes.is_empty()),
            Err(_) => (Vec::new(), true),
        };
        stdout.consume(bytes.len());
        if let Ok(mut guard) = heard.output.lock() {
            guard.0.extend_from_slice(&bytes);
            guard.1 = ended;
        }
        heard.more.notify_all();
        if ended {
            return;
        }
    }
}

//! The fake peer: a process that plays the server of a client case, step by step.

use core::time::Duration;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::case::Step;

/// How long the peer waits for what the client must do next.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the peer plays.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Script {
    /// The handshake that is answered before the steps: `initialize`, `server/discover` or none.
    pub(super) handshake: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// One request of the client.
struct Request {
    id: String,
    method: String,
    token: Option<String>,
    open: bool,
}

/// Plays the script in `file`; where a peer that exits leaves off stands in a file beside it.
///
/// # Errors
/// When the script cannot be read.
pub fn play(file: &Path) -> io::Result<()> {
    let script: Script = serde_json::from_slice(&fs::read(file)?)?;
    let state = file.with_extension("state");
    let at: usize = fs::read_to_string(&state).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut peer = Peer { lines, requests: Vec::new(), last: Vec::new(), events: 0, mid_line: false, state };
    // A second process takes part in the same conversation: its handshake is in the steps.
    if at == 0
        && let Some(method) = &script.handshake
    {
        peer.shake(method);
    }
    for (index, step) in script.steps.iter().enumerate().skip(at) {
        peer.step(index, step)?;
    }
    peer.go_on()
}

struct Peer {
    lines: Receiver<Vec<u8>>,
    requests: Vec<Request>,
    /// The client's last line.
    last: Vec<u8>,
    /// Requests and cancellations so far.
    events: usize,
    /// What was written last has no LF.
    mid_line: bool,
    state: PathBuf,
}

impl Peer {
    fn shake(&mut self, method: &str) {
        self.until(|peer| peer.requests.iter().any(|request| request.open && request.method == method));
        if let Some(id) = self.answer_last() {
            say(usual(method, &id).as_bytes());
        }
        if method == "initialize" {
            let initialized = b"\"notifications/initialized\"";
            self.until(|peer| peer.last.windows(initialized.len()).any(|window| window == initialized));
        }
        self.requests.clear(); // the placeholders mean what comes after the handshake
    }

    fn step(&mut self, index: usize, step: &Step) -> io::Result<()> {
        match step {
            Step::Write(bytes) => self.write(bytes),
            Step::Wait(ms) => thread::sleep(Duration::from_millis(*ms)),
            Step::WaitTimeout => {
                self.until(|peer| peer.requests.iter().any(|request| request.open));
                let before = self.events;
                self.until(|peer| peer.events > before);
            }
            Step::Exit(status) => {
                self.until(|peer| peer.requests.iter().any(|request| request.open));
                fs::write(&self.state, (index + 1).to_string())?;
                exit(*status);
            }
            Step::Respawned | Step::Reopen => {}
        }
        Ok(())
    }

    /// Writes once what the placeholders need is there.
    fn write(&mut self, bytes: &[u8]) {
        let has = |name: &str| bytes.windows(name.len()).any(|window| window == name.as_bytes());
        let answers = has("@ID@") || has("@IDSTR@");
        if answers {
            self.until(|peer| peer.requests.iter().any(|request| request.open));
        }
        if has("@PID@") {
            self.until(|peer| peer.requests.len() > 1);
        }
        if has("@ECHO@") {
            self.until(|peer| !peer.last.is_empty());
        }
        let newest = self.requests.iter().rfind(|request| request.open).or(self.requests.last());
        let newest = newest.map_or_else(|| "null".to_owned(), |request| request.id.clone());
        let before = self.requests.iter().rev().nth(1).map_or_else(|| "null".to_owned(), |r| r.id.clone());
        let token = self.requests.iter().rev().find_map(|request| request.token.clone());
        let string = if newest.starts_with('"') { newest.clone() } else { format!("\"{newest}\"") };
        let mut out = replace(bytes, "@ID@", newest.as_bytes());
        out = replace(&out, "@PID@", before.as_bytes());
        out = replace(&out, "@IDSTR@", string.as_bytes());
        out = replace(&out, "@TOKEN@", token.unwrap_or_else(|| "\"no token\"".into()).as_bytes());
        out = replace(&out, "@ECHO@", &self.last);
        if answers {
            let _ = self.answer_last();
        }
        self.mid_line = out.last() != Some(&b'\n');
        say(&out);
    }

    /// After the script: new requests get the usual answers, the old ones none.
    fn go_on(&mut self) -> io::Result<()> {
        self.requests.iter_mut().for_each(|request| request.open = false);
        if self.mid_line {
            say(b"\n");
        }
        while let Ok(line) = self.lines.recv() {
            self.hear(line);
            let open: Vec<(String, String)> =
                self.requests.iter().filter(|r| r.open).map(|r| (r.method.clone(), r.id.clone())).collect();
            for (method, id) in open {
                say(usual(&method, &id).as_bytes());
            }
            self.requests.iter_mut().for_each(|request| request.open = false);
        }
        Ok(())
    }

    fn answer_last(&mut self) -> Option<String> {
        let newest = self.requests.iter_mut().rfind(|request| request.open)?;
        newest.open = false;
        Some(newest.id.clone())
    }

    /// Hears the client until something holds; the end of input ends the process.
    fn until(&mut self, holds: impl Fn(&Self) -> bool) {
        let limit = Instant::now() + PATIENCE;
        while !holds(self) {
            match self.lines.recv_timeout(limit.saturating_duration_since(Instant::now())) {
                Ok(line) => self.hear(line),
                Err(RecvTimeoutError::Timeout) => exit(70),
                Err(RecvTimeoutError::Disconnected) => exit(0),
            }
        }
    }

    fn hear(&mut self, line: Vec<u8>) {
        #[derive(Deserialize)]
        struct Id<'a> {
            #[serde(borrow)]
            id: Option<&'a RawValue>,
        }
        let message: Value = serde_json::from_slice(&line).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let id = serde_json::from_slice::<Id<'_>>(&line)
            .ok()
            .and_then(|found| found.id.map(|id| id.get().to_owned()));
        match id {
            Some(id) if !method.is_empty() => {
                let token = message["params"]["_meta"].get("progressToken").map(Value::to_string);
                self.requests.push(Request { id, method, token, open: true });
                self.events += 1;
            }
            None if method == "notifications/cancelled" => {
                let gone = message["params"]["requestId"].to_string();
                self.requests.iter_mut().filter(|request| request.id == gone).for_each(|r| r.open = false);
                self.events += 1;
            }
            _ => {}
        }
        self.last = line;
    }
}

/// The answer of an ordinary server, right in both eras.
fn usual(method: &str, id: &str) -> String {
    let result = match method {
        "initialize" => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"peer","version":"1"}}"#
        }
        "server/discover" => {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#
        }
        "tools/list" => r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}"#,
        "tools/call" => r#"{"resultType":"complete","content":[]}"#,
        "ping" => "{}",
        _ => {
            return format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"no {method} here\"}}}}\n"
            );
        }
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n")
}

fn replace(bytes: &[u8], name: &str, with: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let Some(at) = rest.windows(name.len()).position(|window| window == name.as_bytes()) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(with);
        rest = &rest[at + name.len()..];
    }
    out.extend_from_slice(rest);
    out
}

fn say(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        exit(0); // the client is gone
    }
}

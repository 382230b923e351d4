//! A host that runs `barewire bridge`, and far ends that a test plays itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use super::interruptible;

/// How long anything may take before the test has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}"#;
pub(crate) const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}}"#;
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
pub(crate) const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

pub(crate) fn call(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t"}}}}"#)
}

pub(crate) fn answer(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#)
}

/// The bridge's own handshake, and its answer.
pub(crate) fn again(number: u32) -> (String, String) {
    let own = format!("\"id\":\"barewire-bridge-{number}\"");
    (INITIALIZE.replacen("\"id\":0", &own, 1), HELLO.replacen("\"id\":0", &own, 1))
}

/// The host.
pub(crate) struct Host {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Option<Receiver<String>>,
    stderr: Arc<(Mutex<String>, Condvar)>,
    /// Reads stderr to its end.
    listens: Option<thread::JoinHandle<()>>,
}

impl Host {
    /// Runs the bridge, and reads what it says.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut host = Self::deaf(arguments);
        host.read();
        let (mut from, to) = (host.child.stderr.take().unwrap(), Arc::clone(&host.stderr));
        host.listens = Some(thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(n @ 1..) = from.read(&mut chunk) {
                *to.0.lock().unwrap() += &String::from_utf8_lossy(&chunk[..n]);
                to.1.notify_all();
            }
        }));
        host
    }

    /// The same without reading anything.
    pub(crate) fn deaf(arguments: &[&str]) -> Self {
        let mut command = interruptible();
        command.arg("bridge").args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        Self { child, stdin, lines: None, stderr: Arc::default(), listens: None }
    }

    /// Reads stdout from now on.
    pub(crate) fn read(&mut self) {
        let (send, lines) = channel();
        let from = BufReader::new(self.child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in from.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        self.lines = Some(lines);
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next line.
    pub(crate) fn line(&self) -> String {
        let line = self.lines.as_ref().unwrap().recv_timeout(PATIENCE);
        line.unwrap_or_else(|_| panic!("no line; stderr: {}", self.stderr.0.lock().unwrap()))
    }

    /// The next line is an error: its id, and the word in its data.
    pub(crate) fn error(&self) -> (String, String) {
        let line = self.line();
        let error: serde_json::Value = serde_json::from_str(&line).unwrap();
        let reason = error["error"]["data"]["reason"].as_str();
        (error["id"].to_string(), reason.unwrap_or_else(|| panic!("{line}")).to_owned())
    }

    /// Waits until stderr has this text.
    pub(crate) fn told(&self, text: &str) {
        let told = self.stderr.0.lock().unwrap();
        let (told, late) =
            self.stderr.1.wait_timeout_while(told, PATIENCE, |told| !told.contains(text)).unwrap();
        assert!(!late.timed_out(), "{text:?} was not told: {told}");
    }

    /// What the bridge reads from.
    pub(crate) fn input(&mut self) -> &mut ChildStdin {
        self.stdin.as_mut().unwrap()
    }

    pub(crate) fn end_input(&mut self) {
        self.stdin = None;
    }

    /// Nothing more comes: the exit code, and all of stderr.
    pub(crate) fn exit(mut self) -> (Option<i32>, String) {
        let rest: Vec<String> = self.lines.take().into_iter().flat_map(|lines| lines.into_iter()).collect();
        assert_eq!(rest, [""; 0], "more came");
        let status = self.child.wait().unwrap();
        if let Some(listens) = self.listens.take() {
            listens.join().unwrap();
        }
        (status.code(), self.stderr.0.lock().unwrap().clone())
    }

    /// Waits, but not for ever, for the bridge to end, which says nothing more: its exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let more = self.lines.as_ref().unwrap().recv_timeout(PATIENCE);
        if more != Err(RecvTimeoutError::Disconnected) {
            self.child.kill().unwrap();
            panic!("it goes on: {more:?}");
        }
        self.child.wait().unwrap().code()
    }

    pub(crate) fn end(mut self) {
        self.end_input();
        let (code, stderr) = self.exit();
        assert_eq!(code, Some(0), "{stderr}");
    }
}

/// A server that the test plays.
pub(crate) struct Listener(TcpListener);

impl Listener {
    pub(crate) fn new() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = format!("tcp:{}", listener.local_addr().unwrap());
        (Self(listener), target)
    }

    pub(crate) fn accept(&self) -> Far<TcpStream> {
        let stream = self.0.accept().unwrap().0;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Far { from: BufReader::new(stream.try_clone().unwrap()), to: stream }
    }
}

/// One connection, from its far end. Dropped, it is lost.
pub(crate) struct Far<S: Read> {
    pub(crate) from: BufReader<S>,
    pub(crate) to: S,
}

impl<S: Read + Write> Far<S> {
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line.trim_end_matches('\n').to_owned()
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.to.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The host opens a legacy session through the bridge.
    pub(crate) fn open(&mut self, host: &mut Host) {
        host.say(INITIALIZE);
        assert_eq!(self.line(), INITIALIZE);
        self.say(HELLO);
        assert_eq!(host.line(), HELLO);
        host.say(INITIALIZED);
        assert_eq!(self.line(), INITIALIZED);
    }

    /// The bridge opens it again.
    pub(crate) fn reopen(&mut self, number: u32) {
        let (asks, hello) = again(number);
        assert_eq!(self.line(), asks);
        self.say(&hello);
        assert_eq!(self.line(), INITIALIZED);
    }
}

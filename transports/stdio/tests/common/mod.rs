//! What several tests need.
#![allow(dead_code)] // each test uses some of it

use barewire::{ClientConfig, Era};
use barewire_stdio::{Command, Stderr};
use core::time::Duration;
use std::{
    fs,
    io::{BufRead, BufReader, PipeReader, PipeWriter, Write},
    time::Instant,
};

pub(crate) static CLIENT: ClientConfig<'static> = ClientConfig::new("test", "1");

/// The fixture in a mode, with its stderr kept, and a client that takes no era for granted.
pub(crate) fn fixture(mode: &str) -> Command {
    Command::new(env!("CARGO_BIN_EXE_barewire-stdio-fixture")).arg(mode).stderr(Stderr::Keep(1 << 20))
}

/// A shell script as a server.
pub(crate) fn script(text: &str) -> Command {
    Command::new("sh").arg("-c").arg(text).stderr(Stderr::Keep(1 << 20))
}

pub(crate) fn legacy() -> ClientConfig<'static> {
    CLIENT.era(Era::Legacy)
}

/// State letter and parent of a process; `None` if there is none.
pub(crate) fn process(pid: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// No child of this process with this number is left, not even as a zombie.
pub(crate) fn assert_reaped(pid: u32) {
    let mine = std::process::id();
    assert!(process(pid).is_none_or(|(_, parent)| parent != mine), "child {pid}: {:?}", process(pid));
}

/// Ended; whoever inherited it may not have reaped it yet.
pub(crate) fn assert_ended(pid: u32) {
    let end = Instant::now() + Duration::from_secs(10);
    while process(pid).is_some_and(|(state, _)| state != 'Z') {
        assert!(Instant::now() < end, "process {pid} lives: {:?}", process(pid));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Far more than anything takes here, far less than the timeouts that must not be met.
pub(crate) fn assert_within(started: Instant, seconds: u64) {
    assert!(started.elapsed() < Duration::from_secs(seconds), "took {:?}", started.elapsed());
}

/// The client's side of a connection, by hand.
pub(crate) struct Peer {
    pub(crate) to: PipeWriter,
    pub(crate) from: BufReader<PipeReader>,
}

impl Peer {
    pub(crate) fn send(&mut self, line: &str) {
        self.to.write_all(line.as_bytes()).unwrap();
        self.to.write_all(b"\n").unwrap();
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line
    }

    /// Several lines in one write.
    pub(crate) fn send_all(&mut self, lines: &str) {
        self.to.write_all(lines.as_bytes()).unwrap();
    }

    pub(crate) fn call(&mut self, id: u32, tool: &str, args: &str) {
        self.send_all(&call(id, tool, args));
    }

    pub(crate) fn cancel(&mut self, id: u32) {
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ));
    }

    pub(crate) fn ping(&mut self, id: u32) {
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    }

    pub(crate) fn open(&mut self) {
        self.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#);
        assert!(self.line().contains(r#""id":0,"result""#));
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }
}

/// The line of a call.
pub(crate) fn call(id: u32, tool: &str, args: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{args}}}}}"#
    ) + "\n"
}

/// The id of an answer, as far as these tests write them.
pub(crate) fn id(line: &str) -> u32 {
    let rest = line.split_once("\"id\":").unwrap_or_else(|| panic!("no id: {line}")).1;
    rest[..rest.find([',', '}']).unwrap()].parse().unwrap()
}

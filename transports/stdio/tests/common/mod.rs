//! What several tests need.
#![allow(dead_code)] // each test uses some of it

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};

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

    pub(crate) fn call(&mut self, id: u32, tool: &str, args: &str) {
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{args}}}}}"#
        ));
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

/// The id of an answer, as far as these tests write them.
pub(crate) fn id(line: &str) -> u32 {
    let rest = line.split_once("\"id\":").unwrap_or_else(|| panic!("no id: {line}")).1;
    rest[..rest.find([',', '}']).unwrap()].parse().unwrap()
}

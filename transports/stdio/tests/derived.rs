//! Derived tools over pipes, for somebody who depends on this crate alone.

mod common;

use barewire_stdio::barewire::{ServerConfig, ToolInput, Tools};
use barewire_stdio::{Fail, Serve, ToolCall, ToolResult};
use common::Peer;
use std::{
    io::{self, BufReader},
    thread,
};

#[derive(Tools)]
#[tool(crate = "barewire_stdio::barewire")]
enum Tool<'a> {
    /// Greets somebody.
    Greet { who: &'a str, mood: Option<Mood> },
    /// Says nothing.
    Wait,
}

#[derive(ToolInput)]
#[input(crate = "barewire_stdio::barewire", rename_all = "lowercase")]
enum Mood {
    Glad,
    Sad,
}

fn run(call: &mut ToolCall<'_>) -> Result<ToolResult, Fail> {
    match call.tool()? {
        Tool::Greet { who, mood: None } => Ok(format!("Hello, {who}.").into()),
        Tool::Greet { who, mood: Some(Mood::Glad) } => Ok(format!("Hello, {who}!").into()),
        Tool::Greet { mood: Some(Mood::Sad), .. } => Err("not today".into()),
        Tool::Wait => Ok("".into()),
    }
}

#[test]
fn calls() {
    let (read, to) = io::pipe().unwrap();
    let (from, write) = io::pipe().unwrap();
    let config = ServerConfig::new("t", "1").tools(Tool::TOOLS);
    thread::scope(|scope| {
        let server = scope.spawn(|| Serve::new(&config).run_over(read, write, run));
        let mut peer = Peer { to, from: BufReader::new(from) };
        peer.open();
        for (id, arguments, answer) in [
            (1, r#"{"who":"\u00e9"}"#, "Hello, é."),
            (2, r#"{"mood":"glad","who":"you"}"#, "Hello, you!"),
            (3, r#"{"mood":"sad","who":"you"}"#, "not today"),
            (4, r#"{"mood":"bad","who":"you"}"#, r#"`mood` must be one of \"glad\", \"sad\"; got \"bad\""#),
        ] {
            peer.call(id, "greet", arguments);
            let line = peer.line();
            assert!(line.contains(&format!(r#""text":"{answer}""#)), "{line}");
            assert_eq!(line.contains(r#""isError":true"#), id > 2, "{line}");
        }
        drop(peer);
        server.join().unwrap().unwrap();
    });
}

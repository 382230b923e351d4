//! What the end of input does to what is half said, and what may be said when.
#![allow(clippy::unwrap_used, clippy::panic)]
use barewire::{Buffers, Millis, Output, Server, ServerConfig, ServerEvent, Slot, Tool};

static TOOLS: &[Tool<'static>] = &[Tool::new("slow", "Two words, one at a time.", r#"{"type":"object"}"#)];
static CONFIG: ServerConfig<'static> =
    ServerConfig::new("t", "1").tools(TOOLS).list_changed().drain(Millis(1000));
const HELLO: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;
const SLOW: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;

/// Polls at `now` until nothing more happens, and sends; says where it rests, and which events came.
fn rest(server: &mut Server<'_>, now: u64, out: &mut String) -> String {
    let mut events = String::new();
    loop {
        match server.poll(Millis(now)) {
            Output::Send(bytes) => {
                out.push_str(core::str::from_utf8(bytes).unwrap());
                let n = bytes.len();
                server.sent(n);
            }
            Output::Event(ServerEvent::Call(call)) => {
                let mut reply = call.reply;
                assert_eq!(reply.write_text("one"), 3);
                reply.pause();
            }
            Output::Event(ServerEvent::More(reply)) => {
                // Nothing is at hand: the application waits.
                reply.pause();
            }
            Output::Event(ServerEvent::Cancelled(_)) => events.push_str("cancelled "),
            Output::Event(_) => {}
            Output::Wait { .. } => return events + "wait",
            Output::Blocked { .. } => return events + "blocked",
            Output::Closed => return events + "closed",
        }
    }
}

#[test]
fn a_result_under_way_is_ended_when_the_time_is_over() {
    let (mut rx, mut tx, mut slots) = ([0; 512], [0; 256], [const { Slot::FREE }; 1]);
    let mut server = Server::new(&CONFIG, Buffers::new(&mut rx, &mut tx, &mut slots));
    let mut out = String::new();
    server.feed(format!("{HELLO}\n{SLOW}\n{PING}\n").as_bytes());
    assert_eq!(rest(&mut server, 0, &mut out), "blocked");
    server.end_of_input();
    assert_eq!(rest(&mut server, 0, &mut out), "blocked");
    assert_eq!(rest(&mut server, 1000, &mut out), "cancelled closed");
    let lines: Vec<&str> = out.split_inclusive('\n').skip(1).collect();
    assert_eq!(
        lines,
        [
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"one\"}],\"isError\":true}}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n",
        ]
    );
}

#[test]
fn changed_tools_are_not_told_after_the_end() {
    let (mut rx, mut tx, mut slots) = ([0; 512], [0; 256], [const { Slot::FREE }; 1]);
    let mut server = Server::new(&CONFIG, Buffers::new(&mut rx, &mut tx, &mut slots));
    let mut out = String::new();
    server.feed(format!("{HELLO}\n").as_bytes());
    server.end_of_input();
    assert_eq!(rest(&mut server, 0, &mut out), "closed");
    server.tools_changed();
    out.clear();
    assert_eq!(rest(&mut server, 0, &mut out), "closed");
    assert_eq!(out, "");
}

#[test]
fn changed_tools_are_told_after_a_batch() {
    let (mut rx, mut tx, mut slots) = ([0; 512], [0; 64], [const { Slot::FREE }; 1]);
    let mut server = Server::new(&CONFIG, Buffers::new(&mut rx, &mut tx, &mut slots));
    let mut out = String::new();
    server.feed(format!("{HELLO}\n").as_bytes());
    assert_eq!(rest(&mut server, 0, &mut out), "wait");
    out.clear();
    // The array of answers is half out.
    server.feed(format!("[{PING},{PING}]\n").as_bytes());
    assert!(matches!(server.poll(Millis(0)), Output::Send(b) if b.starts_with(b"[{") && !b.ends_with(b"\n")));
    server.tools_changed();
    assert_eq!(rest(&mut server, 0, &mut out), "wait");
    let pong = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(out, format!("[{pong},{pong}]\n{changed}\n"));
}

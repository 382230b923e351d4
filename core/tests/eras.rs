//! What a server says that is compiled for one era, for the other, for both, or for none. Run with each set of features: what is expected
//! depends on them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![cfg(feature = "server")]

use barewire::{Millis, Output, Server, ServerConfig, ServerEvent, Storage, Tool, check_tools};

static TOOLS: &[Tool<'static>] = &[Tool::new("greet", "Says hello.", r#"{"type":"object"}"#)];
const _: () = check_tools(TOOLS);
static CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").tools(TOOLS);

/// What all of these lines are answered with.
fn talk(lines: &[&str]) -> String {
    let mut storage = Storage::<1024, 512, 2>::new();
    let mut server = Server::new(&CONFIG, storage.buffers());
    let mut said = Vec::new();
    for line in lines {
        assert_eq!(server.feed(line.as_bytes()), line.len());
        assert_eq!(server.feed(b"\n"), 1);
        loop {
            match server.poll(Millis(0)) {
                Output::Send(bytes) => {
                    said.extend_from_slice(bytes);
                    let n = bytes.len();
                    server.sent(n);
                }
                Output::Event(ServerEvent::Call(call)) => call.reply.text("hello").finish().unwrap(),
                Output::Event(_) => {}
                _ => break,
            }
        }
    }
    String::from_utf8(said).unwrap()
}

/// One expectation for each set of eras.
fn expect(said: &str, both: &str, legacy: &str, modern: &str, none: &str) {
    let expected = match (cfg!(feature = "legacy"), cfg!(feature = "modern")) {
        (true, true) => both,
        (true, false) => legacy,
        (false, true) => modern,
        (false, false) => none,
    };
    assert_eq!(said, expected);
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet"}}"#;
const CLAIMED: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"greet","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const NOT_FOUND: &str = "\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}\n";

fn not_found(id: u32) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{NOT_FOUND}")
}

#[test]
fn a_handshake_and_a_call() {
    let served = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n\
         {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}}\n";
    let refused = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32022,\"message\":\"Unsupported protocol version\",\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":\"2025-06-18\"}}}\n\
         {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32602,\"message\":\"params._meta needs io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities\"}}\n";
    expect(&talk(&[INITIALIZE, CALL]), served, served, refused, &(not_found(1) + &not_found(2)));
}

#[test]
fn a_handshake_without_a_version() {
    let said = talk(&[r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#]);
    let missing = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"params.protocolVersion must be a string\"}}\n";
    expect(&said, missing, missing, missing, &not_found(1));
}

#[test]
fn a_call_that_claims_a_version() {
    let served = "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"hello\"}],\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}}\n";
    let no_session = "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32602,\"message\":\"no session: send initialize first\"}}\n";
    expect(&talk(&[CLAIMED]), served, no_session, served, &not_found(3));
}

#[test]
fn a_claim_within_a_session() {
    let legacy =
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}}\n";
    let modern = "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"hello\"}],\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}}\n";
    let said = talk(&[INITIALIZE, CLAIMED]);
    let second = said.split_inclusive('\n').nth(1).unwrap();
    expect(second, modern, legacy, modern, &not_found(3));
}

#[test]
fn the_question_who_is_there() {
    let found = "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}},\"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}}\n";
    expect(&talk(&[DISCOVER]), found, &not_found(4), found, &not_found(4));
}

#[test]
fn a_ping() {
    let pong = "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n";
    let said = talk(&[r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#]);
    expect(&said, pong, pong, &not_found(5), &not_found(5));
}

#[test]
fn a_batch() {
    let initialize = INITIALIZE.replace("2025-06-18", "2025-03-26");
    let said = talk(&[&initialize, r#"[{"jsonrpc":"2.0","id":6,"method":"ping"}]"#]);
    let answers = "[{\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{}}]\n";
    let rest = said.split_once('\n').unwrap().1;
    expect(rest, answers, answers, "", "");
}

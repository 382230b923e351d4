//! Vendor keys in capabilities: each era has its own name for them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
use barewire::{Millis, Output, Server, ServerConfig, Storage, Tool};

static TOOLS: &[Tool<'static>] = &[Tool::new("blink", "Blinks.", r#"{"type":"object"}"#)];
const KEYS: &str = r#"{"com.example/blink":{"times":[1,2]}}"#;
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn answer(server: &mut Server<'_>, line: &str) -> serde_json::Value {
    assert_eq!(server.feed(line.as_bytes()), line.len());
    let mut out = Vec::new();
    loop {
        match server.poll(Millis(0)) {
            Output::Send(bytes) => {
                let n = bytes.len();
                out.extend_from_slice(bytes);
                server.sent(n);
            }
            Output::Event(_) => {}
            _ => return serde_json::from_slice(&out).unwrap(),
        }
    }
}

fn capabilities(server: &mut Server<'_>) -> [serde_json::Value; 2] {
    let initialize = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}\n";
    let discover =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"server/discover\",\"params\":{{{META}}}}}\n");
    [initialize, &discover].map(|line| answer(server, line)["result"]["capabilities"].clone())
}

#[test]
fn are_announced_in_both_eras() {
    let config = ServerConfig::new("t", "1").tools(TOOLS).extensions(KEYS);
    let mut storage = Storage::<512, 64, 1>::new();
    let [legacy, modern] = capabilities(&mut Server::new(&config, storage.buffers()));
    let keys: serde_json::Value = serde_json::from_str(KEYS).unwrap();
    assert_eq!(legacy, serde_json::json!({"tools": {}, "experimental": keys}));
    assert_eq!(modern, serde_json::json!({"tools": {}, "extensions": keys}));
}

#[test]
fn stand_alone_without_tools() {
    let config = ServerConfig::new("t", "1").extensions("{}");
    let mut storage = Storage::<512, 64, 1>::new();
    let [legacy, modern] = capabilities(&mut Server::new(&config, storage.buffers()));
    assert_eq!(legacy, serde_json::json!({"experimental": {}}));
    assert_eq!(modern, serde_json::json!({"extensions": {}}));
}

#[cfg(feature = "alloc")]
#[test]
fn outlive_the_config_that_was_copied() {
    let mut server = {
        let keys = KEYS.to_owned();
        Server::owning(
            &ServerConfig::new("t", "1").extensions(&keys),
            barewire::Buffers::growing(<_>::default()),
        )
    };
    let [legacy, _] = capabilities(&mut server);
    assert_eq!(legacy["experimental"]["com.example/blink"]["times"][1], 2);
}

/// What a client says first.
fn question(era: barewire::Era) -> serde_json::Value {
    let config = barewire::ClientConfig::new("c", "1").extensions(KEYS).era(era);
    let mut storage = Storage::<512, 512, 1>::new();
    let mut client = barewire::Client::new(&config, storage.buffers());
    match client.poll(Millis(0)) {
        Output::Send(bytes) => serde_json::from_slice(bytes).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn clients_announce_theirs_when_they_meet_a_server() {
    let keys: serde_json::Value = serde_json::from_str(KEYS).unwrap();
    let legacy = question(barewire::Era::Legacy);
    assert_eq!(legacy["params"]["capabilities"], serde_json::json!({"experimental": keys}));
    let modern = question(barewire::Era::Modern);
    let can = &modern["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(can, &serde_json::json!({"extensions": keys}));
}

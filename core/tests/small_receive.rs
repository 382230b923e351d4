//! A receive buffer in which a stateless client's first question fits, and nothing that it says later.
use barewire::{Millis, Output, Server, ServerConfig, Storage};

const QUESTION: &str = "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"server/discover\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n";

fn answer<const RX: usize>() -> String {
    let config = ServerConfig::new("t", "1");
    let mut storage = Storage::<RX, 64, 1>::new();
    let mut server = Server::new(&config, storage.buffers());
    assert_eq!(server.feed(QUESTION.as_bytes()), QUESTION.len());
    let mut out = String::new();
    loop {
        match server.poll(Millis(0)) {
            Output::Send(bytes) => {
                let n = bytes.len();
                out.push_str(core::str::from_utf8(bytes).unwrap_or("?"));
                server.sent(n);
            }
            Output::Event(_) => {}
            _ => return out,
        }
    }
}

#[test]
fn offers_only_the_handshake() {
    assert!(QUESTION.len() < 256);
    let small = answer::<256>();
    assert!(small.starts_with(r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32600"#), "{small}");
    assert!(small.contains(r#""data":{"limit":255}"#), "{small}");
    let large = answer::<512>();
    assert!(large.contains(r#""supportedVersions":["2026-07-28"]"#), "{large}");
}

//! What the official clients say first, byte for byte as captured, to a device that receives 256 bytes and writes 64.
#![allow(clippy::unwrap_used)]
use barewire::{Millis, Server, ServerConfig, Storage, Tool};
use barewire_serial::{Checked, Link, LinkStorage, Node, Role, SerialServer, Turn};

static TOOLS: &[Tool<'static>] = &[Tool::new("blink", "Blinks once.", r#"{"type":"object"}"#)];
static CONFIG: ServerConfig<'static> = ServerConfig::new("small", "1").tools(TOOLS);

/// Client, its modern question, the id of that, its `initialize`, and what follows.
const CLIENTS: [(&str, &str, &str, &str, &str); 3] = [
    (
        "TypeScript SDK",
        r#"{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"ts2-driver","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{},"roots":{"listChanged":true},"elicitation":{"form":{}}}}}}"#,
        "\"server-discover-probe-1\"",
        r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{},"roots":{"listChanged":true},"elicitation":{}},"clientInfo":{"name":"ts1-driver","version":"1.0.0"}},"jsonrpc":"2.0","id":0}"#,
        r#"{"method":"tools/list","jsonrpc":"2.0","id":1}"#,
    ),
    (
        "Python SDK",
        r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"mcp","version":"0.1.0"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{},"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true}}}}}"#,
        "1",
        r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{},"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true}},"clientInfo":{"name":"mcp","version":"0.1.0"}},"jsonrpc":"2.0","id":0}"#,
        r#"{"method":"tools/list","jsonrpc":"2.0","id":1}"#,
    ),
    (
        "rmcp",
        r#"{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"roots":{"listChanged":true},"sampling":{}},"io.modelcontextprotocol/clientInfo":{"name":"rmcp-driver","version":"1.0.0"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        "0",
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"elicitation":{"form":{}},"roots":{"listChanged":true},"sampling":{}},"clientInfo":{"name":"rmcp-driver","version":"1.0.0"},"protocolVersion":"2025-11-25"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":0}}}"#,
    ),
];

/// What the device answers to one line, fed in pieces of `size`.
fn answer(node: &mut SerialServer<'_>, line: &str, size: usize) -> String {
    let mut out = Vec::new();
    for part in format!("{line}\n").as_bytes().chunks(size) {
        let mut rest = part;
        while !rest.is_empty() {
            rest = &rest[node.receive(rest)..];
            loop {
                while let Turn::Event(_) = node.poll(Millis(0)) {}
                let n = node.output().len();
                if n == 0 {
                    break;
                }
                out.extend_from_slice(node.output());
                node.sent(n);
            }
        }
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn come_in_by_initialize_when_their_modern_question_does_not_fit() {
    for (client, discover, id, initialize, list) in CLIENTS {
        assert!(discover.len() > 256, "{client}");
        for size in [1, 7, 64] {
            let (mut memory, mut lines) = (Storage::<256, 64, 1>::new(), LinkStorage::<64, 0>::new());
            let server = Server::new(&CONFIG, memory.buffers());
            let mut node = Node::new(server, Link::new(Role::Server, Checked::Never, &mut lines));
            let refused = answer(&mut node, discover, size);
            assert!(
                refused
                    .starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32600,")),
                "{client}: {refused}"
            );
            let opened = answer(&mut node, initialize, size);
            assert!(opened.contains("\"result\":{\"protocolVersion\":\"2025-11-25\""), "{client}: {opened}");
            assert_eq!(
                answer(&mut node, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, size),
                ""
            );
            let tools = answer(&mut node, list, size);
            assert!(
                tools.contains("\"id\":1,\"result\":{\"tools\":[{\"name\":\"blink\""),
                "{client}: {tools}"
            );
        }
    }
}

/// RAM that is not buffers, on a 64-bit computer; less on a microcontroller.
#[test]
fn the_link_is_small() {
    let (link, server) = (size_of::<Link<'_>>(), size_of::<SerialServer<'_>>());
    println!("link {link}, server and link {server}");
    assert!(link <= 560, "{link}");
}

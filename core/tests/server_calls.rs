//! A server of tools, driven by hand: replies now, later, in pieces; cancels; what bad input gets.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
use barewire::json::Raw;
use barewire::{
    Buffers, Call, CallId, Code, Content, Data, Millis, Noise, Output, Progress, Server, ServerConfig,
    ServerEvent, Slot, Tool,
};

static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "Says it again.", r#"{"type":"object"}"#),
    Tool::new("later", "Takes its time.", r#"{"type":"object"}"#),
    Tool::new("mute", "Never answers.", r#"{"type":"object"}"#),
    Tool::new("huge", "More than fits.", r#"{"type":"object"}"#),
    Tool::new("stream", "In pieces.", r#"{"type":"object"}"#),
    Tool::new("rich", "All kinds.", r#"{"type":"object"}"#),
];
static CONFIG: ServerConfig<'static> = ServerConfig::new("t", "1").tools(TOOLS).noise(Noise::Answer);
const LONG: &str = "line one\nline \"two\" \u{1f980} and so on, ";

struct Driver {
    out: Vec<u8>,
    kept: Vec<CallId>,
    cancelled: Vec<CallId>,
    stream_at: usize,
}

/// Feeds `input` in `chunk`s, writes `write` bytes at a time, until nothing more happens.
fn drive(server: &mut Server<'_>, d: &mut Driver, mut input: &[u8], chunk: usize, write: usize) {
    let text = LONG.repeat(200);
    loop {
        match server.poll(Millis(0)) {
            Output::Send(bytes) => {
                let n = bytes.len().min(write);
                assert!(n > 0);
                d.out.extend_from_slice(&bytes[..n]);
                server.sent(n);
            }
            Output::Event(ServerEvent::Call(Call { name, args, mut reply, .. })) => match name {
                "echo" => {
                    let json = args.json().as_str().to_owned();
                    let _ = reply.text(&json).finish();
                }
                "later" => {
                    reply.progress(Progress { done: 1, total: Some(3), message: Some("go") }).unwrap();
                    d.kept.push(reply.defer());
                }
                "huge" => assert!(reply.text(&"x".repeat(200_000)).finish().is_err()),
                "stream" => {
                    d.stream_at = reply.write_text(&text);
                    reply.pause();
                }
                "rich" => reply
                    .text("a")
                    .structured(Raw::new(r#"{"b":[1, 2]}"#).unwrap())
                    .content(&Content::Image { data: Data::Bytes(b"abcd"), mime: "image/png" })
                    .meta(Raw::new(r#"{"k":null}"#).unwrap())
                    .error()
                    .finish()
                    .unwrap(),
                _ => {
                    let _ = reply.text("half");
                }
            },
            Output::Event(ServerEvent::More(mut reply)) => {
                d.stream_at += reply.write_text(&text[d.stream_at..]);
                if d.stream_at == text.len() {
                    reply.finish().unwrap();
                } else {
                    reply.pause();
                }
            }
            Output::Event(ServerEvent::Cancelled(id)) => d.cancelled.push(id),
            Output::Event(_) => {}
            Output::Wait { .. } => {
                if input.is_empty() {
                    return;
                }
                let n = server.feed(&input[..chunk.min(input.len())]);
                assert!(n > 0);
                input = &input[n..];
            }
            Output::Blocked { .. } | Output::Closed => return,
        }
    }
}

fn run(input: &str, rx: usize, tx: usize, chunk: usize, write: usize) -> String {
    let (mut rx, mut tx, mut slots) = (vec![0; rx], vec![0; tx], vec![Slot::FREE, Slot::FREE]);
    let mut server = Server::new(&CONFIG, Buffers::new(&mut rx, &mut tx, &mut slots));
    let mut d = Driver { out: vec![], kept: vec![], cancelled: vec![], stream_at: 0 };
    drive(&mut server, &mut d, input.as_bytes(), chunk, write);
    String::from_utf8(d.out).unwrap()
}

const INIT: &str = r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}},"jsonrpc":"2.0","id":0}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;
const INITED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}}
"#;
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
const OURS: &str = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"t","version":"1"}}"#;

fn all_ways(input: &str, expected: &str) {
    assert_eq!(run(input, 4096, 4096, 4096, 4096), expected);
    for (chunk, write) in [(1, 4096), (4096, 1), (7, 3), (64, 5)] {
        assert_eq!(run(input, 4096, 4096, chunk, write), expected, "chunk {chunk}, write {write}");
    }
}

fn call(id: &str, name: &str, rest: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\"{rest}}}}}\n"
    )
}

#[test]
fn a_legacy_session() {
    let input =
        INIT.to_owned() + &call("\"a\"", "echo", r#","arguments":{"x": "\u0041"}"#) + &call("5", "nope", "");
    let expected = INITED.to_owned()
        + r#"{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"{\"x\": \"\\u0041\"}"}]}}"#
        + "\n"
        + r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"Unknown tool"}}"#
        + "\n";
    all_ways(&input, &expected);
}

#[test]
fn a_modern_exchange() {
    let input =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{{{META}}}}}\n")
            + &call("2", "rich", &format!(",{META}"));
    let expected = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{{\"tools\":{{}}}},\"ttlMs\":0,\"cacheScope\":\"private\",{OURS}}}}}\n"
    ) + r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","structuredContent":{"b":[1, 2]},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"t","version":"1"},"k":null},"content":[{"type":"text","text":"a"},{"type":"text","text":"{\"b\":[1, 2]}"},{"type":"image","data":"YWJjZA==","mimeType":"image/png"}],"isError":true}}
"#;
    all_ways(&input, &expected);
}

#[test]
fn unanswered_huge_and_streamed() {
    let input = INIT.to_owned()
        + &call("1", "mute", "")
        + &call("2", "huge", "")
        + &call("3", "stream", "")
        + &call("4", "echo", "");
    let text = serde_json::to_string(&LONG.repeat(200)).unwrap();
    let expected = INITED.to_owned()
        + r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the tool gave no answer"}}"#
        + "\n"
        + r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"reply too large","data":{"limit":4096}}}"#
        + "\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
        + &text
        + "}]}}\n"
        + r#"{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"{}"}]}}"#
        + "\n";
    all_ways(&input, &expected);
    // The same through 64 bytes, but for what does not fit.
    let small = run(&input, 300, 64, 1, 1);
    assert!(small.contains(&text), "{small}");
    assert_eq!(small.lines().count(), 5);
}

#[test]
fn the_list_through_64_bytes() {
    let input = INIT.to_owned() + "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/list\"}\n";
    let whole = run(&input, 256, 4096, 256, 4096);
    assert_eq!(run(&input, 256, 64, 1, 1), whole);
    let list: serde_json::Value = serde_json::from_str(whole.lines().nth(1).unwrap()).unwrap();
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), TOOLS.len());
}

#[test]
fn deferred_cancelled_and_progress() {
    let (mut rx, mut tx, mut slots) = (vec![0; 1024], vec![0; 1024], vec![Slot::FREE, Slot::FREE]);
    let mut server = Server::new(&CONFIG, Buffers::new(&mut rx, &mut tx, &mut slots));
    let mut d = Driver { out: vec![], kept: vec![], cancelled: vec![], stream_at: 0 };
    let input = INIT.to_owned()
        + &call("1", "later", r#","_meta":{"progressToken":"t\u0031"}"#)
        + &call("2", "later", "")
        + &call("2.0", "echo", "");
    drive(&mut server, &mut d, input.as_bytes(), 4096, 4096);
    let cancel =
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n";
    server.progress(d.kept[0], Progress { done: 1, total: None, message: None }).unwrap();
    server.progress(d.kept[0], Progress { done: 2, total: None, message: None }).unwrap();
    drive(&mut server, &mut d, cancel, 4096, 4096);
    assert_eq!(d.cancelled, [d.kept[0]]);
    assert!(server.resume(d.kept[0]).is_err());
    server.resume(d.kept[1]).unwrap().fail(Code(7), "no");
    drive(&mut server, &mut d, b"", 1, 4096);
    let expected = INITED.to_owned()
        + r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t\u0031","progress":1,"total":3,"message":"go"}}
{"jsonrpc":"2.0","id":2.0,"error":{"code":-32600,"message":"the id of a request that is still open"}}
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t\u0031","progress":2}}
{"jsonrpc":"2.0","id":2,"error":{"code":7,"message":"no"}}
"#;
    assert_eq!(String::from_utf8(d.out).unwrap(), expected);
}

#[test]
fn bad_input() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","method":"ping","params":{}1{},"id":31}}"#,
        "[".repeat(300),
        "]".repeat(300)
    );
    let long =
        format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{{"x":"{}"}},"id":"tail"}}"#, "y".repeat(9000));
    let deep_array = "[".repeat(150) + &"]".repeat(150);
    let lines = [
        ("this is no json", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#),
        (
            "42",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 request"}}"#,
        ),
        (
            "[]",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are only part of revision 2025-03-26"}}"#,
        ),
        (
            r#"{"id":99,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":99,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 request"}}"#,
        ),
        (&deep, r#"{"jsonrpc":"2.0","id":31,"error":{"code":-32600,"message":"nested deeper than 128"}}"#),
        (
            &long,
            r#"{"jsonrpc":"2.0","id":"tail","error":{"code":-32600,"message":"message too large","data":{"limit":4095}}}"#,
        ),
        (r#"{"jsonrpc":"2.0","id":8,"result":{}}"#, ""),
        (&format!(r#"{{"jsonrpc":"2.0","id":8,"result":{{"x":{deep_array}}}}}"#), ""),
        (&format!(r#"{{"jsonrpc":"2.0","error":{deep_array},"id":8}}"#), ""),
        (&format!(r#"{{"jsonrpc":"2.0","method":"x","params":{deep_array}}}"#), ""),
        (&format!(r#"{{"jsonrpc":"2.0","params":{deep_array},"method":"x"}}"#), ""),
        (r#"{"jsonrpc":"2.0","method":"x"}"#, ""),
        ("   \t", ""),
    ];
    for (line, answer) in lines {
        let expected = if answer.is_empty() { String::new() } else { format!("{answer}\n") };
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"ping\"}";
        all_ways(
            &format!("{line}\r\n{ping}\n"),
            &format!("{expected}{{\"jsonrpc\":\"2.0\",\"id\":900,\"result\":{{}}}}\n"),
        );
    }
}

#[test]
fn a_batch_in_its_revision() {
    let init = INIT.replace("2025-11-25", "2025-03-26");
    let inited = INITED.replace("2025-11-25", "2025-03-26");
    let input = init
        + r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}, 7 ,{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}]
[{"jsonrpc":"2.0","method":"notifications/x"}]
[ ]
{"jsonrpc":"2.0","id":3,"method":"ping"}
"#;
    let expected = inited
        + r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 request"}},{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{}"}]}}]
{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 request"}}
{"jsonrpc":"2.0","id":3,"result":{}}
"#;
    all_ways(&input, &expected);
}

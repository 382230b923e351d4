//! `measure SIDE KIND SIZE CHUNK` feeds a machine SIZE bytes in pieces of CHUNK, for counting instructions.
//!
//! - `server`: `requests` (many small ones), `string` (one long string), `skim` (the same, longer than the buffer).
//! - `client`: `string` (one long text as a result), `list` (one list of many tools).
//!
//! Only what happens in `serve` and `receive` is meant to be counted.

use std::hint::black_box;

use barewire::{
    Buffers, Call, Client, ClientConfig, ClientEvent, Era, Millis, Noise, Output, Request, Server,
    ServerConfig, ServerEvent, Slot, Tool,
};

static TOOLS: &[Tool<'static>] =
    &[Tool::new("len", "Says how long its arguments are.", r#"{"type":"object"}"#)];
static CONFIG: ServerConfig<'static> = ServerConfig::new("measure", "1").tools(TOOLS).noise(Noise::Answer);

const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    "\n"
);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [side, kind, size, chunk] = words[..] else { panic!("usage: measure SIDE KIND SIZE CHUNK") };
    let (size, chunk) = (size.parse::<usize>().expect("a size"), chunk.parse::<usize>().expect("a chunk"));
    let answers = match side {
        "server" => server(kind, size, chunk),
        "client" => client(kind, size, chunk),
        _ => panic!("no side {side}"),
    };
    println!("{answers} bytes of answers, or events");
}

fn server(kind: &str, size: usize, chunk: usize) -> usize {
    let input = match kind {
        "requests" => {
            let request = |i: usize| {
                format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{i},\"method\":\"tools/call\",\"params\":{{\"name\":\"len\",\"arguments\":{{\"a\":[1,2.5,\"x\"]}}}}}}\n"
                )
            };
            let mut input = String::new();
            for i in 100_000.. {
                if input.len() >= size {
                    break;
                }
                input += &request(i);
            }
            input
        }
        "string" | "skim" => {
            let text = "0123456789 abcdefghijklmnopqrstuvwxyz ".repeat(size / 38);
            format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{{\"name\":\"len\",\"arguments\":{{\"text\":\"{text}\"}}}},\"id\":1}}\n"
            )
        }
        _ => panic!("no kind {kind}"),
    };
    let mut rx = vec![0; if kind == "string" { size + 4096 } else { 4096 }];
    let mut tx = vec![0; 4096];
    let mut slots = [const { Slot::FREE }; 4];
    let mut server = Server::new(&CONFIG, Buffers::new(&mut rx, &mut tx, &mut slots));
    assert!(measured(&mut server, HELLO.as_bytes(), HELLO.len()) > 0);
    serve(&mut server, input.as_bytes(), chunk)
}

/// A copy of its own, so that the handshake is not counted.
#[inline(never)]
fn serve(server: &mut Server<'_>, input: &[u8], chunk: usize) -> usize {
    let answers = measured(server, input, chunk);
    assert!(answers > 0);
    black_box(answers)
}

#[inline(always)]
fn measured(server: &mut Server<'_>, input: &[u8], chunk: usize) -> usize {
    let (mut rest, mut answers) = (input, 0);
    loop {
        match server.poll(Millis(0)) {
            Output::Send(bytes) => {
                let n = black_box(bytes).len();
                answers += n;
                server.sent(n);
            }
            Output::Event(ServerEvent::Call(Call { args, reply, .. })) => {
                let n = args.json().as_bytes().len();
                let _ = reply.text_fmt(format_args!("{n}")).finish();
            }
            Output::Event(_) => {}
            _ if rest.is_empty() => return answers,
            _ => {
                let n = server.feed(&rest[..chunk.min(rest.len())]);
                assert!(n > 0, "the server takes nothing");
                rest = &rest[n..];
            }
        }
    }
}

static CLIENT: ClientConfig<'static> = ClientConfig::new("measure", "1").era(Era::Legacy);
const OPENED: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
    "\n"
);

fn client(kind: &str, size: usize, chunk: usize) -> usize {
    let input = match kind {
        "string" => {
            let text = "0123456789 abcdefghijklmnopqrstuvwxyz ".repeat(size / 38);
            format!(
                "{{\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}},\"jsonrpc\":\"2.0\",\"id\":2}}\n"
            )
        }
        "list" => {
            let tool =
                r#"{"name":"get_forecast","description":"The weather.","inputSchema":{"type":"object"}}"#;
            let tools = vec![tool; size / (tool.len() + 1)].join(",");
            format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"tools\":[{tools}]}}}}\n")
        }
        _ => panic!("no kind {kind}"),
    };
    let (mut rx, mut tx, mut slots) = (vec![0; size + 4096], vec![0; 4096], [const { Slot::FREE }; 2]);
    let mut client = Client::new(&CLIENT, Buffers::new(&mut rx, &mut tx, &mut slots));
    // The handshake goes out first.
    let _ = heard(&mut client, b"", 1);
    assert!(heard(&mut client, OPENED.as_bytes(), usize::MAX) > 0, "the session opens");
    let sent = match kind {
        "string" => client.call_tool("x").and_then(Request::send),
        _ => client.list_tools(None).and_then(Request::send),
    };
    assert!(sent.is_ok(), "{sent:?}");
    let _ = heard(&mut client, b"", 1);
    receive(&mut client, input.as_bytes(), chunk)
}

/// A copy of its own, so that the handshake is not counted.
#[inline(never)]
fn receive(client: &mut Client<'_>, input: &[u8], chunk: usize) -> usize {
    let events = heard(client, input, chunk);
    assert!(events > 1, "the result comes in");
    black_box(events)
}

#[inline(always)]
fn heard(client: &mut Client<'_>, input: &[u8], chunk: usize) -> usize {
    let (mut rest, mut events) = (input, 0);
    loop {
        match client.poll(Millis(0)) {
            Output::Send(bytes) => {
                let n = black_box(bytes).len();
                client.sent(n);
            }
            Output::Event(ClientEvent::Tool { tool, .. }) => events += tool.decode().name.len().min(1),
            Output::Event(_) => events += 1,
            _ if rest.is_empty() => return events,
            _ => {
                let n = client.feed(&rest[..chunk.min(rest.len())]);
                assert!(n > 0, "the client takes nothing");
                rest = &rest[n..];
            }
        }
    }
}

//! `measure server KIND SIZE CHUNK` feeds a server SIZE bytes in pieces of CHUNK, for counting instructions:
//! KIND is `requests` (many small ones), `string` (one long string) or `skim` (the same, longer than the buffer).
//! Only what happens in `measured` is meant to be counted.

use std::hint::black_box;

use barewire::{Buffers, Call, Millis, Noise, Output, Server, ServerConfig, ServerEvent, Slot, Tool};

static TOOLS: &[Tool<'static>] = &[Tool::new("len", "Says how long its arguments are.", r#"{"type":"object"}"#)];
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
        _ => panic!("no side {side}"),
    };
    println!("{answers} bytes of answers");
}

fn server(kind: &str, size: usize, chunk: usize) -> usize {
    let input = match kind {
        "requests" => {
            let request = |i: usize| {
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{i},\"method\":\"tools/call\",\"params\":{{\"name\":\"len\",\"arguments\":{{\"a\":[1,2.5,\"x\"]}}}}}}\n")
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
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{{\"name\":\"len\",\"arguments\":{{\"text\":\"{text}\"}}}},\"id\":1}}\n")
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

//! Our server and our client in one process, and a client against chance.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]
mod client_support;
use barewire::{
    Abilities, Buffers, CallId, Client, ClientConfig, ClientEvent, Content, End, Era, Millis, Output, Server,
    ServerConfig, ServerEvent, Slot, Tool, Version,
};
use client_support::{Log, show};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What one run through both machines gave.
#[derive(Debug, Default, PartialEq)]
struct Run {
    version: Option<Version>,
    tools: Vec<String>,
    text: Vec<String>,
    ended: usize,
}

/// Lists all tools, then calls the last one; bytes travel in pieces of `cut`.
fn run(
    config: &ClientConfig<'_>,
    server_config: &ServerConfig<'_>,
    cut: usize,
    sizes: (usize, usize),
) -> Run {
    let (mut rx, mut tx) = (vec![0; sizes.0], vec![0; sizes.1]);
    let (mut server_rx, mut server_tx) = (vec![0; 1024], vec![0; 512]);
    let (mut slots, mut server_slots) = ([Slot::FREE], [Slot::FREE]);
    let mut client = Client::new(config, Buffers::new(&mut rx, &mut tx, &mut slots));
    let mut server =
        Server::new(server_config, Buffers::new(&mut server_rx, &mut server_tx, &mut server_slots));
    let mut run = Run::default();
    loop {
        let mut idle = true;
        let mut listed = None;
        match client.poll(Millis(0)) {
            Output::Send(bytes) => {
                let n = server.feed(&bytes[..bytes.len().min(cut)]);
                client.sent(n);
                idle = n == 0;
            }
            Output::Event(event) => {
                idle = false;
                match event {
                    ClientEvent::Opened { server, version, .. } => {
                        run.version = Some(version);
                        assert_eq!(server, "board");
                        listed = Some(false);
                    }
                    ClientEvent::Tool { tool, .. } => {
                        let json = tool.json().as_str().to_owned();
                        let tool = tool.decode();
                        assert!(json.contains(tool.input_schema));
                        assert_eq!(tool.description, "Says \"hello\".\n");
                        run.tools.push(tool.name.to_owned());
                    }
                    ClientEvent::Content { content: Content::Text(text), .. } => {
                        run.text.push(text.to_owned());
                    }
                    ClientEvent::Ended { end, .. } => {
                        assert_eq!(end, End::Done { is_error: false });
                        run.ended += 1;
                        if run.ended == 2 {
                            return run;
                        }
                        listed = Some(true);
                    }
                    ClientEvent::Meta { .. } => {}
                    other => panic!("{}", show(other)),
                }
            }
            Output::Wait { .. } => {}
            Output::Blocked { .. } | Output::Closed => panic!("no way on"),
        }
        match listed {
            Some(false) => drop(client.list_tools(None).unwrap().send().unwrap()),
            Some(true) => {
                let request = client.call_tool(run.tools.last().unwrap()).unwrap().args(|o| {
                    o.str("who", "caf\u{e9} \"x\"");
                });
                request.send().unwrap();
            }
            None => {}
        }
        match server.poll(Millis(0)) {
            Output::Send(bytes) => {
                let n = client.feed(&bytes[..bytes.len().min(cut)]);
                server.sent(n);
                idle &= n == 0;
            }
            Output::Event(ServerEvent::Call(call)) => {
                idle = false;
                let text = format!("{} {}", call.name, call.args.json());
                call.reply.text(&text).finish().unwrap();
            }
            Output::Event(_) => idle = false,
            Output::Wait { .. } | Output::Blocked { .. } | Output::Closed => {}
        }
        assert!(!idle, "both wait: {run:?}");
    }
}

#[test]
fn our_own_server_in_every_revision() {
    let names: Vec<String> = (0..100).map(|i| format!("tool_{i}")).collect();
    let tools: Vec<Tool<'_>> =
        names.iter().map(|n| Tool::new(n, "Says \"hello\".\n", r#"{"type":"object"}"#).title("T")).collect();
    for page in [7, 1] {
        let server = ServerConfig::new("board", "1").tools(&tools).page(page);
        let base = ClientConfig::new("panel", "1");
        let legacy = Version::ALL.into_iter().filter(|v| !v.is_modern());
        let mut all: Vec<_> = legacy.map(|v| (base.era(Era::Legacy).protocol_version(v), v)).collect();
        all.push((base.era(Era::Modern).can(Abilities::NONE.form()), Version::V2026_07_28));
        all.push((base, Version::V2026_07_28));
        for (config, version) in all {
            for (cut, sizes) in [(usize::MAX, (2048, 512)), (1, (2048, 512)), (13, (4096, 320))] {
                let run = run(&config, &server, cut, sizes);
                assert_eq!(run.version, Some(version));
                assert_eq!(run.tools, names);
                assert_eq!(run.text, [r#"tool_99 {"who":"café \"x\""}"#]);
            }
        }
    }
}

/// What a server may send: pieces that mean something, whole and broken.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let ids = prop_oneof![
        (0u32..9).prop_map(|n| n.to_string()),
        Just("null".to_owned()),
        Just("\"2\"".to_owned()),
        Just("3.0".to_owned())
    ];
    let bodies = prop::sample::select(vec![
        r#""result":{"content":[{"type":"text","text":"a\n\u00e9"},{"type":"image"},3],"structuredContent":{},"_meta":{}}"#,
        r#""result":{"tools":[{"name":"a\"","inputSchema":{}},{"name":7},{}],"nextCursor":"c"}"#,
        r#""result":{"tools":[],"nextCursor":"d"}"#,
        r#""result":{"tools":[]}"#,
        r#""result":{"resultType":"input_required","requestState":"s"}"#,
        r#""result":{"resultType":"task"}"#,
        r#""result":{"protocolVersion":"2025-03-26","serverInfo":{"name":"\u0041"}}"#,
        r#""result":{"supportedVersions":["2026-07-28"]}"#,
        r#""result":null"#,
        r#""error":{"code":-32022,"message":"\\","data":{"supported":["2026-07-28","2024-11-05"]}}"#,
        r#""error":{"code":-32601}"#,
        r#""method":"ping""#,
        r#""method":"notifications/progress","params":{"progressToken":2,"progress":1,"message":"\t"}"#,
        r#""method":"notifications/message","params":{"level":"info","data":[]}"#,
        r#""x":[[[[]]]]"#,
    ]);
    let message = (ids, bodies, any::<bool>()).prop_map(|(id, body, first)| {
        let text = if first {
            format!(r#"{{"jsonrpc":"2.0","id":{id},{body}}}"#)
        } else {
            format!(r#"{{{body},"id":{id},"jsonrpc":"2.0"}}"#)
        };
        text.into_bytes()
    });
    let line = prop_oneof![
        8 => message.clone(),
        1 => prop::collection::vec(message, 0..4).prop_map(|all| [b"[".as_slice(), &all.join(&b","[..]), b"]"].concat()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => (300usize..700).prop_map(|n| format!(r#"{{"jsonrpc":"2.0","result":{{"a":"{}"}},"id":2}}"#, "x".repeat(n)).into_bytes()),
    ];
    (line, 0usize..30).prop_map(|(mut line, cut)| {
        // Now and then the end is missing, and what follows is glued on.
        if cut == 0 {
            line.truncate(line.len() / 2);
        } else {
            line.push(b'\n');
        }
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    /// Whatever a server sends, in whatever pieces: nothing panics or hangs, and each request ends once.
    #[test]
    fn each_request_ends_once(
        pieces in prop::collection::vec((piece(), 0u8..12, 1usize..200), 1..40),
        era in prop::sample::select(vec![Era::Auto, Era::Legacy, Era::Modern]),
        open in any::<bool>(),
    ) {
        let config = ClientConfig::new("t", "1").era(era).probe(Millis(400));
        let (mut rx, mut tx, mut slots) = ([0; 256], [0; 400], [Slot::FREE, Slot::FREE]);
        let mut client = Client::new(&config, Buffers::new(&mut rx, &mut tx, &mut slots));
        let mut log = Log::new();
        let mut sent: BTreeMap<CallId, usize> = BTreeMap::new();
        let poll = |client: &mut Client<'_>, log: &mut Log, sent: &mut BTreeMap<CallId, usize>| -> bool {
            for _ in 0..10_000 {
                match client.poll(Millis(log.now)) {
                    Output::Send(bytes) => { let n = bytes.len().min(37); log.out.extend_from_slice(&bytes[..n]); client.sent(n); }
                    Output::Event(ClientEvent::Ended { of, .. }) => *sent.entry(of).or_insert(99) += 1,
                    Output::Event(event) => { show(event); }
                    Output::Wait { .. } => return true,
                    Output::Blocked { .. } => return false,
                    Output::Closed => return true,
                }
            }
            false
        };
        prop_assert!(poll(&mut client, &mut log, &mut sent));
        if open {
            let hello: &[u8] = if era == Era::Legacy { br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26"}}"# }
                else { br#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}}"# };
            client.feed(hello);
            client.feed(b"\n");
            prop_assert!(poll(&mut client, &mut log, &mut sent));
            prop_assert!(client.version().is_some());
        }
        for (bytes, act, cut) in pieces {
            let request = match act {
                0 => client.call_tool("x").and_then(|r| r.limit(Millis(500), Some(Millis(900))).want_progress().send()).ok(),
                1 => client.list_tools(None).and_then(|r| r.send()).ok(),
                2 => client.request("m/n").and_then(|r| r.limit(Millis(300), None).send()).ok(),
                _ => None,
            };
            sent.extend(request.map(|id| (id, 0)));
            if act == 3 && let Some(id) = sent.iter().find(|(_, n)| **n == 0).map(|(id, _)| *id) {
                client.cancel(id);
                sent.remove(&id);
            }
            if act == 4 {
                client.reset();
            }
            if act == 5 {
                let _ = client.call_tool("dropped");
            }
            log.now += u64::from(act) * 10;
            let mut rest = &bytes[..];
            for _ in 0..1000 {
                let n = client.feed(&rest[..rest.len().min(cut)]);
                rest = &rest[n..];
                prop_assert!(poll(&mut client, &mut log, &mut sent));
                if rest.is_empty() { break }
            }
        }
        client.end_of_input();
        prop_assert!(poll(&mut client, &mut log, &mut sent));
        prop_assert!(sent.values().all(|n| *n == 1), "{:?}", sent);
        prop_assert!(matches!(client.poll(Millis(log.now)), Output::Closed));
        prop_assert_eq!(client.deadline(), None);
    }
}

//! Golden views, with fixed times. `BLESS=1 cargo test` writes them anew; read the difference before committing it.

use super::super::view::{Look, Mode, View};
use super::*;
use crate::paint::Paint;

const LOOK: Look =
    Look { mode: Mode::Normal, full: false, raw: false, paint: Paint(false), width: 100, table: english };

fn check(name: &str, lines: &[&str], end: Option<Event>, look: Look) {
    let mut session = entries(lines);
    if let Some(event) = end {
        session.push(Entry { at: Some(31_000_000), what: What::Event(event) });
    }
    let (items, summary) = track(&session);
    let mut view = View::new(look);
    let mut out: String = items.iter().map(|item| view.item(item)).collect();
    out += &view.summary(&summary);
    let path = format!("{}/src/packets/tests/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &out).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (line, (have, want)) in out.lines().zip(expected.lines()).enumerate() {
        assert_eq!(have, want, "{name}, line {}", line + 1);
    }
    assert_eq!(out.lines().count(), expected.lines().count(), "{name}");
}

fn legacy(rest: &[&'static str]) -> Vec<&'static str> {
    [&HANDSHAKE[..], rest].concat()
}

const CALLS: [&str; 5] = [
    r#">{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    r#"<{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"get_alerts","description":"Alerts for a state.\nMore.","inputSchema":{"type":"object","properties":{"state":{"type":"string"}},"required":["state"]}}]}}"#,
    r#">{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_alerts","arguments":{"state":"TX"}}}"#,
    "!sample data, not real weather",
    r#"<{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"one\ntwo"}]}}"#,
];

#[test]
fn seven_packets() {
    check("seven", &legacy(&CALLS), None, LOOK);
}

#[test]
fn seven_packets_otherwise() {
    check("short", &legacy(&CALLS), None, Look { mode: Mode::Short, ..LOOK });
    check("full", &legacy(&CALLS), None, Look { full: true, raw: true, mode: Mode::Teach, ..LOOK });
}

#[test]
fn a_modern_session() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#;
    let ask = |id: u32, method: &str, more: &str| {
        format!(r#">{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{more}{meta}}}}}"#)
    };
    let lines = [
        ask(1, "server/discover", ""),
        r#"<{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":3600000,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"}}}}"#.into(),
        ask(2, "tools/call", r#""name":"ask","arguments":{},"#),
        r#"<{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Your name?"}}},"requestState":"opaque"}}"#.into(),
        ask(3, "tools/call", r#""name":"ask","arguments":{},"inputResponses":{"who":{"action":"accept","content":{"name":"Ann"}}},"requestState":"opaque","#),
        r#"<{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[{"type":"text","text":"hello Ann"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"structuredContent":{"name":"Ann"}}}"#.into(),
        ask(4, "subscriptions/listen", r#""notifications":{"toolsListChanged":true},"#),
        r#"<{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":4},"notifications":{"toolsListChanged":true}}}"#.into(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check("modern", &lines, None, LOOK);
}

/// Whatever the bytes are, something is shown, in all forms, and nothing panics.
#[test]
fn spoiled_sessions() {
    let whole: Vec<String> = legacy(&CALLS).iter().map(|line| (*line).to_owned()).collect();
    let mut seed = 1_u64;
    let mut next = |limit: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % limit
    };
    for round in 0..400 {
        let mut session = entries(&whole.iter().map(String::as_str).collect::<Vec<_>>());
        for _ in 0..=round % 4 {
            let at = 1 + next(session.len() - 1);
            let What::Bytes(_, bytes) = &mut session[at].what else { continue };
            if bytes.is_empty() {
                continue;
            }
            let (from, to) = (next(bytes.len()), next(bytes.len()));
            match next(4) {
                0 => bytes[from] = next(256) as u8,
                1 => bytes.truncate(from),
                2 => bytes.insert(to, bytes[from]),
                _ => drop(bytes.drain(from.min(to)..from.max(to))),
            }
        }
        for mode in [Mode::Normal, Mode::Teach, Mode::Short] {
            let (items, summary) = track(&session);
            let mut view = View::new(Look { mode, full: round % 2 == 0, width: 20 + round % 100, ..LOOK });
            let shown: String = items.iter().map(|item| view.item(item)).collect();
            assert!(!shown.is_empty() && !view.summary(&summary).is_empty());
            assert!(!shown.contains('\u{1b}'), "a peer moved the cursor");
            for packet in packets(&items) {
                let line = super::super::export::packet(packet);
                assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
            }
        }
    }
}

#[test]
fn trouble() {
    let lines = legacy(&[
        "<Server ready \u{1b}[32mOK\u{1b}[0m",
        CALLS[0],
        r#"<{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"f","description":null,"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]}}"#,
        r#">{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"f","arguments":{"n":"x"}}}"#,
        r#">{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"g","arguments":{"big":12345678901234567890,"f":1.50}}}"#,
        r#"<{"jsonrpc":"2.0","id":"b","error":{"code":-32602,"message":"Unknown tool: g","data":{"name":"g"}}}"#,
        r#">[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"late"}}]"#,
        r#"<{"jsonrpc":"2.0","id":3,"result":{}}"#,
        r#"<{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[]},"extra":1}"#,
        "<{",
        "<  \"jsonrpc\": \"2.0\"",
        "<}",
    ]);
    check("trouble", &lines, Some(Event::Exit { code: None, signal: Some(9) }), LOOK);
}

//! Requests and what comes back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]
mod client_support;
use barewire::json::Raw;
use barewire::{CallId, Client, ClientConfig, Era, Level, Millis, SendError, Storage};
use client_support::Log;

static AUTO: ClientConfig<'static> = ClientConfig::new("t", "1");
static LEGACY: ClientConfig<'static> = ClientConfig::new("t", "1").era(Era::Legacy);
static PAGES: ClientConfig<'static> = ClientConfig::new("t", "1").era(Era::Legacy).follow_pages(false);

/// A client with an open session. Its first request has id 2.
fn open<'b>(
    config: &'static ClientConfig<'static>,
    storage: &'b mut Storage<2048, 1024, 2>,
) -> (Client<'b>, Log) {
    let mut client = Client::new(config, storage.buffers());
    let mut log = Log::new();
    log.drain(&mut client);
    log.line(
        &mut client,
        if config.era == Era::Legacy {
            r#"{"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":1}"#
        } else {
            r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#
        },
    );
    assert!(log.told()[0].starts_with("opened"));
    log.said();
    (client, log)
}

fn call(client: &mut Client<'_>, name: &str) -> CallId {
    client.call_tool(name).unwrap().send().unwrap()
}

/// Answers one request of each kind with `lines`; gives what was told.
fn ask(config: &'static ClientConfig<'static>, list: bool, lines: &[&str]) -> Vec<String> {
    let mut seen: Option<Vec<String>> = None;
    for cut in [usize::MAX, 1, 7] {
        let mut storage = Storage::new();
        let (mut client, mut log) = open(config, &mut storage);
        if list {
            client.list_tools(None).unwrap().send().unwrap();
        } else {
            call(&mut client, "x");
        }
        log.drain(&mut client);
        for line in lines {
            log.feed(&mut client, format!("{line}\n").as_bytes(), cut);
        }
        let told = log.told();
        assert_eq!(*seen.get_or_insert(told.clone()), told);
        assert_eq!(client.deadline(), None);
    }
    seen.unwrap()
}

#[test]
fn a_call_in_a_legacy_session() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&LEGACY, &mut storage);
    let request = client.call_tool("add").unwrap();
    let request = request.args(|o| {
        o.int("a", 1).str("b", "\n");
    });
    request.send().unwrap();
    call(&mut client, "none");
    log.drain(&mut client);
    assert_eq!(
        log.said(),
        [
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":"\n"}}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"none","arguments":{}}}"#,
        ]
    );
    assert_eq!(client.call_tool("third").err(), Some(SendError::TooManyCalls));
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":true}}"#);
    assert_eq!(log.told(), ["3 done", "2 failed"]);
}

#[test]
fn modern_requests_say_who_they_are() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&AUTO, &mut storage);
    let meta =
        Raw::new(r#"{"k":1,"progressToken":"x","io.modelcontextprotocol/protocolVersion":"1"}"#).unwrap();
    client.call_tool("a").unwrap().want_progress().log_level(Level::Info).meta(meta).send().unwrap();
    client.list_tools(None).unwrap().send().unwrap();
    log.drain(&mut client);
    let head = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}"#;
    assert_eq!(
        log.said(),
        [
            format!(
                r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{{head},"progressToken":2,"io.modelcontextprotocol/logLevel":"info","k":1}},"name":"a","arguments":{{}}}}}}"#
            ),
            format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{{{head}}}}}}}"#),
        ]
    );
}

#[test]
fn content_of_every_kind() {
    let told = ask(
        &AUTO,
        false,
        &[r#"{"jsonrpc":"2.0","id":2,"result":{"content":[
            {"type":"text","text":"a\"b","annotations":null},{"mimeType":"image/png","data":"AA==","type":"image"},
            {"type":"audio","data":"BB==","mimeType":"audio/wav"},{"type":"resource_link","uri":"r:\/\/a","name":"n","size":5},
            {"type":"resource","resource":{"uri":"u","text":"t"}},{"type":"resource","resource":{"uri":"u","blob":"Cg==","mimeType":"m"}},
            {"type":"hologram","z":1},7,{"type":"text"}],"structuredContent":{"n":9123456789012345678,"e":1e400},"_meta":{"a":1}}}"#
            .replace('\n', "")
            .as_str()],
    );
    let expected = [
        r#"2 Text("a\"b")"#,
        r#"2 Image { data: Base64("AA=="), mime: "image/png" }"#,
        r#"2 Audio { data: Base64("BB=="), mime: "audio/wav" }"#,
        r#"2 Link(Link { uri: "r://a", name: "n", title: None, description: None, mime: None, size: Some(5) })"#,
        r#"2 TextResource { uri: "u", mime: None, text: "t" }"#,
        r#"2 BlobResource { uri: "u", mime: Some("m"), data: Base64("Cg==") }"#,
        r#"2 Other { kind: "hologram", json: {"type":"hologram","z":1} }"#,
        r#"2 Other { kind: "", json: 7 }"#,
        r#"2 Other { kind: "text", json: {"type":"text"} }"#,
        r#"2 structured {"n":9123456789012345678,"e":1e400}"#,
        r#"2 meta {"a":1}"#,
        "2 done",
    ];
    assert_eq!(told, expected);
}

#[test]
fn kinds_of_results() {
    let cases = [
        (r#"{}"#, "2 done"),
        (r#"{"content":null,"isError":null}"#, "2 done"),
        (r#"{"content":{}}"#, "2 invalid Shape"),
        (r#"{"content":[],"isError":"yes"}"#, "2 invalid Shape"),
        (r#"{"resultType":"complete","content":[]}"#, "2 done"),
        (r#"{"content":[],"resultType":"quantum"}"#, "2 invalid ResultType"),
        (r#"{"resultType":"task","task":{}}"#, "2 invalid ResultType"),
        (r#"{"resultType":7}"#, "2 invalid ResultType"),
        (r#"{"resultType":"input_required"}"#, "2 invalid Shape"),
        (r#"{"resultType":"input_required","inputRequests":[]}"#, "2 invalid Shape"),
        ("null", "2 invalid Shape"),
        ("[]", "2 invalid Shape"),
    ];
    for (result, end) in cases {
        let told = ask(&AUTO, false, &[&format!(r#"{{"jsonrpc":"2.0","id":2,"result":{result}}}"#)]);
        assert_eq!(told, [end], "{result}");
    }
    let told =
        ask(&LEGACY, false, &[r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"mine","content":[]}}"#]);
    assert_eq!(told, ["2 done"]);
    let told = ask(&LEGACY, false, &[r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required"}}"#]);
    assert_eq!(told, ["2 invalid ResultType"]);
}

#[test]
fn answers_that_are_none_fail_at_once() {
    for line in [
        r#"{"jsonrpc":"2.0","id":2}"#,
        r#"{"jsonrpc":"1.0","id":2,"result":{}}"#,
        r#"{"id":2,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":2,"error":"no"}"#,
    ] {
        assert_eq!(ask(&LEGACY, false, &[line]), ["2 invalid Shape"], "{line}");
    }
    let deep = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{}}}"#, "[".repeat(200) + &"]".repeat(200));
    assert_eq!(ask(&LEGACY, false, &[&deep]), ["2 invalid TooDeep"]);
    let long = format!(r#"{{"result":{{"content":["{}"]}},"jsonrpc":"2.0","id":2}}"#, "x".repeat(5000));
    assert_eq!(ask(&LEGACY, false, &[&long]), [format!("2 invalid TooLong {{ dropped: {} }}", long.len())]);
    let told = ask(
        &LEGACY,
        false,
        &[r#"{"jsonrpc":"2.0","id":2,"error":{"code":-5,"message":"a\u0062","data":[1]}}"#],
    );
    assert_eq!(told, ["2 error -5 ab Some([1])"]);
    let told = ask(&LEGACY, false, &[r#"{"jsonrpc":"2.0","id":2,"error":{"code":"x"}}"#]);
    assert_eq!(told, ["2 error 0  None"]);
}

#[test]
fn pages_are_followed_and_end() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&LEGACY, &mut storage);
    client.list_tools(None).unwrap().send().unwrap();
    log.drain(&mut client);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","description":"\"A\"","inputSchema":{"type":"object"}}],"nextCursor":""}}"#);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":3,"result":{"nextCursor":"q\u00e9","tools":[{"name":"n","inputSchema":null},{"inputSchema":{}}]}}"#);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":4,"result":{"tools":[],"nextCursor":null}}"#);
    assert_eq!(
        log.said(),
        [
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":""}}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"cursor":"q\u00e9"}}"#,
        ]
    );
    assert_eq!(
        log.told(),
        [
            r#"2 tool a: "A" {"type":"object"}"#,
            r#"fault WrongShape {"name":"n","inputSchema":null}"#,
            "2 tool n:  {}",
            r#"fault WrongShape {"inputSchema":{}}"#,
            "2 done",
        ]
    );
    let page = |id: u32, next: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[],"nextCursor":{next}}}}}"#)
    };
    let (first, second) = (page(2, r#""""#), page(3, r#""""#));
    assert_eq!(ask(&LEGACY, true, &[&first, &second]), ["2 invalid CursorRepeats"]);
    assert_eq!(ask(&LEGACY, true, &[&page(2, "7")]), ["fault WrongShape 7", "2 done"]);
    assert_eq!(ask(&PAGES, true, &[&page(2, r#""c""#)]), [r#"2 page "c""#, "2 done"]);
    assert_eq!(ask(&LEGACY, true, &[r#"{"jsonrpc":"2.0","id":2,"result":{}}"#]), ["2 invalid Shape"]);
}

#[test]
fn time_is_over_once() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&LEGACY, &mut storage);
    client.call_tool("slow").unwrap().limit(Millis(100), Some(Millis(250))).want_progress().send().unwrap();
    log.at(&mut client, 1000);
    assert_eq!(log.until, Some(Millis(1100)));
    log.now = 1090;
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1.5,"total":3,"message":"m"}}"#;
    log.line(&mut client, progress);
    assert_eq!(log.until, Some(Millis(1190)));
    log.now = 1180;
    log.line(&mut client, progress);
    assert_eq!(log.until, Some(Millis(1250)));
    log.said();
    log.at(&mut client, 1250);
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    assert_eq!(log.said(), [cancelled]);
    log.line(&mut client, progress);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#);
    log.at(&mut client, 5000);
    let told = log.told();
    assert_eq!(
        told,
        [r#"2 progress 1.5 Some(3.0) Some("m")"#, r#"2 progress 1.5 Some(3.0) Some("m")"#, "2 TimedOut"]
    );
    assert_eq!(client.deadline(), None);
}

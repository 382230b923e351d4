//! Requests and what comes back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]
mod client_support;
use barewire::json::Raw;
use barewire::{CallId, Client, ClientConfig, Era, Level, Millis, SendError, Storage};
use client_support::{Log, call, open};

static AUTO: ClientConfig<'static> = ClientConfig::new("t", "1");
static LEGACY: ClientConfig<'static> = ClientConfig::new("t", "1").era(Era::Legacy);
static PAGES: ClientConfig<'static> = ClientConfig::new("t", "1").era(Era::Legacy).follow_pages(false);

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
        (r#"{"content":{}}"#, r#"2 invalid Shape("`content` is not an array")"#),
        (r#"{"content":[],"isError":"yes"}"#, r#"2 invalid Shape("`isError` is not true or false")"#),
        (r#"{"resultType":"complete","content":[]}"#, "2 done"),
        (r#"{"content":[],"resultType":"quantum"}"#, "2 invalid ResultType"),
        (r#"{"resultType":"task","task":{}}"#, "2 invalid ResultType"),
        (r#"{"resultType":7}"#, "2 invalid ResultType"),
        (
            r#"{"resultType":"input_required"}"#,
            r#"2 invalid Shape("it asks for input, but `inputRequests` and `requestState` are missing")"#,
        ),
        (
            r#"{"resultType":"input_required","inputRequests":[]}"#,
            r#"2 invalid Shape("`inputRequests` is not an object")"#,
        ),
        ("null", r#"2 invalid Shape("`result` is not an object")"#),
        ("[]", r#"2 invalid Shape("`result` is not an object")"#),
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
    // A word that is not known, and nothing else, is no empty success in any era.
    let told = ask(&LEGACY, false, &[r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"mine"}}"#]);
    assert_eq!(told, ["2 invalid ResultType"]);
}

/// Servers are known that write every member of their answer, null where there is nothing.
#[test]
fn null_beside_the_outcome_counts_as_absent_and_is_told() {
    for (members, end) in [
        (r#""result":{"content":[]},"error":null"#, "2 done"),
        (r#""error":null,"result":{"content":[]}"#, "2 done"),
        (r#""result":null,"error":{"code":-5,"message":"no"}"#, "2 error -5 no None"),
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":2,{members}}}"#);
        assert_eq!(
            ask(&LEGACY, false, &[&line]),
            [format!("fault NullBeside {line}"), end.into()],
            "{members}"
        );
    }
    for members in
        [r#""result":null,"error":null"#, r#""result":{},"error":"no""#, r#""result":7,"error":null"#]
    {
        let line = format!(r#"{{"jsonrpc":"2.0","id":2,{members}}}"#);
        let told = ask(&LEGACY, false, &[&line]);
        assert!(matches!(&told[..], [end] if end.starts_with("2 invalid Shape(")), "{members}: {told:?}");
    }
}

#[test]
fn answers_that_are_none_fail_at_once() {
    for (line, why) in [
        (r#"{"jsonrpc":"2.0","id":2}"#, "neither `result` nor `error` is there"),
        (r#"{"jsonrpc":"1.0","id":2,"result":{}}"#, r#"`jsonrpc` is not \"2.0\""#),
        (r#"{"id":2,"result":{}}"#, r#"`jsonrpc` is not \"2.0\""#),
        (
            r#"{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":""}}"#,
            "both `result` and `error` are there",
        ),
        (r#"{"jsonrpc":"2.0","id":2,"result":[]}"#, "`result` is not an object"),
        (r#"{"jsonrpc":"2.0","id":2,"error":"no"}"#, "`error` is not an object"),
        (r#"{"jsonrpc":"2.0","id":2,"result":{},"result":{}}"#, "a member is there twice"),
    ] {
        assert_eq!(ask(&LEGACY, false, &[line]), [format!("2 invalid Shape(\"{why}\")")], "{line}");
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
    assert_eq!(
        ask(&LEGACY, true, &[r#"{"jsonrpc":"2.0","id":2,"result":{}}"#]),
        [r#"2 invalid Shape("`tools` is missing")"#]
    );
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

#[test]
fn cancelled_requests_are_never_heard_of_again() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&LEGACY, &mut storage);
    let first = call(&mut client, "a");
    let second = call(&mut client, "b");
    client.cancel(first);
    client.cancel(first);
    // The slot is free as soon as the server can be told.
    let third = call(&mut client, "c");
    log.drain(&mut client);
    let said = log.said();
    assert!(said[2].ends_with(r#""method":"notifications/cancelled","params":{"requestId":2}}"#), "{said:?}");
    assert_eq!(said.len(), 4);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":2,"error":{"code":0,"message":"Request cancelled"}}"#);
    assert!(log.told().is_empty());
    // While its answer is handed out: nothing more comes, and nobody has to be told.
    let two = r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"\"x\n"},{"type":"text","text":"y"}]}}"#;
    client.feed(two.as_bytes());
    client.feed(b"\n");
    assert!(matches!(client.poll(Millis(0)), barewire::Output::Event(_)));
    client.cancel(second);
    log.drain(&mut client);
    assert!(log.told().is_empty() && log.said().is_empty());
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":4,"result":{"content":[]}}"#);
    assert_eq!(log.told(), ["4 done"]);
    client.cancel(third);
    client.cancel(CallId::from_bits(77));
    log.drain(&mut client);
    assert!(log.said().is_empty());
}

#[test]
fn a_list_cancelled_between_pages() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&LEGACY, &mut storage);
    let list = client.list_tools(None).unwrap().send().unwrap();
    log.drain(&mut client);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[],"nextCursor":"a"}}"#);
    client.cancel(list);
    log.drain(&mut client);
    let said = log.said();
    assert!(said[1].contains(r#""cursor":"a""#) && said[2].ends_with(r#""requestId":3}}"#), "{said:?}");
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[],"nextCursor":"b"}}"#);
    assert!(log.told().is_empty() && log.said().is_empty());
}

#[test]
fn input_required_and_the_call_again() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&AUTO, &mut storage);
    call(&mut client, "ask");
    log.drain(&mut client);
    log.said();
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"roots/list"}},"requestState":"o\u0070"}}"#);
    assert_eq!(
        log.told(),
        [r#"2 asks Some({"who":{"method":"roots/list"}}) Some("o\u0070")"#, "2 InputRequired"]
    );
    let (roots, state) = (Raw::new(r#"{"roots":[]}"#).unwrap(), Raw::new(r#""o\u0070""#).unwrap());
    let request =
        client.call_tool("ask").unwrap().state(state).answer("who", roots).answer("else", Raw::EMPTY_OBJECT);
    request.args_json(Raw::EMPTY_OBJECT).send().unwrap();
    log.drain(&mut client);
    let tail = r#"},"name":"ask","requestState":"o\u0070","inputResponses":{"who":{"roots":[]},"else":{}},"arguments":{}}}"#;
    assert!(log.said()[0].ends_with(tail));
    log.line(
        &mut client,
        r#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"input_required","requestState":"x"}}"#,
    );
    assert_eq!(log.told(), [r#"3 asks None Some("x")"#, "3 InputRequired"]);
    client.list_tools(None).unwrap().send().unwrap();
    log.drain(&mut client);
    log.line(
        &mut client,
        r#"{"jsonrpc":"2.0","id":4,"result":{"resultType":"input_required","requestState":"x"}}"#,
    );
    assert_eq!(log.told(), ["4 invalid ResultType"]);
}

#[test]
fn a_slot_is_free_before_the_question_is_told() {
    let mut rx = [0; 1024];
    let mut tx = [0; 1024];
    let mut slots = [barewire::Slot::FREE];
    let mut client = Client::new(&AUTO, barewire::Buffers::new(&mut rx, &mut tx, &mut slots));
    let mut log = Log::new();
    log.drain(&mut client);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}}"#);
    call(&mut client, "x");
    log.drain(&mut client);
    client.feed(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"input_required\",\"requestState\":\"s\"}}\n");
    assert!(matches!(
        client.poll(Millis(0)),
        barewire::Output::Event(barewire::ClientEvent::InputRequired { .. })
    ));
    assert_eq!(call(&mut client, "x").to_bits() >> 16, 3);
    log.told();
    log.drain(&mut client);
    assert_eq!(log.told(), ["2 InputRequired"]);
}

#[test]
fn what_does_not_fit_or_is_no_json() {
    let mut rx = [0; 1024];
    let mut tx = [0; 128];
    let mut slots = [barewire::Slot::FREE; 2];
    let mut client = Client::new(&LEGACY, barewire::Buffers::new(&mut rx, &mut tx, &mut slots));
    assert_eq!(client.call_tool("x").err(), Some(SendError::NotOpen));
    let mut log = Log::new();
    log.drain(&mut client);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}"#);
    log.said();
    log.told();
    assert_eq!(client.call_tool(&"x".repeat(200)).unwrap().send(), Err(SendError::TooLong));
    assert!(client.output().is_empty());
    // Written and not sent: taken back, its id not used.
    let _ = client.call_tool("x").unwrap();
    assert!(client.output().is_empty());
    assert_eq!(call(&mut client, "x").to_bits() >> 16, 2);
    assert_eq!(client.call_tool("y").unwrap().send(), Err(SendError::Full));
    log.drain(&mut client);
    assert_eq!(log.said().len(), 1);
    let one = Raw::new("1").unwrap();
    assert_eq!(client.call_tool("y").unwrap().args_json(one).send(), Err(SendError::NotJson));
    let twice = client.call_tool("y").unwrap().args(|_| ()).args(|_| ());
    assert_eq!(twice.send(), Err(SendError::NotJson));
    let infinite = client.call_tool("y").unwrap().args(|o| {
        o.float("x", f64::INFINITY);
    });
    assert_eq!(infinite.send(), Err(SendError::NotJson));
    assert_eq!(client.list_tools(Some(one)).unwrap().send(), Err(SendError::NotJson));
    assert_eq!(client.request("m").unwrap().args(|_| ()).send(), Err(SendError::NotJson));
    assert_eq!(client.request("m").unwrap().send().unwrap().to_bits() >> 16, 3);
}

#[test]
fn any_other_method() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&AUTO, &mut storage);
    let params = Raw::new(r#"{"_meta":{"mine":[1]},"uri":"a:\/\/b","x":{"_meta":1}}"#).unwrap();
    client.request("resources/read").unwrap().params_json(params).send().unwrap();
    log.drain(&mut client);
    assert!(log.said()[0].ends_with(
        r#""io.modelcontextprotocol/clientCapabilities":{},"mine":[1]},"uri":"a:\/\/b","x":{"_meta":1}}}"#
    ));
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","isError":7,"content":[{}],"_meta":{}}}"#);
    assert_eq!(
        log.told(),
        [r#"2 json {"resultType":"complete","isError":7,"content":[{}],"_meta":{}}"#, "2 done"]
    );
}

#[test]
fn notifications_and_slips() {
    let note = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{params}}}"#)
    };
    let cases = [
        (
            note("message", r#"{"level":"warning","logger":"l\u006f","data":{"a":1}}"#),
            r#"log Some(Warning) warning Some("lo") {"a":1}"#,
        ),
        (note("message", r#"{"level":"warn","data":null}"#), "log None warn None null"),
        (note("message", r#"{"level":"verbose","message":"old"}"#), "fault WrongShape"),
        (note("message", "[]"), "fault WrongShape"),
        (note("tools/list_changed", "{}"), "changed Tools"),
        (note("prompts/list_changed", "null"), "changed Prompts"),
        (note("resources/list_changed", "{}"), "changed Resources"),
        (note("resources/updated", r#"{"uri":"a:\/\/b"}"#), "updated a://b"),
        (note("resources/updated", "{}"), "fault WrongShape"),
        (note("progress", r#"{"progressToken":424242,"progress":1}"#), ""),
        (note("progress", r#"{"progressToken":2,"progress":1}"#), ""),
        (note("progress", r#"{"progress":"x"}"#), "fault WrongShape"),
        (note("cancelled", r#"{"requestId":2}"#), ""),
        (note("x/y\\u007a", r#"{"a":1}"#), r#"notified notifications/x/yz Some({"a":1})"#),
        ("warming up 3 workers...".into(), "fault NotJson { at: 0 } warming"),
        ("[]".into(), "fault Batch []"),
        ("7".into(), "fault NotAMessage 7"),
        (r#"{"jsonrpc":"2.0","id":99,"result":{}}"#.into(), "fault UnknownAnswer"),
        (r#"{"jsonrpc":"2.0","id":"a","result":{}}"#.into(), "fault UnknownAnswer"),
        (r#"{"jsonrpc":"2.0","id":"02","result":{}}"#.into(), "fault UnknownAnswer"),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}"#.into(),
            "fault ErrorWithoutId",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into(), ""),
        (r#"{"jsonrpc":"2.0","id":2,"method":"ping","x":"#.into(), "fault NotJson"),
    ];
    for (line, event) in cases {
        let told = ask(&LEGACY, false, &[&line, r#"{"jsonrpc":"2.0","id":2.0,"result":{}}"#]);
        match event {
            "" => assert_eq!(told, ["2 done"], "{line}"),
            _ => assert!(told[0].starts_with(event) && told[1..] == ["2 done"], "{line}: {told:?}"),
        }
    }
    let told = ask(&LEGACY, false, &[r#"{"jsonrpc":"2.0","id":"2","result":{}}"#]);
    assert_eq!(told, [r#"fault IdType {"jsonrpc":"2.0","id":"2","result":{}}"#, "2 done"]);
    let next = r#""result":{"tools":[],"nextCursor":"c"}}"#;
    let pages =
        [format!(r#"{{"jsonrpc":"2.0","id":"2",{next}"#), format!(r#"{{"jsonrpc":"2.0","id":"3",{next}"#)];
    let told = ask(&LEGACY, true, &[&pages[0], &pages[1]]);
    assert!(told[0].starts_with("fault IdType") && told[1].starts_with("fault IdType"), "{told:?}");
    assert_eq!(told[2..], ["2 invalid CursorRepeats"]);
}

#[test]
fn questions_of_the_server() {
    let ping = r#"{"jsonrpc":"2.0","id":"a\u0062","method":"ping"}"#;
    let other = r#"{"method":"sampling/createMessage","params":{},"jsonrpc":"2.0","id":2}"#;
    let long = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"a":"{}"}}}}"#, "x".repeat(4000));
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&LEGACY, &mut storage);
    for line in [ping, other, &long] {
        log.line(&mut client, line);
    }
    assert_eq!(
        log.said(),
        [
            r#"{"jsonrpc":"2.0","id":"a\u0062","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"message too large"}}"#,
        ]
    );
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&AUTO, &mut storage);
    for line in [ping, other, &long] {
        log.line(&mut client, line);
    }
    assert!(log.said().is_empty());
    let told = log.told();
    assert!(
        told.len() == 3 && told[0].starts_with("fault NotAllowed") && told[2].starts_with("fault TooLong")
    );
}

#[test]
fn batches_of_2025_03_26() {
    let mut storage = Storage::<2048, 1024, 2>::new();
    let mut client = Client::new(&LEGACY, storage.buffers());
    let mut log = Log::new();
    log.drain(&mut client);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26"}}"#);
    log.told();
    client.list_tools(None).unwrap().send().unwrap();
    call(&mut client, "x");
    log.drain(&mut client);
    log.said();
    log.line(
        &mut client,
        r#" [ {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"]\"}"}]}} ,7,{"jsonrpc":"2.0","id":1,"method":"ping"}, {"jsonrpc":"2.0","id":2,"result":{"tools":[],"nextCursor":"c"}},{"jsonrpc":"2.0","method":"m"}]"#,
    );
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":4,"result":{"tools":[]}}"#);
    assert_eq!(
        log.told(),
        [r#"3 Text("]\"}")"#, "3 done", "fault NotAMessage 7", "notified m None", "2 done"]
    );
    assert_eq!(
        log.said(),
        [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"cursor":"c"}}"#
        ]
    );
}

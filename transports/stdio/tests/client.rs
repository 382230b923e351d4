//! The client over pipes, with our own server at the other end.

mod common;

use barewire::{Era, Limits, ServerConfig, Tool};
use barewire_stdio::{
    CallError, Client, Fail, Options, OwnedContent, Serve, Settings, StartError, ToolCall, ToolResult, Trace,
};
use common::{CLIENT, legacy};
use core::time::Duration;
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    sync::{Arc, Mutex},
    thread,
    time::Instant,
};

static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "Says it again.", r#"{"type":"object"}"#)
        .title("Echo")
        .output_schema(r#"{"type":"object"}"#),
    Tool::new("fails", "", r#"{"type":"object"}"#),
    Tool::new("hang", "", r#"{"type":"object"}"#),
    Tool::new("steps", "", r#"{"type":"object"}"#),
    Tool::new("all", "", r#"{"type":"object"}"#),
];
static CONFIG: ServerConfig<'static> = ServerConfig::new("srv", "2").tools(TOOLS).instructions("Read this.");

fn tools(call: &mut ToolCall<'_>) -> Result<ToolResult, Fail> {
    Ok(match call.name() {
        "echo" => call.args_json().into(),
        "fails" => return Err("it went wrong".into()),
        "hang" => {
            call.wait_cancelled(Duration::from_secs(60));
            "late".into()
        }
        "steps" => {
            for done in 1..=3 {
                call.progress(barewire::Progress { done, total: Some(3), message: Some("step") });
            }
            "stepped".into()
        }
        "all" => ToolResult::text("t")
            .and_image([1, 2, 3], "image/png")
            .content(OwnedContent::link("file:///a", "a"))
            .structured_only(r#"{"x":[1]}"#)
            .meta_json(r#"{"k":1}"#),
        _ => return Err(Fail::Unknown),
    })
}

/// A client and a server of ours, joined by pipes; the server ends when the client does.
fn pair(settings: Settings, era: Era) -> Client {
    let (read, to) = io::pipe().unwrap();
    let (from, write) = io::pipe().unwrap();
    thread::spawn(move || Serve::new(&CONFIG).queue(1000).run_over(read, write, tools).unwrap());
    Client::over_with(from, to, &CLIENT.era(era), settings).unwrap()
}

#[test]
fn what_the_server_says_arrives_in_both_eras() {
    for era in [Era::Auto, Era::Legacy, Era::Modern] {
        let client = pair(Settings::new(), era);
        let server = client.server();
        assert_eq!((&*server.name, &*server.version), ("srv", "2"));
        assert_eq!(server.instructions.as_deref(), Some("Read this."));
        assert_eq!(server.protocol.is_modern(), era != Era::Legacy);
        assert!(server.capabilities_json.contains("tools"), "{server:?}");
        let tools = client.list_tools().unwrap();
        assert_eq!(tools.len(), TOOLS.len());
        assert_eq!((&*tools[0].name, &*tools[0].description), ("echo", "Says it again."));
        assert_eq!(tools[0].title.as_deref(), Some("Echo"));
        assert_eq!(tools[0].output_schema.as_deref(), Some(r#"{"type":"object"}"#));
        assert!(tools[0].json.starts_with('{') && tools[0].json.contains("inputSchema"));

        let all = client.call("all", "{}").unwrap();
        assert_eq!(all.text(), "t");
        assert_eq!(all.structured.as_deref(), Some(r#"{"x":[1]}"#));
        let OwnedContent::Image { data, mime } = &all.content[1] else { panic!("{all:?}") };
        assert_eq!((data.bytes().unwrap(), &**mime), (vec![1, 2, 3], "image/png"));
        assert!(
            matches!(&all.content[2], OwnedContent::Link { uri, name, .. } if uri == "file:///a" && name == "a")
        );

        let fails = client.call("fails", "{}").unwrap();
        assert!(fails.is_error && fails.text() == "it went wrong");
        let CallError::Server { code, .. } = client.call("nowhere", "{}").unwrap_err() else { panic!() };
        assert_eq!(code, -32602);
        let CallError::Server { code, .. } = client.request("no/such", None).unwrap_err() else { panic!() };
        assert_eq!(code, -32601);
        let json = client.request("tools/call", Some(r#"{"name":"echo","arguments":{"a":1}}"#)).unwrap();
        assert!(json.contains("content"), "{json}");
    }
}

#[test]
fn many_threads_call_at_once_and_each_gets_its_own() {
    let client = pair(Settings::new(), Era::Auto);
    thread::scope(|scope| {
        for t in 0..8 {
            let client = client.clone();
            scope.spawn(move || {
                for n in 0..100 {
                    let args = format!(r#"{{"t":{t},"n":{n}}}"#);
                    assert_eq!(client.call("echo", &args).unwrap().text(), args);
                }
            });
        }
    });
}

#[test]
fn a_deadline_ends_one_call_and_the_session_goes_on() {
    let client = pair(Settings::new(), Era::Auto);
    let started = Instant::now();
    let error =
        client.call_with("hang", "{}", Options::new().timeout(Duration::from_millis(50))).unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
    common::assert_within(started, 30);
    assert_eq!(client.call("echo", "{}").unwrap().text(), "{}");
}

#[test]
fn a_deadline_holds_against_a_peer_that_does_not_read() {
    // The server's half: answers the handshake by hand, then neither reads nor writes.
    let (mut read, to) = io::pipe().unwrap();
    let (from, mut write) = io::pipe().unwrap();
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        let _ = read.read(&mut bytes).unwrap();
        write.write_all(br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":""}}}"#).unwrap();
        write.write_all(b"\n").unwrap();
        thread::sleep(Duration::from_secs(600));
        drop((read, write));
    });
    let client = Client::over(from, to, &legacy()).unwrap();
    let started = Instant::now();
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 20));
    for _ in 0..3 {
        let options = Options::new().timeout(Duration::from_millis(50));
        let error = client.call_with("echo", &large, options).unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
    }
    client.close();
    assert!(matches!(client.call("echo", "{}").unwrap_err(), CallError::Closed));
    common::assert_within(started, 30);
}

#[test]
fn progress_reaches_the_calling_thread_in_order() {
    let client = pair(Settings::new(), Era::Auto);
    let mut seen = Vec::new();
    let mut hook = |progress: barewire_stdio::OwnedProgress| {
        seen.push((progress.done, progress.total, progress.message));
    };
    let result = client.call_with("steps", "{}", Options::new().on_progress(&mut hook)).unwrap();
    assert_eq!(result.text(), "stepped");
    let step = |n: f64| (n, Some(3.0), Some("step".to_owned()));
    assert_eq!(seen, [step(1.0), step(2.0), step(3.0)]);
}

#[test]
fn closing_ends_the_calls_of_all_clones() {
    let client = pair(Settings::new(), Era::Auto);
    let (here, there) = (client.clone(), client.clone());
    let caller = thread::spawn(move || there.call("hang", "{}"));
    // Whether the call was sent or not by now, it ends the same way.
    here.close();
    assert!(matches!(caller.join().unwrap().unwrap_err(), CallError::Closed));
    assert!(matches!(client.list_tools().unwrap_err(), CallError::Closed));
}

#[test]
fn arguments_that_are_no_object_are_not_sent() {
    let client = pair(Settings::new(), Era::Auto);
    for args in ["", "[]", "5", "{", "{} {}"] {
        let error = client.call("echo", args).unwrap_err();
        assert!(matches!(error, CallError::BadArguments(_)), "{args}: {error}");
    }
}

#[test]
fn a_request_over_the_limit_is_refused_at_once() {
    let limits = Limits { reply: 4096, ..Limits::default() };
    let client = pair(Settings::new().limits(limits), Era::Auto);
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(10_000));
    assert!(matches!(client.call("echo", &large).unwrap_err(), CallError::TooLarge));
    assert_eq!(client.call("echo", "{}").unwrap().text(), "{}");
}

#[test]
fn the_trace_shows_every_byte_and_junk_is_named() {
    type Seen = Arc<Mutex<(Vec<u8>, Vec<u8>, Vec<Vec<u8>>)>>;
    let seen = Seen::default();
    let hook = {
        let seen = Arc::clone(&seen);
        move |trace: Trace<'_>| {
            let mut seen = seen.lock().unwrap();
            match trace {
                Trace::Sent(bytes) => seen.0.extend(bytes),
                Trace::Received(bytes) => seen.1.extend(bytes),
                Trace::Junk { line, .. } => seen.2.push(line.to_vec()),
                _ => {}
            }
        }
    };
    let (read, to) = io::pipe().unwrap();
    let (from, mut write) = io::pipe().unwrap();
    write.write_all(b"Hello, I am a banner\n").unwrap();
    thread::spawn(move || Serve::new(&CONFIG).run_over(read, write, tools).unwrap());
    let client = Client::over_with(from, to, &legacy(), Settings::new().trace(hook)).unwrap();
    client.call("echo", "{}").unwrap();
    client.close();
    let seen = seen.lock().unwrap();
    let (sent, received) =
        (String::from_utf8(seen.0.clone()).unwrap(), String::from_utf8(seen.1.clone()).unwrap());
    assert_eq!(sent.lines().count(), 3, "{sent}");
    assert!(
        sent.contains("\"initialize\"")
            && sent.contains("notifications/initialized")
            && sent.contains("tools/call")
    );
    assert!(received.starts_with("Hello, I am a banner\n") && received.lines().count() == 3, "{received}");
    assert_eq!(seen.2, [b"Hello, I am a banner".to_vec()]);
}

#[test]
fn a_peer_that_closes_is_reported_at_once() {
    let (read, to) = io::pipe().unwrap();
    let (from, mut write) = io::pipe().unwrap();
    write.write_all(b"Usage: server [options]\n").unwrap();
    drop((read, write));
    let started = Instant::now();
    let error = Client::over(from, to, &CLIENT).unwrap_err();
    assert!(
        matches!(&error, StartError::Closed { junk: Some(line) } if line.starts_with("Usage")),
        "{error}"
    );
    common::assert_within(started, 30);
}

#[test]
fn a_tool_that_asks_is_called_again_with_answers() {
    let (read, to) = io::pipe().unwrap();
    let (from, mut write) = io::pipe().unwrap();
    // A server of 2026-07-28, by hand: ours does not ask.
    let server = thread::spawn(move || {
        let mut lines = BufReader::new(read).lines().map(Result::unwrap);
        let mut answer = |result: &str| {
            let line = lines.next().unwrap();
            let id = common::id(&line);
            writeln!(write, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).unwrap();
            line
        };
        answer(
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#,
        );
        answer(
            r#"{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"abc"}"#,
        );
        answer(r#"{"resultType":"complete","content":[{"type":"text","text":"Hello."}]}"#)
    });
    let client = Client::over(from, to, &CLIENT).unwrap();
    let CallError::InputRequired { asks, state } = client.call("greet", "{}").unwrap_err() else { panic!() };
    assert!(asks.starts_with(r#"{"who":{"method":"elicitation/create""#), "{asks}");
    assert_eq!(state.as_deref(), Some("\"abc\""));
    let options = Options::new().state(state.unwrap()).answer("who", r#"{"action":"accept","content":{}}"#);
    assert_eq!(client.call_with("greet", "{}", options).unwrap().text(), "Hello.");
    let again = server.join().unwrap();
    assert!(again.contains(r#""inputResponses":{"who":{"action":"accept","content":{}}}"#), "{again}");
    assert!(again.contains(r#""requestState":"abc""#), "{again}");
}

//! A client and its line: what ends, stalls, divides and grows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]
mod client_support;
use barewire::{Client, ClientConfig, Era, Millis, SendError, Storage};
use client_support::{Log, call, open};

static LEGACY: ClientConfig<'static> = ClientConfig::new("t", "1").era(Era::Legacy);

#[test]
fn the_end_of_input_ends_everything() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&LEGACY, &mut storage);
    call(&mut client, "a");
    call(&mut client, "b");
    log.drain(&mut client);
    log.feed(&mut client, br#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#, 5);
    client.end_of_input();
    assert_eq!(client.call_tool("c").err(), Some(SendError::NotOpen));
    log.drain(&mut client);
    assert_eq!(log.told(), ["3 done", "2 Lost"]);
    assert!(log.closed);
}

#[test]
fn a_new_line_loses_what_was_open() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&LEGACY, &mut storage);
    let first = call(&mut client, "a");
    call(&mut client, "b");
    log.drain(&mut client);
    log.said();
    client.reset();
    client.cancel(first);
    log.drain(&mut client);
    assert_eq!(log.told(), ["3 Lost"]);
    assert!(log.said()[0].starts_with(r#"{"jsonrpc":"2.0","id":4,"method":"initialize""#));
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert!(log.told().is_empty());
}

#[test]
fn a_new_line_while_an_answer_is_handed_out() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&LEGACY, &mut storage);
    call(&mut client, "a");
    log.drain(&mut client);
    log.said();
    client.feed(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[1,2,3]}}\n");
    assert!(matches!(client.poll(Millis(0)), barewire::Output::Event(_)));
    client.reset();
    log.drain(&mut client);
    assert_eq!(log.told(), ["2 Lost"]);
    assert_eq!(log.said().len(), 1);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":3,"result":{"protocolVersion":"2025-11-25"}}"#);
    assert_eq!(log.told(), ["opened   2025-11-25 None None"]);
}

#[test]
fn messages_that_the_channel_divides() {
    static MESSAGES: ClientConfig<'static> =
        ClientConfig::new("t", "1").era(Era::Legacy).framing(barewire::Framing::Messages);
    let mut storage = Storage::<2048, 1024, 2>::new();
    let mut client = Client::new(&MESSAGES, storage.buffers());
    let mut log = Log::new();
    log.drain(&mut client);
    client.feed(b"{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\"}}");
    client.end_of_message();
    log.drain(&mut client);
    assert_eq!(log.told(), ["opened   2025-11-25 None None"]);
    call(&mut client, "x");
    log.drain(&mut client);
    client.feed(b"{\n\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\n}}\n");
    client.end_of_message();
    log.drain(&mut client);
    assert_eq!(log.told(), ["2 done"]);
}

#[test]
fn no_limit_never_expires() {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(&LEGACY, &mut storage);
    call(&mut client, "x");
    client.call_tool("y").unwrap().limit(Millis(0), None).send().unwrap();
    log.at(&mut client, 7);
    assert_eq!(log.told(), ["3 TimedOut"]);
    log.at(&mut client, u64::MAX);
    assert!(log.told().is_empty());
    assert_eq!(client.deadline(), None);
}

/// A server that asks, floods and stalls can't fill more than the buffers.
#[test]
fn a_server_that_does_not_read_is_not_read() {
    let mut storage = Storage::<2048, 1024, 2>::new();
    let (mut client, mut log) = open(&LEGACY, &mut storage);
    let pings = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".repeat(200);
    let mut rest = pings.as_bytes();
    loop {
        let n = client.feed(rest);
        rest = &rest[n..];
        match client.poll(Millis(0)) {
            barewire::Output::Send(bytes) => assert!(!bytes.is_empty()),
            barewire::Output::Wait { .. } => panic!("there is something to send"),
            _ => {}
        }
        if n == 0 {
            break;
        }
    }
    assert!(rest.len() > 2048 && client.output().len() == 1024);
    assert_eq!(client.call_tool("x").err(), Some(SendError::Full));
    log.feed(&mut client, b"", 1);
    log.drain(&mut client);
    log.feed(&mut client, rest, 100);
    assert_eq!(log.said().len(), 200);
}

#[cfg(feature = "alloc")]
#[test]
fn long_lists_through_growing_buffers() {
    let mut client = Client::new(&LEGACY, barewire::Buffers::growing(barewire::Limits::default()));
    let mut log = Log::new();
    log.drain(&mut client);
    log.line(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}"#);
    client.list_tools(None).unwrap().send().unwrap();
    let calls: Vec<_> = (0..500).map(|_| call(&mut client, "x")).collect();
    log.drain(&mut client);
    assert_eq!(log.said().len(), 503);
    log.told();
    let tool = |i: usize| format!(r#"{{"name":"t{i}","description":"a\nb","inputSchema":{{}}}}"#);
    let tools: Vec<_> = (0..20_000).map(tool).collect();
    log.line(
        &mut client,
        &format!(r#"{{"result":{{"tools":[{}]}},"jsonrpc":"2.0","id":2}}"#, tools.join(",")),
    );
    let told = log.told();
    assert_eq!((told.len(), told[19_999].as_str()), (20_001, "2 tool t19999: a\nb {}"));
    for (i, of) in calls.iter().enumerate().rev() {
        assert_eq!(of.to_bits() >> 16, i as u64 + 3);
        log.line(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, i + 3));
        assert_eq!(log.told(), [format!("{} done", i + 3)]);
    }
    assert_eq!(client.stats().calls, 501);
}

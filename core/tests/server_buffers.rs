//! What buffers do: back-pressure, refusal, growing memory, message framing, the end of input.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
use barewire::{
    Call, CallId, Fault, Framing, Millis, Noise, Output, Refused, Server, ServerConfig, ServerEvent, Storage,
    Tool,
};

static TOOLS: &[Tool<'static>] =
    &[Tool::new("echo", "", r#"{"type":"object"}"#), Tool::new("later", "", r#"{"type":"object"}"#)];
static CONFIG: ServerConfig<'static> = ServerConfig::new("t", "1").tools(TOOLS).noise(Noise::Answer);
static REFUSING: ServerConfig<'static> = ServerConfig::new("t", "1").tools(TOOLS).refuse_when_full();
static MESSAGES: ServerConfig<'static> =
    ServerConfig::new("t", "1").tools(TOOLS).framing(Framing::Messages).noise(Noise::Answer);

const INIT: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}\n";

fn call(id: u32, name: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\",\"arguments\":{{}}}}}}\n"
    )
}

#[derive(Default)]
struct Seen {
    out: String,
    kept: Vec<CallId>,
    cancelled: Vec<CallId>,
    faults: Vec<Fault>,
    last: &'static str,
    until: Option<Millis>,
}

/// Polls until the machine waits, is blocked or closed, feeding `input` as it is taken.
fn drive(server: &mut Server<'_>, now: u64, mut input: &[u8], seen: &mut Seen) {
    loop {
        match server.poll(Millis(now)) {
            Output::Send(bytes) => {
                seen.out.push_str(core::str::from_utf8(bytes).unwrap());
                let n = bytes.len();
                server.sent(n);
            }
            Output::Event(ServerEvent::Call(Call { name: "later", reply, .. })) => {
                seen.kept.push(reply.defer());
            }
            Output::Event(ServerEvent::Call(Call { reply, .. })) => reply.text("ok").finish().unwrap(),
            Output::Event(ServerEvent::Cancelled(id)) => seen.cancelled.push(id),
            Output::Event(ServerEvent::Fault { fault, .. }) => seen.faults.push(fault),
            Output::Event(_) => {}
            Output::Wait { until } if input.is_empty() => {
                (seen.last, seen.until) = ("wait", until);
                return;
            }
            Output::Wait { .. } => {
                assert!(!server.space().is_empty());
                let n = server.feed(input);
                input = &input[n..];
            }
            Output::Blocked { until } => {
                (seen.last, seen.until) = ("blocked", until);
                return;
            }
            Output::Closed => {
                seen.last = "closed";
                return;
            }
        }
    }
}

#[test]
fn a_call_without_slot_waits_and_holds_what_is_behind_it() {
    let mut storage = Storage::<1024, 256, 1>::new();
    let mut server = Server::new(&CONFIG, storage.buffers());
    let mut seen = Seen::default();
    drive(&mut server, 0, (INIT.to_owned() + &call(1, "later") + &call(2, "echo")).as_bytes(), &mut seen);
    assert_eq!(seen.last, "blocked");
    server.resume(seen.kept[0]).unwrap().text("a").finish().unwrap();
    assert_eq!(server.resume(seen.kept[0]).err(), Some(Refused::Gone));
    drive(&mut server, 0, b"", &mut seen);
    assert_eq!((seen.last, seen.out.lines().count()), ("wait", 3));
    assert_eq!(server.stats().calls, 1);
}

#[test]
fn a_call_without_slot_is_refused_where_that_is_wanted() {
    let mut storage = Storage::<1024, 256, 1>::new();
    let mut server = Server::new(&REFUSING, storage.buffers());
    let mut seen = Seen::default();
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n";
    drive(
        &mut server,
        0,
        (INIT.to_owned() + &call(1, "later") + &call(2, "echo") + ping).as_bytes(),
        &mut seen,
    );
    assert_eq!(seen.last, "wait");
    assert!(seen.out.contains("\"id\":2,\"error\":{\"code\":-32603,\"message\":\"busy"), "{}", seen.out);
    assert!(seen.out.ends_with("\"id\":3,\"result\":{}}\n"));
    assert_eq!(seen.faults, [Fault::Busy]);
}

#[test]
fn after_the_end_of_input_calls_have_until_the_drain_time() {
    let mut storage = Storage::<1024, 256, 2>::new();
    let mut server = Server::new(&CONFIG, storage.buffers());
    let mut seen = Seen::default();
    // The last line has no line feed.
    let input = INIT.to_owned() + &call(1, "later") + &call(2, "later");
    drive(&mut server, 0, input.trim_end().as_bytes(), &mut seen);
    assert_eq!((seen.last, seen.kept.len()), ("wait", 1));
    server.end_of_input();
    drive(&mut server, 10, b"", &mut seen);
    assert_eq!((seen.last, seen.kept.len(), seen.until), ("blocked", 2, Some(Millis(5010))));
    server.resume(seen.kept[0]).unwrap().text("a").finish().unwrap();
    drive(&mut server, 5009, b"", &mut seen);
    assert_eq!(seen.last, "blocked");
    drive(&mut server, 5010, b"", &mut seen);
    assert_eq!((seen.last, &seen.cancelled[..]), ("closed", &seen.kept[1..]));
    assert_eq!(seen.out.lines().count(), 2);
}

#[test]
fn a_cut_last_line_is_reported_and_not_answered() {
    let mut storage = Storage::<1024, 256, 2>::new();
    let mut server = Server::new(&CONFIG, storage.buffers());
    let mut seen = Seen::default();
    drive(&mut server, 0, b"{\"jsonrpc\":\"2.0\",\"id\":1,", &mut seen);
    server.end_of_input();
    drive(&mut server, 0, b"", &mut seen);
    assert_eq!((seen.last, seen.out.as_str(), &seen.faults[..]), ("closed", "", &[Fault::Cut][..]));
}

#[test]
fn a_last_line_that_is_json_is_judged_like_any_other() {
    let mut storage = Storage::<1024, 256, 2>::new();
    let mut server = Server::new(&CONFIG, storage.buffers());
    let mut seen = Seen::default();
    drive(&mut server, 0, b"[42]", &mut seen);
    server.end_of_input();
    drive(&mut server, 0, b"", &mut seen);
    assert!(seen.out.contains("-32600") && seen.last == "closed", "{}", seen.out);
}

#[test]
fn a_handshake_does_not_take_the_id_of_a_call_that_it_spares() {
    let mut storage = Storage::<1024, 256, 2>::new();
    let mut server = Server::new(&CONFIG, storage.buffers());
    let mut seen = Seen::default();
    let meta = "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}";
    let modern = call(0, "later").replace("\"arguments\":{}", meta);
    drive(&mut server, 0, (modern + INIT).as_bytes(), &mut seen);
    assert_eq!((seen.cancelled.len(), &seen.faults[..]), (0, &[Fault::IdInUse][..]));
    assert!(seen.out.contains("\"id\":0,\"error\":{\"code\":-32600"), "{}", seen.out);
    // A legacy call is cancelled by it, so its id is free.
    let mut server = Server::new(&CONFIG, storage.buffers());
    let mut seen = Seen::default();
    drive(&mut server, 0, (INIT.to_owned() + &call(0, "later") + INIT).as_bytes(), &mut seen);
    assert_eq!((&seen.cancelled, seen.out.matches("protocolVersion").count()), (&seen.kept, 2));
}

#[test]
fn reset_forgets_and_tells() {
    let mut storage = Storage::<1024, 256, 2>::new();
    let mut server = Server::new(&CONFIG, storage.buffers());
    let mut seen = Seen::default();
    drive(&mut server, 0, (INIT.to_owned() + &call(1, "later") + "{\"jsonrpc").as_bytes(), &mut seen);
    server.reset();
    seen.out.clear();
    drive(&mut server, 0, call(1, "echo").as_bytes(), &mut seen);
    assert_eq!(seen.cancelled, seen.kept);
    assert!(
        seen.out.contains("\"id\":1,\"error\":{\"code\":-32602,\"message\":\"no session"),
        "{}",
        seen.out
    );
}

#[test]
fn messages_end_where_they_are_said_to() {
    let mut storage = Storage::<256, 256, 2>::new();
    let mut server = Server::new(&MESSAGES, storage.buffers());
    let mut seen = Seen::default();
    let pretty = "{\n \"jsonrpc\": \"2.0\",\r\n \"id\": 1,\n \"method\": \"ping\" }";
    let too_long =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"x\":\"{}\"}}", "y".repeat(300));
    let fits = format!("{{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"x\":\"{}\"}}", "y".repeat(208));
    assert_eq!(fits.len(), 255);
    for message in [pretty, &too_long, &fits, &pretty.replace('1', "4"), "{\"a\":\"raw\nfeed\"}", ""] {
        drive(&mut server, 0, message.as_bytes(), &mut seen);
        server.end_of_message();
        drive(&mut server, 0, b"", &mut seen);
    }
    let expected = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\
        {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32600,\"message\":\"message too large\",\"data\":{\"limit\":255}}}\n\
        {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n\
        {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}\n";
    assert_eq!(seen.out, expected);
    // Full to the brim, without room for the end mark.
    let brim = format!("{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"x\":\"{}\"}}", "y".repeat(209));
    assert_eq!(server.feed(brim.as_bytes()), 256);
    server.end_of_message();
    seen.out.clear();
    drive(&mut server, 0, b"", &mut seen);
    assert!(seen.out.contains("\"id\":5,\"error\":{\"code\":-32600"), "{}", seen.out);
}

#[test]
fn a_batch_through_a_small_buffer() {
    let mut storage = Storage::<512, 64, 1>::new();
    let mut server = Server::new(&CONFIG, storage.buffers());
    let mut seen = Seen::default();
    drive(&mut server, 0, INIT.replace("2025-11-25", "2025-03-26").as_bytes(), &mut seen);
    seen.out.clear();
    let one = |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
    let batch = format!("[{},{},{}]\n", one(1), call(2, "later").trim_end(), call(3, "echo").trim_end());
    drive(&mut server, 0, batch.as_bytes(), &mut seen);
    assert_eq!(
        seen.out,
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32603,\"message\":\"busy: too many calls at once\"}}]\n"
    );
    seen.out.clear();
    server.resume(seen.kept[0]).unwrap().fail(barewire::Code(5), "longer than the room");
    drive(&mut server, 0, b"", &mut seen);
    assert_eq!(seen.out, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":5,\"message\":\"Error\"}}\n");
}

#[cfg(feature = "alloc")]
#[test]
fn growing_buffers_take_long_messages_and_give_the_memory_back() {
    use barewire::{Buffers, Limits};
    let limits = Limits { message: 1 << 20, reply: 1 << 20, calls: 3 };
    let mut server = Server::owning(&ServerConfig::new("t", "1").tools(TOOLS), Buffers::growing(limits));
    let mut seen = Seen::default();
    drive(&mut server, 0, INIT.as_bytes(), &mut seen);
    let id = "i".repeat(5000);
    let long = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"x\":\"{}\"}}}}}}\n",
        "z".repeat(500_000)
    );
    drive(&mut server, 0, long.as_bytes(), &mut seen);
    assert!(seen.out.ends_with("\"ok\"}]}}\n") && seen.out.contains(&id));
    assert!(server.space().len() <= 128 * 1024);
    let longer =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"x\":\"{}\",\"method\":\"ping\"}}\n", "z".repeat(2 << 20));
    drive(&mut server, 0, longer.as_bytes(), &mut seen);
    assert!(
        seen.out.ends_with("\"data\":{\"limit\":1048576}}}\n") && seen.out.contains("\"id\":7,\"error\"")
    );
    for id in 10..14 {
        drive(&mut server, 0, call(id, "later").as_bytes(), &mut seen);
    }
    assert_eq!((seen.last, seen.kept.len()), ("blocked", 3));
}

#[test]
fn too_deep_and_too_long_at_once_is_refused_by_its_id() {
    let mut storage = Storage::<256, 256, 1>::new();
    let mut server = Server::new(&CONFIG, storage.buffers());
    let mut seen = Seen::default();
    let nested = "[{\"a\":".repeat(300) + "1" + &"}]".repeat(300);
    let line =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":{nested},\"i\\u0064\":\"after\"}}\n");
    for chunk in [1, 3, 256] {
        seen.out.clear();
        for piece in line.as_bytes().chunks(chunk) {
            drive(&mut server, 0, piece, &mut seen);
        }
        assert!(seen.out.contains("\"id\":\"after\",\"error\":{\"code\":-32600"), "{}", seen.out);
    }
}

/// Two machines say the same whichever way their output is taken, whatever its lengths, and whether some of it was sent before.
#[cfg(feature = "alloc")]
#[test]
fn output_is_the_same_swapped_or_appended() {
    use barewire::{Buffers, Limits};
    let machine = || Server::owning(&CONFIG, Buffers::growing(Limits::default()));
    let (mut one, mut other) = (machine(), machine());
    let (mut appended, mut swapped) = (String::new(), String::new());
    let mut memory = b"something old".to_vec();
    for (n, len) in
        [1usize, 40_000, 40_001, 3, 33_000, 200_000, 5, 90_000, 32_768, 70_000].into_iter().enumerate()
    {
        let answer = |server: &mut Server<'_>, out: &mut String| {
            let mut input = (if n == 0 { INIT.to_owned() } else { String::new() }) + &call(1, "echo");
            loop {
                match server.poll(Millis(0)) {
                    Output::Event(ServerEvent::Call(Call { reply, .. })) => {
                        reply.text(&"x".repeat(len)).finish().unwrap();
                        break;
                    }
                    Output::Wait { .. } => {
                        let taken = server.feed(input.as_bytes());
                        input.drain(..taken);
                    }
                    _ => {}
                }
            }
            while !matches!(server.poll(Millis(0)), Output::Wait { .. } | Output::Send(_)) {}
            // Every third time some bytes have left before.
            let early = server.output().len().min(if n % 3 == 2 { 7 } else { 0 });
            out.push_str(core::str::from_utf8(&server.output()[..early]).unwrap());
            server.sent(early);
        };
        answer(&mut one, &mut appended);
        let mut bytes = Vec::new();
        one.take_output(&mut bytes);
        appended.push_str(core::str::from_utf8(&bytes).unwrap());
        answer(&mut other, &mut swapped);
        other.swap_output(&mut memory);
        swapped.push_str(core::str::from_utf8(&memory).unwrap());
        assert!(other.output().is_empty() && one.output().is_empty());
        assert_eq!(one.stats(), other.stats());
    }
    assert_eq!(appended.lines().count(), 11);
    assert!(appended == swapped);
}

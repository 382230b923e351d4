//! Answers that are no messages, and handshakes that come to nothing.

use super::script::{Stage, play};
use crate::bridge::errors::Reason;
use crate::bridge::relay::Medium;

fn call(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#)
}

fn answer(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

#[test]
fn whoever_waits_for_a_spoilt_answer_is_told() {
    let spoilt: [&[u8]; 9] = [
        br#"{"jsonrpc":"2.0","id":7,"result":{"x":NaN}}"#,
        br#"{"jsonrpc":"2.0","id":7,"result":{"x":0123}}"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":\"a\tb\x00c\"}}",
        br#"{"jsonrpc":"2.0","id":7,"id":7,"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":7,"result":{},"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":7}"#,
        br#"{"result":{"x":[}},"id":7,"jsonrpc":"2.0"}"#,
        br#"[{"jsonrpc":"2.0","id":7,"result":NaN}]"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":\"cut off",
    ];
    for line in spoilt {
        play(Medium::Stream, |stage| {
            stage.up().host(&call("7")).host(&call("8")).far_reads(&[&call("7"), &call("8")]);
            stage.far_bytes(&[line, b"\n"].concat()).host_reads_errors(&["7"], "unreadable");
            stage.printed(core::str::from_utf8(line).unwrap());
            // It is answered now; the next one is as ever.
            stage.far(&answer("7")).told("not open").far(&answer("8")).host_reads(&[&answer("8")]);
        });
    }
    let mut stage = Stage::new(Medium::Stream, usize::MAX);
    stage.up().host(&call("7")).far_reads(&[&call("7")]);
    stage.far_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":\"\xff\"}}\n");
    let told = String::from_utf8(stage.relay.take_for_host()).unwrap();
    assert!(told.contains("was not valid JSON (not UTF-8, at byte 39)"), "{told}");
}

#[test]
fn what_nobody_waits_for_stays_on_the_console() {
    play(Medium::Stream, |stage| {
        stage.up().host(&call("7")).far_reads(&[&call("7")]);
        let lines = [
            r#"I (31) tx: {"jsonrpc":"2.0","id":7,"result":{}}"#,
            r#"{"id":7,"temperature":NaN}"#,
            r#"{"jsonrpc":"2.0","id":8,"result":NaN}"#,
            r#"{"jsonrpc":"2.0","id":"7","result":NaN}"#,
            r#"{"jsonrpc":"2.0","id":7,"id":8,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ask","params":NaN}"#,
        ];
        for line in lines {
            stage.far(line).printed(line).is_quiet();
        }
        stage.far(&answer("7")).host_reads(&[&answer("7")]);
    });
}

#[test]
fn what_is_whole_in_a_spoilt_line_passes() {
    play(Medium::Stream, |stage| {
        let asked: Vec<String> = ["1", "2", "3", "4", "5", "6", "7"].map(call).into();
        stage.up();
        for line in &asked {
            stage.host(line);
        }
        assert_eq!(stage.relay.take_for_far().iter().filter(|b| **b == b'\n').count(), 7);
        let batch = format!(r#"[{},{{"jsonrpc":"2.0","id":2,"result":NaN}}, 5]"#, answer("1"));
        stage.far(&batch).printed(&batch);
        let taken = String::from_utf8(stage.relay.take_for_host()).unwrap();
        let (error, rest) = taken.split_once('\n').unwrap();
        assert!(error.contains("\"id\":2") && error.contains("unreadable"), "{taken}");
        assert_eq!(rest, format!("[{}]\n", answer("1")));
        let two = format!("{} {}", answer("3"), answer("4"));
        stage.far(&two).printed(&two).host_reads(&[&answer("3"), &answer("4")]);
        let behind = format!("{}\0", answer("5"));
        stage.far(&behind).printed(&behind).host_reads(&[&answer("5")]);
        let mark = format!("\u{feff}{}", answer("6"));
        stage.far(&mark).printed(&mark).host_reads(&[&answer("6")]);
        // What is only too deep for the bridge is for the host to judge.
        let deep = format!(r#"[{{"jsonrpc":"2.0","id":7,"result":{}{}}}]"#, "[".repeat(200), "]".repeat(200));
        stage.far(&deep).host_reads(&[&deep]);
    });
}

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn own(line: &str, number: u32) -> String {
    line.replacen(":0,", &format!(":\"barewire-bridge-{number}\","), 1)
}

fn opened(stage: &mut Stage) -> &mut Stage {
    stage.up().host(INITIALIZE).far_reads(&[INITIALIZE]).far(HELLO).host_reads(&[HELLO]);
    stage.host(INITIALIZED).far_reads(&[INITIALIZED])
}

#[test]
fn an_initialized_that_was_lost_with_its_handshake_is_said_again() {
    play(Medium::Command, |stage| {
        stage.up().host(INITIALIZE).host(INITIALIZED).far_reads(&[INITIALIZE, INITIALIZED]);
        stage.down(Reason::Exited("status 1".into())).told("status 1");
        stage.up().told("again").far_reads(&[INITIALIZE]);
        stage.far(HELLO).host_reads(&[HELLO]).far_reads(&[INITIALIZED]);
        // It is known to have begun, for the next time as well.
        stage.down(Reason::Closed).told("lost").up().told("again").far_reads(&[&own(INITIALIZE, 1)]);
        stage.far(&own(HELLO, 1)).far_reads(&[INITIALIZED]);
    });
    // On a line that loses things.
    play(Medium::Serial, |stage| {
        stage.up().host(INITIALIZE).host(INITIALIZED).far_reads(&[INITIALIZE, INITIALIZED]);
        stage.wait(3_000).far_reads(&[INITIALIZE]).far(HELLO).host_reads(&[HELLO]).far_reads(&[INITIALIZED]);
    });
    // A host that says it in its own time is not helped.
    play(Medium::Command, |stage| {
        stage.up().host(INITIALIZE).far_reads(&[INITIALIZE]).down(Reason::Closed).told("lost");
        stage.host(INITIALIZED).up().told("again").far_reads(&[INITIALIZE, INITIALIZED]);
        stage.far(HELLO).host_reads(&[HELLO]);
    });
}

#[test]
fn only_a_session_that_came_about_replaces_the_one_before() {
    let second = INITIALIZE.replacen(":0,", ":1,", 1).replace("2025-06-18", "2024-11-05");
    let no = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"once"}}"#;
    play(Medium::Stream, |stage| {
        opened(stage).host(&second).far_reads(&[&second]).far(no).host_reads(&[no]);
        stage.down(Reason::Closed).told("lost").up().told("again").far_reads(&[&own(INITIALIZE, 1)]);
        stage.far(&own(HELLO, 1)).far_reads(&[INITIALIZED]);
        // One that is lost with its connection did not come about either.
        stage.host(&second).host(INITIALIZED).far_reads(&[&second, INITIALIZED]);
        stage.down(Reason::Closed).told("lost").host_reads_errors(&["1"], "closed");
        stage
            .up()
            .told("again")
            .far_reads(&[&own(INITIALIZE, 2)])
            .far(&own(HELLO, 2))
            .far_reads(&[INITIALIZED]);
        // One that is refused by a far end which knows of none.
        stage.down(Reason::Closed).told("lost").host(&second).up().told("again").far_reads(&[&second]);
        stage.far(no).host_reads(&[no]).far_reads(&[&own(INITIALIZE, 3)]);
        stage.far(&own(HELLO, 3)).far_reads(&[INITIALIZED]);
        // And one that did.
        let hello = HELLO.replacen(":0,", ":1,", 1).replace("2025-06-18", "2024-11-05");
        stage.host(&second).far_reads(&[&second]).far(&hello).host_reads(&[&hello]);
        stage.down(Reason::Closed).told("lost").up().told("again");
        let again = own(INITIALIZE, 4).replace("2025-06-18", "2024-11-05");
        stage.far_reads(&[&again]).far(&own(&HELLO.replace("2025-06-18", "2024-11-05"), 4));
    });
}

#[test]
fn a_handshake_that_comes_to_nothing_is_made_again() {
    let stray = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#;
    let spoilt = r#"{"jsonrpc":"2.0","id":"barewire-bridge-2","result":NaN}"#;
    play(Medium::Stream, |stage| {
        opened(stage).down(Reason::Closed).told("lost").up().told("again");
        stage.far_reads(&[&own(INITIALIZE, 1)]).host(&call("4"));
        stage.far(stray).told("without id").wait(2_999).is_quiet().wait(1).far_reads(&[&own(INITIALIZE, 2)]);
        stage.far(spoilt).told("can't be read").printed(spoilt);
        stage.wait(3_000).far_reads(&[&own(INITIALIZE, 3)]);
        // Silence, for longer than the host has patience: then it tells what is wrong.
        stage.wait(9_000);
        let told = String::from_utf8(stage.relay.take_for_host()).unwrap();
        assert!(told.contains("can't be read") && told.contains("unreachable"), "{told}");
        stage.host(&call("5")).wait(5_999).is_quiet().wait(1).far_reads(&[&own(INITIALIZE, 4)]);
        stage.far(&own(HELLO, 4)).far_reads(&[INITIALIZED, &call("5")]);
        stage.far(&answer("5")).host_reads(&[&answer("5")]).wait(60_000).is_quiet();
    });
    // One that does not read gets no more of them.
    play(Medium::Stream, |stage| {
        opened(stage).down(Reason::Closed).told("lost").up().told("again");
        stage.wait(15_000).wait(15_000).wait(15_000).far_reads(&[&own(INITIALIZE, 1)]);
        stage.wait(15_000).far_reads(&[&own(INITIALIZE, 2)]);
    });
}

#[test]
fn a_handshake_that_the_line_spoils_is_made_again() {
    let spoilt = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-~#"#;
    play(Medium::Serial, |stage| {
        stage.up().host(INITIALIZE).far_reads(&[INITIALIZE]).far(spoilt).printed(spoilt);
        stage.wait(3_000).far_reads(&[INITIALIZE]).far(HELLO).host_reads(&[HELLO]);
    });
    play(Medium::Stream, |stage| {
        stage.up().host(INITIALIZE).far_reads(&[INITIALIZE]).far(spoilt).printed(spoilt);
        stage.host_reads_errors(&["0"], "unreadable");
    });
}

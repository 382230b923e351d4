//! Sessions that break and are made again.

use super::script::play;
use crate::bridge::errors::Reason;
use crate::bridge::relay::Medium;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}"#;
const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"}}"#;
const CALLED: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// The bridge's own handshake.
fn again(number: u32) -> String {
    INITIALIZE.replacen("\"id\":0", &format!("\"id\":\"barewire-bridge-{number}\""), 1)
}

fn hello_again(number: u32) -> String {
    HELLO.replacen("\"id\":0", &format!("\"id\":\"barewire-bridge-{number}\""), 1)
}

/// A legacy session, open.
fn opened(stage: &mut super::script::Stage) -> &mut super::script::Stage {
    stage.up().host(INITIALIZE).far_reads(&[INITIALIZE]).far(HELLO).host_reads(&[HELLO]);
    stage.host(INITIALIZED).far_reads(&[INITIALIZED])
}

#[test]
fn lines_pass_byte_for_byte() {
    play(Medium::Stream, |stage| {
        let odd = "{ \"method\" :\"tools/call\",\"id\":  5.0 ,\"x\":[1e3, 2.50],\"jsonrpc\":\"2.0\",\"params\":{} }\r";
        let answer = " {\"zz\":1,\"result\":{\"a\":2.50},\"jsonrpc\":\"2.0\",\"id\":5}";
        stage.up().host(odd);
        assert_eq!(stage.relay.take_for_far(), format!("{odd}\n").into_bytes());
        stage.far(answer).host_reads(&[answer]);
    });
}

#[test]
fn a_lost_session_is_made_again_and_what_was_held_follows() {
    play(Medium::Stream, |stage| {
        opened(stage).host(CALL).far_reads(&[CALL]);
        stage.down(Reason::Restarted).told("the device restarted").host_reads_errors(&["7"], "restarted");
        let held = CALL.replace("\"id\":7", "\"id\":8");
        stage.host(&held).far_reads(&[]).up().told("again").far_reads(&[&again(1)]);
        stage.far(&hello_again(1)).far_reads(&[INITIALIZED, &held]).host_reads(&[CHANGED]);
        // The answer of the connection before, if it came now, is nobody's.
        stage.far(CALLED).told("not open");
        let answer = CALLED.replace("\"id\":7", "\"id\":8");
        stage.far(&answer).host_reads(&[&answer]);
    });
}

#[test]
fn an_initialized_that_comes_while_nobody_is_there_is_sent_once() {
    play(Medium::Stream, |stage| {
        stage.up().host(INITIALIZE).far_reads(&[INITIALIZE]).far(HELLO).host_reads(&[HELLO]);
        stage.down(Reason::Closed).told("lost").host(INITIALIZED).host(CALL);
        stage.up().told("again").far_reads(&[&again(1)]).far(&hello_again(1));
        stage.far_reads(&[INITIALIZED, CALL]).host_reads(&[CHANGED]).far(CALLED).host_reads(&[CALLED]);
    });
}

#[test]
fn the_state_of_a_session_is_put_back() {
    let ask = |id: u32, method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    };
    let ok = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    play(Medium::Stream, |stage| {
        opened(stage);
        for (id, method, params) in [
            (1, "logging/setLevel", r#"{"level":"info"}"#),
            (2, "logging/setLevel", r#"{"level":"debug"}"#),
            (3, "resources/subscribe", r#"{"uri":"a:1"}"#),
            (4, "resources/subscribe", r#"{"uri":"b:1"}"#),
            (5, "resources/subscribe", r#"{"uri":"a:1"}"#),
            (6, "resources/unsubscribe", r#"{"uri":"b:1"}"#),
        ] {
            stage.host(&ask(id, method, params)).far_reads(&[&ask(id, method, params)]);
            stage.far(&ok(&id.to_string())).host_reads(&[&ok(&id.to_string())]);
        }
        stage.down(Reason::Closed).told("lost").up().told("again").far_reads(&[&again(1)]);
        let level =
            ask(0, "logging/setLevel", r#"{"level":"debug"}"#).replace(":0", ":\"barewire-bridge-2\"");
        let subscribe =
            ask(0, "resources/subscribe", r#"{"uri":"a:1"}"#).replace(":0", ":\"barewire-bridge-3\"");
        stage.far(&hello_again(1)).far_reads(&[INITIALIZED, &level, &subscribe]).host_reads(&[CHANGED]);
        stage
            .far(&ok("\"barewire-bridge-3\""))
            .far(r#"{"jsonrpc":"2.0","id":"barewire-bridge-2","error":{"code":-32601,"message":"no"}}"#);
        stage.told("the log level could not be put back");
    });
}

#[test]
fn another_version_is_refused_until_the_host_begins_anew() {
    play(Medium::Stream, |stage| {
        opened(stage).down(Reason::Closed).told("lost").host(CALL);
        stage.up().told("again").far_reads(&[&again(1)]);
        stage.far(&hello_again(1).replace("2025-06-18", "2024-11-05"));
        stage.told("reconnect").host_reads_errors(&["7"], "version");
        stage.host(CALL).host_reads_errors(&["7"], "version");
        stage.host(INITIALIZE).far_reads(&[INITIALIZE]).far(HELLO).host_reads(&[HELLO]);
        stage.host(CALL).far_reads(&[CALL]).far(CALLED).host_reads(&[CALLED]);
    });
}

#[test]
fn other_capabilities_are_told() {
    play(Medium::Stream, |stage| {
        opened(stage).down(Reason::Closed).told("lost").up().told("again").far_reads(&[&again(1)]);
        let fewer = hello_again(1).replace(r#"{"tools":{"listChanged":true}}"#, "{}");
        stage.far(&fewer).told("capabilities").far_reads(&[INITIALIZED]);
    });
}

#[test]
fn a_modern_session_needs_no_handshake() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let listen = r#"{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{}}"#;
    play(Medium::Stream, |stage| {
        stage.up().host(call).host(listen).far_reads(&[call, listen]);
        stage.down(Reason::Closed).told("lost").host_reads_errors(&["1", "2"], "closed");
        stage.host(call).up().told("again").far_reads(&[call]);
        stage
            .far(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
            .host_reads(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    });
}

#[test]
fn questions_of_a_lost_connection_are_taken_back() {
    let asks = r#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#;
    let says = r#"{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}"#;
    play(Medium::Stream, |stage| {
        opened(stage).far(asks).host_reads(&[asks]).host(says).far_reads(&[says]);
        stage.far(asks).host_reads(&[asks]).down(Reason::Restarted).told("restarted");
        stage.host_reads(&[
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"the device restarted"}}"#,
        ]);
        // It was answered all the same, too late.
        stage.host(says).up().told("again").far_reads(&[&again(1)]).host(says).far_reads(&[]);
    });
}

#[test]
fn patience_is_bounded_and_the_reason_told() {
    play(Medium::Stream, |stage| {
        stage.host(INITIALIZE).wait(14_999).is_quiet();
        stage.relay.far_trouble("can't connect to tcp:x:1: refused".into(), 14_999);
        stage.told("trying on").wait(1);
        let answer: serde_json::Value = serde_json::from_slice(&stage.relay.take_for_host()).unwrap();
        assert!(answer["error"]["message"].as_str().unwrap().contains("refused"), "{answer}");
        assert_eq!(answer["error"]["data"]["reason"], "unreachable");
        stage.up().told("connected to far").is_quiet();
    });
}

#[test]
fn what_is_held_is_bounded() {
    play(Medium::Stream, |stage| {
        for id in 0..70 {
            stage.host(&CALL.replace("\"id\":7", &format!("\"id\":{id}")));
        }
        stage.host_reads_errors(&["64", "65", "66", "67", "68", "69"], "unreachable");
        assert_eq!(stage.up().relay.take_for_far().iter().filter(|b| **b == b'\n').count(), 64);
    });
    let mut stage = super::script::Stage::new(Medium::Stream, usize::MAX);
    stage.host(&CALL.replace("\"a\"", &format!("\"{}\"", "a".repeat(1 << 20))));
    stage.host_reads_errors(&["7"], "unreachable");
}

#[test]
fn a_request_that_is_cancelled_while_it_is_held_is_never_sent() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    play(Medium::Stream, |stage| {
        stage.host(CALL).host(cancel).up().is_quiet();
        stage.host(CALL).host(cancel).far_reads(&[CALL, cancel]).far(CALLED).is_quiet();
        // Nor is it answered when the connection is lost.
        stage.host(CALL).host(cancel).far_reads(&[CALL, cancel]).down(Reason::Closed).told("lost");
    });
}

#[test]
fn a_device_that_boots_is_asked_again_until_it_answers() {
    play(Medium::Serial, |stage| {
        stage.up().host(INITIALIZE).far_reads(&[INITIALIZE]).wait(2_999).is_quiet();
        stage.wait(1).far_reads(&[INITIALIZE]).wait(6_000).far_reads(&[INITIALIZE]);
        stage.far(HELLO).host_reads(&[HELLO]).far(HELLO).told("not open");
        stage.host(INITIALIZED).far_reads(&[INITIALIZED]).wait(60_000).is_quiet();
        stage.down(Reason::Restarted).told("restarted").up().told("again");
        stage.far_reads(&[&again(1)]).wait(3_000).far_reads(&[&again(2)]).host(CALL);
        stage.far(&hello_again(1)).far_reads(&[INITIALIZED, CALL]).host_reads(&[CHANGED]);
        stage.far(&hello_again(2)).far(CALLED).host_reads(&[CALLED]);
    });
}

#[test]
fn a_handshake_outlives_a_device_that_restarts() {
    play(Medium::Serial, |stage| {
        stage
            .up()
            .host(INITIALIZE)
            .far_reads(&[INITIALIZE])
            .down(Reason::Restarted)
            .told("restarted")
            .is_quiet();
        stage.up().told("again").far_reads(&[INITIALIZE]).far(HELLO).host_reads(&[HELLO]);
    });
    // But not for ever.
    play(Medium::Serial, |stage| {
        stage
            .host(INITIALIZE)
            .wait(10_000)
            .up()
            .far_reads(&[INITIALIZE])
            .wait(3_000)
            .far_reads(&[INITIALIZE])
            .wait(2_000);
        stage
            .told("nothing there has answered")
            .host_reads_errors(&["0"], "unreachable")
            .wait(60_000)
            .is_quiet();
    });
}

#[test]
fn answers_to_noise_are_no_business_of_the_host() {
    let stray = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#;
    play(Medium::Serial, |stage| {
        opened(stage).far(stray).printed(stray);
    });
    play(Medium::Stream, |stage| {
        opened(stage).far(stray).host_reads(&[stray]);
    });
}

#[test]
fn a_server_that_takes_long_to_answer_is_told_of_and_waited_for() {
    play(Medium::Stream, |stage| {
        stage.up().host(INITIALIZE).far_reads(&[INITIALIZE]).wait(14_999).is_quiet();
        stage.wait(1).told("is it an MCP server?").wait(60_000).is_quiet();
        stage.far(HELLO).host_reads(&[HELLO]);
    });
}

#[test]
fn a_server_that_has_started_again_without_a_word_is_noticed() {
    let forgot = |id: &str, text: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":"{text}"}}}}"#)
    };
    play(Medium::Serial, |stage| {
        let (first, second) = (CALL.replace("\"id\":7", "\"id\":1"), CALL.replace("\"id\":7", "\"id\":2"));
        opened(stage).host(&first).host(&second).far_reads(&[&first, &second]);
        // The first was lost with the server that got it.
        stage.far(&forgot("2", "no session: send initialize first, or @protocolVersion"));
        stage.told("knows of no session").host_reads_errors(&["2", "1"], "restarted").far_reads(&[&again(1)]);
        stage.host(CALL).far(&hello_again(1)).far_reads(&[INITIALIZED, CALL]).host_reads(&[CHANGED]);
        stage.far(CALLED).host_reads(&[CALLED]);
        // A tool's own words are its own.
        let other = forgot("7", "no sessions today");
        stage.host(CALL).far_reads(&[CALL]).far(&other).host_reads(&[&other]);
    });
}

#[test]
fn a_command_that_dies_of_the_handshake_gets_a_second_chance_and_no_third() {
    play(Medium::Command, |stage| {
        stage.up().host(INITIALIZE).host(INITIALIZED).host(CALL).far_reads(&[INITIALIZE, INITIALIZED, CALL]);
        stage.down(Reason::Exited("status 1".into())).told("status 1").host_reads_errors(&["7"], "exited");
        stage
            .up()
            .told("again")
            .far_reads(&[INITIALIZE])
            .down(Reason::Exited("status 1".into()))
            .told("status 1");
        stage.relay.give_up("exited", "it never answered");
        stage.host_reads_errors(&["0"], "exited").host(CALL).host_reads_errors(&["7"], "exited");
    });
    // A modern host that is told so tries the older handshake.
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}"#;
    play(Medium::Command, |stage| {
        stage.up().host(discover).far_reads(&[discover]).down(Reason::Exited("status 1".into()));
        stage.told("status 1").host_reads_errors(&["1"], "exited");
    });
}

#[test]
fn the_offer_of_checked_lines_is_seen_in_both_eras_and_after_a_restart() {
    let offer = r#"{"experimental":{"dev.barewire/checked":{"version":1}}}"#;
    let hello = HELLO.replace(r#"{"tools":{"listChanged":true}}"#, offer);
    play(Medium::Serial, |stage| {
        stage.up().host(INITIALIZE).far_reads(&[INITIALIZE]);
        assert!(!stage.relay.take_offer());
        stage.far(&hello).host_reads(&[&hello]);
        assert!(stage.relay.take_offer() && !stage.relay.take_offer());
        stage.down(Reason::Restarted).told("restarted").up().told("again").far_reads(&[&again(1)]);
        stage.far(&hello.replace("\"id\":0", "\"id\":\"barewire-bridge-1\""));
        assert!(stage.relay.take_offer());
    });
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{}}}"#;
    let found = r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"extensions":{"dev.barewire/checked":{"version":1}}}}}"#;
    play(Medium::Serial, |stage| {
        stage.up().host(discover).far_reads(&[discover]).far(found).host_reads(&[found]);
        assert!(stage.relay.take_offer());
        let own = discover.replace(":1,", ":\"barewire-bridge-1\",");
        stage.down(Reason::Restarted).told("restarted").host(CALL).up().told("again").far_reads(&[&own]);
        stage.far(&found.replace(":1,\"result", ":\"barewire-bridge-1\",\"result")).far_reads(&[CALL]);
        assert!(stage.relay.take_offer());
        stage.far(CALLED).host_reads(&[CALLED]);
    });
}

#[test]
fn the_end_of_the_host_waits_for_answers_and_not_for_listens() {
    play(Medium::Stream, |stage| {
        stage.up().host(CALL).host(r#"{"jsonrpc":"2.0","id":8,"method":"subscriptions/listen"}"#).host_ends();
        assert!(!stage.relay.is_done());
        assert!(stage.relay.take_for_far().len() > CALL.len());
        assert!(!stage.relay.is_done());
        stage.far(CALLED).host_reads(&[CALLED]);
        assert!(stage.relay.is_done());
        stage.down(Reason::Closed).host_reads_errors(&["8"], "closed");
    });
    play(Medium::Stream, |stage| {
        stage.up().host(CALL).host_ends().far_reads(&[CALL]).wait(4_999);
        assert!(!stage.relay.is_done());
        assert_eq!(stage.relay.deadline(), Some(5_000));
        assert!(stage.wait(1).relay.is_done());
        stage.relay.give_up("closed", "the host has ended its input");
        stage.host_reads_errors(&["7"], "closed");
    });
}

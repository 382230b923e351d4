//! Lines of every kind: junk, batches, long ones, ids.

use super::script::{Stage, play};
use crate::bridge::LIMIT;
use crate::bridge::errors::Reason;
use crate::bridge::relay::Medium;

fn call(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#)
}

fn answer(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

#[test]
fn what_the_far_end_prints_is_its_console() {
    play(Medium::Stream, |stage| {
        stage.up().host(&call("1")).far_reads(&[&call("1")]);
        stage.far("I (31) boot: \x1b[2J ready\r").far("[1, 2]").far("{\"id\":1,").far("").far("7");
        stage.printed("I (31) boot: \x1b[2J ready").printed("[1, 2]").printed("{\"id\":1,").printed("7");
        stage.far(&answer("1")).host_reads(&[&answer("1")]);
        stage.far_bytes(b"no end").down(Reason::Closed).printed("no end").told("lost");
    });
}

#[test]
fn a_last_message_without_a_line_feed_counts_and_half_a_message_does_not() {
    play(Medium::Stream, |stage| {
        stage.up().host(&call("1")).host(&call("2")).far_reads(&[&call("1"), &call("2")]);
        stage.far_bytes(answer("1").as_bytes()).down(Reason::Closed).told("lost");
        let taken = String::from_utf8(stage.relay.take_for_host()).unwrap();
        assert_eq!(taken.lines().next(), Some(&*answer("1")));
        assert!(taken.contains("\"id\":2,\"error\"") && taken.lines().count() == 2, "{taken}");
        // The rest of a line belongs to nobody.
        stage.host(&call("3")).up().told("again").far_reads(&[&call("3")]);
        stage.far_bytes(br#"{"jsonrpc":"2.0","id":3,"#).down(Reason::Closed).told("lost");
        stage.told("cut off").host_reads_errors(&["3"], "closed");
        stage.up().told("again").far(r#""result":{}}"#).printed(r#""result":{}}"#);
    });
}

#[test]
fn ids_keep_their_type_and_are_open_once() {
    play(Medium::Stream, |stage| {
        stage.up().host(&call("1")).host(&call("\"1\"")).far_reads(&[&call("1"), &call("\"1\"")]);
        stage.host(&call("1.0")).host_reads_errors(&["1.0"], "id_in_use");
        stage.far(&answer("\"1\"")).host_reads(&[&answer("\"1\"")]);
        stage.far(&answer("\"1\"")).told("not open");
        stage.far(&answer("1e0")).host_reads(&[&answer("1e0")]).far(&answer("1")).told("not open");
        // It is free again.
        stage.host(&call("1")).far_reads(&[&call("1")]).far(&answer("1")).host_reads(&[&answer("1")]);
    });
}

#[test]
fn the_same_id_both_ways_is_two_requests() {
    play(Medium::Stream, |stage| {
        stage.up().host(&call("1")).far_reads(&[&call("1")]).far(&call("1")).host_reads(&[&call("1")]);
        stage.host(&answer("1")).far_reads(&[&answer("1")]).host(&answer("1")).far_reads(&[]);
        stage.far(&answer("1")).host_reads(&[&answer("1")]);
    });
}

#[test]
fn batches_pass_whole_and_late_answers_are_taken_out() {
    let batch = format!("[{}, {} ,{{\"jsonrpc\":\"2.0\",\"method\":\"n\"}}]", call("1"), call("2"));
    play(Medium::Stream, |stage| {
        stage.up().host(&batch).far_reads(&[&batch]);
        let both = format!("[ {} , {}]", answer("2"), answer("1"));
        stage.far(&both).host_reads(&[&both]);
        stage.host(&call("3")).far_reads(&[&call("3")]);
        stage.far(&format!("[{}, {}]", answer("1"), answer("3"))).told("not open");
        stage.host_reads(&[&format!("[{}]", answer("3"))]);
        stage.host(&batch).far_reads(&[&batch]).host(&batch).is_quiet();
        stage.down(Reason::Closed).told("lost").host_reads_errors(&["1", "2"], "closed");
        stage.host(&batch).wait(15_000).host_reads_errors(&["1", "2"], "unreachable");
        stage.up().told("again").is_quiet();
        let mixed = format!("[{}, {}]", call("1"), call("5"));
        stage.host(&call("1")).far_reads(&[&call("1")]).host(&mixed).host_reads_errors(&["5"], "id_in_use");
        stage.far(&answer("1")).host_reads(&[&answer("1")]);
    });
}

#[test]
fn what_the_host_may_not_say_is_refused_by_name() {
    play(Medium::Stream, |stage| {
        stage.up().host(r#"{"jsonrpc":"2.0","id":1,"method":7}"#).host_reads_errors(&["1"], "invalid");
        stage
            .host(r#"{"jsonrpc":"2.0","id":2,"method":"a","method":"b"}"#)
            .host_reads_errors(&["2"], "invalid");
        // What names nobody is the server's business, if it is there.
        stage.host("hello?").host("[]").far_reads(&["hello?", "[]"]);
        for id in ["null", "true", "[1]", "{}"] {
            stage.host(&call(id)).host_reads_errors(&["null"], "invalid");
        }
        // No id for MCP, but one for JSON-RPC.
        stage.host(&call("1.5")).far_reads(&[&call("1.5")]).far(&answer("15e-1"));
        stage.host_reads(&[&answer("15e-1")]);
        let spoilt = format!("[{}, 7, {}]", call("3"), call("null"));
        stage.host(&spoilt).host_reads_errors(&["3", "null"], "invalid");
        stage.down(Reason::Closed).told("lost").host("hello?").told("no message");
        stage.host_bytes(b"\xff\xfe\n").told("no message");
    });
}

#[test]
fn long_lines_are_refused_by_their_id_both_ways() {
    let mut stage = Stage::new(Medium::Stream, 60_000);
    let pad = "x".repeat(LIMIT);
    stage.up().host(&format!(r#"{{"jsonrpc":"2.0","p":"{pad}","method":"m","id":"big"}}"#));
    stage.told("the limit is 16,842,752").host_reads_errors(&["\"big\""], "too_large");
    stage.host(&format!("[{},\"{pad}\"]", call("1"))).told("the limit is 16,842,752");
    stage.host_reads_errors(&["null"], "too_large");
    stage.host(&call("1")).far_reads(&[&call("1")]);
    stage
        .far(&format!(r#"{{"jsonrpc":"2.0","result":{{"p":"{pad}"}},"id":1}}"#))
        .told("the limit is 16,842,752");
    stage.host_reads_errors(&["1"], "too_large");
    // A question of the far end, and an answer of the host.
    stage
        .far(&format!(r#"{{"jsonrpc":"2.0","p":"{pad}","method":"m","id":9}}"#))
        .told("the limit is 16,842,752");
    assert!(String::from_utf8(stage.relay.take_for_far()).unwrap().contains(r#""id":9,"error""#));
    stage.far(&call("9")).host_reads(&[&call("9")]);
    stage
        .host(&format!(r#"{{"jsonrpc":"2.0","result":{{"p":"{pad}"}},"id":9}}"#))
        .told("the limit is 16,842,752");
    assert!(String::from_utf8(stage.relay.take_for_far()).unwrap().contains(r#""id":9,"error""#));
    // One byte less passes.
    let fits =
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"m","params":{{"p":"{}"}}}}"#, &pad[..LIMIT - 55]);
    assert!(fits.len() <= LIMIT);
    stage.host(&fits);
    assert_eq!(stage.relay.take_for_far().len(), fits.len() + 1);
    stage.is_quiet();
}

#[test]
fn a_flood_is_bounded() {
    let mut stage = Stage::new(Medium::Stream, usize::MAX);
    stage.up();
    for id in 0..20_000 {
        stage.host(&call(&id.to_string()));
    }
    let refused = String::from_utf8(stage.relay.take_for_host()).unwrap();
    assert_eq!(refused.lines().count(), 20_000 - 16_384);
    assert!(refused.lines().all(|line| line.contains("busy")));
    let most: Vec<String> = (0..16_385).map(|id| call(&id.to_string())).collect();
    let mut other = Stage::new(Medium::Stream, usize::MAX);
    other.up().host(&format!("[{}]", most.join(",")));
    let refused = String::from_utf8(other.relay.take_for_host()).unwrap();
    assert_eq!(refused.lines().filter(|line| line.contains("busy")).count(), 16_385);
    other.far_reads(&[]).host(&format!("[{}]", most[1..].join(","))).host_reads(&[]);
    assert!(other.relay.has_for_far());
    for id in 0..2_000 {
        stage.far(&call(&id.to_string()));
    }
    assert_eq!(stage.relay.take_for_host().iter().filter(|b| **b == b'\n').count(), 1024);
    stage.down(Reason::Closed);
    assert_eq!(stage.relay.take_for_host().iter().filter(|b| **b == b'\n').count(), 16_384);
}

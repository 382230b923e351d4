//! Handshake, listing and calls, in both eras, on all boards.
use firmware_host::{Board, Image, META, call};
use serde_json::{Value, json};

const NAMES: [&str; 6] = ["set_led", "read_temperature", "read_log", "uptime", "echo", "calibrate"];

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

fn names(answer: &str) -> Vec<String> {
    let answer = json(answer);
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().into()).collect()
}

/// What all of them do in a session of 2025-11-25.
fn older(image: Image) {
    let mut board = Board::start(image);
    board.open();
    assert_eq!(names(&board.ask(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#)), NAMES);
    board.talk(
        r#"
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_temperature"}}
        < {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"21.5"}]}}
        > {"jsonrpc":"2.0","id":"three","method":"tools/call","params":{"arguments":{"on":true},"name":"set_led"}}
        < {"jsonrpc":"2.0","id":"three","result":{"content":[{"type":"text","text":"on"}]}}
        > {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"set_led","arguments":{"on":1}}}
        < {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"`on` must be true or false; got 1"}],"isError":true}}
        > {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a\tb\u00e9\ud83d\ude00"}}}
        < {"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"a\tbé😀"}]}}
        > {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"open_door"}}
        < {"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"Unknown tool"}}
        > {"jsonrpc":"2.0","id":7,"method":"resources/list"}
        < {"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}
        "#,
    );
    let up = json(&board.ask(&call(8, "uptime", "{}")));
    assert!(up["result"]["content"][0]["text"].as_str().unwrap().parse::<u32>().is_ok(), "{up}");
}

#[test]
fn older_era_on_cortex_m4() {
    older(Image::M4);
}

#[test]
fn older_era_on_cortex_m0() {
    older(Image::M0);
}

#[test]
fn older_era_on_riscv() {
    older(Image::Riscv);
}

/// 256 bytes to receive carry a session of the older era; the newer one is refused by its id, so that clients come in by
/// `initialize`.
#[test]
fn older_era_in_256_bytes() {
    let mut board = Board::start(Image::M0Least);
    let refused =
        board.ask(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{META}}}}}"#));
    assert_eq!(
        (json(&refused)["id"].clone(), json(&refused)["error"]["code"].clone()),
        (json!(1), json!(-32600))
    );
    drop(board);
    older(Image::M0Least);
}

/// 2026-07-28, and an older session on the same line.
fn newer(image: Image) {
    let mut board = Board::start(image);
    let found = json(
        &board.ask(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{META}}}}}"#)),
    );
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]), "{found}");
    let list = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{{META}}}}}"#);
    assert_eq!(names(&board.ask(&list)), NAMES);
    let on = format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"set_led","arguments":{{"on":true}},{META}}}}}"#
    );
    let lit = json(&board.ask(&on));
    assert_eq!(lit["result"]["content"][0]["text"], "on", "{lit}");
    assert_eq!(lit["result"]["resultType"], "complete");
    // Without a session, and then with one.
    board.open();
    assert_eq!(
        board.ask(&call(4, "echo", r#"{"text":"older"}"#)),
        r#"{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"older"}]}}"#
    );
    assert_eq!(json(&board.ask(&on))["result"]["resultType"], "complete");
}

#[test]
fn newer_era_on_cortex_m4() {
    newer(Image::M4);
}

#[test]
fn newer_era_on_cortex_m0() {
    newer(Image::M0);
}

#[test]
fn newer_era_on_riscv() {
    newer(Image::Riscv);
}

/// A call that takes its time lets others pass.
#[test]
fn deferred_calls() {
    for image in [Image::M4, Image::Riscv] {
        let mut board = Board::start(image);
        board.open();
        board.talk(
            r#"
            > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"calibrate"}}
            > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"meanwhile"}}}
            < {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"meanwhile"}]}}
            < {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"calibrated"}]}}
            "#,
        );
    }
}

/// With one slot the second call waits; what needs none passes.
#[test]
fn one_slot_pushes_back() {
    let mut board = Board::start(Image::M0);
    board.open();
    board.talk(
        r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"calibrate"}}
        > {"jsonrpc":"2.0","id":2,"method":"ping"}
        > {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"afterwards"}}}
        < {"jsonrpc":"2.0","id":2,"result":{}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"calibrated"}]}}
        < {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"afterwards"}]}}
        "#,
    );
}

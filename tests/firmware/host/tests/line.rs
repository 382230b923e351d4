//! What a line does to a board: too much, too little, noise, and the reset pin in the middle of it all.
use firmware_host::{Board, Image, call, log};
use serde_json::{Value, json};
use std::io::Write;

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

const PING: &str = r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":"ping","result":{}}"#;

/// 50 KB out of flash, through 256 bytes (64 on the M0).
fn whole_log(image: Image) {
    let mut board = Board::start(image);
    board.open();
    let answer = json(&board.ask(&call(1, "read_log", "{}")));
    assert_eq!(answer["result"]["content"][0]["text"].as_str(), Some(log().as_str()));
    assert_eq!(board.ask(PING), PONG);
}

#[test]
fn log_of_cortex_m4() {
    whole_log(Image::M4);
}

#[test]
fn log_of_cortex_m0() {
    whole_log(Image::M0);
}

#[test]
fn log_of_riscv() {
    whole_log(Image::Riscv);
}

/// 8 KB into 512 bytes: refused with the request's own id, wherever that stands, and nothing else is lost.
#[test]
fn too_long_requests() {
    for image in Image::SERVERS.into_iter().chain([Image::M0Least]) {
        let limit = if image == Image::M0Least { 256 } else { 512 };
        let mut board = Board::start(image);
        board.open();
        let text = "x\\n".repeat(8192 / 3);
        let first = call(71, "echo", &format!(r#"{{"text":"{text}"}}"#));
        let last = format!(
            r#"{{"method":"tools/call","params":{{"arguments":{{"text":"{text}"}},"name":"echo"}},"jsonrpc":"2.0","id":"at the end"}}"#
        );
        for (request, id) in [(first, json!(71)), (last, json!("at the end"))] {
            board.say(&request);
            board.say(PING);
            let refused = json(&board.hear());
            assert_eq!(
                (&refused["id"], &refused["error"]["code"]),
                (&id, &json!(-32600)),
                "{image:?}: {refused}"
            );
            assert!(refused["error"]["data"]["limit"].as_u64() <= Some(limit), "{image:?}: {refused}");
            assert_eq!(board.hear(), PONG, "{image:?}");
        }
    }
}

/// Boot text, logs, damage: none of it is answered, none of it hurts the next message.
#[test]
fn noise() {
    const NOISE: [&[u8]; 9] = [
        b"rst:0x1 (POWERON), boot:0x13\r\n",
        b"\r\n\n\n",
        b"\0\xff\xfe\x80 \x1b[31mE (123) wifi: lost\x1b[0m\r\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth\n",
        b"}]}\"\n",
        b"42\n",
        b"[1,2,3]\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n",
        &[b'~'; 2000],
    ];
    for image in Image::SERVERS {
        let mut board = Board::start(image);
        board.open();
        for noise in NOISE {
            board.send(noise);
            // What has no line feed takes one line with it.
            board.send(b"\n");
            assert_eq!(board.ask(PING), PONG, "{image:?}: {}", String::from_utf8_lossy(noise));
        }
    }
}

/// Text in front of the first message, without a line feed, as a terminal or a modem leaves it.
#[test]
fn text_before_the_first_message() {
    for image in [Image::M4, Image::Riscv] {
        let mut board = Board::start(image);
        board.send(b"AT+GMR");
        board.open();
        assert_eq!(board.ask(PING), PONG, "{image:?}");
    }
}

/// The reset pin while half a request is in, and while half an answer is out.
#[test]
fn reset_in_the_middle() {
    for image in Image::SERVERS {
        let mut board = Board::start(image);
        board.open();
        let request = call(1, "echo", r#"{"text":"never"}"#);
        board.send(&request.as_bytes()[..request.len() / 2]);
        board.reset();
        board.heard("boot: ");
        // The rest is no rest, since the half may still have been under way to the board.
        board.say("]]");
        board.open();
        assert_eq!(board.ask(PING), PONG, "{image:?}");

        board.say(&call(2, "read_log", "{}"));
        let half = board.part(20_000);
        assert!(half.starts_with(br#"{"jsonrpc":"2.0","id":2,"result""#), "{image:?}");
        board.reset();
        board.heard("boot: ");
        board.open();
        assert_eq!(board.ask(PING), PONG, "{image:?}");
        let answer = json(&board.ask(&call(3, "read_log", "{}")));
        assert_eq!(answer["result"]["content"][0]["text"].as_str(), Some(log().as_str()), "{image:?}");
    }
}

/// 10,000 calls, as fast as the line takes them: each is answered once, in order.
#[test]
fn ten_thousand_calls() {
    const CALLS: usize = 10_000;
    let mut board = Board::start(Image::M0);
    board.open();
    let mut line = board.socket();
    let writer = std::thread::spawn(move || {
        for n in 0..CALLS {
            let request = call(n, "echo", &format!(r#"{{"text":"call {n}"}}"#));
            line.write_all(format!("{request}\n").as_bytes()).unwrap();
        }
    });
    for n in 0..CALLS {
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":{n},"result":{{"content":[{{"type":"text","text":"call {n}"}}]}}}}"#
        );
        assert_eq!(board.hear(), expected);
    }
    writer.join().unwrap();
    assert_eq!(board.ask(PING), PONG);
}

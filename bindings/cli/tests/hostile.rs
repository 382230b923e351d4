//! The program against servers and logs that are wrong.
#![cfg(unix)]

mod common;

use std::process::{Command, Stdio};

use common::{BAREWIRE, barewire, call_one, feed, server};

/// Each slip of a server that never answers well, and the word that names it.
#[test]
fn what_a_server_writes_instead_of_an_answer_is_named() {
    let say = |script: &str, code: i32, words: &[&str]| {
        let run = barewire(&["list", "--era", "legacy", "--timeout", "2", "--", "sh", "-c", script]);
        assert_eq!(run.code, Some(code), "{script}: {}", run.err);
        for word in words {
            assert!(run.err.contains(word), "{word} is not in {}", run.err);
        }
        assert!(!run.err.contains("?."), "{}", run.err);
        run.err
    };
    say(
        "printf '{\"jsonrpc\":\"2.0\",'; cat >/dev/null",
        4,
        &["wrote 17 bytes without a line break", "jsonrpc"],
    );
    say("echo one; cat >/dev/null", 4, &["a line that is not MCP: one; does it print to stdout?"]);
    say("printf '{\\n  \"jsonrpc\": \"2.0\"\\n}\\n'; cat >/dev/null", 4, &["over several lines"]);
    say("cat", 5, &["sends back what is written to it"]);
    let told = say("read a; printf '{\"jsonrpc\":\"2.0\",\"id\":1,'; exit 1", 3, &["cut off"]);
    assert!(!told.contains("print to stdout"), "{told}");
}

#[test]
fn a_malformed_answer_is_named_by_its_member() {
    for (answer, word) in [
        (r#""result":[]"#, "`result` is not an object"),
        (r#""result":null"#, "`result` is not an object"),
        (r#""error":"no""#, "`error` is not an object"),
        (r#""result":{},"error":{"code":1,"message":""}"#, "both `result` and `error`"),
        (r#""other":1"#, "neither `result` nor `error`"),
        (r#""result":{"content":"x"}"#, "`content` is not an array"),
        (r#""result":{"content":[],"isError":"true"}"#, "`isError` is not true or false"),
        (r#""error":{"code":"E1","message":"no"}"#, "no code, or 0"),
    ] {
        let run = call_one(answer, &[]);
        assert_eq!((run.code, run.out.as_str()), (Some(5), ""), "{answer}: {}", run.err);
        assert!(run.err.contains(word), "{answer}: {}", run.err);
    }
    // Go and C# write every member.
    let run = call_one(r#""result":{"content":[{"type":"text","text":"a"}]},"error":null"#, &[]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "a"), "{}", run.err);
    assert!(run.err.contains("one of them null"), "{}", run.err);
}

#[test]
fn content_that_cannot_be_shown_is_named() {
    for (block, word) in [
        ("5", "content that is no object"),
        ("null", "content that is no object"),
        ("{}", "content without a type"),
        (r#"{"type":"text"}"#, "a text block without a text"),
        (r#"{"type":"text","text":5}"#, "a text block without a text"),
        (r#"{"type":"image"}"#, "kind image without its data"),
        (r#"{"type":"hologram"}"#, "kind hologram, which barewire does not know"),
    ] {
        let run = call_one(&format!(r#""result":{{"content":[{block}]}}"#), &[]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(run.err.contains(word), "{block}: {}", run.err);
    }
    let run = call_one(r#""result":{"content":[],"isError":true}"#, &[]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("without saying why") && run.err.lines().count() == 1, "{}", run.err);
}

#[test]
fn a_server_without_a_name_is_listed() {
    let script =
        server("[]", "").replace(r#""serverInfo":{"name":"sh","version":"1"}"#, r#""serverInfo":{"name":5}"#);
    let run = barewire(&["list", "--era", "legacy", "--", "sh", "-c", &script]);
    assert!(run.out.starts_with("(no name), 2025-11-25: no tools"), "{run:?}");
}

/// A line that never ends is kept in part, and the time that was given ends it all.
#[cfg(target_os = "linux")]
#[test]
fn a_line_without_end_is_bounded() {
    let script =
        server(r#"[{"name":"t","inputSchema":{"type":"object"}}]"#, "").replace("cat >/dev/null", "");
    let script = script.replace("read d; ", "read d; exec tr '\\0' x </dev/zero; ");
    let limited = r#"ulimit -v 600000; exec "$0" call t --era legacy --timeout 2 -- sh -c "$1""#;
    let run: common::Run = Command::new("sh")
        .args(["-c", limited, BAREWIRE, &script])
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into();
    assert_eq!(run.code, Some(4), "{}", run.err);
    assert!(run.err.contains("without a line break") && !run.err.contains("does it print"), "{}", run.err);
}

/// A server that ignores what it does not know must be met within a short --timeout too.
#[test]
fn a_silent_probe_leaves_time_for_the_handshake() {
    // The probe is line 1, and initialize has id 2.
    let script = server(r#"[{"name":"t","inputSchema":{"type":"object"}}]"#, r#""result":{"content":[]}"#)
        .replacen("read a; ", "read a; read b; ", 1)
        .replace(r#""id":3"#, r#""id":4"#)
        .replace(r#""id":2"#, r#""id":3"#)
        .replace(r#""id":1"#, r#""id":2"#);
    let run = barewire(&["call", "t", "--timeout", "9", "--", "sh", "-c", &script]);
    assert_eq!(run.code, Some(0), "{}", run.err);
}

/// Anybody's flood must be told in a time that grows with it and no faster.
#[test]
fn a_flood_of_open_requests_is_explained() {
    let mut log = String::from(
        "{\"capture\":1,\"t\":0,\"dir\":\"ev\",\"event\":\"start\",\"command\":[\"x\"],\"pid\":7}\n",
    );
    for id in 0..40_000 {
        log += &format!(
            "{{\"t\":1,\"dir\":\"s2c\",\"text\":\"{{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":{id},\\\"method\\\":\\\"ping\\\"}}\\n\"}}\n"
        );
    }
    log += "{\"t\":2,\"dir\":\"c2s\",\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":0,\\\"result\\\":{}}\\n\"}\n";
    // With a byte order mark, as some editors write it.
    let run = feed(&["explain", "--short"], &[b"\xef\xbb\xbf", log.as_bytes()].concat());
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("answered 1 of 40000"), "{}", &run.out[run.out.len() - 500..]);
    assert!(run.out.starts_with("`x` was started, pid 7."), "{}", &run.out[..100]);
}

#[test]
fn an_early_ready_is_no_ready_to_wait_for() {
    let log = concat!(
        r#">>> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        "\n",
        r#">>> {"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"<<< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
        "\n--- exit\n",
    );
    let run = feed(&["explain"], log.as_bytes());
    assert!(run.out.contains("open on 2025-11-25") && !run.out.contains("open on ?"), "{}", run.out);
    assert!(!run.out.contains("waits for the client"), "{}", run.out);
    assert!(run.out.contains("the server ended") && !run.out.contains("signal 0"), "{}", run.out);
    assert!(feed(&["explain"], b"").err.contains("stdin: the capture is empty"));
}

/// What is no capture at all is refused in a line; noise of a serial line beside messages is shown.
#[test]
fn a_binary_file_is_no_capture() {
    let run = barewire(&["explain", "/bin/sh"]);
    assert_eq!((run.code, run.out.len()), (Some(2), 0));
    assert!(run.err.contains("a binary file, no capture") && run.err.lines().count() == 1, "{}", run.err);
    let run = feed(&["explain"], b"\0\0boot\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("2 packets") && run.out.contains("ping"), "{}", run.out);
}

#[test]
fn a_wide_terminal_is_believed_within_reason() {
    let out = Command::new(BAREWIRE).arg("demo").env("COLUMNS", "99999999999").output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    assert!(out.stdout.len() < 1_000_000, "{}", out.stdout.len());
}

//! `list`, `call`, `demo`, `serve` and `explain` as processes.
#![cfg(unix)]

mod common;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use common::{BAREWIRE, barewire, call_one, feed, interruptible, scratch, server, with_sample};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn serve_speaks_for_itself() {
    let lines = concat!(
        r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"calculate_bmi","arguments":{"weight_kg":65,"height_m":1.65}}}"#,
        "\n"
    );
    let run = feed(&["serve", "bmi"], lines.as_bytes());
    assert_eq!(run.code, Some(0));
    let answers: Vec<Value> = run.out.lines().map(json).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "Demo");
    assert_eq!(answers[1]["result"]["content"][0]["text"], "23.875114784205696");
}

#[test]
fn demo_shows_seven_packets() {
    let run = barewire(&["demo"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let heads: Vec<&str> = run.out.lines().filter(|line| line.starts_with('#')).collect();
    let words = [
        "initialize",
        "result of #1",
        "notifications/initialized",
        "tools/list",
        "result of #4",
        "tools/call",
        "result of #6",
    ];
    assert_eq!(heads.len(), words.len(), "{}", run.out);
    // What is said to come next can be typed as it stands.
    assert!(run.out.contains(&format!("     {BAREWIRE} explain io.jsonl\n")), "{}", run.out);
    for (head, word) in heads.iter().zip(words) {
        assert!(head.contains(word), "{word} is not in {head}");
    }
    assert!(run.out.contains("612 lines") && run.out.contains("findings 0"), "{}", run.out);
    assert!(run.out.contains("answered 3 of 3"));
    assert_eq!(run.err, "");
}

#[test]
fn demo_in_json_is_seven_objects() {
    let run = barewire(&["demo", "--json"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let packets: Vec<Value> = run.out.lines().map(json).collect();
    assert_eq!(packets.len(), 7);
    for (i, packet) in packets.iter().enumerate() {
        assert_eq!(packet["packet"], i + 1);
        assert_eq!(packet["findings"], Value::Array(vec![]));
    }
    assert_eq!(packets[6]["answers"], 6);
    let text = packets[6]["message"]["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text.lines().count(), 612);
}

#[test]
fn demo_speaks_the_modern_era_too() {
    let run = barewire(&["demo", "--era", "modern", "--json"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let methods: Vec<String> = run.out.lines().map(|line| json(line)["method"].to_string()).collect();
    assert_eq!(methods.first().map(String::as_str), Some("\"server/discover\""));
    assert!(!methods.iter().any(|method| method.contains("initialize")), "{methods:?}");
    assert!(run.out.lines().all(|line| json(line)["findings"] == Value::Array(vec![])), "{}", run.out);
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    for arguments in
        [vec!["demo"], vec!["demo", "--json"], with_sample(&["call", "get_alerts", "state=TX"], "weather")]
    {
        let mut child = Command::new(BAREWIRE)
            .args(&arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn list_in_words_and_in_json() {
    let run = barewire(&with_sample(&["list"], "weather"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.starts_with("weather "), "{}", run.out);
    for part in ["2 tools", "get_alerts", "state", "string, required", "latitude", "number, required"] {
        assert!(run.out.contains(part), "{part} is not in {}", run.out);
    }
    assert!(!run.out.contains('\u{1b}'), "colour in a pipe");
    assert!(barewire(&with_sample(&["list", "--color", "always"], "weather")).out.contains('\u{1b}'));
    let run = barewire(&with_sample(&["list", "--json"], "bmi"));
    let list = json(&run.out);
    assert_eq!(list["server"]["name"], "Demo");
    assert_eq!(list["tools"][0]["name"], "calculate_bmi");
    assert_eq!(list["tools"][0]["inputSchema"]["required"], serde_json::json!(["weight_kg", "height_m"]));
}

#[test]
fn every_revision_can_be_asked_for() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let run = barewire(&with_sample(&["list", "--json", "--protocol-version", version], "weather"));
        assert_eq!(json(&run.out)["server"]["protocol"], version, "{}", run.err);
    }
}

#[test]
fn call_types_its_arguments() {
    let run = barewire(&with_sample(&["call", "calculate_bmi", "weight_kg=65", "height_m=1.65"], "bmi"));
    assert_eq!((run.code, run.out.as_str()), (Some(0), "23.875114784205696"), "{}", run.err);
    let run =
        barewire(&with_sample(&["call", "calculate_bmi", r#"{"weight_kg":65,"height_m":1.65}"#], "bmi"));
    assert_eq!(run.out, "23.875114784205696");
    let run = barewire(&with_sample(
        &["call", "get_forecast", "--args", r#"{"latitude":40.7128}"#, "longitude=-74.006"],
        "weather",
    ));
    assert!(run.out.starts_with("Forecast for New York"), "{run:?}");
    let run = barewire(&with_sample(&["call", "fetch_weather", "city=北京"], "bmi"));
    assert!(run.out.starts_with("北京"), "{run:?}");
}

#[test]
fn digits_reach_the_server_as_they_were_written() {
    let log = scratch("digits.jsonl");
    let run = barewire(&[
        "call",
        "calculate_bmi",
        "weight_kg=65.000",
        "height_m=1.65e0",
        "extra:=12345678901234567890",
        "--",
        BAREWIRE,
        "tap",
        "--log",
        log.to_str().unwrap(),
        "--",
        BAREWIRE,
        "serve",
        "bmi",
    ]);
    assert_eq!(run.out, "23.875114784205696", "{}", run.err);
    assert!(run.err.contains("it has no `extra`"), "{}", run.err);
    let logged = std::fs::read_to_string(log).unwrap();
    for digits in ["65.000", "1.65e0", "12345678901234567890"] {
        assert!(logged.contains(digits), "{digits}");
    }
}

#[test]
fn exit_codes() {
    let run = barewire(&with_sample(&["call", "get_alerts", "state=ZZ"], "weather"));
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    assert!(run.err.contains("is no US state"), "{}", run.err);
    let run = barewire(&with_sample(&["call", "no_such_tool"], "weather"));
    assert_eq!((run.code, run.out.as_str()), (Some(5), ""));
    assert!(run.err.contains("it has get_alerts, get_forecast") && run.err.contains("-32602"), "{}", run.err);
    let run = barewire(&["list", "--", "no-such-command-zz"]);
    assert_eq!(run.code, Some(3));
    assert!(run.err.contains("no-such-command-zz"), "{}", run.err);
    let run = barewire(&["list", "--era", "legacy", "--", "sh", "-c", "echo out of order >&2; exit 7"]);
    assert_eq!(run.code, Some(3));
    assert!(run.err.contains("status 7") && run.err.contains("out of order"), "{}", run.err);
    let run = barewire(&[
        "list",
        "--era",
        "legacy",
        "--timeout",
        "2",
        "--",
        "sh",
        "-c",
        "echo still loading >&2; cat >/dev/null",
    ]);
    assert_eq!(run.code, Some(4), "{}", run.err);
    assert!(run.err.contains("still loading") && run.err.contains("within 2 s"), "{}", run.err);
    let run = call_one(r#""error":{"code":-32001,"message":"no","data":{"why":1.50}}"#, &[]);
    assert_eq!(run.code, Some(5));
    assert!(run.err.contains("-32001") && run.err.contains("1.50"), "{}", run.err);
}

#[test]
fn a_wrong_command_line_starts_nothing() {
    let touched = scratch("touched");
    let _ = std::fs::remove_file(&touched);
    let script = format!("touch {}; cat", touched.display());
    for arguments in [
        &["--o.a", "1"][..],
        &["--args", "[1]"],
        &["--args", "null"],
        &["--args", "{"],
        &["--args", "@no-such-file"],
        &["novalue"],
        &["x:={"],
        &["--timeout", "0"],
        &["--save", BAREWIRE],
        &["--protocol-version", "2024-10-07"],
    ] {
        let run = barewire(&[&["call", "echo"], arguments, &["--", "sh", "-c", &script]].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.err);
        assert!(!touched.exists(), "{arguments:?} started the server");
    }
    assert_eq!(barewire(&["call", "echo"]).code, Some(2));
    assert_eq!(barewire(&["list"]).code, Some(2));
    assert!(barewire(&["call", "x", "--args", "{\n1", "--", "true"]).err.contains("line 2, column 1"));
}

#[test]
fn errors_in_json() {
    let error = |run: common::Run| (run.code, json(&run.out)["error"].clone());
    let (code, told) =
        error(call_one(r#""error":{"code":-32001,"message":"no","data":[1.50]}"#, &["--json"]));
    assert_eq!((code, &told["kind"], &told["code"]), (Some(5), &"server".into(), &(-32001).into()));
    let (code, told) = error(barewire(&["list", "--json", "--", "no-such-command-zz"]));
    assert_eq!((code, &told["kind"], &told["exit"]), (Some(3), &"start".into(), &3.into()));
    let (code, told) = error(barewire(&["call", "t", "--json", "--args", "[1]", "--", "true"]));
    assert_eq!((code, &told["kind"]), (Some(2), &"usage".into()));
    let (code, told) = error(barewire(&["call", "t", "--json", "--nope", "--", "true"]));
    assert_eq!((code, &told["kind"]), (Some(2), &"usage".into()));
    assert!(told["message"].as_str().unwrap().contains("--nope"), "{told}");
    // A tool that fails has a result: no error of ours.
    let run = barewire(&with_sample(&["call", "get_alerts", "state=ZZ", "--json"], "weather"));
    assert_eq!((run.code, &json(&run.out)["isError"]), (Some(1), &true.into()));
}

#[test]
fn results_are_shown_by_what_they_are() {
    let run = call_one(
        r#""result":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":{"x":1.0}}"#,
        &[],
    );
    assert_eq!((run.code, run.out.as_str()), (Some(0), "a\nb"), "{}", run.err);
    let run = call_one(r#""result":{"content":[],"structuredContent":{"x":1.0}}"#, &[]);
    assert_eq!(run.out, "{\"x\":1.0}\n");
    let run = call_one(
        r#""result":{"content":[{"type":"text","text":"a"}],"structuredContent":{"x":1.0},"zz":[ 1 ]}"#,
        &["--json"],
    );
    assert_eq!(
        run.out,
        "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"structuredContent\":{\"x\":1.0},\"zz\":[ 1 ]}\n"
    );
    let image = r#""result":{"content":[{"type":"image","data":"iVBORw==","mimeType":"image/png"},{"type":"video","x":1}]}"#;
    let run = call_one(image, &[]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""));
    assert!(
        run.err.contains("image, image/png, 4 bytes; --save DIR") && run.err.contains("video"),
        "{}",
        run.err
    );
    let folder = scratch("saved");
    let _ = std::fs::remove_dir_all(&folder);
    let run = call_one(image, &["--save", folder.to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(std::fs::read(folder.join("t-1.png")).unwrap(), b"\x89PNG");
}

#[test]
fn a_large_result_arrives_whole_through_a_slow_pipe() {
    let text = "x".repeat(200_000);
    let script = server(
        r#"[{"name":"t","inputSchema":{"type":"object"}}]"#,
        &format!(r#""result":{{"content":[{{"type":"text","text":"{text}"}}]}}"#),
    );
    let file = scratch("big-server.sh");
    std::fs::write(&file, script).unwrap();
    let mut child = Command::new(BAREWIRE)
        .args(["call", "t", "--era", "legacy", "--", "sh", file.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The pipe is full long before this reader begins.
    std::thread::sleep(core::time::Duration::from_millis(300));
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!((out.len(), child.wait().unwrap().code()), (200_000, Some(0)));
}

#[test]
fn what_a_server_does_wrong_is_said_with_a_remedy() {
    let run = barewire(&[
        "list",
        "--era",
        "legacy",
        "--timeout",
        "2",
        "--",
        "sh",
        "-c",
        "echo Server ready; cat >/dev/null",
    ]);
    assert!(run.err.contains("Server ready") && run.err.contains("does it print to stdout?"), "{}", run.err);
    let run = barewire(&[
        "list",
        "--era",
        "legacy",
        "--timeout",
        "5",
        "--",
        "sh",
        "-c",
        "printf 'Content-Length: 5\\r\\n\\r\\nhello'; cat >/dev/null",
    ]);
    assert_eq!(run.code, Some(5), "{}", run.err);
    assert!(run.err.contains("Content-Length framing, which MCP does not use"), "{}", run.err);
}

#[test]
fn a_trace_goes_to_stderr() {
    let run =
        barewire(&with_sample(&["call", "get_alerts", "state=TX", "--trace", "--era", "legacy"], "weather"));
    assert!(run.out.starts_with("47 active alerts"), "{}", run.out);
    assert!(run.err.contains("#7 ◀") && run.err.contains("── 7 packets"), "{}", run.err);
    let run = barewire(&with_sample(&["list", "--trace", "--short", "--era", "legacy"], "weather"));
    assert_eq!(run.err.lines().filter(|line| line.starts_with('#')).count(), 5, "{}", run.err);
}

#[test]
fn ctrl_c_ends_the_servers_group() {
    let ready = scratch(&format!("interrupt-{}", std::process::id()));
    let _ = std::fs::remove_file(&ready);
    let script = format!(
        "sleep 600 & echo $! > {}.new; mv {}.new {}; wait",
        ready.display(),
        ready.display(),
        ready.display()
    );
    let child = interruptible()
        .args(["list", "--", "sh", "-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !ready.exists() {
        std::thread::sleep(core::time::Duration::from_millis(10));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    // Nobody of the group is left, nor was the server started once more. Where nobody reaps orphans they stay as
    // zombies, which have ended as well.
    let grandchild = std::fs::read_to_string(&ready).unwrap();
    let listed = Command::new("ps").args(["-e", "-o", "pid=,stat=,args="]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let living = |line: &&str| !line.split_whitespace().nth(1).is_some_and(|state| state.starts_with('Z'));
    let ours = |line: &&str| {
        line.split_whitespace().next() == Some(grandchild.trim())
            || line.contains(&ready.display().to_string())
    };
    let left: Vec<&str> = listed.lines().filter(ours).filter(living).collect();
    assert_eq!(left, Vec::<&str>::new());
}

#[test]
fn a_long_wait_is_told_with_the_servers_last_word() {
    // The server answers only once the message was seen.
    let seen = scratch("seen");
    let _ = std::fs::remove_file(&seen);
    let script = format!(
        "echo loading the model >&2; while [ ! -e {} ]; do sleep 0.05; done; exec \"$0\" serve weather",
        seen.display()
    );
    let mut child = Command::new(BAREWIRE)
        .args(["list", "--", "sh", "-c", &script, BAREWIRE])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let told = lines
        .map(Result::unwrap)
        .find(|line| line.contains("waiting for `sh`") && line.contains("loading the model"));
    assert!(told.is_some());
    std::fs::write(&seen, "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn explain_reads_what_tap_wrote() {
    for (name, format) in [("explain.jsonl", "jsonl"), ("explain.txt", "text")] {
        let log = scratch(name);
        let log = log.to_str().unwrap();
        let tap = [BAREWIRE, "tap", "--log", log, "--log-format", format, "--", BAREWIRE, "serve", "weather"];
        let run =
            barewire(&[&["call", "get_alerts", "state=TX", "--era", "legacy", "--"][..], &tap].concat());
        assert_eq!(run.code, Some(0), "{}", run.err);
        let run = barewire(&["explain", log]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        for part in ["── 7 packets", "answered 3 of 3", "findings 0", "612 lines"] {
            assert!(run.out.contains(part), "{part} is not in {}", run.out);
        }
        assert_eq!(barewire(&["explain", log, "--json"]).out.lines().count(), 7);
    }
    let plain = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        "\n"
    );
    let run = feed(&["explain"], plain.as_bytes());
    assert!(run.out.contains("answered 1 of 1") && run.out.contains("guessed"), "{}", run.out);
    assert_eq!(barewire(&["explain", "no-such-file"]).code, Some(2));
}

/// Linux lets any bytes be arguments: none of them may end in a panic, and a server gets its own as they are.
#[test]
fn arguments_that_are_not_utf8() {
    let bad = OsStr::from_bytes(b"x=\xff");
    let run =
        |arguments: &[&OsStr]| Command::new(BAREWIRE).args(arguments).stdin(Stdio::null()).output().unwrap();
    let [list, call, tap, tool, json, trace, sh, c, gap] =
        ["list", "call", "tap", "t", "--json", "--trace", "sh", "-c", "--"].map(OsStr::new);
    for arguments in [&[call, tool, bad, gap, sh][..], &[call, bad, gap, sh], &[bad], &[tap, bad]] {
        let told = common::Run::from(run(arguments));
        // A bad command of tap's is looked for and not found.
        assert!(matches!(told.code, Some(2 | 3)), "{arguments:?}: {told:?}");
        assert!(!told.err.contains("panicked"), "{arguments:?}: {told:?}");
    }
    let told = common::Run::from(run(&[call, tool, bad, gap, sh]));
    assert!(told.err.contains("is not UTF-8") && told.err.lines().count() == 1, "{told:?}");
    let told = common::Run::from(run(&[call, tool, bad, json, gap, sh]));
    assert_eq!((told.code, &self::json(&told.out)["error"]["kind"]), (Some(2), &"usage".into()));
    // What the server gets, it says on stderr.
    let script = OsStr::new("printf %s \"$0\" >&2; exit 7");
    for (arguments, code) in [
        (&[list, trace, gap, sh, c, script, bad][..], 3),
        (&[call, tool, gap, sh, c, script, bad], 3),
        (&[tap, trace, gap, sh, c, script, bad], 7),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("x=\u{fffd}"), "{arguments:?}: {told}");
        let exact = output.stderr.windows(3).any(|bytes| bytes == b"x=\xff");
        assert_eq!(exact, arguments.first() == Some(&tap), "{arguments:?}: {told}");
    }
}

#[test]
fn a_wrong_command_line_says_how_to_mend_it() {
    let expect = |arguments: &[&str], code: i32, word: &str| {
        let run = barewire(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.err);
        assert!(run.err.contains(word), "{arguments:?}: {}", run.err);
    };
    for command in ["list", "tap"] {
        expect(&[command, "--bogus", "--", "true"], 2, "--bogus");
    }
    expect(&["list", "--timeot", "5", "--", "true"], 2, "--timeout");
    expect(&["call", "get_alerts", "state=TX", BAREWIRE, "serve", "weather"], 2, "behind --");
    expect(&["list"], 2, "behind --");
    expect(&["list", "--", "no such command"], 3, "not in the same quotes");
    for (era, version) in [("modern", "2025-06-18"), ("legacy", "2026-07-28")] {
        expect(&["demo", "--era", era, "--protocol-version", version], 2, "belongs to the");
        expect(
            &with_sample(&["list", "--era", era, "--protocol-version", version], "bmi"),
            2,
            "leave --era out",
        );
    }
    for time in ["-1", "-0.5", "0"] {
        expect(&["demo", "--timeout", time], 2, "more than 0");
    }
    // What is an option behind the command's first word is the command's.
    expect(&["list", "sh", "-c", "exit 7"], 3, "status 7");
}

#[test]
fn a_way_to_show_packets_shows_them() {
    for option in ["--short", "--full", "--raw", "--teach", "--trace"] {
        for arguments in [&["list", option][..], &["call", "fetch_weather", "city=x", option]] {
            let run = barewire(&with_sample(arguments, "bmi"));
            assert!(run.err.contains("#1 ▶"), "{arguments:?}: {}", run.err);
        }
    }
}

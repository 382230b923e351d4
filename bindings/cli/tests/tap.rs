//! `barewire tap` as a process: what goes through it, and what it leaves behind.
#![cfg(unix)]

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::{fs, thread};

const BAREWIRE: &str = env!("CARGO_BIN_EXE_barewire");

/// A path of this test's own.
fn scratch(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(&dir).unwrap();
    dir.join(name)
}

fn tap(log: &str, more: &[&str], script: &str) -> Child {
    let mut command = Command::new(BAREWIRE);
    command.arg("tap").arg("--log").arg(scratch(log)).args(more).args(["--", "sh", "-c", script]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn run(log: &str, more: &[&str], script: &str, input: &[u8]) -> Output {
    let mut child = tap(log, more, script);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// The bytes of one stream in a log, put together again by an independent reader.
fn logged(log: &str, dir: &str) -> Vec<u8> {
    let file = fs::read_to_string(scratch(log)).unwrap();
    let mut bytes = Vec::new();
    for line in file.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        if entry["dir"] == dir {
            match entry["text"].as_str() {
                Some(text) => bytes.extend_from_slice(text.as_bytes()),
                None => bytes.extend(unbase64(entry["b64"].as_str().unwrap())),
            }
        }
    }
    bytes
}

fn unbase64(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = Vec::new();
    for byte in text.bytes().filter(|&b| b != b'=') {
        let value = digits.iter().position(|&d| d == byte).unwrap();
        bits.extend((0..6).rev().map(|place| value >> place & 1));
    }
    bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |all, &bit| all << 1 | bit as u8)).collect()
}

/// Junk, odd key order, number texts, CR LF, invalid UTF-8, every byte, and no LF at the end.
fn nasty() -> Vec<u8> {
    let mut bytes =
        br#"{ "id":5 ,"jsonrpc":"2.0","method":"tools/call","params":{"a":2.50,"_meta":{"b":1}},"zz":[ ]}"#
            .to_vec();
    bytes.extend_from_slice(b"\r\n\n\xff\xfe junk \x1b[2J\n");
    bytes.extend(0..=255u8);
    bytes.extend("\u{1f980}".repeat(50_000).bytes());
    bytes.extend_from_slice(b"no newline at the end");
    bytes
}

#[test]
fn every_byte_passes_both_ways_and_is_logged() {
    let output = run("both.jsonl", &[], "cat", &nasty());
    assert!(output.status.success());
    assert!(output.stdout == nasty(), "what came back differs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(logged("both.jsonl", "c2s") == nasty(), "the log of the way there differs");
    assert!(logged("both.jsonl", "s2c") == nasty(), "the log of the way back differs");
    let file = fs::read_to_string(scratch("both.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(file.lines().next().unwrap()).unwrap();
    assert_eq!((&first["capture"], &first["event"]), (&1.into(), &"start".into()));
    assert_eq!(first["command"], serde_json::json!(["sh", "-c", "cat"]));
    let last: serde_json::Value = serde_json::from_str(file.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["rc"]), (&"exit".into(), &0.into()));
    let times: Vec<f64> = file
        .lines()
        .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()["t"].as_f64().unwrap())
        .collect();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "times go back");
}

#[test]
fn an_answer_never_stands_before_its_question() {
    let lines: Vec<u8> = (0..2_000).flat_map(|n| format!("{{\"id\":{n}}}\n").into_bytes()).collect();
    let output = run("order.jsonl", &[], "cat", &lines);
    assert_eq!(output.stdout, lines);
    let (mut asked, mut answered) = (0, 0);
    for line in fs::read_to_string(scratch("order.jsonl")).unwrap().lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let length = entry["text"].as_str().map_or(0, str::len);
        if entry["dir"] == "c2s" {
            asked += length;
        } else if entry["dir"] == "s2c" {
            answered += length;
        }
        assert!(answered <= asked);
    }
    assert_eq!(answered, lines.len());
}

#[test]
fn stderr_passes_and_is_logged_in_place() {
    let output = run("stderr.jsonl", &[], "echo starting >&2; cat; printf 'bye' >&2; exit 7", b"x\n");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"x\n");
    assert_eq!(output.stderr, b"starting\nbye");
    assert_eq!(logged("stderr.jsonl", "err"), b"starting\nbye");
}

#[test]
fn end_of_input_is_passed_on_while_output_goes_on() {
    // The server answers only once its input is over.
    let output = run("half.jsonl", &[], "n=$(wc -c); echo got $n", b"12345");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>(), ["got", "5"]);
}

#[test]
fn output_that_ends_early_is_passed_on_while_input_goes_on() {
    let mut child = tap("early.jsonl", &[], "exec >&-; read line; echo \"$line\" >&2; exit 3");
    let mut stdout = Vec::new();
    // Returns only if tap closes its own stdout although the server lives.
    child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
    assert_eq!(stdout, b"");
    child.stdin.take().unwrap().write_all(b"still here\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(output.stderr, b"still here\n");
}

#[test]
fn the_exit_status_is_the_servers() {
    assert_eq!(run("exit.jsonl", &[], "exit 42", b"").status.code(), Some(42));
    assert_eq!(run("kill.jsonl", &[], "kill -9 $$", b"").status.code(), Some(128 + 9));
    // tap invents no message when the far side is gone.
    let output =
        run("gone.jsonl", &[], "read x; exit 1", b"{\"jsonrpc\":\"2.0\",\"id\":133,\"method\":\"ping\"}\n");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
}

#[test]
fn signals_reach_the_whole_group() {
    // The grandchild says when it is ready, and what it got.
    let script = "trap 'wait; exit 9' TERM; \
                  sh -c 'trap \"echo grandchild; exit 0\" TERM; echo ready; while :; do sleep 0.05; done' & wait";
    let mut child = tap("signal.jsonl", &[], script);
    let mut stdout = child.stdout.take().unwrap();
    let mut ready = [0; 6];
    stdout.read_exact(&mut ready).unwrap();
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "grandchild\n");
    assert_eq!(child.wait().unwrap().code(), Some(9));
    let log = fs::read_to_string(scratch("signal.jsonl")).unwrap();
    assert!(log.contains("\"event\":\"signal\",\"sig\":\"TERM\""), "{log}");
}

#[test]
fn a_log_that_fails_is_told_once_and_the_session_goes_on() {
    for log in ["no/such/folder/log.jsonl", "/dev/full"] {
        let output = run(log, &[], "cat", &nasty());
        assert!(output.status.success());
        assert!(output.stdout == nasty());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(stderr.matches("can't write the log").count(), 1, "{stderr}");
    }
}

#[test]
fn a_log_that_blocks_for_ever_does_not_hold_the_session() {
    let pipe = scratch("nobody-reads");
    let _ = fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let output = run("nobody-reads", &[], "cat; exit 5", &nasty());
    assert!(output.stdout == nasty());
    assert_eq!(output.status.code(), Some(5));
}

#[test]
fn a_grandchild_that_holds_the_pipes_does_not_hold_tap() {
    let output = run("held.jsonl", &[], "sleep 30 & echo $!; exit 4", b"");
    assert_eq!(output.status.code(), Some(4));
    let sleeper = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Command::new("kill").arg(sleeper).status().unwrap();
}

#[test]
fn a_host_that_reads_late_gets_everything() {
    let mut child = tap("late.jsonl", &[], "head -c 1000000 /dev/zero; exit 6");
    // Longer than tap waits for grandchildren once the server is gone.
    thread::sleep(core::time::Duration::from_millis(1_500));
    let mut all = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut all).unwrap();
    assert_eq!(all.len(), 1_000_000);
    assert_eq!(child.wait().unwrap().code(), Some(6));
}

#[test]
fn the_text_log_has_one_marked_line_per_message() {
    let output = run(
        "marked.txt",
        &["--log-format", "text"],
        "read x; echo '{\"id\":1}'; echo oops >&2",
        b"{\"a\":1}\n",
    );
    assert!(output.status.success());
    let log = fs::read_to_string(scratch("marked.txt")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[0].starts_with("--- start sh -c"));
    for line in [">>> {\"a\":1}", "<<< {\"id\":1}", "!!! oops", "--- exit 0"] {
        assert!(lines.contains(&line), "{line} is not in {log}");
    }
    let at = |line| lines.iter().position(|l| *l == line);
    assert!(at(">>> {\"a\":1}") < at("<<< {\"id\":1}"));
}

#[test]
fn a_command_that_does_not_exist_is_named() {
    let output = Command::new(BAREWIRE)
        .args(["tap", "--log"])
        .arg(scratch("none.jsonl"))
        .args(["--", "no-such-command-zz"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-command-zz"));
}

#[test]
fn a_trace_goes_to_stderr_and_nothing_else_changes() {
    let mut command = Command::new(BAREWIRE);
    command.args([
        "tap",
        "--trace",
        "--short",
        "--",
        "sh",
        "-c",
        "read x; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'",
    ]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("#2 ◀") && stderr.contains("── 2 packets"), "{stderr}");
}

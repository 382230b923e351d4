//! `barewire bench` against samples and against what is no server.
#![cfg(target_os = "linux")]

mod common;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;

use common::{BAREWIRE, barewire, with_sample};
use serde_json::Value;

#[test]
fn both_eras_are_measured_one_by_one_and_many_at_once() {
    let run = barewire(&with_sample(&["bench", "--json", "--seconds", "0.05", "--in-flight", "8"], "bmi"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["server"], &report["request"]), (&"Demo 0.1.0".into(), &"tools/list".into()));
    let runs = report["runs"].as_array().unwrap();
    let kinds: Vec<_> =
        runs.iter().map(|run| (run["protocol"].as_str().unwrap(), run["in_flight"].as_u64())).collect();
    let eras = ["2025-11-25", "2026-07-28"];
    assert_eq!(kinds, [(eras[0], Some(1)), (eras[0], Some(8)), (eras[1], Some(1)), (eras[1], Some(8))]);
    for run in runs {
        let number = |key: &str| run[key].as_f64().unwrap_or_else(|| panic!("{key} in {run}"));
        assert!(number("calls") > 0.0 && number("errors") == 0.0, "{run}");
        assert!(number("p50_us") <= number("p99_us") && number("p99_us") <= number("max_us"), "{run}");
        assert!(number("bytes_out") > number("calls") * 400.0, "{run}");
        assert!(number("server_rss_bytes") > 100_000.0, "{run}");
    }
}

#[test]
fn a_tool_is_called() {
    let arguments = r#"{"weight_kg":65,"height_m":1.65}"#;
    let bench = [
        "bench",
        "--seconds",
        "0.05",
        "--in-flight",
        "1",
        "--era",
        "legacy",
        "--call",
        "calculate_bmi",
        "--args",
        arguments,
    ];
    let run = barewire(&with_sample(&bench, "bmi"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.out);
    assert_eq!(lines[0], "Demo 0.1.0: tools/call calculate_bmi");
    assert!(lines[2].starts_with("2025-11-25") && lines[2].ends_with(" 0"), "{}", run.out);
}

#[test]
fn what_went_wrong_is_said() {
    let fails = |arguments: &[&str], code: i32, told: &str| {
        let run = barewire(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.err);
        assert!(run.err.contains(told), "{arguments:?}: {}", run.err);
    };
    fails(
        &with_sample(&["bench", "--seconds", "0.05", "--call", "nope"], "bmi"),
        5,
        "tools/call nope failed every time",
    );
    fails(&["bench", "--timeout", "0.3", "--", "sleep", "60"], 4, "no answer to the handshake");
    fails(&["bench", "--", "sh", "-c", "exit 3"], 5, "ended");
    fails(&["bench", "--", "barewire-has-no-such-command"], 3, "no such command");
    fails(&["bench", "--args", "{}", "--", BAREWIRE], 2, "--call TOOL");
    fails(&["bench", "--call", "x", "--args", "[1]", "--", BAREWIRE], 2, "must be a JSON object");
    fails(&["bench", "serial:/dev/x"], 2, "a serial line has its own speed");
    // It answers twice, then no more.
    let dying = format!(r#"sed -u 3q | "{BAREWIRE}" serve bmi"#);
    fails(&["bench", "--seconds", "20", "--era", "legacy", "--", "sh", "-c", &dying], 5, "under the load");
}

#[test]
fn a_server_that_only_talks_is_silent_all_the_same() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp:{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut flood = listener.accept().unwrap().0;
        let line = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n".repeat(100);
        while flood.write_all(&line).is_ok() {}
    });
    let run = barewire(&["bench", "--timeout", "0.5", "--era", "legacy", &target]);
    assert_eq!(run.code, Some(4), "{}", run.err);
}

#[test]
fn a_signal_ends_the_server_first() {
    // It ignores the end of its input, and tells its process id.
    let script = "echo $$ >&3; exec 3>&-; while :; do sleep 1; done";
    let (mut told, tell) = std::io::pipe().unwrap();
    let mut bench = Command::new("sh")
        .args(["-c", &format!("exec 3>&0 </dev/null; exec '{BAREWIRE}' bench -- sh -c '{script}'")])
        .stdin(tell)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pid = String::new();
    let mut byte = [0];
    while told.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
        pid.push(char::from(byte[0]));
    }
    let terminated = Command::new("kill").args(["-TERM", &bench.id().to_string()]).status().unwrap();
    assert!(terminated.success());
    assert_eq!(bench.wait().unwrap().code(), Some(128 + 15));
    // It was killed: in a moment it is gone, or a zombie that nobody has waited for yet.
    let mut state = String::new();
    for _ in 0..2000 {
        state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") {
            return;
        }
        thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("it lives on: {state}");
}

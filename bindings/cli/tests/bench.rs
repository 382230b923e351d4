//! `barewire bench` against samples and against what is no server.
#![cfg(target_os = "linux")]

mod common;

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

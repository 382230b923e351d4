//! The runner of the cases must be able to fail: right cases pass, and the same with one thing wrong do not.

use std::fs;
use std::process::Command;

const PING: &str = r#"{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"ping\"}"#;

/// The closing line for one case of the server side.
fn run(name: &str, send: &[&str], assert: &str) -> (bool, String) {
    let send: Vec<String> = send.iter().map(|line| format!("\"{line}\"")).collect();
    let case = format!(
        r#"{{"id":"{name}","side":"server","era":"both","handshake":true,"send":[{}],"assert":{{{assert}}}}}"#,
        send.join(",")
    );
    cases(name, &case)
}

/// Runs one case.
fn cases(name: &str, case: &str) -> (bool, String) {
    let file = std::env::temp_dir().join(format!("barewire-runner-{}-{name}.jsonl", std::process::id()));
    fs::write(&file, case).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_cases")).arg("--no-build").arg(&file).output().unwrap();
    fs::remove_file(&file).unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn right_cases_pass() {
    for (name, send, assert) in [
        ("answered", vec![PING], r#""answered":[900],"reply_count":1,"exit":0"#),
        ("noise", vec!["junk", PING], r#""errors":[{"id":null,"code":-32700}],"answered":[900]"#),
        (
            "unknown",
            vec![r#"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a/b\"}"#],
            r#""errors":[{"id":1,"code":-32601}]"#,
        ),
    ] {
        let (fine, out) = run(name, &send, assert);
        assert!(fine && out.ends_with("1 passed, 0 failed, 0 not applicable\n"), "{out}");
    }
}

#[test]
fn wrong_cases_fail_and_say_why() {
    let two = [
        r#"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"#,
        r#"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"#,
    ];
    for (name, send, assert, why) in [
        ("code", vec!["junk"], r#""errors":[{"id":null,"code":-32701}],"within_ms":100"#, "no error -32701"),
        ("id", vec![PING], r#""answered":["900"],"within_ms":100"#, "no result"),
        ("key", vec![PING], r#""answred":[900]"#, "does not know this assert"),
        ("silence", vec![PING], r#""not_answered":[900]"#, "was answered"),
        ("count", vec![PING], r#""reply_count":0"#, "1 replies"),
        ("order", two.to_vec(), r#""order":[2,1]"#, "in the order"),
        ("exit", vec![PING], r#""exit":3"#, "exit status"),
        ("byte", vec![PING], r#""no_byte":"7b""#, "the byte 7b"),
        ("text", vec![PING], r#""contains":"xyz","within_ms":100"#, "does not hold"),
        ("not", vec![PING], r#""not_contains":"jsonrpc""#, "holds"),
        ("most", vec![PING], r#""max_replies":{"900":0}"#, "replies to 900"),
        ("method", vec![PING], r#""first_method":"x""#, "no x"),
    ] {
        let (fine, out) = run(name, &send, assert);
        assert!(
            !fine && out.contains(why) && out.ends_with("0 passed, 1 failed, 0 not applicable\n"),
            "{out}"
        );
    }
}

/// The same line of a case over pipes and over a serial line: noise is answered there, and not here.
#[cfg(unix)]
#[test]
fn cases_of_transports_run_over_a_serial_line_too() {
    let case = |name: &str, assert: &str| {
        let case = format!(
            r#"{{"id":"{name}","side":"transport","era":"legacy","handshake":true,"send":["junk","{PING}"],"assert":{{{assert}}}}}"#
        );
        cases(name, &case)
    };
    let (fine, out) =
        case("line", r#""errors":[{"id":null,"code":-32700}],"answered":[900],"reply_count":2"#);
    assert!(fine && out.starts_with("over a serial line: 1 passed, 0 failed\n1 passed"), "{out}");
    let (fine, out) = case("other-line", r#""answered":[900],"not_answered":[900]"#);
    assert!(!fine && out.contains("other-line failed over a serial line: Legacy: 900 was answered"), "{out}");
    assert!(out.contains("over a serial line: 0 passed, 1 failed"), "{out}");
}

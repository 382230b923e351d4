//! Running the binary, and servers in a few lines of shell.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod bridge;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub(crate) const BAREWIRE: &str = env!("CARGO_BIN_EXE_barewire");

/// The program as a terminal starts it. What a script runs in the background ignores Ctrl-C, and so do its children, these tests
/// among them.
pub(crate) fn interruptible() -> Command {
    if cfg!(target_os = "linux") {
        let mut env = Command::new("env");
        env.args(["--default-signal=INT,HUP,QUIT", BAREWIRE]);
        env
    } else {
        Command::new(BAREWIRE)
    }
}

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs `barewire` with arguments and nothing on stdin.
pub(crate) fn barewire(arguments: &[&str]) -> Run {
    feed(arguments, b"")
}

/// The same with something on stdin.
pub(crate) fn feed(arguments: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(BAREWIRE)
        .args(arguments)
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.into()
}

/// Arguments with `-- barewire serve SAMPLE` behind them.
pub(crate) fn with_sample<'a>(arguments: &[&'a str], sample: &'a str) -> Vec<&'a str> {
    [arguments, &["--", BAREWIRE, "serve", sample]].concat()
}

/// A path of this test's own.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&dir).unwrap();
    dir.join(name)
}

/// A legacy server in shell: shakes hands, lists the given tools, answers one call with the given result or error
/// member, and waits for the end of its input. The client's ids are 1, 2, 3.
pub(crate) fn server(tools: &str, answer: &str) -> String {
    let say = |text: &str| format!("printf '%s\\n' '{}'; ", text.replace('\'', "'\\''"));
    let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}"#;
    let list = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":{tools}}}}}"#);
    let called = format!(r#"{{"jsonrpc":"2.0","id":3,{answer}}}"#);
    format!("read a; {}read b; read c; {}read d; {}cat >/dev/null", say(hello), say(&list), say(&called))
}

/// Calls the tool `t` of such a server.
pub(crate) fn call_one(answer: &str, arguments: &[&str]) -> Run {
    let tools = r#"[{"name":"t","inputSchema":{"type":"object"}}]"#;
    let script = server(tools, answer);
    barewire(&[&["call", "t", "--era", "legacy"], arguments, &["--", "sh", "-c", &script]].concat())
}

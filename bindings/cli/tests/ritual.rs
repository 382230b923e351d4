//! What people do first: run the server in a terminal and paste lines into it.
#![cfg(target_os = "linux")]
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command};

/// A server on a terminal, and the far end of that terminal.
struct Terminal {
    child: Child,
    keys: File,
    screen: BufReader<File>,
}

impl Terminal {
    fn start(arguments: &[&str]) -> Self {
        let far = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pty");
        grantpt(&far).and_then(|()| unlockpt(&far)).expect("a pty that can be opened");
        let name = ptsname(&far, Vec::new()).expect("its name").into_string().expect("plain text");
        let near = OpenOptions::new().read(true).write(true).open(name).expect("its near end");
        let clone = || near.try_clone().expect("one more of it");
        let child = Command::new(env!("CARGO_BIN_EXE_barewire"))
            .args(arguments)
            .stdin(clone())
            .stdout(clone())
            .stderr(clone())
            .spawn()
            .expect("it starts");
        let keys = File::from(far);
        let screen = BufReader::new(keys.try_clone().expect("one more of it"));
        Self { child, keys, screen }
    }

    fn paste(&mut self, line: &str) {
        self.keys
            .write_all(line.as_bytes())
            .and_then(|()| self.keys.write_all(b"\n"))
            .expect("the terminal takes it");
    }

    /// The next line on the screen that is a message and no echo of what was pasted.
    fn answer(&mut self, pasted: &[&str]) -> serde_json::Value {
        loop {
            let mut line = String::new();
            assert!(self.screen.read_line(&mut line).expect("the screen") > 0, "the server is gone");
            let line = line.trim_end();
            if line.starts_with('{') && !pasted.contains(&line) {
                return serde_json::from_str(line).expect("a message is JSON");
            }
        }
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"me","version":"0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"calculate_bmi","arguments":{"weight_kg":65,"height_m":1.65}}}"#;

#[test]
fn pasted_lines_are_answered() {
    let pasted = [INITIALIZE, INITIALIZED, LIST, CALL];
    let mut terminal = Terminal::start(&["serve", "bmi"]);
    // It says what may be pasted, a list last.
    assert_eq!(terminal.answer(&[]).get("id"), Some(&1.into()));
    assert_eq!(terminal.answer(&[INITIALIZED])["method"], "tools/list");
    terminal.paste(INITIALIZE);
    let answer = terminal.answer(&pasted);
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(answer["result"]["serverInfo"]["name"], "Demo");
    // No answer to this one: what comes next answers the list.
    terminal.paste(INITIALIZED);
    terminal.paste(LIST);
    let answer = terminal.answer(&pasted);
    assert_eq!((&answer["id"], &answer["result"]["tools"][0]["name"]), (&2.into(), &"calculate_bmi".into()));
    terminal.paste(CALL);
    let answer = terminal.answer(&pasted);
    assert_eq!(answer["result"]["content"][0]["text"], "23.875114784205696");
    // Ctrl-D on an empty line ends it.
    terminal.keys.write_all(&[4]).expect("the terminal takes it");
    assert!(terminal.child.wait().expect("its end").success());
}

/// Who waits for lines from a terminal says so; programs in a pipe hear nothing.
#[test]
fn who_reads_from_a_terminal_says_so() {
    let server = env!("CARGO_BIN_EXE_barewire");
    for arguments in [&["explain", "-"][..], &["tap", "--log", "/dev/null", "--", server, "serve", "weather"]]
    {
        let mut terminal = Terminal::start(arguments);
        let mut line = String::new();
        terminal.screen.read_line(&mut line).expect("the screen");
        assert!(line.starts_with("barewire: ") && line.contains("Ctrl-D ends"), "{line}");
        terminal.keys.write_all(b"\x04").expect("the terminal takes it");
        terminal.child.wait().expect("it ends");
    }
}

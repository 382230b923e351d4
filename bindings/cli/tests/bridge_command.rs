//! `barewire bridge` with a command at the far end: one that dies, one that hangs, one that is of no use.
#![cfg(unix)]

mod common;

use std::process::Command;
use std::thread;
use std::time::Duration;

use common::bridge::{CHANGED, HELLO, Host, INITIALIZE, INITIALIZED, answer, call};
use common::{BAREWIRE, scratch};

/// A server in shell: answers `initialize` and calls by their ids, leaves its number in a file, dies of a call that is
/// named `die`, and does not answer one that is named `hang`.
fn server(pid_file: &str) -> String {
    let hello = HELLO.replacen("\"id\":0", "\"id\":%s", 1);
    let called = answer("%s");
    format!(
        r#"echo $$ >{pid_file}
while read -r line; do
  id=${{line#*\"id\":}}; id=${{id%%,*}}
  case $line in
    *'"initialize"'*) printf '{hello}\n' "$id";;
    *'"die"'*) exit 7;;
    *'"hang"'*) ;;
    *'tools/call'*) printf '{called}\n' "$id";;
  esac
done"#
    )
}

fn named(id: &str, name: &str) -> String {
    call(id).replace("\"t\"", &format!("\"{name}\""))
}

fn pid(file: &std::path::Path) -> String {
    std::fs::read_to_string(file).unwrap().trim().to_owned()
}

fn is_alive(pid: &str) -> bool {
    Command::new("sh").args(["-c", &format!("kill -0 {pid}")]).output().unwrap().status.success()
}

fn open(host: &mut Host) {
    host.say(INITIALIZE);
    assert_eq!(host.line(), HELLO);
    host.say(INITIALIZED);
}

#[test]
fn a_command_that_dies_is_started_again() {
    let file = scratch("dies.pid");
    let script = server(file.to_str().unwrap());
    let mut host = Host::start(&["--", "sh", "-c", &script]);
    open(&mut host);
    host.say(&named("1", "hang"));
    host.say(&named("2", "die"));
    assert_eq!(host.error(), ("1".into(), "exited".into()));
    assert_eq!(host.error(), ("2".into(), "exited".into()));
    host.told("the server ended with status 7");
    host.say(&call("3"));
    assert_eq!([host.line(), host.line()], [CHANGED.into(), answer("3")]);
    // And killed from outside.
    let first = pid(&file);
    assert!(Command::new("sh").args(["-c", &format!("kill -9 {first}")]).status().unwrap().success());
    assert_eq!(host.line(), CHANGED, "it was opened again by itself");
    host.told("signal 9");
    host.say(&call("4"));
    assert_eq!(host.line(), answer("4"));
    assert!(!is_alive(&first));
    let second = pid(&file);
    host.end();
    assert!(!is_alive(&second));
}

#[test]
fn three_calls_in_flight_of_a_real_server_that_is_killed() {
    let file = scratch("weather.pid");
    let script = format!("echo $$ >{}; exec {BAREWIRE} serve weather", file.display());
    let mut host = Host::start(&["--", "sh", "-c", &script]);
    host.say(INITIALIZE);
    assert!(host.line().contains("weather"));
    host.say(INITIALIZED);
    let alerts =
        |id: &str| call(id).replace(r#"{"name":"t"}"#, r#"{"name":"get_alerts","arguments":{"state":"TX"}}"#);
    host.say(&alerts("1"));
    assert!(host.line().contains("47 active alerts"));
    // Stopped, so that the calls are certainly under way.
    assert!(
        Command::new("sh").args(["-c", &format!("kill -STOP {}", pid(&file))]).status().unwrap().success()
    );
    for id in ["2", "3", "4"] {
        host.say(&alerts(id));
    }
    assert!(Command::new("sh").args(["-c", &format!("kill -9 {}", pid(&file))]).status().unwrap().success());
    let mut failed: Vec<(String, String)> = Vec::new();
    let mut served = 0;
    while failed.len() + served < 3 {
        let line = host.line();
        if line.contains("active alerts") {
            // It was read only after the loss, so it was held and sent to the new one.
            served += 1;
            continue;
        }
        let error: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(error["error"]["data"]["reason"], "exited", "{line}");
        assert!(error["error"]["message"].as_str().unwrap().contains("may have been carried out or not"));
        failed.push((error["id"].to_string(), line));
    }
    host.say(&alerts("5"));
    assert!(host.line().starts_with(r#"{"jsonrpc":"2.0","id":5,"result""#));
    host.end();
}

#[test]
fn a_command_that_never_answers_ends_the_bridge_and_every_open_id_has_its_error() {
    let mut host = Host::start(&["--", "sh", "-c", "echo wrong config >&2; read line; exit 9"]);
    let all = format!("{INITIALIZE}\n{INITIALIZED}\n{}", call("133"));
    host.say(&all);
    let mut errors = [host.error(), host.error()];
    errors.sort();
    assert_eq!(errors, [("0".into(), "exited".into()), ("133".into(), "exited".into())]);
    let (code, stderr) = host.exit();
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stderr.contains("wrong config") && stderr.contains("status 9 before it ever answered"),
        "{stderr}"
    );
}

#[test]
fn a_command_that_can_not_be_started_ends_the_bridge_at_once() {
    let host = Host::start(&["--", "no-such-server"]);
    let (code, stderr) = host.exit();
    assert_eq!(code, Some(3));
    assert!(stderr.contains("can't start `no-such-server`"), "{stderr}");
}

#[test]
fn stderr_of_the_command_passes() {
    let script = format!("printf 'half a line' >&2; {}", server("/dev/null"));
    let mut host = Host::start(&["--", "sh", "-c", &script]);
    open(&mut host);
    host.told("half a line");
    host.end();
}

#[test]
fn a_signal_ends_both() {
    let file = scratch("signal.pid");
    // It ignores the end of its input, and SIGTERM.
    let script =
        format!("trap '' TERM; {}; while :; do read x </dev/zero; done", server(file.to_str().unwrap()));
    let mut host = Host::start(&["--", "sh", "-c", &script]);
    open(&mut host);
    host.say(&named("1", "hang"));
    host.say(&call("2"));
    assert_eq!(host.line(), answer("2"));
    let bridge = host.child.id().to_string();
    assert!(Command::new("sh").args(["-c", &format!("kill -TERM {bridge}")]).status().unwrap().success());
    let (code, stderr) = host.exit();
    assert_eq!(code, Some(128 + 15), "{stderr}");
    assert!(!is_alive(&pid(&file)));
}

#[test]
fn a_command_that_ignores_the_end_is_ended() {
    let file = scratch("ignores.pid");
    let script = format!("trap '' TERM; {}; while :; do sleep 1; done", server(file.to_str().unwrap()));
    let mut host = Host::start(&["--", "sh", "-c", &script]);
    open(&mut host);
    host.end();
    assert!(!is_alive(&pid(&file)));
}

#[test]
fn a_grandchild_that_holds_the_pipe_does_not_hold_the_bridge() {
    let script = format!("sleep 300 & {}", server("/dev/null"));
    let mut host = Host::start(&["--", "sh", "-c", &script]);
    open(&mut host);
    host.say(&named("1", "die"));
    assert_eq!(host.error(), ("1".into(), "exited".into()));
    assert_eq!(host.line(), CHANGED);
    host.end();
}

#[test]
fn a_host_that_is_gone_ends_the_bridge() {
    let file = scratch("gone.pid");
    let mut host = Host::deaf(&["--", "sh", "-c", &server(file.to_str().unwrap())]);
    drop(host.child.stdout.take());
    host.say(INITIALIZE);
    assert_eq!(host.child.wait().unwrap().code(), Some(0));
    thread::yield_now();
    assert!(!is_alive(&pid(&file)));
}

/// A host that never reads stderr sees the bridge end as any other does.
fn ends_unread(script: &str) {
    let mut host = Host::deaf(&["--", "sh", "-c", script]);
    host.read();
    host.say(INITIALIZE);
    assert_eq!(host.error(), ("0".into(), "exited".into()));
    assert_eq!(host.child.wait().unwrap().code(), Some(3));
}

#[test]
fn a_console_that_nobody_reads_does_not_hold_up_the_end() {
    ends_unread("read -r line; head -c 3000000 /dev/zero | tr '\\0' j | fold -w 900; exit 1");
}

#[test]
fn a_commands_stderr_is_drained_where_nobody_reads_it() {
    ends_unread("read -r line; head -c 3000000 /dev/zero | tr '\\0' e >&2; exit 1");
    let script = format!("head -c 3000000 /dev/zero | tr '\\0' e >&2; {}", server("/dev/null"));
    let mut host = Host::deaf(&["--", "sh", "-c", &script]);
    host.read();
    open(&mut host);
    host.say(&call("1"));
    assert_eq!(host.line(), answer("1"));
    host.end_input();
    assert_eq!(host.child.wait().unwrap().code(), Some(0));
}

/// The children of a process, as Linux tells them.
#[cfg(target_os = "linux")]
fn children(of: u32) -> Vec<String> {
    let all = std::fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    all.split_whitespace().map(str::to_owned).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_leaves_no_command_behind_however_early_it_comes() {
    for signal in ["TERM", "INT"].repeat(10) {
        let mut host = Host::deaf(&["--", "sleep", "300"]);
        let child = loop {
            if let Some(child) = children(host.child.id()).pop() {
                break child;
            }
            assert_eq!(host.child.try_wait().unwrap(), None);
        };
        let kill = format!("kill -{signal} {}", host.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert!(matches!(host.child.wait().unwrap().code(), Some(130 | 143)));
        assert!(!is_alive(&child));
    }
}

#[test]
fn answers_of_a_command_that_has_exited_wait_for_the_host() {
    let file = scratch("tail.pid");
    let hello = HELLO.replace('"', "\\\"");
    let long =
        answer("%s").replace("[]", &format!("[{{\"type\":\"text\",\"text\":\"{}\"}}]", "y".repeat(20_000)));
    // What the host does not read is more than a megabyte, but not more than pipes hold besides.
    let script = format!(
        "echo $$ >{}; read -r line; echo \"{hello}\"; read -r line
n=0; while [ $n -lt 55 ]; do read -r line; n=$((n+1)); done
n=0; while [ $n -lt 55 ]; do n=$((n+1)); printf '{long}\\n' $n; done",
        file.display()
    );
    let mut host = Host::deaf(&["--", "sh", "-c", &script]);
    let all: Vec<String> = (1..=55).map(|n| call(&n.to_string())).collect();
    host.say(&format!("{INITIALIZE}\n{INITIALIZED}\n{}", all.join("\n")));
    while !std::fs::exists(&file).unwrap() || is_alive(&pid(&file)) {
        thread::yield_now();
    }
    // Longer than a far end's last words may take. (Nothing fails without it.)
    thread::sleep(Duration::from_secs(1));
    host.read();
    assert_eq!(host.line(), HELLO);
    for n in 1..=55 {
        let line = host.line();
        assert!(line.starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"result\"")), "{line:.200}");
    }
    host.end_input();
    host.child.wait().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_a_command_leaves_behind_holds_no_thread_and_no_descriptor() {
    let file = scratch("leaves.pids");
    let _ = std::fs::remove_file(&file);
    let script =
        format!("setsid sh -c 'echo $$ >>{}; exec sleep 300' & {}", file.display(), server("/dev/null"));
    let mut host = Host::start(&["--", "sh", "-c", &script]);
    open(&mut host);
    let id = host.child.id();
    let count = |what: &str| std::fs::read_dir(format!("/proc/{id}/{what}")).map_or(0, Iterator::count);
    let (mut fds, mut threads) = (0, 0);
    for n in 1..=8 {
        host.say(&named("\"d\"", "die"));
        assert_eq!(host.error(), ("\"d\"".into(), "exited".into()));
        assert_eq!(host.line(), CHANGED);
        host.say(&call(&n.to_string()));
        assert_eq!(host.line(), answer(&n.to_string()));
        if n == 1 {
            (fds, threads) = (count("fd"), count("task"));
        }
    }
    // Threads of the connection before may be just about to end.
    let settled = (0..100_000).any(|_| {
        thread::yield_now();
        count("fd") <= fds + 2 && count("task") <= threads + 2
    });
    let left = (count("fd"), count("task"));
    host.end();
    let pids = std::fs::read_to_string(&file).unwrap().replace('\n', " ");
    assert!(Command::new("sh").args(["-c", &format!("kill {pids}")]).status().unwrap().success());
    assert!(settled, "before {:?}, after {left:?}", (fds, threads));
}

/// A bridge is a transport too: what the kit asks of one must hold.
#[test]
fn the_kit_finds_nothing_wrong() {
    let relay = format!("{BAREWIRE} bridge --");
    let mut arguments = vec!["testkit", "--through", &relay];
    for check in [
        "handshake-legacy",
        "handshake-modern",
        "interleaving",
        "half-close",
        "back-pressure",
        "memory",
        "isolation",
        "shutdown",
    ] {
        arguments.extend(["--only", check]);
    }
    let run = common::barewire(&arguments);
    assert_eq!(run.code, Some(0), "{}\n{}", run.out, run.err);
}

//! `barewire bridge` with a command at the far end: one that dies, one that hangs, one that is of no use.
#![cfg(unix)]

mod common;

use std::process::Command;
use std::thread;

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

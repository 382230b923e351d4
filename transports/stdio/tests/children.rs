//! Child processes, good and bad: result, message and bound for each, and nobody left behind.
#![cfg(target_os = "linux")] // what is left is looked up in /proc

mod common;

use barewire_stdio::{CallError, Ended, Options, StartError, Trace};
use common::{CLIENT, assert_ended, assert_reaped, assert_within, fixture, legacy, script};
use core::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};
use std::{
    io::{ErrorKind, Write},
    process::{Command as Process, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Instant,
};

const SHORT: Duration = Duration::from_millis(100);

/// The pids of all children that a command starts.
fn pids(command: barewire_stdio::Command) -> (barewire_stdio::Command, Arc<Mutex<Vec<u32>>>) {
    let pids = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&pids);
    let command = command.trace(move |trace| {
        if let Trace::Started { pid } = trace {
            seen.lock().unwrap().push(pid);
        }
    });
    (command, pids)
}

#[test]
fn a_good_child_exits_by_itself_when_its_input_is_closed() {
    let client = fixture("serve").start(&CLIENT).unwrap();
    let pid = client.pid().unwrap();
    assert_eq!(client.server().name, "fixture");
    assert_eq!(client.call("echo", r#"{"text":"hi"}"#).unwrap().text(), "hi");
    let report = client.close();
    assert_eq!(report.how, Ended::ByItself);
    assert!(report.status.unwrap().success());
    assert_reaped(pid);
    // A second close says the same.
    assert_eq!(client.close().status, report.status);
}

#[test]
fn a_child_that_exits_at_once_is_tried_twice_and_reported() {
    let (command, pids) = pids(script("echo cannot start: no module named mcp >&2; exit 3"));
    let started = Instant::now();
    let error = command.start(&CLIENT).unwrap_err();
    let StartError::Exited { status, stderr_tail, restarted: true, junk: None } = &error else {
        panic!("{error}")
    };
    assert_eq!(status.code(), Some(3));
    assert_eq!(stderr_tail, "cannot start: no module named mcp");
    assert_eq!(
        error.to_string(),
        "the server ended before it answered the handshake (exit status: 3, started twice); its stderr ends with: \
         cannot start: no module named mcp"
    );
    assert_within(started, 20);
    let pids = pids.lock().unwrap();
    assert_eq!(pids.len(), 2);
    pids.iter().for_each(|pid| assert_reaped(*pid));
}

#[test]
fn a_child_that_exits_is_tried_once_if_there_was_no_probe() {
    let (command, pids) = pids(script("exit 3"));
    let error = command.start(&legacy()).unwrap_err();
    assert!(matches!(error, StartError::Exited { restarted: false, .. }), "{error}");
    assert_eq!(pids.lock().unwrap().len(), 1);
}

#[test]
fn a_child_that_exits_on_the_probe_is_greeted_in_the_old_way() {
    let (command, pids) = pids(fixture("exits-on-probe"));
    let client = command.start(&CLIENT).unwrap();
    assert!(!client.server().protocol.is_modern());
    assert_eq!(client.call("echo", r#"{"text":"hi"}"#).unwrap().text(), "hi");
    client.close();
    let pids = pids.lock().unwrap();
    assert_eq!(pids.len(), 2);
    pids.iter().for_each(|pid| assert_reaped(*pid));
}

#[test]
fn a_child_that_exits_on_anything_is_reported_with_its_last_words() {
    let error = fixture("exits-on-anything").start(&CLIENT).unwrap_err();
    assert!(matches!(error, StartError::Exited { restarted: true, .. }), "{error}");
    assert!(error.to_string().ends_with("Traceback: it cannot be | ModuleNotFoundError: mcp"), "{error}");
}

#[test]
fn a_command_that_does_not_exist_says_so() {
    let error = barewire_stdio::Command::new("no-such-server-anywhere").start(&CLIENT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot start `no-such-server-anywhere`: there is no such program; is it installed and on PATH?"
    );
}

#[test]
fn a_child_that_ignores_the_end_of_its_input_is_terminated() {
    let client = fixture("ignores-end").start(&CLIENT).unwrap();
    let pid = client.pid().unwrap();
    let started = Instant::now();
    let report = client.close();
    assert_eq!(report.how, Ended::Terminated);
    assert_within(started, 20);
    assert_reaped(pid);
}

#[test]
fn a_child_that_ignores_sigterm_is_killed_on_drop_too() {
    let bin = env!("CARGO_BIN_EXE_barewire-stdio-fixture");
    let command = || script(&format!("trap '' TERM; exec {bin} ignores-end")).grace(SHORT);
    let client = command().start(&CLIENT).unwrap();
    let pid = client.pid().unwrap();
    let started = Instant::now();
    assert_eq!(client.close().how, Ended::Killed);
    assert_reaped(pid);
    let client = command().start(&CLIENT).unwrap();
    let pid = client.pid().unwrap();
    drop(client);
    assert_within(started, 20);
    assert_reaped(pid);
}

#[test]
fn three_hundred_kilobytes_on_stderr_stop_nobody() {
    let client = fixture("shouts").start(&CLIENT).unwrap();
    assert_eq!(client.call("shout", "{}").unwrap().text(), "shouted");
    client.close();
    let kept = client.stderr();
    assert_eq!(kept.len(), 600_000);
    assert_eq!(client.stderr_tail().lines().count(), 10);
}

#[test]
fn a_grandchild_that_holds_the_pipes_holds_nobody_up() {
    let client = fixture("grandchild").start(&CLIENT).unwrap();
    let pid = client.pid().unwrap();
    assert_eq!(client.call("echo", r#"{"text":"hi"}"#).unwrap().text(), "hi");
    let started = Instant::now();
    let report = client.close();
    assert!(report.status.unwrap().success(), "{report:?}");
    assert_within(started, 20);
    assert_reaped(pid);
    let tail = client.stderr_tail();
    assert_ended(tail.split_once("grandchild ").unwrap().1.trim().parse().unwrap());
}

#[test]
fn death_ends_the_calls_at_once_even_if_a_grandchild_holds_stdout() {
    for mode in ["serve", "grandchild"] {
        let client = fixture(mode).start(&CLIENT).unwrap();
        let pid = client.pid().unwrap();
        let started = Instant::now();
        thread::scope(|scope| {
            let other = scope.spawn(|| client.call("hang", "{}"));
            // Sent or not, it ends with the child.
            let error = client.call("die", "{}").unwrap_err();
            let CallError::Exited { status, stderr_tail } = &error else { panic!("{error}") };
            assert_eq!(status.code(), Some(5));
            assert!(stderr_tail.contains("last words"), "{stderr_tail}");
            assert!(matches!(other.join().unwrap(), Err(CallError::Exited { .. })));
        });
        assert!(matches!(client.list_tools(), Err(CallError::Exited { .. })));
        assert_within(started, 20);
        client.close();
        assert_reaped(pid);
    }
}

#[test]
fn a_child_that_is_killed_is_reported_with_the_signal() {
    for (signal, told) in [("-KILL", "signal: 9 (SIGKILL)"), ("-TERM", "signal: 15 (SIGTERM)")] {
        let client = fixture("serve").start(&CLIENT).unwrap();
        let pid = client.pid().unwrap().to_string();
        thread::scope(|scope| {
            let call = scope.spawn(|| client.call("hang", "{}"));
            std::process::Command::new("kill").args([signal, &pid]).status().unwrap();
            let error = call.join().unwrap().unwrap_err();
            assert!(error.to_string().contains(told), "{error}");
        });
    }
}

#[test]
fn a_call_that_takes_too_long_is_cancelled_at_the_server() {
    let client = fixture("serve").start(&CLIENT).unwrap();
    let options = Options::new().timeout(Duration::from_millis(50));
    let error = client.call_with("hang", "{}", options).unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
    client.close();
    let stderr = String::from_utf8(client.stderr()).unwrap();
    // It may not have begun when it was cancelled.
    assert!(stderr.is_empty() || stderr == "hanging\ncancelled\n", "{stderr}");
}

#[test]
fn a_server_with_a_stuck_tool_exits_with_zero_after_its_drain() {
    let client = fixture("serve").grace(Duration::from_secs(30)).start(&CLIENT).unwrap();
    let options = Options::new().timeout(SHORT);
    client.call_with("stuck", "{}", options).unwrap_err();
    let report = client.close();
    assert_eq!((report.how, report.status.unwrap().code()), (Ended::ByItself, Some(0)));
}

/// The peer has written all that the pipe takes, so that the end of input stands behind what is not read.
#[test]
fn a_server_whose_peer_neither_reads_nor_writes_exits_with_zero_after_its_drain() {
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let big = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"big","arguments":{"size":9000000}}}"#;
    for first in [ping, big] {
        let mut server = Process::new(env!("CARGO_BIN_EXE_barewire-stdio-fixture"))
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = server.stdin.take().unwrap();
        stdin.write_all(format!("{hello}\n{first}\n").as_bytes()).unwrap();
        rustix::io::ioctl_fionbio(&stdin, true).unwrap();
        let pings = format!("{ping}\n").repeat(100);
        let mut refused = 0;
        while refused < 20 {
            match stdin.write(pings.as_bytes()) {
                Ok(_) => refused = 0,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    refused += 1;
                    thread::sleep(Duration::from_millis(10));
                }
                Err(error) => panic!("{error}"),
            }
        }
        drop(stdin);
        assert_eq!(server.wait().unwrap().code(), Some(0), "{first}");
    }
}

#[test]
fn silence_ends_with_the_time_allowed() {
    let started = Instant::now();
    let (command, pids) = pids(fixture("silent"));
    let error = command.start_timeout(SHORT).grace(SHORT).start(&CLIENT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server did not answer the handshake within 100ms; is it an MCP server on stdio, and does it need longer \
         to start?"
    );
    assert_within(started, 20);
    pids.lock().unwrap().iter().for_each(|pid| assert_reaped(*pid));
}

#[test]
fn what_is_no_mcp_is_named() {
    let client = fixture("banner").start(&CLIENT).unwrap();
    assert_eq!(client.call("echo", r#"{"text":"hi"}"#).unwrap().text(), "hi");
    drop(client);
    let error = fixture("junk-only").start(&CLIENT).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "; the server wrote a line that is not MCP: \"Listening on port 8080\"; does it print to stdout?"
        ),
        "{error}"
    );
}

#[test]
fn content_length_framing_is_recognised_at_once() {
    let started = Instant::now();
    let error = fixture("content-length").grace(SHORT).start(&CLIENT).unwrap_err();
    assert!(matches!(error, StartError::ContentLength), "{error}");
    assert_within(started, 20);
}

#[test]
fn prints_of_tools_and_their_children_go_to_stderr() {
    for mode in ["serve", "unthreaded"] {
        let client = fixture(mode).start(&CLIENT).unwrap();
        assert_eq!(client.call("print", "{}").unwrap().text(), "printed");
        client.close();
        let stderr = String::from_utf8(client.stderr()).unwrap();
        assert!(stderr.contains("a stray line\n") && stderr.contains("from a child\n"), "{stderr}");
    }
}

#[test]
fn a_thread_that_prints_during_a_thousand_calls_spoils_none() {
    let junk = Arc::new(AtomicU32::new(0));
    let received = Arc::new(Mutex::new(Vec::new()));
    let (seen, bytes) = (Arc::clone(&junk), Arc::clone(&received));
    let client = fixture("prints")
        .arg("50000")
        .stderr(barewire_stdio::Stderr::Keep(4 << 20))
        .trace(move |trace| match trace {
            Trace::Junk { .. } => drop(seen.fetch_add(1, Ordering::Relaxed)),
            Trace::Received(more) => bytes.lock().unwrap().extend_from_slice(more),
            _ => {}
        })
        .start(&CLIENT)
        .unwrap();
    for n in 0..1000 {
        let args = format!(r#"{{"text":"{n}"}}"#);
        assert_eq!(client.call("echo", &args).unwrap().text(), n.to_string());
    }
    // The printing thread ends before the server does.
    client.close();
    assert_eq!(junk.load(Ordering::Relaxed), 0);
    let received = String::from_utf8(received.lock().unwrap().clone()).unwrap();
    assert_eq!(received.lines().count(), 1001);
    assert!(received.lines().all(|line| line.starts_with("{\"jsonrpc\":\"2.0\"") && line.ends_with('}')));
    let stderr = String::from_utf8(client.stderr()).unwrap();
    assert_eq!(stderr.matches("stray ").count(), 50_000);
}

#[test]
fn each_revision_can_be_asked_for() {
    for version in barewire::Version::ALL {
        let client = fixture("serve").protocol_version(version).start(&CLIENT).unwrap();
        assert_eq!(client.server().protocol, version);
        assert_eq!(client.call("echo", r#"{"text":"hi"}"#).unwrap().text(), "hi");
    }
}

#[test]
fn a_server_whose_peer_has_gone_ends_though_its_input_is_open() {
    for mode in ["serve", "unthreaded"] {
        let mut child = Process::new(env!("CARGO_BIN_EXE_barewire-stdio-fixture"))
            .arg(mode)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
        let started = Instant::now();
        assert!(child.wait().unwrap().success());
        assert_within(started, 10);
        drop(input);
    }
}

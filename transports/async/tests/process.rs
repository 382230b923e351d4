//! Child processes, good and bad: result, message and bound for each, and nobody left behind.
#![cfg(all(target_os = "linux", feature = "process"))] // what is left is looked up in /proc

mod common;

use async_io::block_on;
use barewire_async::{
    CallError, Client, Command, Ended, ExitReport, StartError, Stderr, Trace,
    barewire::{ClientConfig, Era},
};
use common::procs::{assert_ended, assert_reaped, assert_within};
use core::{future::Future, time::Duration};
use futures_lite::future::{or, zip};
use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

static CLIENT: ClientConfig<'static> = ClientConfig::new("test", "1");
const SHORT: Duration = Duration::from_millis(100);

fn fixture(mode: &str) -> Command {
    Command::new(env!("CARGO_BIN_EXE_barewire-async-fixture")).arg(mode).stderr(Stderr::Keep(1 << 20))
}

fn script(script: &str) -> Command {
    Command::new("sh").args(["-c", script]).stderr(Stderr::Drop)
}

/// Runs `talk` with the command's server; gives the pids of all children that were started, too.
fn run<T, F: Future<Output = T>>(
    command: Command,
    config: &ClientConfig<'_>,
    talk: impl FnOnce(Client) -> F,
) -> (T, ExitReport, Vec<u32>) {
    let pids = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&pids);
    let command = command.trace(move |trace| {
        if let Trace::Started { pid } = trace {
            seen.lock().unwrap().push(pid);
        }
    });
    let started = Instant::now();
    let (client, driver) = command.start(config);
    let (report, result) = block_on(zip(driver, talk(client)));
    assert_within(started, 30);
    let pids = pids.lock().unwrap().clone();
    pids.iter().for_each(|pid| assert_reaped(*pid));
    (result, report, pids)
}

async fn failure(client: Client) -> StartError {
    client.server().await.unwrap_err()
}

#[test]
fn a_good_child_exits_by_itself_when_its_input_is_closed() {
    let (closed, report, pids) = run(fixture("serve"), &CLIENT, |client| async move {
        assert_eq!(client.server().await.unwrap().name, "fixture");
        assert_eq!(client.call("echo", r#"{"a":1}"#).await.unwrap().text(), r#"{"a":1}"#);
        assert!(client.pid().is_some());
        client.close().await
    });
    assert_eq!((report.how, closed.how), (Ended::ByItself, Ended::ByItself));
    assert!(report.status.unwrap().success());
    assert_eq!((closed.status, pids.len()), (report.status, 1));
}

#[test]
fn the_last_handle_that_is_dropped_ends_it_too() {
    let ((), report, _) = run(fixture("serve"), &CLIENT, |client| async move {
        let other = client.clone();
        drop(client);
        other.call("echo", "{}").await.unwrap();
    });
    assert_eq!(report.how, Ended::ByItself);
}

#[test]
fn a_child_that_exits_at_once_is_tried_twice_and_reported() {
    let command = script("echo cannot start: no module named mcp >&2; exit 3");
    let (error, report, pids) = run(command, &CLIENT, failure);
    let StartError::Exited { status, stderr_tail, restarted: true, junk: None } = &error else {
        panic!("{error}")
    };
    assert_eq!((status.code(), report.status.unwrap().code()), (Some(3), Some(3)));
    assert!(stderr_tail.ends_with("cannot start: no module named mcp"), "{stderr_tail}");
    assert!(error.to_string().contains("started twice"), "{error}");
    assert_eq!(pids.len(), 2);
}

#[test]
fn a_child_that_exits_is_tried_once_if_there_was_no_probe() {
    let (error, _, pids) = run(script("exit 3"), &CLIENT.era(Era::Legacy), failure);
    assert!(matches!(error, StartError::Exited { restarted: false, .. }), "{error}");
    assert_eq!(pids.len(), 1);
}

#[test]
fn a_child_that_exits_on_the_probe_is_greeted_in_the_old_way() {
    let (text, _, pids) = run(fixture("exits-on-probe"), &CLIENT, |client| async move {
        // It waits for the session, whichever child that is with.
        let text = client.call("echo", "{}").await.unwrap().text();
        assert!(!client.server().await.unwrap().protocol.is_modern());
        text
    });
    assert_eq!((&*text, pids.len()), ("old", 2));
}

#[test]
fn a_child_that_exits_on_anything_is_reported_with_its_last_words() {
    let (error, ..) = run(fixture("exits-on-anything"), &CLIENT, |client| async move {
        client.call("echo", "{}").await.unwrap_err()
    });
    assert!(matches!(error, CallError::NotOpened(StartError::Exited { restarted: true, .. })), "{error}");
    assert!(error.to_string().ends_with("Traceback: it cannot be | ModuleNotFoundError: mcp"), "{error}");
}

#[test]
fn a_command_that_does_not_exist_says_so() {
    let (error, report, _) = run(Command::new("no-such-server-anywhere"), &CLIENT, failure);
    assert_eq!(
        error.to_string(),
        "cannot start `no-such-server-anywhere`: there is no such program; is it installed and on PATH?"
    );
    assert_eq!((report.how, report.status), (Ended::NoChild, None));
}

#[test]
fn a_child_that_ignores_the_end_of_its_input_is_terminated() {
    let ((), report, _) = run(fixture("ignores-end").grace(SHORT), &CLIENT, |client| async move {
        client.server().await.unwrap();
    });
    assert_eq!(report.how, Ended::Terminated);
}

#[test]
fn a_child_that_ignores_sigterm_is_killed() {
    let bin = env!("CARGO_BIN_EXE_barewire-async-fixture");
    let command = script(&format!("trap '' TERM; exec {bin} ignores-end")).grace(SHORT);
    let ((), report, _) = run(command, &CLIENT, |client| async move {
        client.server().await.unwrap();
    });
    assert_eq!(report.how, Ended::Killed);
}

#[test]
fn a_driver_that_is_dropped_kills_and_reaps_the_group() {
    let (client, driver) = fixture("grandchild").start(&CLIENT);
    let (pid, error) = block_on(async {
        let mut driver = Box::pin(driver);
        let pid = or(
            async {
                client.server().await.unwrap();
                client.pid().unwrap()
            },
            async {
                driver.as_mut().await;
                unreachable!()
            },
        )
        .await;
        drop(driver);
        (pid, client.call("echo", "{}").await.unwrap_err())
    });
    assert_reaped(pid);
    assert!(matches!(error, CallError::Closed), "{error}");
    assert_eq!(block_on(client.close()).how, Ended::Killed);
    let tail = client.stderr_tail();
    assert_ended(tail.split_once("grandchild ").unwrap().1.trim().parse().unwrap());
}

#[test]
fn a_driver_that_is_never_polled_starts_nothing_and_ends_the_calls() {
    let (client, driver) = fixture("serve").start(&CLIENT);
    drop(driver);
    assert!(block_on(client.call("echo", "{}")).is_err());
    assert_eq!(client.pid(), None);
}

#[test]
fn three_hundred_kilobytes_on_stderr_stop_nobody() {
    let (client, ..) = run(fixture("shouts"), &CLIENT, |client| async move {
        assert_eq!(client.call("shout", "{}").await.unwrap().text(), "shouted");
        client.close().await;
        client
    });
    assert_eq!(client.stderr().len(), 600_000);
    assert_eq!(client.stderr_tail().lines().count(), 10);
}

#[test]
fn a_grandchild_that_holds_the_pipes_holds_nobody_up() {
    let (tail, report, _) = run(fixture("grandchild"), &CLIENT, |client| async move {
        client.call("echo", "{}").await.unwrap();
        client.close().await.stderr_tail
    });
    assert!(report.status.unwrap().success(), "{report:?}");
    assert_ended(tail.split_once("grandchild ").unwrap().1.trim().parse().unwrap());
}

#[test]
fn death_ends_the_calls_at_once_even_if_a_grandchild_holds_stdout() {
    for mode in ["serve", "grandchild"] {
        run(fixture(mode), &CLIENT, |client| async move {
            let (other, error) = zip(client.call("hang", "{}"), client.call("die", "{}")).await;
            let error = error.unwrap_err();
            let CallError::Exited { status, stderr_tail } = &error else { panic!("{error}") };
            assert_eq!(status.code(), Some(5));
            assert!(stderr_tail.contains("last words"), "{stderr_tail}");
            assert!(matches!(other, Err(CallError::Exited { .. })));
            assert!(matches!(client.list_tools().await, Err(CallError::Exited { .. })));
        });
    }
}

#[test]
fn a_child_that_is_killed_is_reported_with_the_signal() {
    for (signal, told) in [("-KILL", "signal: 9 (SIGKILL)"), ("-TERM", "signal: 15 (SIGTERM)")] {
        run(fixture("serve"), &CLIENT, |client| async move {
            client.server().await.unwrap();
            let pid = client.pid().unwrap().to_string();
            std::process::Command::new("kill").args([signal, &pid]).status().unwrap();
            let error = client.call("hang", "{}").await.unwrap_err();
            assert!(error.to_string().contains(told), "{error}");
        });
    }
}

#[test]
fn a_call_that_is_given_up_stops_its_handler() {
    let (client, ..) = run(fixture("serve"), &CLIENT, |client| async move {
        let error = client.call("hang", "{}").timeout(SHORT).await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
        client.close().await;
        client
    });
    let stderr = String::from_utf8(client.stderr()).unwrap();
    // It may not have begun when it was cancelled.
    assert!(stderr.is_empty() || stderr == "hanging\ncancelled\n", "{stderr}");
}

#[test]
fn silence_ends_with_the_time_allowed() {
    let command = fixture("silent").start_timeout(SHORT).grace(SHORT);
    let (error, ..) = run(command, &CLIENT, failure);
    assert_eq!(
        error.to_string(),
        "the server did not answer the handshake within 100ms; is it an MCP server on stdio, and does it need longer \
         to start?"
    );
}

#[test]
fn what_is_no_mcp_is_named() {
    run(fixture("banner"), &CLIENT, |client| async move {
        assert_eq!(client.call("echo", "{}").await.unwrap().text(), "{}");
    });
    let command = fixture("junk-only").start_timeout(SHORT).grace(SHORT);
    let (error, ..) = run(command, &CLIENT, failure);
    assert!(error.to_string().contains("\"Listening on port 8080\""), "{error}");
}

//! The process's side alone: shell scripts that speak no MCP.

use super::*;
use crate::after;
use std::{sync::mpsc, time::Instant};

/// Never met by what it is for, and met in full by what it is against.
const LONG: Duration = Duration::from_secs(2);
const SHORT: Duration = Duration::from_millis(50);

/// Runs a script whose stdout nobody reads; gives the child, its stdin and the status told by `on_exit`.
fn run(script: &str, grace: Duration) -> (Arc<Child>, ChildStdin, mpsc::Receiver<ExitStatus>) {
    let (told, status) = mpsc::channel();
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    let on_exit = move |status| told.send(status).unwrap();
    let (child, stdin, stdout) =
        Child::spawn(&mut command, Stderr::Drop, grace, &Tracer::default(), on_exit).unwrap();
    child.stdout_ended();
    drop(stdout);
    (child, stdin, status)
}

#[test]
fn an_exit_is_told_once_with_its_status_and_stderr() {
    let (child, stdin, status) = run("echo no >&2; exit 3", LONG);
    assert_eq!(status.recv().unwrap().code(), Some(3));
    assert_eq!(child.stderr_tail(), "no");
    drop(stdin);
    let (told, how) = child.stop();
    assert_eq!((told.unwrap().code(), how), (Some(3), Ended::ByItself));
    assert!(status.recv().is_err(), "told twice");
}

#[test]
fn each_step_of_the_ladder_ends_what_the_one_before_does_not() {
    let (child, stdin, _status) = run("read line; exit 4", 10 * LONG);
    drop(stdin);
    assert_eq!(child.stop().1, Ended::ByItself);

    let (child, stdin, _status) = run("exec sleep 60", LONG);
    drop(stdin);
    assert_eq!(child.stop().1, Ended::Terminated);

    let (child, stdin, _status) = run("trap '' TERM; while :; do sleep 1; done", SHORT);
    drop(stdin);
    let (status, how) = child.stop();
    assert_eq!(how, Ended::Killed);
    assert!(status.unwrap().to_string().contains("SIGKILL"), "{status:?}");
    assert!(lock(&child.state).reaped);
}

/// The group goes with its leader, whether it holds a pipe or its leader had to be terminated.
#[cfg(target_os = "linux")]
#[test]
fn nobody_of_the_group_is_left() {
    for script in ["sleep 60 & echo $! >&2", "sleep 60 2>/dev/null & echo $! >&2; read line; wait"] {
        let (child, stdin, _status) = run(script, SHORT);
        while child.stderr_tail().is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        let grandchild = child.stderr_tail();
        drop(stdin);
        child.stop();
        // Its new parent may not have reaped it yet.
        let gone = || match std::fs::read_to_string(format!("/proc/{grandchild}/stat")) {
            Ok(stat) => stat.contains(") Z "),
            Err(_) => true,
        };
        let until = after(Duration::from_secs(10));
        while !gone() {
            assert!(Instant::now() < until, "{grandchild} lives");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn a_stopped_child_is_not_signalled_again() {
    let (child, stdin, _status) = run("exit 0", LONG);
    drop(stdin);
    child.stop();
    // The number may belong to somebody else by now.
    child.signal(Ended::Killed);
    assert_eq!(lock(&child.state).how, Ended::ByItself);
}

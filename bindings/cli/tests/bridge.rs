//! `barewire bridge` over sockets that the tests hold the far end of.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::thread;

use common::bridge::{CHANGED, Far, HELLO, Host, INITIALIZE, INITIALIZED, Listener, answer, call};
use common::{barewire, scratch};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};

#[test]
fn three_calls_in_flight_fail_at_once_and_the_next_one_succeeds() {
    let (listener, target) = Listener::new();
    let mut host = Host::start(&[&target]);
    let mut far = listener.accept();
    far.open(&mut host);
    for id in ["1", "\"1\"", "\"three\""] {
        host.say(&call(id));
        assert_eq!(far.line(), call(id));
    }
    drop(far);
    for id in ["1", "\"1\"", "\"three\""] {
        assert_eq!(host.error(), (id.into(), "closed".into()));
    }
    host.say(&call("4"));
    let mut far = listener.accept();
    far.reopen(1);
    assert_eq!(far.line(), call("4"));
    assert_eq!(host.line(), CHANGED);
    // What the connection before owed is not taken from this one.
    far.say(&answer("1"));
    far.say(&answer("4"));
    far.say(&answer("4"));
    assert_eq!(host.line(), answer("4"));
    host.told("answered 1, which is not open");
    host.told("answered 4, which is not open");
    drop(listener);
    host.end();
}

#[test]
fn a_server_that_comes_late_gets_what_was_held() {
    let path = scratch("late.sock");
    let _ = std::fs::remove_file(&path);
    let mut host = Host::start(&[&format!("unix:{}", path.display())]);
    host.told("there is no such socket");
    host.say(&call("1"));
    host.say(INITIALIZED);
    let listener = UnixListener::bind(&path).unwrap();
    let stream = listener.accept().unwrap().0;
    let mut far = Far { from: BufReader::new(stream.try_clone().unwrap()), to: stream };
    assert_eq!([far.line(), far.line()], [call("1"), INITIALIZED.into()]);
    far.say(&answer("1"));
    assert_eq!(host.line(), answer("1"));
    host.end();
}

#[test]
fn patience_ends_with_an_error_that_says_what_to_do() {
    let mut host = Host::start(&["--patience", "0.05", "tcp:127.0.0.1:1"]);
    host.say(&call("1"));
    let line = host.line();
    assert!(
        line.contains("nobody listens there; is the server running?") && line.contains("unreachable"),
        "{line}"
    );
    // It goes on, and so does the bridge.
    host.say(&call("2"));
    assert_eq!(host.error(), ("2".into(), "unreachable".into()));
    host.end();
}

#[test]
fn what_the_server_prints_is_its_console_and_not_the_hosts() {
    let (listener, target) = Listener::new();
    let mut host = Host::start(&[&target]);
    let mut far = listener.accept();
    far.say("boot: \x1b[2Jready");
    far.say("{\"not\":\"rpc\"}");
    far.open(&mut host);
    host.told("│ boot: \\e[2Jready\n");
    host.told("│ {\"not\":\"rpc\"}\n");
    host.end();
}

#[test]
fn open_calls_are_answered_after_the_hosts_end() {
    let (listener, target) = Listener::new();
    let mut host = Host::start(&[&target]);
    let mut far = listener.accept();
    host.say(&call("1"));
    assert_eq!(far.line(), call("1"));
    host.end_input();
    far.say(&answer("1"));
    assert_eq!(host.line(), answer("1"));
    // Only then the server sees the end, and has its time for last words.
    assert_eq!(far.line(), "");
    far.say(CHANGED);
    drop(far);
    assert_eq!(host.line(), CHANGED);
    assert_eq!(host.exit(), (Some(0), String::new()));
}

#[test]
fn a_log_has_the_hosts_session_the_console_and_the_losses() {
    let log = scratch("bridge.jsonl");
    let (listener, target) = Listener::new();
    let mut host = Host::start(&["--log", log.to_str().unwrap(), &target]);
    let mut far = listener.accept();
    far.open(&mut host);
    far.say("a print");
    host.told("a print");
    host.say(&call("1"));
    assert_eq!(far.line(), call("1"));
    drop(far);
    assert_eq!(host.error().0, "1");
    let mut far = listener.accept();
    far.reopen(1);
    assert_eq!(host.line(), CHANGED);
    host.end();
    let file = std::fs::read_to_string(&log).unwrap();
    for part in [
        r#""event":"start""#,
        &target,
        r#""dir":"err","text":"a print\n""#,
        "connection over",
        "connected again",
    ] {
        assert!(file.contains(part), "{part}: {file}");
    }
    assert!(!file.contains("barewire-bridge-1"), "the bridge's own words are not the host's: {file}");
    let shown = barewire(&["explain", "--short", log.to_str().unwrap()]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(shown.out.contains("tools/call"), "{}", shown.out);
}

#[test]
fn a_host_that_does_not_read_holds_up_the_server_and_nothing_grows() {
    let (listener, target) = Listener::new();
    let mut host = Host::deaf(&[&target]);
    let mut far = listener.accept();
    let notice = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"{}"}}}}"#,
        "x".repeat(4_000)
    );
    let (line, count) = (format!("{notice}\n"), 8_000);
    let writer = thread::spawn(move || {
        for _ in 0..count {
            far.to.write_all(line.as_bytes()).unwrap();
        }
    });
    // 32 MB; what the system's own buffers hold of it is less than what must be left.
    let rss = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line =
            status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB").trim().to_owned();
        line.trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    host.read();
    for _ in 0..count {
        assert_eq!(host.line(), notice);
    }
    writer.join().unwrap();
    if cfg!(target_os = "linux") {
        assert!(rss(host.child.id()) < 24_000, "{} kB", rss(host.child.id()));
    }
    host.end();
}

#[test]
fn a_server_that_does_not_read_holds_up_the_host() {
    let (listener, target) = Listener::new();
    let mut host = Host::start(&[&target]);
    let far = listener.accept();
    let line = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"data":"{}"}}}}"#,
        "x".repeat(4_000)
    );
    let (sent, size) = (format!("{line}\n").repeat(8_000), line.len() + 1);
    let reader = thread::spawn(move || {
        let mut all = vec![0; size * 8_000];
        let mut from = far.from;
        from.read_exact(&mut all).unwrap();
        all
    });
    host.say(sent.trim_end());
    assert!(reader.join().unwrap() == sent.into_bytes());
    host.end();
}

#[test]
fn a_flooded_stderr_that_nobody_reads_does_not_stop_the_session() {
    let (listener, target) = Listener::new();
    let mut host = Host::deaf(&[&target]);
    host.read();
    let mut far = listener.accept();
    for _ in 0..4_000 {
        far.say(&"print ".repeat(100));
    }
    host.say(&call("1"));
    assert_eq!(far.line(), call("1"));
    far.say(&answer("1"));
    assert_eq!(host.line(), answer("1"));
    drop(far);
    host.child.kill().unwrap();
    host.child.wait().unwrap();
}

#[test]
fn a_host_that_leaves_while_the_server_does_not_read_ends_the_bridge() {
    let path = scratch("left.sock");
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    let mut host = Host::start(&[&format!("unix:{}", path.display())]);
    let _far = listener.accept().unwrap();
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{{\"data\":\"{}\"}}}}\n",
        "x".repeat(4_000)
    );
    // Until the bridge reads no more. It takes a megabyte for certain, and not much more.
    let input = host.input();
    fcntl_setfl(&*input, OFlags::NONBLOCK).unwrap();
    let (certain, mut written) = (1 << 20, 0);
    loop {
        let most = Timespec { tv_sec: if written < certain { 60 } else { 1 }, tv_nsec: 0 };
        if poll(&mut [PollFd::new(&*input, PollFlags::OUT)], Some(&most)).unwrap() == 0 {
            break;
        }
        let from = written % line.len();
        written += input.write(&line.as_bytes()[from..]).unwrap_or(0);
    }
    assert!((certain..16 << 20).contains(&written), "{written}");
    host.end();
}

#[test]
fn a_thousand_reconnects_leave_no_thread_and_no_descriptor_behind() {
    let (listener, target) = Listener::new();
    let mut host = Host::start(&[&target]);
    let mut far = listener.accept();
    far.open(&mut host);
    let id = host.child.id();
    let count = |what: &str| {
        let entries = std::fs::read_dir(format!("/proc/{id}/{what}"));
        entries.map_or(0, |entries| entries.count())
    };
    let mut before = (0, 0);
    for n in 1..=1_000 {
        drop(far);
        far = listener.accept();
        far.reopen(n);
        assert_eq!(host.line(), CHANGED);
        // One that does nothing for the host is tried more and more seldom.
        host.say(&call(&n.to_string()));
        assert_eq!(far.line(), call(&n.to_string()));
        far.say(&answer(&n.to_string()));
        assert_eq!(host.line(), answer(&n.to_string()));
        if n == 10 {
            before = (count("fd"), count("task"));
        }
    }
    // Threads of the connection before may be just about to end.
    let settled = (0..10_000).any(|_| {
        thread::yield_now();
        count("fd") <= before.0 + 2 && count("task") <= before.1 + 2
    });
    assert!(settled, "before {before:?}, after {:?}", (count("fd"), count("task")));
    drop((listener, far));
    host.end();
}

/// Answers everything, on one connection after the other.
fn answer_all(listener: &Listener) {
    loop {
        let Far { from, mut to } = listener.accept();
        for line in from.lines().map_while(Result::ok) {
            let Ok(message) = serde_json::from_str::<serde_json::Value>(&line) else { break };
            let id = message["id"].to_string();
            let said = match message["method"].as_str() {
                Some("initialize") => HELLO.replacen("\"id\":0", &format!("\"id\":{id}"), 1),
                Some("tools/call") => answer(&id),
                _ => continue,
            };
            if to.write_all(format!("{said}\n").as_bytes()).is_err() {
                break;
            }
        }
    }
}

#[test]
fn faults_break_the_connection_and_the_bridge_mends_it() {
    let (listener, target) = Listener::new();
    thread::spawn(move || answer_all(&listener));
    let mut host = Host::start(&["--faults", "seed=1,split=3,reset=1k", &target]);
    host.say(INITIALIZE);
    assert_eq!(host.line(), HELLO);
    host.say(INITIALIZED);
    let (mut answered, mut lost) = (0, 0);
    while answered < 20 || lost < 3 {
        let id = (answered + lost).to_string();
        host.say(&call(&id));
        let line = loop {
            let line = host.line();
            if line != CHANGED {
                break line;
            }
        };
        if line == answer(&id) {
            answered += 1;
        } else {
            assert!(line.contains(&format!("\"id\":{id},\"error\"")), "{line}");
            lost += 1;
        }
    }
    host.end_input();
    host.child.wait().unwrap();
}

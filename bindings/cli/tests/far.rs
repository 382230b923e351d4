//! `list`, `call`, `tap` and `ports` against servers behind sockets and serial lines.
#![cfg(target_os = "linux")]

mod common;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Stdio};
use std::thread;

use common::{BAREWIRE, Run, barewire, feed, scratch};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use serde_json::Value;

/// A sample server that reads and writes this descriptor; the connection is over when it ends.
fn serve(sample: &str, io: OwnedFd) -> Child {
    let again = io.try_clone().unwrap();
    let mut command = Command::new(BAREWIRE);
    command.args(["serve", sample]).stdin(io).stdout(again).stderr(Stdio::null()).spawn().unwrap()
}

/// A server behind a TCP port, a new one for each of so many connections.
fn tcp(connections: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp:127.0.0.1:{}", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for stream in listener.incoming().take(connections) {
            serve("bmi", stream.unwrap().into()).wait().unwrap();
        }
    });
    target
}

/// What answers once at a TCP port, in Rust.
fn once(answer: impl FnOnce(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp:127.0.0.1:{}", listener.local_addr().unwrap().port());
    thread::spawn(move || answer(listener.accept().unwrap().0));
    target
}

/// A serial line with a sample server behind it, for one use: a port that a program had to itself stays so.
struct Line {
    port: String,
    server: Child,
    /// Holds the line open and raw: until then what the device says would come back to it.
    _near: File,
}

impl Line {
    fn new(sample: &str) -> Self {
        Self::saying(sample, b"")
    }

    /// The device prints something before it answers.
    fn saying(sample: &str, boot: &[u8]) -> Self {
        let device = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&device).and_then(|()| unlockpt(&device)).unwrap();
        let port = ptsname(&device, Vec::new()).unwrap().into_string().unwrap();
        let near = File::options().read(true).write(true).open(&port).unwrap();
        let mut modes = tcgetattr(&near).unwrap();
        modes.make_raw();
        tcsetattr(&near, OptionalActions::Now, &modes).unwrap();
        let mut printing = File::from(device.try_clone().unwrap());
        printing.write_all(boot).unwrap();
        Self { port, server: serve(sample, device), _near: near }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn lists_two_tools(run: &Run, name: &str) {
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.starts_with(name) && run.out.contains(": 2 tools"), "{}", run.out);
    assert_eq!(run.err, "");
}

#[test]
fn tcp_is_listed_and_called() {
    let target = tcp(2);
    lists_two_tools(&barewire(&["list", &target]), "Demo");
    let run = barewire(&["call", "calculate_bmi", "weight_kg=65", "height_m=1.65", &target]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "23.875114784205696"), "{}", run.err);
}

#[test]
fn a_unix_socket_is_listed_and_called() {
    let path = scratch("far.sock");
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().take(2) {
            serve("weather", stream.unwrap().into()).wait().unwrap();
        }
    });
    let target = format!("unix:{}", path.display());
    lists_two_tools(&barewire(&["list", &target]), "weather");
    let run = barewire(&["call", "get_alerts", "state=TX", &target]);
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 612), "{}", run.err);
}

#[test]
fn a_device_is_listed_and_called() {
    let line = Line::saying("weather", b"*** Booting board 1 ***\r\n");
    let target = format!("serial:{}@921600", line.port);
    lists_two_tools(&barewire(&["list", &target]), "weather");
    let line = Line::new("weather");
    let target = format!("serial:{}", line.port);
    let run = barewire(&["call", "get_alerts", "--args", r#"{"state":"TX"}"#, &target]);
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 612), "{}", run.err);
    let line = Line::new("weather");
    let target = format!("serial:{}@9600", line.port);
    let run = barewire(&["list", "--short", &target]);
    assert!(run.err.contains(&format!("Connected to `{target}`.")), "{}", run.err);
    assert!(run.err.contains("answered 2 of 2"), "{}", run.err);
}

#[test]
fn ports_says_who_answers() {
    let line = Line::new("bmi");
    let run = barewire(&["ports", &line.port, "/dev/barewire-has-no-such-port"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let told: Vec<&str> = run.out.lines().collect();
    assert!(
        told[0].starts_with(&line.port) && told[0].ends_with("Demo 0.1.0, 2026-07-28, 2 tools"),
        "{told:?}"
    );
    assert!(told[1].contains("there is no port"), "{told:?}");

    let line = Line::new("bmi");
    let json = barewire(&["ports", "--json", &line.port, "/dev/barewire-has-no-such-port"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["ports"][0]["server"]["name"], "Demo");
    assert_eq!((&json["ports"][0]["tools"], &json["ports"][1]["state"]), (&2.into(), &"missing".into()));

    let unasked = barewire(&["ports", "--no-ask", "/dev/barewire-has-no-such-port"]);
    assert_eq!(unasked.out, "/dev/barewire-has-no-such-port\n");
}

#[test]
fn tap_carries_a_connection() {
    let log = scratch("far-tap.jsonl");
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let run = feed(&["tap", "--log", log.to_str().unwrap(), "--short", &tcp(1)], ping.as_bytes());
    assert_eq!(
        (run.code, run.out.as_str()),
        (Some(0), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"),
        "{}",
        run.err
    );
    assert!(run.err.contains("answered 1 of 1"), "{}", run.err);
    let explained = barewire(&["explain", "--short", log.to_str().unwrap()]);
    assert!(
        explained.out.contains("Connected to `tcp:") && explained.out.contains("ping"),
        "{}",
        explained.out
    );
}

#[test]
fn tap_leaves_a_line_that_has_no_end() {
    let line = Line::new("bmi");
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let run = feed(&["tap", "--short", &format!("serial:{}", line.port)], ping.as_bytes());
    assert_eq!(
        (run.code, run.out.as_str()),
        (Some(0), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"),
        "{}",
        run.err
    );
}

#[test]
fn a_server_that_hangs_up_on_the_probe_is_called_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp:127.0.0.1:{}", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        let (mut first, _) = listener.accept().unwrap();
        let _ = first.read(&mut [0; 64]);
        drop(first);
        serve("bmi", listener.accept().unwrap().0.into()).wait().unwrap();
    });
    let run = barewire(&["list", "--short", &target]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("2025-11-25: 2 tools"), "{}", run.out);
    assert!(run.err.contains("hung up before it answered"), "{}", run.err);
}

#[test]
fn a_socket_that_takes_nobody_is_left_in_time() {
    let path = scratch("far-full.sock");
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    // One connection fills the queue of a listener that takes none.
    let _waiting = std::os::unix::net::UnixStream::connect(&path).unwrap();
    let run = barewire(&["list", "--timeout", "0.5", &format!("unix:{}", path.display())]);
    assert_eq!(run.code, Some(3), "{}", run.err);
    assert!(run.err.contains("takes no connection"), "{}", run.err);
}

#[test]
fn what_is_wrong_is_said() {
    let silent = once(|stream| {
        let _ = (&stream).read_to_end(&mut Vec::new());
    });
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (arguments, code, told) in [
        (vec!["list", "--timeout", "1", &silent], 4, "did not answer within 1 s; is it an MCP server?"),
        (vec!["list", &format!("tcp:127.0.0.1:{gone}")], 3, "nobody listens there"),
        (vec!["tap", "--short", &format!("tcp:127.0.0.1:{gone}")], 3, "nobody listens there"),
        (vec!["list", "unix:/no/such.sock"], 3, "no such socket"),
        (vec!["list", "serial:/dev/barewire-has-no-such-port"], 3, "there is no port"),
        (vec!["tap", "--short", "serial:/dev/barewire-has-no-such-port"], 3, "there is no port"),
        (vec!["list", "serial:/dev/null"], 3, "can't use /dev/null as a serial port"),
        (vec!["list", "serial:/x\u{1b}[2J"], 3, "/x\\e[2J"),
        (vec!["list", "tcp:nowhere"], 2, "tcp:HOST:PORT"),
        (vec!["call", "x", "a=1", "serial:/dev/x@fast"], 2, "the speed in baud"),
        (vec!["call", "x", "a=1"], 2, "no server given"),
        (vec!["call", "x", "tcp:localhost:80", "a=1"], 2, "put it last"),
        (vec!["list", "tcp:localhost:80", "more"], 2, "nothing may follow it"),
    ] {
        let run = barewire(&arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.err);
        assert!(run.err.contains(told), "{arguments:?}: {}", run.err);
    }
}

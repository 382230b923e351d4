//! The server over socket pairs: what is answered while handlers run, what pushes back, and how it ends.
#![cfg(all(unix, feature = "timer"))]

mod common;

use async_io::Async;
use barewire_async::{
    IoTimer, Serve, ToolCall, ToolSource,
    barewire::{Limits, Millis, Progress, ServerConfig, Tool, owned::ToolResult},
};
use common::{CONFIG, Outcome, Peer, Text, call, id};
use core::{
    future::{Future, pending},
    sync::atomic::{AtomicUsize, Ordering},
};
use futures_lite::future::{block_on, yield_now};
use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    sync::Arc,
    thread,
};

/// Serves on a thread while `talk` is the peer; gives back what the driver said.
fn serve<F: Future<Output = Outcome>>(
    serve: Serve<'_, IoTimer>,
    handler: impl Fn(ToolCall) -> F + Send,
    talk: impl FnOnce(Peer),
) -> io::Result<()> {
    let (here, there) = UnixStream::pair().unwrap();
    thread::scope(|scope| {
        let server = scope.spawn(move || block_on(serve.run(Async::new(there).unwrap(), handler)));
        talk(Peer::over(here));
        server.join().unwrap()
    })
}

fn plain() -> Serve<'static, IoTimer> {
    Serve::new(&CONFIG, IoTimer)
}

/// Says when it is dropped.
struct Guard(async_channel::Sender<&'static str>);
impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.try_send("dropped");
    }
}

#[test]
fn ping_is_answered_and_a_cancel_drops_the_handler() {
    let (tell, told) = async_channel::unbounded();
    let handler = |_| {
        let guard = Guard(tell.clone());
        async move {
            guard.0.send("running").await.unwrap();
            pending().await
        }
    };
    serve(plain(), handler, |mut peer| {
        peer.open();
        peer.call(1, "wait", "{}");
        assert_eq!(told.recv_blocking().unwrap(), "running");
        peer.ping(2);
        assert_eq!(id(&peer.line()), 2);
        peer.cancel(1);
        assert_eq!(told.recv_blocking().unwrap(), "dropped");
        peer.ping(3);
        assert_eq!(id(&peer.line()), 3, "a cancelled call is not answered");
    })
    .unwrap();
}

#[test]
fn handlers_run_at_once_up_to_the_bound() {
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (go, gate) = async_channel::unbounded::<()>();
    let handler = |_| async {
        let now = running.fetch_add(1, Ordering::Relaxed) + 1;
        most.fetch_max(now, Ordering::Relaxed);
        gate.recv().await.unwrap();
        running.fetch_sub(1, Ordering::Relaxed);
        Ok("done".into())
    };
    serve(plain().concurrent(3).queue(7), handler, |mut peer| {
        peer.open();
        for n in 1..11 {
            peer.call(n, "wait", "{}");
        }
        // The answer to the ping comes after all ten were taken in.
        peer.ping(11);
        assert_eq!(id(&peer.line()), 11);
        for _ in 1..11 {
            go.send_blocking(()).unwrap();
        }
        let mut ids: Vec<u32> = (1..11).map(|_| id(&peer.line())).collect();
        ids.sort_unstable();
        assert_eq!(ids, (1..11).collect::<Vec<_>>());
    })
    .unwrap();
    assert_eq!(most.load(Ordering::Relaxed), 3);
}

#[test]
fn calls_beyond_the_queue_wait_unread_and_are_answered() {
    let (go, gate) = async_channel::unbounded::<()>();
    let handler = |_| async {
        gate.recv().await.unwrap();
        Ok("done".into())
    };
    serve(plain().concurrent(1).queue(1), handler, |mut peer| {
        peer.open();
        for n in 1..6 {
            peer.call(n, "wait", "{}");
        }
        peer.ping(6);
        for _ in 1..6 {
            go.send_blocking(()).unwrap();
        }
        // The ping was behind calls that had no room.
        let ids: Vec<u32> = (1..7).map(|_| id(&peer.line())).collect();
        assert!(ids.iter().position(|id| *id == 6).unwrap() >= 3, "{ids:?}");
    })
    .unwrap();
}

#[test]
fn calls_beyond_the_queue_are_refused_if_the_config_says_so() {
    let config = CONFIG.refuse_when_full();
    let (go, gate) = async_channel::unbounded::<()>();
    let handler = |_| async {
        gate.recv().await.unwrap();
        Ok("done".into())
    };
    let busy = Serve::new(&config, IoTimer).concurrent(1).queue(1);
    serve(busy, handler, |mut peer| {
        peer.open();
        for n in 1..5 {
            peer.call(n, "wait", "{}");
        }
        for refused in 3..5 {
            let line = peer.line();
            assert!(id(&line) == refused && line.contains("-32603") && line.contains("busy"), "{line}");
        }
        for done in 1..3 {
            go.send_blocking(()).unwrap();
            assert_eq!(id(&peer.line()), done);
        }
    })
    .unwrap();
}

#[test]
fn a_thousand_calls_at_once_are_answered_each_once() {
    let handler = |call: ToolCall| async move {
        yield_now().await;
        Ok(call.args_json().into())
    };
    serve(plain(), handler, |mut peer| {
        peer.open();
        let mut to = peer.to.try_clone().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                let all: String =
                    (1..1001).map(|n| call(n, "echo", &format!(r#"{{"n":{n}}}"#)) + "\n").collect();
                to.write_all(all.as_bytes()).unwrap();
            });
            let mut ids = Vec::new();
            for _ in 1..1001 {
                let line = peer.line();
                assert!(line.contains(&format!(r#"{{\"n\":{}}}"#, id(&line))), "{line}");
                ids.push(id(&line));
            }
            ids.sort_unstable();
            assert_eq!(ids, (1..1001).collect::<Vec<_>>());
        });
    })
    .unwrap();
}

#[test]
fn a_panic_is_an_error_and_the_others_go_on() {
    let handler = |call: ToolCall| {
        assert_ne!(call.args_json(), r#"{"now":1}"#, "as the test wants");
        async move {
            yield_now().await;
            match call.args_json() {
                "{}" => panic!("as the test wants"),
                _ => Ok("fine".into()),
            }
        }
    };
    serve(plain(), handler, |mut peer| {
        peer.open();
        for (n, args) in [(1, "{}"), (2, r#"{"now":1}"#)] {
            peer.call(n, "echo", args);
            let line = peer.line();
            assert!(id(&line) == n && line.contains("-32603") && line.contains("panicked"), "{line}");
        }
        peer.call(3, "echo", r#"{"a":1}"#);
        assert!(peer.line().contains("fine"));
    })
    .unwrap();
}

#[test]
fn at_the_end_of_input_accepted_calls_are_answered() {
    let (go, gate) = async_channel::unbounded::<()>();
    let handler = |_| async {
        gate.recv().await.unwrap();
        Ok("done".into())
    };
    serve(plain().concurrent(4), handler, |mut peer| {
        peer.open();
        for n in 1..11 {
            peer.call(n, "wait", "{}");
        }
        peer.end();
        for _ in 1..11 {
            go.send_blocking(()).unwrap();
        }
        let mut all = String::new();
        peer.from.read_to_string(&mut all).unwrap();
        let mut ids: Vec<u32> = all.lines().map(id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (1..11).collect::<Vec<_>>());
    })
    .unwrap();
}

#[test]
fn the_drain_is_bounded_and_drops_handlers() {
    let config = CONFIG.drain(Millis(50));
    let (tell, told) = async_channel::unbounded();
    let handler = |_| {
        let guard = Guard(tell.clone());
        async move {
            guard.0.send("running").await.unwrap();
            pending().await
        }
    };
    serve(Serve::new(&config, IoTimer), handler, |mut peer| {
        peer.open();
        peer.call(1, "wait", "{}");
        assert_eq!(told.recv_blocking().unwrap(), "running");
        peer.end();
        assert_eq!(told.recv_blocking().unwrap(), "dropped");
        assert_eq!(peer.line(), "");
    })
    .unwrap();
}

#[test]
fn a_peer_that_ends_and_reads_nothing_holds_nobody_up() {
    let config = CONFIG.drain(Millis(50));
    let handler = |_| async { Ok("x".repeat(4 << 20).into()) };
    let mut kept = None;
    let told = serve(Serve::new(&config, IoTimer), handler, |mut peer| {
        peer.open();
        peer.call(1, "big", "{}");
        peer.end();
        kept = Some(peer);
    });
    told.unwrap();
}

#[test]
fn a_peer_that_does_not_read_can_still_cancel() {
    let (tell, told) = async_channel::unbounded();
    let handler = |call: ToolCall| {
        let guard = Guard(tell.clone());
        async move {
            match call.name() {
                // More than a socket holds.
                "big" => Ok("x".repeat(4 << 20).into()),
                _ => {
                    guard.0.send("running").await.unwrap();
                    pending().await
                }
            }
        }
    };
    serve(plain(), handler, |mut peer| {
        peer.open();
        peer.call(2, "wait", "{}");
        assert_eq!(told.recv_blocking().unwrap(), "running");
        peer.call(1, "big", "{}");
        assert_eq!(told.recv_blocking().unwrap(), "dropped");
        for n in 3..20 {
            peer.ping(n);
        }
        peer.cancel(2);
        assert_eq!(told.recv_blocking().unwrap(), "dropped");
        let mut ids: Vec<u32> = (0..18).map(|_| id(&peer.line())).collect();
        ids.sort_unstable();
        assert_eq!(ids, (1..20).filter(|n| *n != 2).collect::<Vec<_>>());
    })
    .unwrap();
}

/// Sends `line` again and again, until the server has taken nothing for a long while. It fails if there is no end to that.
fn stuff(peer: &mut Peer, line: &str, at_most: usize) {
    peer.to.set_nonblocking(true).unwrap();
    let (mut sent, mut idle) = (0, 0);
    while idle < 5000 {
        match peer.to.write(line.as_bytes()) {
            Ok(n) => (sent, idle) = (sent + n, 0),
            Err(_) => {
                idle += 1;
                thread::yield_now();
            }
        }
        assert!(sent < at_most, "the server takes more and more");
    }
}

#[test]
fn a_peer_that_does_not_read_is_not_read_for_ever() {
    let handler = |_: ToolCall| async { Ok("x".repeat(64 << 10).into()) };
    serve(plain(), handler, |mut peer| {
        peer.open();
        stuff(&mut peer, &(call(1, "big", "{}") + "\n"), 4 << 20);
    })
    .unwrap();
}

#[test]
fn arguments_that_wait_are_bounded_in_bytes() {
    let limits = Limits { message: 64 << 10, ..Limits::default() };
    let (go, gate) = async_channel::unbounded::<()>();
    let handler = |_: ToolCall| async {
        let _ = gate.recv().await;
        Ok("done".into())
    };
    serve(plain().limits(limits).queue(60_000), handler, |mut peer| {
        peer.open();
        peer.to.set_nonblocking(true).unwrap();
        let text = "x".repeat(30 << 10);
        let (mut sent, mut idle) = (0, 0);
        let mut rest = Vec::new();
        while idle < 5000 {
            if rest.is_empty() {
                sent += 1;
                rest = (call(sent, "wait", &format!(r#"{{"text":"{text}"}}"#)) + "\n").into_bytes();
            }
            match peer.to.write(&rest) {
                Ok(n) => {
                    rest.drain(..n);
                    idle = 0;
                }
                Err(_) => {
                    idle += 1;
                    thread::yield_now();
                }
            }
            assert!(sent < 100, "the server holds more and more");
        }
        go.close();
    })
    .unwrap();
}

#[test]
fn a_peer_that_goes_is_a_normal_end() {
    let handler = |_: ToolCall| async { Ok("x".repeat(1 << 20).into()) };
    serve(plain(), handler, |mut peer| {
        peer.open();
        for n in 1..20 {
            let _ = writeln!(peer.to, "{}", call(n, "big", "{}"));
        }
    })
    .unwrap();
}

#[test]
fn progress_comes_in_order_before_the_answer_and_only_if_asked_for() {
    let handler = |call: ToolCall| async move {
        for done in 1..4 {
            call.progress(Progress { done, total: Some(3), message: None });
            if done == 2 {
                yield_now().await;
            }
        }
        Ok(format!("{}", call.wants_progress()).into())
    };
    serve(plain(), handler, |mut peer| {
        peer.open();
        peer.call(1, "steps", "{}");
        assert!(peer.line().contains("false"));
        peer.send(
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":"p"}}}"#,
        );
        for done in 1..4 {
            let line = peer.line();
            let expected = format!("\"progress\":{done}");
            assert!(line.contains("notifications/progress") && line.contains(&expected), "{line}");
        }
        assert!(peer.line().contains("true"));
    })
    .unwrap();
}

#[test]
fn a_report_from_another_thread_leaves_at_once() {
    let (tell, reporters) = async_channel::unbounded();
    let handler = |call: ToolCall| {
        let tell = tell.clone();
        async move {
            tell.send(call.reporter()).await.unwrap();
            pending().await
        }
    };
    serve(plain(), handler, |mut peer| {
        peer.open();
        peer.send(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":7}}}"#,
        );
        let reporter = reporters.recv_blocking().unwrap();
        reporter.progress(Progress { done: 5, total: None, message: Some("half") });
        let line = peer.line();
        assert!(line.contains(r#""progress":5"#) && line.contains("half"), "{line}");
        peer.cancel(1);
        peer.ping(2);
        assert_eq!(id(&peer.line()), 2);
        reporter.progress(Progress { done: 6, total: None, message: None });
        peer.ping(3);
        assert_eq!(id(&peer.line()), 3, "nothing is told of a cancelled call");
    })
    .unwrap();
}

#[test]
fn arguments_decode_more_than_once_and_stay_as_they_came() {
    let handler = |mut call: ToolCall| async move {
        let one = call.decode::<Text<'_>>()?.0.to_owned();
        let two = call.decode::<Text<'_>>()?.0.to_owned();
        assert_eq!(call.args_json(), r#"{"text":"a\tb"}"#);
        Ok(format!("{one}|{two}").into())
    };
    serve(plain(), handler, |mut peer| {
        peer.open();
        peer.call(1, "echo", r#"{"text":"a\tb"}"#);
        assert!(peer.line().contains(r#""a\tb|a\tb""#));
        peer.call(2, "echo", r#"{"text":5}"#);
        assert!(peer.line().contains("text must be a string"));
    })
    .unwrap();
}

#[cfg(feature = "serde")]
#[test]
fn arguments_decode_into_serde_types() {
    #[derive(serde::Deserialize)]
    struct Both<'a> {
        text: &'a str,
        times: Option<u8>,
    }
    let handler = |mut call: ToolCall| async move {
        let Both { text, times } = call.deserialize()?;
        Ok(text.repeat(times.unwrap_or(1).into()).into())
    };
    serve(plain(), handler, |mut peer| {
        peer.open();
        peer.call(1, "echo", r#"{"text":"a\tb","times":2}"#);
        assert!(peer.line().contains(r#""a\tba\tb""#));
        peer.call(2, "echo", r#"{"text":"x","times":300}"#);
        assert!(peer.line().contains(r#""isError":true"#));
    })
    .unwrap();
}

#[test]
fn tools_of_run_time_are_listed_and_their_change_is_told() {
    struct Many(Arc<AtomicUsize>);
    impl ToolSource for Many {
        fn tool(&self, index: usize) -> Option<Tool<'_>> {
            let tool = Tool::new(if index == 0 { "a" } else { "b" }, "", r#"{"type":"object"}"#);
            (index < self.0.load(Ordering::Relaxed)).then_some(tool)
        }
    }
    let config = ServerConfig::new("t", "1").dynamic_tools().list_changed();
    let count = Arc::new(AtomicUsize::new(1));
    let source = Many(Arc::clone(&count));
    let (here, there) = UnixStream::pair().unwrap();
    let handler = |call: ToolCall| {
        count.store(2, Ordering::Relaxed);
        call.tools_changed();
        async { Ok(ToolResult::text("more")) }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let serve = Serve::new(&config, IoTimer).source(source);
            block_on(serve.run(Async::new(there).unwrap(), handler)).unwrap();
        });
        let mut peer = Peer::over(here);
        peer.open();
        peer.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        assert!(!peer.line().contains(r#""name":"b""#));
        peer.call(2, "a", "{}");
        let lines = [peer.line(), peer.line()];
        assert!(lines.iter().any(|line| line.contains("notifications/tools/list_changed")), "{lines:?}");
        peer.send(r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#);
        assert!(peer.line().contains(r#""name":"b""#));
    });
}

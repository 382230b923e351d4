//! The pool over pipes: what is answered while tools run, what is refused, and how it ends.

mod common;

use barewire::{BadArgs, Fields, FromArgs, Millis, Progress, ServerConfig, Tool};
use barewire_stdio::{Fail, Serve, ToolCall, ToolResult};
use common::{Peer, call, id};
use core::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use std::{
    io::{self, BufReader, Read},
    sync::{Barrier, Mutex, mpsc},
    thread,
};

const AGES: Duration = Duration::from_secs(60);
static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "", r#"{"type":"object"}"#),
    Tool::new("wait", "", r#"{"type":"object"}"#),
    Tool::new("big", "", r#"{"type":"object"}"#),
];
static CONFIG: ServerConfig<'static> = ServerConfig::new("t", "1").tools(TOOLS);

/// Serves `tools` on a thread while `talk` is the peer; gives back what `run_over` said.
fn serve(
    serve: Serve<'_>,
    tools: impl Fn(&mut ToolCall<'_>) -> Result<ToolResult, Fail> + Sync + Send,
    talk: impl FnOnce(Peer),
) -> io::Result<()> {
    let (read, to) = io::pipe().unwrap();
    let (from, write) = io::pipe().unwrap();
    thread::scope(|scope| {
        let server = scope.spawn(move || serve.run_over(read, write, tools));
        talk(Peer { to, from: BufReader::new(from) });
        server.join().unwrap()
    })
}

#[test]
fn ping_is_answered_and_cancel_heard_while_a_tool_runs() {
    let (running, started) = mpsc::channel();
    let (heard, cancelled) = mpsc::channel();
    let tools = |call: &mut ToolCall<'_>| {
        running.send(call.is_cancelled()).unwrap();
        heard.send(call.wait_cancelled(AGES)).unwrap();
        Ok("too late".into())
    };
    serve(Serve::new(&CONFIG), tools, |mut peer| {
        peer.open();
        peer.call(1, "wait", "{}");
        assert!(!started.recv().unwrap());
        peer.ping(2);
        assert_eq!(id(&peer.line()), 2);
        peer.cancel(1);
        assert!(cancelled.recv().unwrap());
        peer.ping(3);
        assert_eq!(id(&peer.line()), 3, "a cancelled call is not answered");
    })
    .unwrap();
}

#[test]
fn a_call_beyond_the_queue_is_busy_and_the_others_are_answered() {
    let (running, started) = mpsc::channel();
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let tools = |_: &mut ToolCall<'_>| {
        running.send(()).unwrap();
        gate.lock().unwrap().recv().unwrap();
        Ok("done".into())
    };
    serve(Serve::new(&CONFIG).threads(1).queue(1), tools, |mut peer| {
        peer.open();
        peer.call(1, "wait", "{}");
        started.recv().unwrap();
        for id in 2..5 {
            peer.call(id, "wait", "{}");
        }
        for busy in 3..5 {
            let line = peer.line();
            assert_eq!(id(&line), busy);
            assert!(line.contains("-32603") && line.contains("busy"), "{line}");
        }
        for done in 1..3 {
            go.send(()).unwrap();
            let line = peer.line();
            assert!(id(&line) == done && line.contains("done"), "{line}");
        }
        peer.call(6, "wait", "{}");
        go.send(()).unwrap();
        assert_eq!(id(&peer.line()), 6);
    })
    .unwrap();
}

#[test]
fn a_cancelled_call_never_runs_if_it_still_waits() {
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let (running, started) = mpsc::channel();
    let runs = AtomicUsize::new(0);
    let tools = |_: &mut ToolCall<'_>| {
        runs.fetch_add(1, Ordering::Relaxed);
        running.send(()).unwrap();
        gate.lock().unwrap().recv().unwrap();
        Ok("done".into())
    };
    serve(Serve::new(&CONFIG).threads(1), tools, |mut peer| {
        peer.open();
        peer.call(1, "wait", "{}");
        started.recv().unwrap();
        peer.call(2, "wait", "{}");
        peer.cancel(2);
        peer.ping(3);
        assert_eq!(id(&peer.line()), 3);
        go.send(()).unwrap();
        assert_eq!(id(&peer.line()), 1);
    })
    .unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[test]
fn calls_that_arrive_in_one_read_run_at_once() {
    // Whoever reads runs the first of them himself; none may wait for him.
    let all_run = Barrier::new(4);
    let tools = |_: &mut ToolCall<'_>| {
        all_run.wait();
        Ok("met".into())
    };
    serve(Serve::new(&CONFIG).threads(4), tools, |mut peer| {
        peer.open();
        for round in 0..3 {
            let calls: String = (0..4).map(|n| call(10 * round + n, "wait", "{}")).collect();
            peer.send_all(&calls);
            let mut ids: Vec<_> = (0..4).map(|_| id(&peer.line())).collect();
            ids.sort_unstable();
            assert_eq!(ids, [0, 1, 2, 3].map(|n| 10 * round + n));
        }
    })
    .unwrap();
}

#[test]
fn an_answer_is_not_held_by_a_tool_that_runs_after_it() {
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let tools = |call: &mut ToolCall<'_>| {
        if call.name() == "wait" {
            gate.lock().unwrap().recv().unwrap();
        }
        Ok("done".into())
    };
    serve(Serve::new(&CONFIG).threads(1), tools, |mut peer| {
        peer.open();
        for n in [10, 20] {
            peer.send_all(
                &[call(n, "echo", "{}"), call(n + 1, "wait", "{}"), call(n + 2, "echo", "{}")].concat(),
            );
            assert_eq!(id(&peer.line()), n);
            // The one thread is taken, and still somebody reads.
            peer.ping(n + 3);
            assert_eq!(id(&peer.line()), n + 3);
            go.send(()).unwrap();
            assert_eq!(id(&peer.line()), n + 1);
            assert_eq!(id(&peer.line()), n + 2);
        }
    })
    .unwrap();
}

#[test]
fn a_panic_is_an_error_and_the_pool_lives() {
    let tools = |call: &mut ToolCall<'_>| match call.args_json() {
        "{}" => panic!("as the test wants"),
        _ => Ok("fine".into()),
    };
    serve(Serve::new(&CONFIG).threads(1), tools, |mut peer| {
        peer.open();
        for n in 1..4 {
            peer.call(n, "echo", "{}");
            let line = peer.line();
            assert!(id(&line) == n && line.contains("-32603") && line.contains("panicked"), "{line}");
        }
        peer.call(4, "echo", r#"{"a":1}"#);
        assert!(peer.line().contains("fine"));
    })
    .unwrap();
}

#[test]
fn without_threads_every_call_is_answered_in_order() {
    let tools = |call: &mut ToolCall<'_>| Ok(call.args_json().into());
    serve(Serve::new(&CONFIG).threads(0), tools, |mut peer| {
        peer.open();
        let mut to = peer.to.try_clone().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                for n in 1..1000 {
                    let call = format!(
                        r#"{{"jsonrpc":"2.0","id":{n},"method":"tools/call","params":{{"name":"echo","arguments":{{"n":{n}}}}}}}"#
                    );
                    io::Write::write_all(&mut to, (call + "\n").as_bytes()).unwrap();
                }
            });
            for n in 1..1000 {
                let line = peer.line();
                assert!(id(&line) == n && line.contains(&format!(r#"{{\"n\":{n}}}"#)), "{line}");
            }
        });
    })
    .unwrap();
}

#[test]
fn at_the_end_of_input_accepted_calls_are_answered() {
    for threads in [0, 1, 4] {
        let (running, started) = mpsc::channel();
        let tools = |_: &mut ToolCall<'_>| {
            running.send(()).unwrap();
            Ok("done".into())
        };
        serve(Serve::new(&CONFIG).threads(threads), tools, |mut peer| {
            peer.open();
            for n in 1..11 {
                peer.call(n, "wait", "{}");
            }
            started.recv().unwrap();
            drop(peer.to);
            let mut all = String::new();
            peer.from.read_to_string(&mut all).unwrap();
            let mut ids: Vec<u32> = all.lines().map(id).collect();
            ids.sort_unstable();
            assert_eq!(ids, (1..11).collect::<Vec<_>>());
        })
        .unwrap();
    }
}

#[test]
fn the_drain_is_bounded_and_a_tool_hears_of_it() {
    let config = CONFIG.drain(Millis(50));
    let (running, started) = mpsc::channel();
    let (heard, cancelled) = mpsc::channel();
    let tools = |call: &mut ToolCall<'_>| {
        running.send(()).unwrap();
        heard.send(call.wait_cancelled(AGES)).unwrap();
        Ok("too late".into())
    };
    serve(Serve::new(&config), tools, |mut peer| {
        peer.open();
        peer.call(1, "wait", "{}");
        started.recv().unwrap();
        drop(peer.to);
        assert!(cancelled.recv().unwrap());
        let mut all = String::new();
        peer.from.read_to_string(&mut all).unwrap();
        assert!(!all.contains("too late"), "{all}");
    })
    .unwrap();
}

#[test]
fn a_peer_that_does_not_read_can_still_cancel() {
    let (running, started) = mpsc::channel();
    let (heard, cancelled) = mpsc::channel();
    let tools = |call: &mut ToolCall<'_>| match call.name() {
        // More than any pipe holds.
        "big" => Ok("x".repeat(4 << 20).into()),
        _ => {
            running.send(()).unwrap();
            heard.send(call.wait_cancelled(AGES)).unwrap();
            Ok("too late".into())
        }
    };
    serve(Serve::new(&CONFIG).threads(2), tools, |mut peer| {
        peer.open();
        peer.call(1, "big", "{}");
        peer.call(2, "wait", "{}");
        started.recv().unwrap();
        for n in 3..20 {
            peer.ping(n);
        }
        peer.cancel(2);
        assert!(cancelled.recv().unwrap());
        let mut ids: Vec<u32> = (0..18).map(|_| id(&peer.line())).collect();
        ids.sort_unstable();
        let expected: Vec<u32> = (1..20).filter(|n| *n != 2).collect();
        assert_eq!(ids, expected);
    })
    .unwrap();
}

#[test]
fn a_peer_that_goes_is_a_normal_end() {
    for threads in [0, 2] {
        let tools = |_: &mut ToolCall<'_>| Ok("x".repeat(1 << 20).into());
        serve(Serve::new(&CONFIG).threads(threads), tools, |mut peer| {
            peer.open();
            drop(peer.from);
            // The writes may meet a server that has gone: that is what a peer that goes would meet too.
            for _ in 0..20 {
                let call = concat!(
                    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big"}}"#,
                    "\n"
                );
                let _ = io::Write::write_all(&mut peer.to, call.as_bytes());
            }
        })
        .unwrap();
    }
}

#[test]
fn progress_comes_before_the_answer_and_only_if_asked_for() {
    let tools = |call: &mut ToolCall<'_>| {
        for done in 1..4 {
            call.progress(Progress { done, total: Some(3), message: None });
        }
        Ok(format!("{}", call.wants_progress()).into())
    };
    for threads in [0, 1] {
        serve(Serve::new(&CONFIG).threads(threads), tools, |mut peer| {
            peer.open();
            peer.call(1, "echo", "{}");
            assert!(peer.line().contains("false"));
            peer.send(
                r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":"p"}}}"#,
            );
            for done in 1..4 {
                let line = peer.line();
                assert!(line.contains("notifications/progress") && line.contains(&format!("\"progress\":{done}")), "{line}");
            }
            assert!(peer.line().contains("true"));
        })
        .unwrap();
    }
}

struct Text<'m>(&'m str);
impl<'m> FromArgs<'m> for Text<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut text = Err(BadArgs::new("text", "a string"));
        while let Some((key, value)) = fields.next() {
            if key == "text" {
                text = value.str("text");
            }
        }
        text.map(Self)
    }
}

#[test]
fn arguments_decode_more_than_once_and_stay_as_they_came() {
    let tools = |call: &mut ToolCall<'_>| {
        let (one, two) = (call.decode::<Text<'_>>()?, call.decode::<Text<'_>>()?);
        assert_eq!(call.args_json(), r#"{"text":"a\tb"}"#);
        Ok(format!("{}|{}", one.0, two.0).into())
    };
    serve(Serve::new(&CONFIG), tools, |mut peer| {
        peer.open();
        peer.call(1, "echo", r#"{"text":"a\tb"}"#);
        assert!(peer.line().contains(r#""a\tb|a\tb""#));
        peer.call(2, "echo", r#"{"text":5}"#);
        assert!(peer.line().contains("text must be a string"));
    })
    .unwrap();
}

#[test]
fn what_is_no_json_never_reaches_the_peer() {
    let tools = |call: &mut ToolCall<'_>| {
        Ok(match call.args_json() {
            "{}" => ToolResult::structured("{half"),
            _ => ToolResult::text("t").meta_json("[]"),
        })
    };
    serve(Serve::new(&CONFIG), tools, |mut peer| {
        peer.open();
        for (n, args) in [(1, "{}"), (2, r#"{"a":1}"#)] {
            peer.call(n, "echo", args);
            let line = peer.line();
            assert!(line.contains("-32603") && line.contains("not valid JSON"), "{line}");
        }
    })
    .unwrap();
}

struct Made(Vec<String>);
impl barewire_stdio::ToolSource for Made {
    fn tool(&self, index: usize) -> Option<Tool<'_>> {
        self.0.get(index).map(|name| Tool::new(name, "Made at run time.", r#"{"type":"object"}"#))
    }
}

#[test]
fn tools_made_at_run_time_are_listed_and_called() {
    let config = ServerConfig::new("t", "1").dynamic_tools();
    let made = Made((0..200).map(|n| format!("tool_{n}")).collect());
    let tools = |call: &mut ToolCall<'_>| match call.name() {
        name if made.0.iter().any(|made| made == name) => Ok(name.into()),
        _ => Err(Fail::Unknown),
    };
    for threads in [0, 2] {
        serve(Serve::new(&config).source(&made).threads(threads), tools, |mut peer| {
            peer.open();
            peer.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
            let line = peer.line();
            assert_eq!(line.matches("Made at run time.").count(), 200, "{line}");
            assert!(line.contains("tool_199"));
            peer.call(2, "tool_7", "{}");
            assert!(peer.line().contains("tool_7"));
            peer.call(3, "tool_200", "{}");
            assert!(peer.line().contains("-32602"));
        })
        .unwrap();
    }
}

#[cfg(feature = "serde")]
#[test]
fn arguments_decode_into_serde_types() {
    #[derive(serde::Deserialize)]
    struct Args<'m> {
        text: &'m str,
        #[serde(default)]
        times: Option<u32>,
    }
    let tools = |call: &mut ToolCall<'_>| {
        let args: Args<'_> = call.deserialize()?;
        Ok(args.text.repeat(args.times.unwrap_or(1) as usize).into())
    };
    serve(Serve::new(&CONFIG), tools, |mut peer| {
        peer.open();
        peer.call(1, "echo", r#"{"text":"a\tb","times":2}"#);
        assert!(peer.line().contains(r#""a\tba\tb""#));
        peer.call(2, "echo", r#"{"times":2}"#);
        assert!(peer.line().contains("arguments must be"));
    })
    .unwrap();
}

//! What the server's threads owe each other, with input and output that are held wherever a test wants it.

mod common;

use barewire::{Progress, ServerConfig, Tool};
use barewire_stdio::{Fail, Serve, ToolCall, ToolResult, ToolSource};
use common::{Peer, call, id};
use core::time::Duration;
use std::{
    io::{self, BufReader, PipeReader, PipeWriter, Read, Write},
    sync::{
        Condvar, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

const AGES: Duration = Duration::from_secs(60);
static TOOLS: &[Tool<'static>] =
    &[Tool::new("echo", "", r#"{"type":"object"}"#), Tool::new("wait", "", r#"{"type":"object"}"#)];
static CONFIG: ServerConfig<'static> = ServerConfig::new("t", "1").tools(TOOLS);
const PROGRESS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{},"_meta":{"progressToken":"p"}}}"#;

/// Says when somebody begins to read.
struct Told {
    reads: Sender<()>,
    from: PipeReader,
}

impl Read for Told {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let _ = self.reads.send(());
        self.from.read(buffer)
    }
}

/// Whether bytes may pass, and how many writes were begun while they might not.
#[derive(Default)]
struct Gate {
    state: Mutex<(bool, usize)>,
    changed: Condvar,
}

impl Gate {
    fn shut(&self, shut: bool) {
        *self.state.lock().unwrap() = (shut, 0);
        self.changed.notify_all();
    }

    /// Until somebody stands before it.
    fn somebody_waits(&self) {
        drop(self.changed.wait_while(self.state.lock().unwrap(), |state| state.1 == 0).unwrap());
    }
}

struct Gated<'g> {
    gate: &'g Gate,
    to: PipeWriter,
}

impl Write for Gated<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.gate.state.lock().unwrap();
        state.1 += 1;
        self.gate.changed.notify_all();
        drop(self.gate.changed.wait_while(state, |state| state.0).unwrap());
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The peer, and what it can't see.
struct Test<'g> {
    peer: Peer,
    gate: &'g Gate,
    reads: Receiver<()>,
}

impl Test<'_> {
    /// Sends, and waits until somebody wants to read more than that: he who reads now was told of before.
    fn read_by_server(&mut self, lines: &str) {
        self.peer.send_all(lines);
        self.reads.recv().unwrap();
    }

    /// From here on nothing passes until the gate is opened.
    fn opened(&mut self) {
        self.reads.recv().unwrap();
        self.read_by_server(concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
            "\n"
        ));
        assert_eq!(id(&self.peer.line()), 0);
        self.read_by_server("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        self.gate.shut(true);
    }
}

fn serve(
    serve: Serve<'_>,
    tools: impl Fn(&mut ToolCall<'_>) -> Result<ToolResult, Fail> + Sync + Send,
    talk: impl FnOnce(Test<'_>),
) {
    let (read, to) = io::pipe().unwrap();
    let (from, write) = io::pipe().unwrap();
    let (reads, told) = channel();
    let gate = Gate::default();
    thread::scope(|scope| {
        let output = Gated { gate: &gate, to: write };
        let server = scope.spawn(move || serve.run_over(Told { reads, from: read }, output, tools));
        let mut test = Test { peer: Peer { to, from: BufReader::new(from) }, gate: &gate, reads: told };
        test.opened();
        talk(test);
        server.join().unwrap().unwrap();
    });
}

fn ping(id: u32) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")
}

fn cancel(id: u32) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
    )
}

#[test]
fn calls_in_a_batch_are_answered() {
    for threads in [0, 1, 4] {
        for calls in 1..5 {
            serve(
                Serve::new(&CONFIG).threads(threads),
                |_| Ok("done".into()),
                |mut test| {
                    test.gate.shut(false);
                    for round in 0..50 {
                        let batch: Vec<_> = (0..calls)
                            .map(|n| call(10 * round + n, "echo", "{}").trim().to_owned())
                            .collect();
                        test.peer.send(&format!("[{},{}]", batch.join(","), ping(10 * round + 9).trim()));
                        assert_eq!(id(&test.peer.line()), 10 * round + 9);
                        let mut ids: Vec<_> = (0..calls).map(|_| id(&test.peer.line())).collect();
                        ids.sort_unstable();
                        assert_eq!(ids, (0..calls).map(|n| 10 * round + n).collect::<Vec<_>>());
                    }
                },
            );
        }
    }
}

#[test]
fn a_cancel_is_heard_while_all_tools_run_and_a_write_is_held() {
    let (running, started) = channel();
    let (heard, cancelled) = channel();
    let tools = |call: &mut ToolCall<'_>| {
        if call.name() == "wait" {
            running.send(()).unwrap();
            heard.send(call.wait_cancelled(AGES)).unwrap();
        }
        Ok("done".into())
    };
    serve(Serve::new(&CONFIG).threads(1), tools, |mut test| {
        test.peer.call(1, "echo", "{}");
        test.gate.somebody_waits();
        test.peer.call(2, "wait", "{}");
        started.recv().unwrap();
        test.peer.cancel(2);
        assert!(cancelled.recv().unwrap());
        test.gate.shut(false);
        assert_eq!(id(&test.peer.line()), 1);
    });
}

#[test]
fn calls_that_waited_for_the_peer_run_when_it_has_read() {
    let (running, started) = channel();
    let (go, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    let (heard, cancelled) = channel();
    let (end, ended) = channel::<()>();
    let ended = Mutex::new(ended);
    let tools = |call: &mut ToolCall<'_>| match (call.name(), call.args_json()) {
        ("echo", _) => Ok("done".into()),
        (_, "{}") => {
            call.progress(Progress { done: 1, total: None, message: None });
            running.send(()).unwrap();
            gate.lock().unwrap().recv().unwrap();
            Ok("x".repeat(50_000).into())
        }
        _ => {
            running.send(()).unwrap();
            heard.send(call.wait_cancelled(AGES)).unwrap();
            ended.lock().unwrap().recv().unwrap();
            Ok("too late".into())
        }
    };
    serve(Serve::new(&CONFIG).threads(2), tools, |mut test| {
        test.peer.call(2, "wait", r#"{"a":1}"#);
        started.recv().unwrap();
        test.peer.send(PROGRESS);
        started.recv().unwrap();
        // The progress is being written. The answer waits behind it, and no tool starts.
        test.gate.somebody_waits();
        go.send(()).unwrap();
        // Until the answer is there it is not known that the calls will have to wait; if they need not, nothing is lost.
        thread::sleep(Duration::from_millis(50));
        test.peer.send_all(&[call(3, "echo", "{}"), call(4, "echo", "{}"), cancel(2)].concat());
        assert!(cancelled.recv().unwrap());
        test.gate.shut(false);
        assert!(test.peer.line().contains("notifications/progress"));
        for answer in [1, 3, 4] {
            assert_eq!(id(&test.peer.line()), answer);
        }
        end.send(()).unwrap();
    });
}

#[test]
fn what_was_read_while_the_peer_was_behind_is_served_while_a_tool_runs() {
    let (running, started) = channel();
    let (go, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    let tools = |call: &mut ToolCall<'_>| {
        if call.name() == "wait" {
            running.send(()).unwrap();
            gate.lock().unwrap().recv().unwrap();
        }
        Ok("x".repeat(100_000).into())
    };
    serve(Serve::new(&CONFIG).threads(3), tools, |mut test| {
        test.peer.call(1, "echo", "{}");
        test.gate.somebody_waits();
        test.peer.call(2, "echo", "{}");
        // The second answer is there when its tool has ended and somebody reads again, at the latest when this is read.
        test.read_by_server("\n");
        test.read_by_server("\n");
        thread::sleep(Duration::from_millis(50));
        // There is no room for it, so it stays in the machine, and what is behind it.
        test.read_by_server(&[call(3, "wait", "{}"), ping(4)].concat());
        thread::sleep(Duration::from_millis(50));
        test.gate.shut(false);
        assert_eq!(id(&test.peer.line()), 1);
        assert_eq!(id(&test.peer.line()), 2);
        started.recv().unwrap();
        assert_eq!(id(&test.peer.line()), 4);
        go.send(()).unwrap();
        assert_eq!(id(&test.peer.line()), 3);
    });
}

struct Made;
impl ToolSource for Made {
    fn tool(&self, index: usize) -> Option<Tool<'_>> {
        (index < 3).then_some(Tool::new("wait", "", r#"{"type":"object"}"#))
    }
}

#[test]
fn a_list_that_waits_behind_progress_is_answered_while_the_tool_runs() {
    let (running, started) = channel();
    let (go, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    let tools = |call: &mut ToolCall<'_>| {
        for done in 1..3 {
            call.progress(Progress { done, total: None, message: None });
            running.send(()).unwrap();
            gate.lock().unwrap().recv().unwrap();
        }
        Ok("done".into())
    };
    let config = ServerConfig::new("t", "1").dynamic_tools();
    serve(Serve::new(&config).source(&Made).threads(1), tools, |mut test| {
        test.read_by_server(&(PROGRESS.to_owned() + "\n"));
        started.recv().unwrap();
        test.gate.somebody_waits();
        go.send(()).unwrap();
        started.recv().unwrap();
        // Behind it is a progress that nobody writes yet.
        test.read_by_server("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/list\"}\n");
        test.gate.shut(false);
        assert!(test.peer.line().contains("\"progress\":1"));
        assert!(test.peer.line().contains("\"progress\":2"));
        assert_eq!(id(&test.peer.line()), 5);
        go.send(()).unwrap();
        assert_eq!(id(&test.peer.line()), 1);
    });
}

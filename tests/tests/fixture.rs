//! Every tool of the fixture server, over real pipes, in every revision: each line in both directions is judged.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use barewire_tests::schema::{Checker, Direction};
use serde_json::{Value, json};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN: &str = "2026-07-28";

/// A session whose every line is judged as it passes.
struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    checker: Checker,
    revision: &'static str,
    next: u64,
}

impl Session {
    fn open(revision: &'static str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fixture-server"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut session = Self { child, stdin, stdout, checker: Checker::new(revision), revision, next: 0 };
        if revision == MODERN {
            session.ask("server/discover", json!({}));
        } else {
            let client = json!({"name": "t", "version": "1"});
            let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
            let answer = session.ask("initialize", params);
            assert_eq!(answer["result"]["protocolVersion"], revision);
            session.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        session
    }

    fn write(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.checker.line(Direction::ToServer, line.as_bytes()).unwrap();
        self.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    /// Sends a request; modern ones bring their claim.
    fn send(&mut self, method: &str, mut params: Value) -> u64 {
        if self.revision == MODERN {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "t", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        self.next += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the server closed its output");
        self.checker.line(Direction::ToClient, line.as_bytes()).unwrap_or_else(|wrong| panic!("{wrong}"));
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.read();
        assert_eq!(answer["id"], id);
        answer
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Ends the input; gives how many more lines came.
    fn close(mut self) -> usize {
        drop(self.stdin.take());
        let (mut rest, mut lines) = (String::new(), 0);
        while self.stdout.read_line(&mut rest).unwrap() > 0 {
            self.checker.line(Direction::ToClient, rest.as_bytes()).unwrap();
            rest.clear();
            lines += 1;
        }
        assert!(self.child.wait().unwrap().success());
        lines
    }
}

fn all() -> impl Iterator<Item = &'static str> {
    LEGACY.into_iter().chain([MODERN])
}

#[test]
fn every_tool_answers_in_every_revision() {
    for revision in all() {
        let mut session = Session::open(revision);
        let tools = session.ask("tools/list", json!({}));
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 13);
        for (tool, arguments, text) in [
            ("echo", json!({"text": "ж🦀\u{2028}\"\\\n\0"}), "ж🦀\u{2028}\"\\\n\0"),
            ("noargs", json!({}), "nothing taken"),
            ("slow", json!({"ms": 1}), "slept"),
            ("bytes", json!({"n": 5}), "bbbbb"),
            ("rawbytes", json!({"hex": "41ff"}), "A\u{fffd}"),
            ("touch_tools", json!({}), "touched"),
            (
                "typed",
                json!({"s": "x", "n": 1.5, "o": {"a": 1}, "l": [1, 2], "b": true}),
                "b=true l=2 elements n=1.5 o=1 members s=x",
            ),
        ] {
            let answer = session.call(tool, &arguments);
            assert_eq!(answer["result"]["content"][0]["text"], text, "{revision} {tool}: {answer}");
        }
        assert_eq!(session.call("fail", &json!({}))["result"]["isError"], true);
        assert_eq!(
            session.call("bytes", &json!({"n": 200_000}))["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .len(),
            200_000
        );
        session.close();
    }
}

#[test]
fn structured_results_also_stand_as_text_and_only_newer_peers_get_the_member() {
    let given = json!({"x": null, "deep": [{"n": 12_345_678_901_234_567_890_u64}]});
    for revision in all() {
        let mut session = Session::open(revision);
        let result = session.call("echo_json", &given)["result"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), given);
        let newer = !["2024-11-05", "2025-03-26"].contains(&revision);
        assert_eq!(result.get("structuredContent"), newer.then_some(&given), "{revision}");
        session.close();
    }
}

#[test]
fn wrong_arguments_and_tools_fail_as_the_revision_wants() {
    for revision in all() {
        let mut session = Session::open(revision);
        let bad = session.call("echo", &json!({"text": 7}));
        if revision >= "2025-11-25" {
            assert_eq!(bad["result"]["isError"], true, "{bad}");
        } else {
            assert_eq!(bad["error"]["code"], -32602, "{bad}");
        }
        assert_eq!(session.call("no_such_tool", &json!({}))["error"]["code"], -32602);
        let id = session.send("no/such", json!({}));
        let answer = session.read();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32601), &json!(id)));
        session.close();
    }
}

#[test]
fn progress_comes_only_when_asked_for_and_only_rising() {
    for revision in all() {
        let mut session = Session::open(revision);
        let arguments = json!({"values": [3, 1, 2, 3, 7, 5]});
        let silent = session.call("progress_bad", &arguments);
        assert_eq!(silent["result"]["content"][0]["text"], "told");
        for token in [json!(0), json!(""), json!("t")] {
            let params =
                json!({"name": "progress_bad", "arguments": arguments, "_meta": {"progressToken": token}});
            let id = session.send("tools/call", params);
            for done in [3, 7] {
                let params = session.read()["params"].clone();
                assert_eq!((&params["progress"], &params["progressToken"]), (&json!(done), &token));
            }
            assert_eq!(session.read()["id"], id);
        }
        session.close();
    }
}

#[test]
fn prints_of_tools_and_their_children_never_reach_the_peer() {
    for revision in all() {
        let mut session = Session::open(revision);
        let answer = session.call("printf_noise", &json!({}));
        assert!(answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("printed"), "{answer}");
        session.close();
    }
}

#[test]
fn a_cancelled_call_is_never_answered_and_others_go_on() {
    for revision in all() {
        let mut session = Session::open(revision);
        let id = session.send("tools/call", json!({"name": "hang", "arguments": {}}));
        assert_eq!(session.call("noargs", &json!({}))["result"]["content"][0]["text"], "nothing taken");
        session.write(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
        );
        assert_eq!(session.call("noargs", &json!({}))["result"]["content"][0]["text"], "nothing taken");
        assert_eq!(session.close(), 0);
    }
}

#[test]
fn calls_beyond_the_queue_are_refused_as_busy() {
    let mut session = Session::open("2025-11-25");
    let hanging: Vec<u64> =
        (0..68).map(|_| session.send("tools/call", json!({"name": "hang", "arguments": {}}))).collect();
    let refused = session.call("noargs", &json!({}));
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    assert_eq!(session.ask("ping", json!({}))["result"], json!({}));
    for id in hanging {
        session.write(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
        );
    }
    // Threads notice a cancel by themselves: until one has, the queue may still be full.
    let mut tries = (0..1000).map(|_| session.call("noargs", &json!({})));
    assert!(tries.any(|answer| answer["result"].is_object()));
    drop(tries);
    session.close();
}

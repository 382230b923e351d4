//! What no test from outside can bring about: a thread that can't be had.

use super::*;
use std::{
    io::{BufRead, BufReader},
    sync::{Mutex, mpsc},
};

#[test]
fn with_the_first_workers_alone_calls_wait_for_each_other_and_all_else_goes_on() {
    const TOOLS: &[Tool<'static>] = &[Tool::new("wait", "", r#"{"type":"object"}"#)];
    let config = ServerConfig::new("t", "1").tools(TOOLS);
    let limits = Limits { calls: 8, ..Limits::default() };
    let (from, mut to_server) = io::pipe().unwrap();
    let (from_server, to) = io::pipe().unwrap();
    let server = Server::new(&config, Buffers::growing(limits));
    let shared = Shared::new(server, (from, to), None, 4, |_| false, Duration::from_secs(60));
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let tool = |_: &Job, _: &mut Copies, _: &Flag, _: &dyn Line| {
        crate::lock(&gate).recv().unwrap();
        Answer::new(Ok(ToolResult::text("done")))
    };
    thread::scope(|scope| {
        let (shared, tool, refused) = (&shared, &tool, Mutex::new(0));
        let spawn = |worker| {
            if worker >= 3 {
                *crate::lock(&refused) += 1;
                return Err(io::ErrorKind::WouldBlock.into());
            }
            thread::Builder::new().spawn_scoped(scope, move || shared.serve(worker, tool)).map(drop)
        };
        scope.spawn(move || {
            let mut lines = BufReader::new(from_server).lines();
            let mut ask = |line: String| writeln!(to_server, "{line}").unwrap();
            let mut heard = || lines.next().unwrap().unwrap();
            ask(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#.into());
            heard();
            ask(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into());
            for id in 1..=3 {
                ask(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"wait"}}}}"#));
            }
            for ping in 4..=20 {
                ask(format!(r#"{{"jsonrpc":"2.0","id":{ping},"method":"ping"}}"#));
                assert_eq!(heard(), format!(r#"{{"jsonrpc":"2.0","id":{ping},"result":{{}}}}"#));
            }
            for id in 1..=3 {
                go.send(()).unwrap();
                let answer = heard();
                assert!(answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result""#)), "{answer}");
            }
        });
        shared.start(spawn).unwrap();
        assert!(matches!(shared.watch(spawn), Ok(pool::Over::Ended)));
        assert!(shared.finish(Duration::from_secs(60), spawn));
        assert!(*crate::lock(&refused) <= 1, "what can't be had is asked for once");
    });
    shared.into_result().unwrap();
}

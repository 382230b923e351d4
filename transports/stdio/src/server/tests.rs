//! What no test from outside can bring about: a thread that can't be had, and the moment at which the watching thread sleeps.

use super::*;
use std::{
    io::{BufRead, BufReader, Lines, PipeReader, PipeWriter},
    sync::{
        Mutex,
        mpsc::{Sender, channel},
    },
};

/// Who asks.
struct Peer<'p, 's> {
    shared: &'p Shared<'s, PipeReader, PipeWriter>,
    to: PipeWriter,
    from: Lines<BufReader<PipeReader>>,
    /// Lets a call of `wait` end.
    go: Sender<()>,
}

impl Peer<'_, '_> {
    fn ask(&mut self, message: &str) {
        writeln!(self.to, r#"{{"jsonrpc":"2.0",{message}}}"#).unwrap();
    }

    fn call(&mut self, id: u8, tool: &str) {
        self.ask(&format!(r#""id":{id},"method":"tools/call","params":{{"name":"{tool}"}}"#));
    }

    fn hears_of(&mut self, id: u8) {
        let answer = self.from.next().unwrap().unwrap();
        assert!(answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result""#)), "{answer}");
    }
}

/// A server of four threads, of which not more workers than `most` can be had. Returns how often one could not.
fn serve(most: usize, peer: impl FnOnce(&mut Peer<'_, '_>) + Send) -> usize {
    const ANY: &str = r#"{"type":"object"}"#;
    const TOOLS: &[Tool<'static>] = &[Tool::new("wait", "", ANY), Tool::new("quick", "", ANY)];
    const AGES: Duration = Duration::from_secs(60);
    let config = ServerConfig::new("t", "1").tools(TOOLS);
    let server = Server::new(&config, Buffers::growing(Limits { calls: 8, ..Limits::default() }));
    let ((from, to_server), (from_server, to)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let shared = Shared::new(server, (from, to), None, 4, |_| false, AGES);
    let (go, gate) = channel();
    let (gate, refused) = (Mutex::new(gate), Mutex::new(0));
    let tool = |job: &Job, _: &mut Copies, _: &Flag, _: &dyn Line| {
        if job.name == "wait" {
            crate::lock(&gate).recv().unwrap();
        }
        Answer::new(Ok(ToolResult::text("done")))
    };
    thread::scope(|scope| {
        let (shared, tool, refused) = (&shared, &tool, &refused);
        let spawn = |worker| {
            if worker >= most {
                *crate::lock(refused) += 1;
                return Err(io::ErrorKind::WouldBlock.into());
            }
            thread::Builder::new().spawn_scoped(scope, move || shared.serve(worker, tool)).map(drop)
        };
        scope.spawn(move || {
            let mut it = Peer { shared, to: to_server, from: BufReader::new(from_server).lines(), go };
            it.ask(r#""id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#);
            it.hears_of(0);
            it.ask(r#""method":"notifications/initialized""#);
            peer(&mut it);
        });
        shared.start(spawn).unwrap();
        assert!(matches!(shared.watch(spawn), Ok(pool::Over::Ended)));
        assert!(shared.finish(AGES, spawn));
    });
    shared.into_result().unwrap();
    refused.into_inner().unwrap()
}

#[test]
fn with_the_first_workers_alone_calls_wait_for_each_other_and_all_else_goes_on() {
    let refused = serve(3, |peer| {
        for id in 1..=3 {
            peer.call(id, "wait");
        }
        for ping in 4..=20 {
            peer.ask(&format!(r#""id":{ping},"method":"ping""#));
            peer.hears_of(ping);
        }
        for id in 1..=3 {
            peer.go.send(()).unwrap();
            peer.hears_of(id);
        }
    });
    assert!(refused <= 1, "what can't be had is asked for once");
}

#[test]
fn a_call_that_comes_long_after_one_that_still_runs_gets_a_worker() {
    serve(usize::MAX, |peer| {
        for (id, quick) in [(1, 5), (2, 6), (3, 7)] {
            peer.call(id, "wait");
            while !peer.shared.is_unwatched() {
                thread::yield_now();
            }
            peer.call(quick, "quick");
            peer.hears_of(quick);
        }
        for _ in 1..=3 {
            peer.go.send(()).unwrap();
        }
        let mut left: Vec<String> = (0..3).map(|_| peer.from.next().unwrap().unwrap()).collect();
        left.sort();
        for (answer, id) in left.iter().zip(1..) {
            assert!(answer.contains(&format!(r#""id":{id},"result""#)), "{answer}");
        }
    });
}

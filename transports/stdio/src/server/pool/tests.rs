//! What no test from outside can bring about: a thread that can't be had, and the moment at which the watching thread sleeps.

use super::{pause::WINDOW, *};
use barewire::{Buffers, Limits, ServerConfig, Tool, owned::ToolResult};
use std::{
    io::{BufRead, BufReader, Lines, PipeReader, PipeWriter},
    sync::mpsc::{Sender, channel},
    thread,
};

const ANY: &str = r#"{"type":"object"}"#;
const TOOLS: &[Tool<'static>] = &[Tool::new("wait", "", ANY), Tool::new("quick", "", ANY)];
const INITIALIZE: &str = r#""id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;
const INITIALIZED: &str = r#""method":"notifications/initialized""#;

fn line(message: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",{message}}}\n")
}

fn call(id: u8, tool: &str) -> String {
    format!(r#""id":{id},"method":"tools/call","params":{{"name":"{tool}"}}"#)
}

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
        self.to.write_all(line(message).as_bytes()).unwrap();
    }

    fn call(&mut self, id: u8, tool: &str) {
        self.ask(&call(id, tool));
    }

    fn hears_of(&mut self, id: u8) {
        let answer = self.from.next().unwrap().unwrap();
        assert!(answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result""#)), "{answer}");
    }
}

/// A server of four threads, of which not more workers than `most` can be had. Returns how often one could not.
fn serve(most: usize, peer: impl FnOnce(&mut Peer<'_, '_>) + Send) -> usize {
    const AGES: Duration = Duration::from_secs(60);
    let config = ServerConfig::new("t", "1").tools(TOOLS);
    let server = Server::new(&config, Buffers::growing(Limits { calls: 8, ..Limits::default() }));
    let ((from, to_server), (from_server, to)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let shared = Shared::new(server, (from, to), None, (4, 8), |_| false, AGES);
    let (go, gate) = channel();
    let (gate, refused) = (Mutex::new(gate), Mutex::new(0));
    let tool = |job: &Job, _: &mut Copies, _: &Flag, _: &dyn Line| {
        if job.name == "wait" {
            lock(&gate).recv().unwrap();
        }
        Answer::new(Ok(ToolResult::text("done")))
    };
    thread::scope(|scope| {
        let (shared, tool, refused) = (&shared, &tool, &refused);
        let spawn = |worker| {
            if worker >= most {
                *lock(refused) += 1;
                return Err(io::ErrorKind::WouldBlock.into());
            }
            thread::Builder::new().spawn_scoped(scope, move || shared.serve(worker, tool)).map(drop)
        };
        scope.spawn(move || {
            let mut it = Peer { shared, to: to_server, from: BufReader::new(from_server).lines(), go };
            it.ask(INITIALIZE);
            it.hears_of(0);
            it.ask(INITIALIZED);
            peer(&mut it);
        });
        shared.start(spawn).unwrap();
        assert!(matches!(shared.watch(spawn), Ok(Over::Ended)));
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
            while !lock(&peer.shared.state).unwatched {
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

type Still<'s> = Shared<'s, io::Empty, io::Sink>;
type StillState<'s> = State<'s, io::Empty, io::Sink>;

/// So many calls lie there, at four threads and a queue for one. The first runs, in the first of the workers. Then `then`.
fn one_runs_of(calls: u8, then: impl for<'s> FnOnce(&Still<'s>, &mut StillState<'s>)) {
    let config = ServerConfig::new("t", "1").tools(TOOLS).refuse_when_full();
    let server = Server::new(&config, Buffers::growing(Limits { calls: 5, ..Limits::default() }));
    let shared = Shared::new(server, (io::empty(), io::sink()), None, (4, 5), |_| false, Duration::ZERO);
    shared.start(|_| Ok(())).unwrap();
    let mut state = lock(&shared.state);
    let calls = (1..=calls).map(|id| call(id, "quick"));
    for message in [INITIALIZE.to_owned(), INITIALIZED.to_owned()].into_iter().chain(calls) {
        let line = line(&message);
        assert_eq!(state.server.feed(line.as_bytes()), line.len());
    }
    let first = shared.next(&mut state).unwrap();
    state.running.push((first.id, 0));
    assert!(shared.next(&mut state).is_none());
    assert_eq!(state.jobs.len(), 3, "as many are taken as may run at once");
    assert!(Shared::is_taken(&state), "nobody reads on");
    then(&shared, &mut state);
}

/// The threads that are missing are had, and three more calls run in them.
fn four_run<'s>(shared: &Still<'s>, state: &mut StillState<'s>) {
    shared.grow(state, &mut |_| Ok(()));
    assert_eq!(state.started, 6);
    for worker in 1..4 {
        let job = shared.next(state).unwrap();
        state.running.push((job.id, worker));
    }
    assert!(shared.next(state).is_none());
}

/// The call that runs longest ends.
fn one_ends<'s>(shared: &Still<'s>, state: &mut StillState<'s>) {
    let (id, _) = state.running.remove(0);
    Answer::new(Ok(ToolResult::text("done"))).write(state.server.resume(id).unwrap()).unwrap();
    shared.ended(state);
}

fn refused(state: &StillState<'_>) -> usize {
    String::from_utf8_lossy(state.server.output()).matches("busy").count()
}

/// So many calls lie there, and four run. Then `then`.
fn four_run_of(calls: u8, then: impl for<'s> FnOnce(&Still<'s>, &mut StillState<'s>, &mut Pause)) {
    one_runs_of(calls, |shared, state| {
        four_run(shared, state);
        let mut pause = Pause::new(state);
        then(shared, state, &mut pause);
    });
}

/// Looks every [`TICK`], until `ticks` later.
fn look<'s>(shared: &Still<'s>, state: &mut StillState<'s>, pause: &mut Pause, ticks: u32) {
    for _ in 0..ticks {
        let now = pause.looked + TICK;
        shared.look_at_pause(state, pause, now);
    }
}

const TICKS: u32 = (WINDOW.as_nanos() / TICK.as_nanos()) as u32;

#[test]
fn where_the_queue_is_full_no_call_is_refused_while_calls_end_quickly() {
    four_run_of(65, |shared, state, pause| {
        for _ in 0..60 {
            assert!(shared.is_paused(state) && shared.holds(state));
            assert_eq!((state.jobs.len(), refused(state)), (1, 0));
            // 25 end in time. Then one more of those that lie there has room.
            look(shared, state, pause, TICKS / 25);
            one_ends(shared, state);
            let job = shared.next(state).unwrap();
            state.running.push((job.id, 0));
            assert!(shared.next(state).is_none());
        }
        assert_eq!((state.jobs.len(), refused(state)), (1, 0), "60 have ended, four run, one waits");
    });
}

#[test]
fn what_has_no_room_is_refused_once_calls_end_slowly() {
    four_run_of(9, |shared, state, pause| {
        look(shared, state, pause, TICKS - 1);
        assert!(shared.next(state).is_none());
        assert_eq!(refused(state), 0);
        one_ends(shared, state);
        look(shared, state, pause, 1);
        assert!(!shared.holds(state), "one in this time is slow");
        // It makes room for one more.
        let job = shared.next(state).unwrap();
        state.running.push((job.id, 0));
        assert!(shared.next(state).is_none());
        assert_eq!((state.jobs.len(), refused(state)), (1, 3));
        // What comes next is not held up, full as it is.
        look(shared, state, pause, 2 * TICKS);
        assert!(shared.is_full(state) && !shared.holds(state));
        // Until much of it is empty: then calls may be quick.
        (0..2).for_each(|_| one_ends(shared, state));
        look(shared, state, pause, 1);
        assert!(state.stalled);
        one_ends(shared, state);
        look(shared, state, pause, 1);
        assert!(!state.stalled);
    });
}

#[test]
fn time_in_which_nobody_looked_is_not_counted() {
    four_run_of(8, |shared, state, pause| {
        for _ in 0..2 {
            let later = pause.looked + 60 * WINDOW;
            shared.look_at_pause(state, pause, later);
        }
        assert!(shared.is_paused(state), "the watching thread slept, or had no processor");
    });
}

#[test]
fn no_more_calls_are_taken_than_run_at_once_before_there_are_workers_for_them() {
    one_runs_of(5, |shared, state| {
        four_run(shared, state);
        assert_eq!(state.jobs.len(), 1, "four run, the fifth waits");
        assert!(!Shared::is_taken(state));
    });
}

#[test]
fn where_no_thread_can_be_had_calls_are_taken_all_the_same() {
    one_runs_of(5, |shared, state| {
        shared.grow(state, &mut |_| Err(io::ErrorKind::WouldBlock.into()));
        assert!(!Shared::is_taken(state));
        assert!(shared.next(state).is_none());
        assert_eq!(state.jobs.len(), 4);
    });
}

//! A channel without an end: each client finds the line as the one before left it.

use barewire_testkit::{Claims, End, Link, Outcome, PipeWriter, Suite, duplex, pipe, serve};
use core::time::Duration;
use std::{
    io::{self, Read, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

/// A server that is never ended, the way to it, and who listens to it now.
struct Line {
    to_server: Arc<Mutex<PipeWriter>>,
    listener: Arc<Mutex<Option<PipeWriter>>>,
}

/// Gives the line up when it is dropped; what was half written stays half written.
struct Half(Arc<Mutex<PipeWriter>>, Arc<Mutex<Option<PipeWriter>>>);

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    fn new() -> Self {
        let ((up, to_server), (mut from_server, down)) = (pipe(1 << 16), pipe(1 << 16));
        thread::spawn(move || serve(up, down));
        let listener = Arc::<Mutex<Option<PipeWriter>>>::default();
        let current = Arc::clone(&listener);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = from_server.read(&mut bytes) {
                if let Some(listener) = &mut *lock(&current) {
                    // One that has gone hears no more.
                    let _ = listener.write_all(&bytes[..n]);
                }
            }
        });
        Self { to_server: Arc::new(Mutex::new(to_server)), listener }
    }

    fn connect(&self, ends_the_line_before: bool) -> io::Result<Link> {
        // There is one at a time: the one before is just giving up.
        while lock(&self.listener).is_some() {
            thread::sleep(Duration::from_millis(1));
        }
        let (heard, listener) = pipe(1 << 20);
        *lock(&self.listener) = Some(listener);
        if ends_the_line_before {
            lock(&self.to_server).write_all(b"\n")?;
        }
        Ok(Link::to_server(End::stream(heard, Half(Arc::clone(&self.to_server), Arc::clone(&self.listener)))))
    }
}

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        *lock(&self.1) = None;
    }
}

#[test]
fn what_one_client_leaves_must_not_harm_the_next() {
    let claims = Claims::stream().single().endless();
    let line = Line::new();
    let suite = Suite::new(claims).without("memory").without("shutdown");
    let report = suite.run(|| line.connect(true));
    report.assert_passed();
    assert_eq!(report.passed(), 13, "{report}");
    for name in ["half-close", "release"] {
        assert!(matches!(report.outcome(name), Some(Outcome::Skipped(_))), "{report}");
    }

    let line = Line::new();
    let suite = Suite::new(claims).only("abrupt-close").patience(Duration::from_secs(2));
    let report = suite.run(|| line.connect(false));
    let Some(Outcome::Failed(what)) = report.outcome("abrupt-close") else { panic!("{report}") };
    assert!(what.contains("a client died after byte 1 of"), "{what}");
}

#[test]
fn a_server_that_cannot_be_ended_is_not_run_by_the_suite() {
    let report = Suite::new(Claims::stream().endless()).only("concurrency").run(|| Ok(duplex(100)));
    assert!(report.to_string().contains("hand over `Link::to_server`"), "{report}");
}

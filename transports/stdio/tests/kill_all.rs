//! `kill_all`, in a process of its own: it would end the children of other tests.
#![cfg(target_os = "linux")]

mod common;

use barewire_stdio::{CallError, StartError, Trace};
use common::{CLIENT, assert_reaped, assert_within, fixture, script};
use core::time::Duration;
use std::{sync::mpsc, thread, time::Instant};

#[test]
fn all_children_end_and_calls_hear_of_it() {
    let started = Instant::now();
    let bin = env!("CARGO_BIN_EXE_barewire-stdio-fixture");
    let polite = fixture("serve").start(&CLIENT).unwrap();
    let stubborn = script(&format!("trap '' TERM; exec {bin} ignores-end")).start(&CLIENT).unwrap();
    thread::scope(|scope| {
        let call = scope.spawn(|| stubborn.call("hang", "{}"));
        // One that is still probed ends as others that do not know the probe: it must not be started once more.
        let (told, seen) = mpsc::channel();
        let probed = script("exec sleep 60").trace(move |trace| {
            if let Trace::Started { .. } = trace {
                told.send(()).unwrap();
            }
        });
        let start = scope.spawn(|| probed.start(&CLIENT).unwrap_err());
        seen.recv().unwrap();
        barewire_stdio::kill_all(Duration::from_millis(200));
        assert_reaped(polite.pid().unwrap());
        assert_reaped(stubborn.pid().unwrap());
        assert!(matches!(call.join().unwrap(), Err(CallError::Exited { .. })));
        let error = start.join().unwrap();
        assert!(matches!(error, StartError::Exited { restarted: false, .. }), "{error}");
        assert!(seen.recv().is_err(), "started again");
        let error = fixture("serve").start(&CLIENT).unwrap_err();
        assert!(error.to_string().contains("none is started any more"), "{error}");
    });
    assert_within(started, 20);
}

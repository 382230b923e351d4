//! `kill_all`, in a process of its own: it would end the children of other tests.
#![cfg(target_os = "linux")]

mod common;

use barewire_stdio::CallError;
use common::{CLIENT, assert_reaped, assert_within, fixture, script};
use core::time::Duration;
use std::{thread, time::Instant};

#[test]
fn all_children_end_and_calls_hear_of_it() {
    let started = Instant::now();
    let bin = env!("CARGO_BIN_EXE_barewire-stdio-fixture");
    let polite = fixture("serve").start(&CLIENT).unwrap();
    let stubborn = script(&format!("trap '' TERM; exec {bin} ignores-end")).start(&CLIENT).unwrap();
    thread::scope(|scope| {
        let call = scope.spawn(|| stubborn.call("hang", "{}"));
        barewire_stdio::kill_all(Duration::from_millis(200));
        assert_reaped(polite.pid().unwrap());
        assert_reaped(stubborn.pid().unwrap());
        assert!(matches!(call.join().unwrap(), Err(CallError::Exited { .. })));
    });
    assert_within(started, 20);
}

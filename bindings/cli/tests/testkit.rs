//! `barewire testkit`: relays from outside.
#![cfg(unix)]

mod common;

use common::{barewire, scratch};
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

/// A relay in a line of shell; `"$@"` is the server's command.
fn relay(folder: &Path, name: &str, line: &str) -> String {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{line}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_good_relay_passes_and_a_bad_one_is_told_what_to_fix() {
    let folder = scratch("testkit");
    let good = relay(&folder, "good", "cat | \"$@\" | cat");
    let quick = ["--only", "concurrency", "--only", "half-close", "--only", "handshake-legacy"];
    let run = barewire(&[&["testkit", "--through", &good][..], &quick].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.contains("3 passed, 0 failed, 0 skipped"), "{}", run.out);

    // The first word behind the relay's own is its argument; it lets only so many bytes pass.
    let bad = relay(&folder, "bad", "n=$1; shift; head -c $n | \"$@\"");
    let run =
        barewire(&["testkit", "--through", &format!("{bad} 900"), "--only", "pipelining", "--patience", "5"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.out.contains("FAILED   pipelining") && run.out.contains("what to fix:"), "{}", run.out);
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let run = barewire(&["testkit", "--through", "/no/such/relay"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains("/no/such/relay"), "{}", run.err);
    assert_eq!(barewire(&["testkit"]).code, Some(2));
    assert_eq!(barewire(&["testkit", "--through", "x", "--only", "speed"]).code, Some(2));
    assert_eq!(barewire(&["testkit", "--through", "x", "--claims", "stream,fast"]).code, Some(2));
    let run = barewire(&["testkit", "--list"]);
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 20));
}

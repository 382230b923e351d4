//! Ctrl-C in a program that only asked for `exit_on_signals`.
#![cfg(target_os = "linux")]

mod common;

use common::assert_ended;
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

#[test]
fn an_interrupted_program_ends_its_children_and_says_130() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        // What a script runs in the background ignores Ctrl-C, and so do its children, this test among them.
        let mut program = Command::new("env")
            .args(["--default-signal=INT,HUP", env!("CARGO_BIN_EXE_barewire-stdio-fixture"), "hosts"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let child: u32 = line.trim().parse().unwrap();
        Command::new("kill").args([signal, &program.id().to_string()]).status().unwrap();
        assert_eq!(program.wait().unwrap().code(), Some(code));
        assert_ended(child);
    }
}

//! The whole run: `peers -- --write` for the page, `peers -- mine FILE` for your own traffic, `peers -- --help` for the rest.

use std::process::ExitCode;

use barewire_benches::{count::Counting, mine, report};
use barewire_benches_peers::rows;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.peek().is_some_and(|word| word == "mine") {
        return mine::main(rows(), arguments.skip(1));
    }
    let words = arguments.map(|word| word.to_string_lossy().into_owned());
    report::main(rows(), "benches/results", words)
}

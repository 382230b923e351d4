//! Your own traffic: `mine capture.jsonl`.

use std::process::ExitCode;

use barewire_benches::{count::Counting, mine, rows};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    mine::main(rows::light(), std::env::args_os().skip(1))
}

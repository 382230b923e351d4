//! Your own traffic, beside all peers: `mine capture.jsonl`.

use std::process::ExitCode;

use barewire_benches::{count::Counting, mine};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    mine::main(barewire_benches_peers::rows())
}

//! The whole run.

use std::process::ExitCode;

use barewire_benches::{count::Counting, report};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    report::main(
        &barewire_benches_peers::rows(),
        "cd benches/peers && cargo run --release --bin results -- --write",
    )
}

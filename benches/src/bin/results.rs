//! The light run: ours, serde_json, the standard library, the limits. `benches/peers` has all the others.

use std::process::ExitCode;

use barewire_benches::{count::Counting, report, rows};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    report::main(
        rows::light(),
        "cargo run --release -p barewire-benches --bin results",
        std::env::args().skip(1),
    )
}

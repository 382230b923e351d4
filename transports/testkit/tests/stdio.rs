//! Child pipes pass: the server is another process, reached by its stdin and stdout, or behind a relay of pipes.

mod common;

use barewire_testkit::{Claims, Suite, Through};

const SERVER: &str = env!("CARGO_BIN_EXE_barewire-testkit-server");

#[test]
fn the_pipes_of_a_child_pass() {
    let child = Through::new(SERVER);
    let report = Suite::new(Claims::stream().half_close().noise()).run(|| child.connect());
    assert_eq!(common::told("a child's pipes", &report), ["borders"]);
}

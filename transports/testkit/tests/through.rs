//! A relay in another language passes, and one with a fault is caught.
#![cfg(unix)]

use barewire_testkit::{Claims, Outcome, Suite, Through};
use core::time::Duration;

const SERVER: &str = env!("CARGO_BIN_EXE_barewire-testkit-server");

#[test]
fn relays_from_outside() {
    // "$@" is the server's command, as the relay is given it.
    let relay = Through::new("sh").arg("-c").arg("cat | \"$@\" | cat").arg("relay").server([SERVER]);
    let suite = Suite::new(Claims::stream().half_close()).without("payloads-up").without("payloads-down");
    let report = suite.run(|| relay.connect());
    println!("{report}");
    report.assert_passed();

    let buffers = Through::new("sh").arg("-c").arg("head -c 1200 | \"$@\"").arg("relay").server([SERVER]);
    let report = Suite::new(Claims::stream())
        .patience(Duration::from_secs(3))
        .only("pipelining")
        .run(|| buffers.connect());
    assert!(matches!(report.outcome("pipelining"), Some(Outcome::Failed(_))), "{report}");

    let missing = Through::new("/no/such/relay").server([SERVER]);
    let report = Suite::new(Claims::stream()).only("concurrency").run(|| missing.connect());
    assert!(report.to_string().contains("no connection could be made"), "{report}");
}

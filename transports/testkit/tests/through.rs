//! A relay in another language passes, and one with a fault is caught.
#![cfg(unix)]

use barewire_testkit::{Claims, Outcome, Suite, Through};
use core::time::Duration;

const SERVER: &str = env!("CARGO_BIN_EXE_barewire-testkit-server");

/// Swaps the first two lines from client to server.
const SWAPS: &str = "{ read -r a; read -r b; printf '%s\\n%s\\n' \"$b\" \"$a\"; cat; } | \"$@\"";

/// Carries the first line, and keeps what follows to itself.
const HOARDS: &str = "{ read -r a; printf '%s\\n' \"$a\"; cat > /dev/null; } | \"$@\"";

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

    // Sorts what comes back: each message is right, their order is not.
    let sorts = Through::new("sh").arg("-c").arg("\"$@\" | sort -r").arg("relay").server([SERVER]);
    let suite = Suite::new(Claims::stream().half_close());
    let report = suite.clone().only("half-close").run(|| sorts.connect());
    report.assert_passed();
    let swaps = Through::new("sh").arg("-c").arg(SWAPS).arg("relay").server([SERVER]);
    let report = suite.only("order").run(|| swaps.connect());
    assert!(report.to_string().contains("client to server: in place 1 stood call Some(1)"), "{report}");

    // The program between takes all it gets: nobody is made to wait.
    let hoards = Through::new("sh").arg("-c").arg(HOARDS).arg("relay").server([SERVER]);
    let report = Suite::new(Claims::stream().holds(300_000)).only("memory").run(|| hoards.connect());
    assert!(report.to_string().contains("300000 are claimed"), "{report}");

    let missing = Through::new("/no/such/relay").server([SERVER]);
    let report = Suite::new(Claims::stream()).only("concurrency").run(|| missing.connect());
    assert!(report.to_string().contains("no connection could be made"), "{report}");
}

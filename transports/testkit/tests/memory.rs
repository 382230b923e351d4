//! Connections in memory: good ones pass under each claim, and faults are seen.

mod common;

use barewire_testkit::{Claims, End, Faults, Link, Outcome, Suite, duplex, pipe};
use core::time::Duration;

fn faulty(faults: Faults) -> Link {
    let ((up, to), (down, from)) = (pipe(1 << 16), pipe(1 << 16));
    let client = End::stream(faults.reader(down), faults.other().writer(to));
    Link::pair(client, End::stream(up, from))
}

/// One test alone: the suite looks at the threads and descriptors of the whole process.
#[test]
fn connections_in_memory() {
    // Cut into small pieces, and nothing else.
    let claims = Claims::stream().half_close().noise().largest(100_000);
    let report = Suite::new(claims).run(|| Ok(faulty(Faults::new(5).split(700))));
    report.assert_passed();
    assert_eq!(report.passed(), 19, "{report}");

    // Messages, without the claims that cost checks.
    let claims = Claims::messages().unordered().single().largest(60_000).holds(1 << 20);
    let report = Suite::new(claims).run(|| {
        let (client, server) = common::messages(4);
        Ok((End::messages(client.0, client.1), End::messages(server.0, server.1)))
    });
    report.assert_passed();
    let skipped: Vec<&str> = report
        .results
        .iter()
        .filter(|ran| matches!(ran.outcome, Outcome::Skipped(_)))
        .map(|ran| ran.check.name)
        .collect();
    assert_eq!(skipped, ["chunkings", "borders", "order", "half-close", "noise", "isolation"], "{report}");

    // A line that loses bytes: what is left to promise holds, and more was not promised.
    let lossy = Faults::new(11).drop(1.0 / 5000.0);
    let claims = Claims::stream().unreliable().unordered().largest(60_000).holds(1 << 20);
    let mut seed = 100;
    let report = Suite::new(claims).run(|| {
        seed += 2;
        Ok(faulty(lossy.seed(seed)))
    });
    report.assert_passed();
    assert_eq!(report.passed(), 6, "{report}");
    let claims = Claims::stream().largest(60_000);
    let patience = Duration::from_secs(3);
    let report = Suite::new(claims).patience(patience).only("pipelining").run(|| Ok(faulty(lossy)));
    assert_eq!(report.failed(), 1, "{report}");

    // Too small for the suite's own messages: only what needs none is left.
    let report = Suite::new(Claims::stream().largest(200).holds(1 << 20)).run(|| Ok(duplex(100)));
    report.assert_passed();
    assert_eq!(report.passed(), 3, "{report}");
}

//! Each check catches a transport that has only the fault it looks for, and nothing else does.

mod broken;
mod common;

use barewire_testkit::{Outcome, Suite, checks};
use core::time::Duration;

/// One test alone: the suite looks at the threads and descriptors of the whole process.
#[test]
fn every_check_has_a_broken_transport_that_it_alone_catches() {
    // For one while the kit is worked on.
    let only = std::env::var("CAUGHT").ok();
    for check in checks() {
        if only.as_ref().is_some_and(|only| only != check.name) {
            continue;
        }
        let name = check.name;
        let (claims, mut connect) =
            broken::broken(name).unwrap_or_else(|| panic!("no broken transport for {name}"));
        let report = Suite::new(claims).patience(Duration::from_secs(2)).only(name).run(&mut connect);
        let Some(Outcome::Failed(what)) = report.outcome(name) else {
            panic!("{name} does not catch its transport\n{report}");
        };
        println!("{name} says: {what}");
        assert!(what.contains(broken::symptom(name)), "{name} sees something else");

        // Taken out, nothing else sees that fault.
        let rest = Suite::new(claims).without(name).run(&mut connect);
        assert_eq!(rest.failed(), 0, "not only {name} catches its transport\n{rest}");
        assert!(rest.passed() >= 16, "{name}: too little was checked\n{rest}");
    }
}

//! The connections in memory pass, as streams and as messages.

use barewire_testkit::{Claims, Suite, duplex};

#[test]
fn pipes_in_memory_pass() {
    let report = Suite::new(Claims::stream().half_close().noise()).run(|| Ok(duplex(1 << 16)));
    println!("{report}");
    report.assert_passed();
}

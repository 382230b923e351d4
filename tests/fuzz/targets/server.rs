//! A server says the same however its input and output are cut, and all of it is lines of JSON.
#![no_main]

use barewire_fuzz::{Cuts, server};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [sizes, data @ ..] = data else { return };
    let Some(cuts) = Cuts::new(data) else { return };
    let rx = [128, 256, 512, 4096][usize::from(*sizes & 3)];
    let tx = [64, 100, 512, 4096][usize::from(*sizes >> 2 & 3)];
    let calls = 1 + usize::from(*sizes >> 4 & 3);
    let whole = server(cuts.whole(), rx, tx, calls);
    whole.check();
    let split = server(cuts, rx, tx, calls);
    assert_eq!(String::from_utf8_lossy(&whole.out), String::from_utf8_lossy(&split.out));
    assert_eq!(plain(&whole.events), plain(&split.events));
});

/// Of a line that is only partly at hand, what is at hand depends on the pieces.
fn plain(events: &str) -> Vec<&str> {
    events
        .lines()
        .map(|line| if line.starts_with("Fault") { line.split("line:").next().unwrap_or("") } else { line })
        .collect()
}

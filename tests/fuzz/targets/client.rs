//! A client says and tells the same however its input and output are cut, and all that it says is lines of JSON.
#![no_main]

use barewire::{ClientConfig, Era};
use barewire_fuzz::{Cuts, client};
use libfuzzer_sys::fuzz_target;

const CONFIG: ClientConfig<'static> = ClientConfig::new("fuzzed", "1");

fuzz_target!(|data: &[u8]| {
    let [sizes, data @ ..] = data else { return };
    let Some(cuts) = Cuts::new(data) else { return };
    let rx = [128, 256, 512, 4096][usize::from(*sizes & 3)];
    let tx = [64, 256, 512, 4096][usize::from(*sizes >> 2 & 3)];
    let era = [Era::Auto, Era::Legacy, Era::Modern, Era::Auto][usize::from(*sizes >> 4 & 3)];
    let config = CONFIG.era(era).follow_pages(*sizes < 128);
    let whole = client(cuts.whole(), &config, rx, tx);
    whole.check();
    let split = client(cuts, &config, rx, tx);
    // Input that answers what was not sent yet can end a session whose output has not left; that is then dropped.
    let same = whole.out.starts_with(&split.out) || split.out.starts_with(&whole.out);
    let (one, other) = (String::from_utf8_lossy(&whole.out), String::from_utf8_lossy(&split.out));
    assert!(same && (one == other || whole.events.contains("NotOpened")), "whole {one}\nsplit {other}");
    assert_eq!(plain(&whole.events), plain(&split.events));
});

/// Of a line that is only partly at hand, what is at hand depends on the pieces.
fn plain(events: &str) -> Vec<&str> {
    events
        .lines()
        .map(|line| if line.starts_with("Fault") { line.split("line:").next().unwrap_or("") } else { line })
        .collect()
}

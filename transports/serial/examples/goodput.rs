//! Goodput over a pty that is paced at baud rates: what share of the line's bytes are MCP messages from the device.
//!
//! `cargo run --release -p barewire-serial --features host --example goodput -- [BAUD…]`
//!
//! On a busy computer the threads of both ends come late, and that counts: `chrt -f 5` before the command keeps it out.
//! `goodput_is_what_the_line_carries` in `tests/node.rs` has the same in simulated time.
#[cfg(unix)]
#[path = "../tests/common/mod.rs"]
mod common;

#[cfg(unix)]
fn main() {
    unix::main();
}

#[cfg(not(unix))]
fn main() {
    println!("this needs a pty, and so Unix");
}

#[cfg(unix)]
mod unix {
    use super::common::pty::{self, Device, LOG, Make, Pty};
    use barewire::ClientConfig;
    use barewire_serial::Checked;
    use barewire_serial::host::{Device as Handle, Port};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::time::{Duration, Instant};

    static CONFIG: ClientConfig<'static> = ClientConfig::new("goodput", "1");
    const TIME: Duration = Duration::from_secs(3);

    /// The bytes of an answer with `text` bytes of text, its line feed included.
    fn message(text: usize) -> usize {
        r#"{"jsonrpc":"2.0","id":1000000,"result":{"resultType":"complete","content":[{"type":"text","text":""}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"board","version":"1.0.0"}}}}"#
            .len()
            + 1
            + text
    }

    /// Calls `tool` from `threads` threads for a while; message bytes per second.
    fn measure(device: &Handle, tool: &str, text: usize, threads: usize) -> f64 {
        let (done, started) = (AtomicUsize::new(0), Instant::now());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while started.elapsed() < TIME {
                        let result = device.call(tool, "{}").expect("an answer");
                        assert_eq!(result.text().len(), text);
                        done.fetch_add(1, Relaxed);
                    }
                });
            }
        });
        (done.into_inner() * message(text)) as f64 / started.elapsed().as_secs_f64()
    }

    pub(super) fn main() {
        println!(
            "| baud | mode | 1 KB, two calls in flight | 50 KB, streamed | 1 KB, one call in flight | frames, sent again |"
        );
        println!("|---|---|---|---|---|---|");
        let asked: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
        for baud in if asked.is_empty() { vec![115_200, 921_600] } else { asked } {
            for checked in [Checked::Never, Checked::Offer] {
                let pty = Pty::new();
                let board = Device::start(&pty, Make { baud, checked, ..Make::default() });
                let port = Port::new(&pty.path).baud(baud).checked(checked);
                let device = port.connect(&CONFIG).expect("a session");
                while device.call("kilobyte", "{}").is_ok()
                    && device.is_checked() != (checked == Checked::Offer)
                {}
                let rate = f64::from(baud) / 10.0;
                let kilobyte = pty::text(1000).len();
                let [two, log, one] = [("kilobyte", kilobyte, 2), ("log", LOG, 1), ("kilobyte", kilobyte, 1)]
                    .map(|(tool, text, threads)| measure(&device, tool, text, threads) / rate * 100.0);
                let mode = if checked == Checked::Offer { "checked" } else { "plain" };
                let stats = *board.stats.lock().expect("stats");
                let (frames, resent) = (stats.frames, stats.resent);
                println!("| {baud} | {mode} | {two:.1} % | {log:.1} % | {one:.1} % | {frames}, {resent} |");
            }
        }
    }
}

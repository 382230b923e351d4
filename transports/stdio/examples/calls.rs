//! Calls `add` of a server many times, one after the other, and says how long that took:
//! `time calls 10000 adder` (the shell's `time` counts both processes).
use barewire::ClientConfig;
use barewire_stdio::Command;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let count: u32 = args.next().ok_or("how many calls?")?.to_string_lossy().parse()?;
    let program = args.next().ok_or("of which server?")?;
    let client = Command::new(program).args(args).start(&ClientConfig::new("calls", "1.0.0"))?;
    let started = Instant::now();
    for n in 0..count {
        let result = client.call("add", &format!("{{\"a\":{n},\"b\":1}}"))?;
        assert_eq!(result.text(), (u64::from(n) + 1).to_string());
    }
    let took = started.elapsed();
    let resident = client.pid().and_then(resident_kb);
    println!(
        "{count} calls in {:.3} s, {:.1} µs each",
        took.as_secs_f64(),
        took.as_secs_f64() * 1e6 / f64::from(count)
    );
    if let Some(kb) = resident {
        println!("the server has {kb} kB resident");
    }
    Ok(())
}

/// What Linux says of a process; nothing elsewhere.
fn resident_kb(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

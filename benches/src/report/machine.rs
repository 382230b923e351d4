//! The machine, the compiler, the day, and how busy it was.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// What figures depend on.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The processor's name, and how many there are.
    pub processor: String,
    /// Operating system and architecture, and what the compiler was allowed to use of it.
    pub system: String,
    /// The compiler.
    pub rustc: String,
    /// The day.
    pub date: String,
    /// How many programs wanted to run, before and after.
    pub load: (Option<f64>, Option<f64>),
}

impl Machine {
    /// This one, now.
    #[must_use]
    pub fn here() -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info
            .lines()
            .find_map(|line| line.strip_prefix("model name"))
            .map(|rest| rest.trim_start_matches([' ', '\t', ':']));
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let rustc = Command::new("rustc").arg("--version").output().ok().filter(|ran| ran.status.success());
        let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
        let (year, month, day) = civil(days);
        Self {
            processor: format!("{count} x {}", model.unwrap_or("a processor of unknown name")),
            system: format!("{} on {}, {}", std::env::consts::OS, std::env::consts::ARCH, features()),
            rustc: rustc.map_or_else(
                || "an unknown rustc".into(),
                |ran| String::from_utf8_lossy(&ran.stdout).trim().into(),
            ),
            date: format!("{year:04}-{month:02}-{day:02}"),
            load: (load(), None),
        }
    }

    /// The end of the run.
    pub fn done(&mut self) {
        self.load.1 = load();
    }
}

const fn features() -> &'static str {
    if cfg!(target_feature = "avx512bw") {
        "built for AVX-512"
    } else if cfg!(target_feature = "avx2") {
        "built for AVX2"
    } else {
        "built for the baseline of the target"
    }
}

fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// Year, month and day of a count of days since 1970.
fn civil(days: u64) -> (u64, u64, u64) {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut rest, mut year) = (days, 1970);
    while rest >= 365 + u64::from(is_leap(year)) {
        rest -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    for (month, length) in (1..).zip([31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
        if rest < length {
            return (year, month, rest + 1);
        }
        rest -= length;
    }
    (year, 12, 31)
}

#[cfg(test)]
mod tests {
    #[test]
    fn days() {
        assert_eq!(super::civil(0), (1970, 1, 1));
        assert_eq!(super::civil(11_016), (2000, 2, 29));
        assert_eq!(super::civil(20_787), (2026, 11, 30));
        assert_eq!(super::civil(20_818), (2026, 12, 31));
        assert_eq!(super::civil(20_819), (2027, 1, 1));
    }
}

//! What a server's processes have used, from `/proc` (Linux).

use core::time::Duration;
use std::fs;

/// A clock tick, which is the unit of processor time there: 1/100 s on every Linux that has this interface.
const TICK: Duration = Duration::from_millis(10);

/// The processes of a group, added up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Usage {
    /// Processor time.
    pub(super) cpu: Duration,
    /// Bytes of memory in use.
    pub(super) resident: u64,
    /// The most that it ever was.
    pub(super) peak: u64,
}

impl Usage {
    /// That of a process group; `None` where the system does not tell.
    pub(super) fn of_group(leader: u32) -> Option<Self> {
        let mut all = None;
        for process in fs::read_dir("/proc").ok()?.flatten() {
            let folder = process.path();
            let Some((group, cpu)) =
                fs::read_to_string(folder.join("stat")).ok().and_then(|text| stat(&text))
            else {
                continue;
            };
            if group == leader {
                let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
                let all: &mut Self = all.get_or_insert_default();
                all.cpu += cpu;
                all.resident += kilobytes(&status, "VmRSS:") << 10;
                all.peak += kilobytes(&status, "VmHWM:") << 10;
            }
        }
        all
    }

    /// What came on top of an earlier reading; memory is that of now.
    pub(super) fn since(self, before: Self) -> Self {
        Self { cpu: self.cpu.saturating_sub(before.cpu), ..self }
    }
}

/// The process group and the processor time of a process.
fn stat(text: &str) -> Option<(u32, Duration)> {
    // The name comes first, in parentheses, and may itself have blanks and parentheses.
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace();
    let group = fields.nth(2)?.parse().ok()?;
    let user: u32 = fields.nth(8)?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some((group, TICK * user.saturating_add(system)))
}

fn kilobytes(status: &str, key: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    line.split_ascii_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let text = "4711 (a (b) c) S 1 4242 4711 0 -1 4194304 1 2 3 4 150 25 0 0 20 0 1 0 5 6 7";
        assert_eq!(stat(text), Some((4242, Duration::from_millis(1750))));
        for bad in ["", "1 (x", "1 (x) S 1", "1 (x) S 1 y 1 0 0 0 0 0 0 0 1 1"] {
            assert_eq!(stat(bad), None, "{bad}");
        }
        assert_eq!(kilobytes("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 12 kB\n", "VmRSS:"), 12);
        assert_eq!(kilobytes("", "VmRSS:"), 0);
    }
}

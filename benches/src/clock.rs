//! Processor time of this thread: what others do on the machine does not count as ours.

use std::time::Duration;

/// The processor time that this thread has used.
#[cfg(unix)]
#[must_use]
pub fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Elapsed time: elsewhere there is no such clock without more dependencies.
#[cfg(not(unix))]
#[must_use]
pub fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

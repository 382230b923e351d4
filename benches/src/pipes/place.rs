//! Where the two processes may run.

use core::fmt;
use std::io;

/// The processors of both processes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// One for both.
    Held,
    /// As the system likes.
    Free,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held => "on one processor",
            Self::Free => "free",
        })
    }
}

/// Moves this thread, and with it the processes that it starts from then on.
#[cfg(target_os = "linux")]
pub(crate) struct Places {
    free: rustix::thread::CpuSet,
    held: rustix::thread::CpuSet,
}

#[cfg(target_os = "linux")]
impl Places {
    pub(crate) fn here() -> io::Result<Self> {
        use rustix::thread::{CpuSet, sched_getaffinity};
        let free = sched_getaffinity(None)?;
        let mut held = CpuSet::new();
        // The first ones get more of the system's own work.
        if let Some(last) = (0..CpuSet::MAX_CPU).rfind(|&n| free.is_set(n)) {
            held.set(last);
        }
        Ok(Self { free, held })
    }

    pub(crate) fn all(&self) -> &'static [Place] {
        &[Place::Held, Place::Free]
    }

    pub(crate) fn go(&mut self, place: Place) -> io::Result<()> {
        let to = if place == Place::Held { &self.held } else { &self.free };
        Ok(rustix::thread::sched_setaffinity(None, to)?)
    }
}

/// Elsewhere nothing is held.
#[cfg(not(target_os = "linux"))]
pub(crate) struct Places;

#[cfg(not(target_os = "linux"))]
impl Places {
    pub(crate) fn here() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn all(&self) -> &'static [Place] {
        &[Place::Free]
    }

    pub(crate) fn go(&mut self, _place: Place) -> io::Result<()> {
        Ok(())
    }
}

//! What differs between systems.

use super::super::Ended;
use async_process::{Child, Command};
use std::process::ExitStatus;

/// A command whose child gets a group of its own, so that signals to end it reach what it starts in turn, and so that Ctrl-C at
/// the terminal does not.
pub(super) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    #[allow(unused_mut)]
    let mut command = std::process::Command::new(program);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.into()
}

/// SIGTERM or SIGKILL to the child's group. Elsewhere the child itself is killed.
pub(super) fn signal(child: &mut Child, how: Ended) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let signal = if how == Ended::Killed { Signal::KILL } else { Signal::TERM };
            // It fails only if nobody is left in the group.
            let _ = kill_process_group(group, signal);
        }
    }
    #[cfg(not(unix))]
    {
        let _ = how;
        let _ = child.kill();
    }
}

/// Waits for the end of the child. On Linux it is not reaped by that, so that its group's number stays taken until the last
/// signal to the group has been sent.
pub(super) async fn exited(child: &mut Child) -> Option<ExitStatus> {
    #[cfg(target_os = "linux")]
    if let Some(status) = linux::exited(child.id()).await {
        return Some(status);
    }
    child.status().await.ok()
}

#[cfg(target_os = "linux")]
mod linux {
    use async_io::Async;
    use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

    /// `None` if the system has no such means, or will not give up the status.
    pub(super) async fn exited(pid: u32) -> Option<ExitStatus> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
        let handle = Async::new(pidfd_open(pid, PidfdFlags::empty()).ok()?).ok()?;
        handle.readable().await.ok()?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let status = waitid(WaitId::Pid(pid), options).ok()??;
        let exited = status.exit_status().map(|code| code << 8);
        Some(ExitStatus::from_raw(exited.or_else(|| status.terminating_signal())?))
    }
}

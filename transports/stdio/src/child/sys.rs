//! What differs between systems.

use core::sync::atomic::AtomicBool;
use std::process::{Child, Command, ExitStatus};

#[cfg(unix)]
pub(super) fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(unix)]
pub(super) fn signal_group(pid: u32, kill: bool, _asked: &AtomicBool) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It fails only if nobody is left in the group.
        let _ = kill_process_group(group, if kill { Signal::KILL } else { Signal::TERM });
    }
}

#[cfg(unix)]
pub(super) fn wait_without_reaping(process: &mut Child, _kill: &AtomicBool) -> ExitStatus {
    use rustix::{
        io::Errno,
        process::{Pid, WaitId, WaitIdOptions, waitid},
    };
    use std::os::unix::process::ExitStatusExt;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(Pid::from_child(process)), options) {
            Err(Errno::INTR) | Ok(None) => {}
            Ok(Some(status)) => {
                let exited = status.exit_status().map(|code| code << 8);
                let raw = exited.or_else(|| status.terminating_signal());
                return ExitStatus::from_raw(raw.unwrap_or_default());
            }
            // SIGCHLD is ignored in this process: the system reaped it, and its status is lost.
            Err(_) => return process.wait().unwrap_or_default(),
        }
    }
}

#[cfg(not(unix))]
pub(super) fn own_group(_command: &mut Command) {}

/// Without process groups only the process itself can be ended, by the thread that owns it.
#[cfg(not(unix))]
pub(super) fn signal_group(_pid: u32, _kill: bool, asked: &AtomicBool) {
    asked.store(true, core::sync::atomic::Ordering::Relaxed);
}

#[cfg(not(unix))]
pub(super) fn wait_without_reaping(process: &mut Child, kill: &AtomicBool) -> ExitStatus {
    loop {
        match process.try_wait() {
            Ok(Some(status)) => return status,
            Ok(None) => {}
            Err(_) => return ExitStatus::default(),
        }
        if kill.load(core::sync::atomic::Ordering::Relaxed) {
            let _ = process.kill();
        }
        std::thread::sleep(core::time::Duration::from_millis(20));
    }
}

//! Opening ports.
use super::{OpenError, Port};
use serial2::SerialPort;
use std::{
    io,
    path::{Path, PathBuf},
    string::String,
    thread::sleep,
    time::Duration,
    vec::Vec,
};

/// How long a read waits; so long may closing take.
const READ: Duration = Duration::from_millis(50);
const WRITE: Duration = Duration::from_millis(200);
const PULSE: Duration = Duration::from_millis(100);

pub(super) fn open(port: &Port) -> Result<SerialPort, OpenError> {
    let path = &port.path;
    let baud = port.baud;
    let setup = |mut settings: serial2::Settings| {
        settings.set_raw();
        settings.set_baud_rate(baud)?;
        Ok(settings)
    };
    let mut serial = SerialPort::open(path, setup).map_err(|error| failure(path, error))?;
    let finish = |error| failure(path, error);
    claim(&serial).map_err(finish)?;
    serial.set_read_timeout(READ).map_err(finish)?;
    serial.set_write_timeout(WRITE).map_err(finish)?;
    if port.reset {
        // Errors: a port without these lines can't be reset, and works all the same.
        let _ = serial.set_dtr(false).and_then(|()| serial.set_rts(true));
        sleep(PULSE);
        let _ = serial.set_rts(false);
        sleep(PULSE);
        let _ = serial.set_dtr(true).and_then(|()| serial.set_rts(true));
    }
    // What was said before this program came means nothing to it.
    let _ = serial.discard_input_buffer();
    Ok(serial)
}

pub(super) fn available() -> Vec<PathBuf> {
    let mut ports = SerialPort::available_ports().unwrap_or_default();
    ports.sort();
    ports
}

fn failure(path: &Path, error: io::Error) -> OpenError {
    let path = PathBuf::from(path);
    match error.kind() {
        io::ErrorKind::NotFound => OpenError::NoSuchPort { path, others: available() },
        io::ErrorKind::PermissionDenied => {
            let group = group(&path);
            OpenError::Permission { path, group }
        }
        io::ErrorKind::ResourceBusy | io::ErrorKind::WouldBlock => OpenError::Busy { path },
        _ => OpenError::Io { path, error },
    }
}

/// Nobody else may open the port meanwhile, and the lines stay as they are when it is closed.
#[cfg(unix)]
fn claim(serial: &SerialPort) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::termios::{ControlModes, OptionalActions, ioctl_tiocexcl, tcgetattr, tcsetattr};
    use std::os::fd::AsFd;
    let fd = serial.as_fd();
    // The lock is for programs of the same user, root included, whom TIOCEXCL lets pass.
    flock(fd, FlockOperation::NonBlockingLockExclusive)?;
    ioctl_tiocexcl(fd)?;
    let mut modes = tcgetattr(fd)?;
    modes.control_modes.remove(ControlModes::HUPCL);
    tcsetattr(fd, OptionalActions::Now, &modes)?;
    Ok(())
}

/// Other systems open ports exclusively anyway.
#[cfg(not(unix))]
fn claim(_: &SerialPort) -> io::Result<()> {
    Ok(())
}

/// The name of the group that a port belongs to.
#[cfg(unix)]
fn group(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let id = std::fs::metadata(path).ok()?.gid();
    let groups = std::fs::read_to_string("/etc/group").ok()?;
    groups.lines().find_map(|line| {
        let mut parts = line.split(':');
        let name = parts.next()?;
        (parts.nth(1)?.parse() == Ok(id)).then(|| name.into())
    })
}

#[cfg(not(unix))]
fn group(_: &Path) -> Option<String> {
    None
}

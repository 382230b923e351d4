//! What can go wrong, and what to do about it.
use barewire_stdio::{CallError, StartError};
use std::{fmt, io, path::PathBuf, string::String, time::Duration, vec::Vec};

/// Why a port could not be opened, or nobody answered there.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such port.
    NoSuchPort {
        /// What was asked for.
        path: PathBuf,
        /// What there is.
        others: Vec<PathBuf>,
    },
    /// Another program has it open.
    Busy {
        /// The port.
        path: PathBuf,
    },
    /// This user may not open it.
    Permission {
        /// The port.
        path: PathBuf,
        /// The group that may, if that is known.
        group: Option<String>,
    },
    /// It can't be set up as a serial port, or any other error of the system.
    Io {
        /// The port.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The port is open, but no session.
    Silent {
        /// The port.
        path: PathBuf,
        /// Its speed.
        baud: u32,
        /// How long it was tried.
        after: Duration,
        /// The last line that was not MCP, if there was any.
        heard: Option<String>,
    },
    /// The device answered, but there is no session.
    Refused {
        /// The port.
        path: PathBuf,
        /// What it said.
        error: StartError,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchPort { path, others } => {
                write!(f, "there is no port {}; is the device plugged in? ", path.display())?;
                if others.is_empty() {
                    return f.write_str("no serial port was found at all");
                }
                f.write_str("there are:")?;
                others.iter().try_for_each(|other| write!(f, " {}", other.display()))
            }
            Self::Busy { path } => write!(
                f,
                "{} is in use by another program (a serial monitor, ModemManager, another bridge?); close that first",
                path.display()
            ),
            Self::Permission { path, group: Some(group) } => write!(
                f,
                "this user may not open {}; it belongs to the group {group}: run `sudo usermod -aG {group} $USER`, then log in again",
                path.display()
            ),
            Self::Permission { path, group: None } => {
                write!(f, "this user may not open {}; look at its permissions", path.display())
            }
            Self::Io { path, error } => write!(f, "can't use {} as a serial port: {error}", path.display()),
            Self::Silent { path, baud, after, heard } => {
                let (path, after) = (path.display(), after.as_secs_f32());
                match heard {
                    None => write!(
                        f,
                        "nothing at {path} answered within {after} s; is the device running, and is its speed {baud} baud?"
                    ),
                    Some(heard) => write!(
                        f,
                        "nothing at {path} answered as an MCP server within {after} s at {baud} baud; the last line heard was {heard:?}"
                    ),
                }
            }
            Self::Refused { path, error } => {
                write!(f, "no session with the device at {}: {error}", path.display())
            }
        }
    }
}
impl std::error::Error for OpenError {}

/// Why a session is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Lost {
    /// The device has started again.
    Restarted,
    /// The port is gone: unplugged, most likely.
    Unplugged,
    /// This end closed it.
    Closed,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Restarted => "the device restarted",
            Self::Unplugged => "the serial port is gone",
            Self::Closed => "the connection was closed",
        })
    }
}

/// Why a call failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The session ended while the call was under way; whether the device has done its work is unknown.
    Lost(Lost),
    /// There was no session, and none could be opened.
    Open(OpenError),
    /// The device answered with an error, or not in time, or the call could not be made.
    Call(CallError),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(lost) => write!(f, "{lost} while the call was under way"),
            Self::Open(error) => error.fmt(f),
            Self::Call(error) => error.fmt(f),
        }
    }
}
impl std::error::Error for Failure {}

//! Connections to the far end: how one is made, and how it ends.

use core::time::Duration;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use barewire_serial::Checked;
use barewire_serial::host::{Lost, Port, Session, Trace, Wire};
use barewire_testkit::Faults;

use super::errors::Reason;
#[cfg(unix)]
use super::pipe::{self, Pipe};
use super::relay::Medium;
use crate::commands::tap::exit_code;
use crate::failure::{Failure, code};
use crate::far::Far;
use crate::far::socket::{Closer, Socket};
use crate::sys;

/// How long one address may take to answer.
const CONNECT: Duration = Duration::from_secs(5);
/// SIGTERM, by its number.
const TERM: i32 = 15;
/// How long each step of ending a child may take.
const GRACE: Duration = Duration::from_secs(2);
/// The same when a signal wants an end.
const SHORT: Duration = Duration::from_millis(500);

/// Elsewhere the end of a child ends its pipes.
#[cfg(not(unix))]
type Pipes = ();
#[cfg(unix)]
type Pipes = pipe::Using;
/// What keeps pipes in use.
pub(super) type Using = Option<Pipes>;

pub(super) type Reader = Box<dyn Read + Send>;
pub(super) type Writer = Box<dyn Write + Send>;

/// A connection; dropping its writer says that no more will come.
pub(super) struct Link {
    pub(super) reader: Reader,
    pub(super) writer: Writer,
    pub(super) stderr: Option<Reader>,
    pub(super) end: End,
    /// Dropped, whoever is still reading or writing comes to an end.
    pub(super) using: Using,
}

/// What ends a connection.
pub(super) enum End {
    Child(Child),
    Socket(Closer),
    Serial(Arc<Wire>, Session),
}

/// How much time an end may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Haste {
    /// The child may see the end of its input and exit.
    Calm,
    /// It had time to.
    Late,
    /// At once.
    Urgent,
}

/// Makes connections.
pub(super) struct Dialer {
    far: Far,
    faults: Option<Faults>,
    port: Option<Port>,
    wire: Option<Arc<Wire>>,
}

impl Dialer {
    /// `printed` gets what a device prints between messages.
    pub(super) fn new(
        far: Far,
        checked: bool,
        faults: Option<Faults>,
        printed: impl Fn(&[u8]) + Send + Sync + 'static,
    ) -> Self {
        let port = match &far {
            Far::Serial { path, baud } => {
                let checked = if checked { Checked::Always } else { Checked::Offer };
                let port = Port::new(path).baud(*baud).checked(checked).trace(move |trace| {
                    if let Trace::Printed(line) = trace {
                        printed(line);
                    }
                });
                Some(match faults {
                    Some(faults) => port.wrap(move |(reader, writer)| {
                        (Box::new(faults.reader(reader)), Box::new(faults.other().writer(writer)))
                    }),
                    None => port,
                })
            }
            _ => None,
        };
        Self { far, faults, port, wire: None }
    }

    pub(super) const fn medium(&self) -> Medium {
        match self.far {
            Far::Command(_) => Medium::Command,
            Far::Serial { .. } => Medium::Serial,
            Far::Tcp { .. } | Far::Unix(_) => Medium::Stream,
        }
    }

    /// One try.
    pub(super) fn dial(&mut self) -> Result<Link, Failure> {
        let mut link = match &self.far {
            Far::Command(words) => spawn(words)?,
            Far::Tcp { .. } | Far::Unix(_) => {
                let (reader, writer, closer) = Socket::connect(&self.far, CONNECT)?.halves_and_end();
                Link {
                    reader: Box::new(reader),
                    writer: Box::new(writer),
                    stderr: None,
                    end: End::Socket(closer),
                    using: None,
                }
            }
            Far::Serial { .. } => return self.serial(),
        };
        if let Some(faults) = self.faults {
            link.reader = Box::new(faults.reader(link.reader));
            link.writer = Box::new(faults.other().writer(link.writer));
            // Others next time, so that a connection that breaks at once does not do so for ever.
            self.faults = Some(faults.other().other());
        }
        Ok(link)
    }

    /// A session on the port, which stays open while it can.
    fn serial(&mut self) -> Result<Link, Failure> {
        let wire = match self.wire.take().filter(|wire| !wire.is_gone()) {
            Some(wire) => wire,
            None => {
                let port = self.port.as_ref().ok_or_else(|| Failure::usage("no serial port"))?;
                let opened = port.open();
                Arc::new(opened.map_err(|error| Failure::new(code::CONNECT, "connect", error.to_string()))?)
            }
        };
        self.wire = Some(Arc::clone(&wire));
        let (reader, writer, session) = wire.session();
        Ok(Link {
            reader: Box::new(reader),
            writer: Box::new(writer),
            stderr: None,
            end: End::Serial(wire, session),
            using: None,
        })
    }
}

impl End {
    pub(super) fn pid(&self) -> Option<u32> {
        if let Self::Child(child) = self { Some(child.id()) } else { None }
    }

    /// The other side can see that it will be told nothing more.
    pub(super) const fn has_half_close(&self) -> bool {
        !matches!(self, Self::Serial(..))
    }

    /// Why it is over. `exited`: its process is gone.
    pub(super) fn reason(&mut self, exited: bool) -> Reason {
        match self {
            Self::Socket(_) => Reason::Closed,
            Self::Serial(_, session) => match session.lost() {
                Some(Lost::Restarted) => Reason::Restarted,
                Some(Lost::Unplugged) => Reason::Unplugged,
                _ => Reason::Closed,
            },
            Self::Child(child) if exited => {
                // Before its number is free again.
                sys::kill_group(child.id());
                match child.wait() {
                    Ok(status) => Reason::Exited(match status.code() {
                        Some(code) => format!("status {code}"),
                        None => format!("signal {}", exit_code(status) - 128),
                    }),
                    Err(_) => Reason::Closed,
                }
            }
            Self::Child(_) => Reason::Closed,
        }
    }

    /// Ends it. Whatever is reading or writing comes to its end too. `exits` waits for the process.
    pub(super) fn end(self, haste: Haste, exits: impl Fn(Duration) -> bool) {
        match self {
            Self::Socket(closer) => closer.close(),
            Self::Serial(_, session) => session.close(),
            Self::Child(mut child) => {
                if exits(Duration::ZERO) && matches!(child.try_wait(), Ok(Some(_))) {
                    return;
                }
                let leader = child.id();
                let grace = if haste == Haste::Urgent { SHORT } else { GRACE };
                let mut exits =
                    |at_most| if cfg!(unix) { exits(at_most) } else { looks(&mut child, at_most) };
                if haste != Haste::Calm || !exits(grace) {
                    sys::signal_group(leader, TERM);
                    exits(grace);
                }
                // With what it left behind in its group.
                sys::kill_group(leader);
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// Waits for a child where nothing tells of its exit: it is looked for now and then.
fn looks(child: &mut Child, at_most: Duration) -> bool {
    let until = Instant::now() + at_most;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(10)),
            Ok(None) => return false,
            _ => return true,
        }
    }
}

fn spawn(words: &[OsString]) -> Result<Link, Failure> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(Failure::usage("no command given: put it after --"));
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: signals reach grandchildren too, and Ctrl-C comes from us alone.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let failed = |error: &io::Error| Failure::spawn(&program.to_string_lossy(), error);
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    match pipes(&mut child) {
        Ok((reader, writer, stderr, using)) => {
            Ok(Link { reader, writer, stderr, end: End::Child(child), using })
        }
        Err(error) => {
            sys::kill_group(child.id());
            let _ = child.kill();
            let _ = child.wait();
            Err(failed(&error))
        }
    }
}

#[cfg(unix)]
fn pipes(child: &mut Child) -> io::Result<(Reader, Writer, Option<Reader>, Using)> {
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    // What the command leaves behind may hold its ends for ever.
    let (using, leave) = pipe::using()?;
    let stderr = match child.stderr.take() {
        Some(stderr) => Some(Box::new(Pipe::new(stderr, &leave)?) as Reader),
        None => None,
    };
    let (reader, writer) = (Pipe::new(stdout, &leave)?, Pipe::new(stdin, &leave)?);
    Ok((Box::new(reader), Box::new(writer), stderr, Some(using)))
}

#[cfg(not(unix))]
fn pipes(child: &mut Child) -> io::Result<(Reader, Writer, Option<Reader>, Using)> {
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let stderr = child.stderr.take().map(|stderr| Box::new(stderr) as Reader);
    Ok((Box::new(stdout), Box::new(stdin), stderr, None))
}

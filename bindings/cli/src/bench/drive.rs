//! One session under load.

use core::fmt;
use core::time::Duration;
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use barewire::json::Raw;
use barewire::{
    Buffers, CallId, Client, ClientConfig, ClientEvent, End, Era, Limits, Millis, Output, SendError, Version,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use super::silent;
use super::usage::Usage;
use crate::commands::connect::CONFIG;
use crate::failure::{Failure, code};
use crate::far::socket::Socket;
use crate::far::{Far, MISSING};
use crate::sys;
use crate::text::printable;

/// How long a server may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// What is asked again and again.
pub(super) enum Ask<'a> {
    /// The tools.
    List,
    /// A tool, with an object of arguments.
    Call { tool: &'a str, arguments: &'a str },
}

impl fmt::Display for Ask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List => f.write_str("tools/list"),
            Self::Call { tool, .. } => write!(f, "tools/call {tool}"),
        }
    }
}

/// What came of it.
pub(super) struct Ran {
    pub(super) calls: u64,
    /// Errors of the protocol, and results that say `isError`.
    pub(super) errors: u64,
    /// What the last of them said.
    pub(super) error: Option<String>,
    pub(super) time: Duration,
    pub(super) sent: u64,
    pub(super) received: u64,
    /// From the writing of a request to the end of its answer, in nanoseconds, sorted.
    latencies: Vec<u32>,
}

impl Ran {
    /// The latency, in microseconds, that so large a part of the calls stayed within.
    pub(super) fn percentile(&self, part: f64) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        let at = ((last as f64) * part).round() as usize;
        self.latencies.get(at).map_or(0.0, |&nanos| f64::from(nanos) / 1e3)
    }
}

/// A server, and a session with it.
pub(super) struct Link {
    client: Client<'static>,
    read: OwnedFd,
    write: Option<OwnedFd>,
    child: Option<Child>,
    born: Instant,
    timeout: Duration,
    /// Bytes written and read so far.
    sent: u64,
    received: u64,
    pub(super) server: String,
    pub(super) version: Version,
}

impl Link {
    /// Reaches the server and opens a session in this revision.
    pub(super) fn open(far: &Far, version: Version, timeout: Duration) -> Result<Self, Failure> {
        let (read, write, child) = reach(far, timeout)?;
        let era = if version.is_modern() { Era::Modern } else { Era::Legacy };
        let config: ClientConfig<'static> = CONFIG.protocol_version(version).era(era).start(None);
        let limits = Limits { calls: usize::from(u16::MAX), ..Limits::default() };
        let client = Client::owning(&config, Buffers::growing(limits));
        let mut link = Self {
            client,
            read,
            write: Some(write),
            child,
            born: Instant::now(),
            timeout,
            sent: 0,
            received: 0,
            server: String::new(),
            version,
        };
        link.handshake(far)?;
        Ok(link)
    }

    fn handshake(&mut self, far: &Far) -> Result<(), Failure> {
        let until = Instant::now() + self.timeout;
        loop {
            let now = self.now();
            let fails = |kind, why: String| Failure::new(code::SERVER, kind, format!("`{far}`: {why}"));
            match self.client.poll(now) {
                Output::Event(ClientEvent::Opened { server, server_version, version, .. }) => {
                    self.server = format!("{server} {server_version}").trim().into();
                    self.version = version;
                    return Ok(());
                }
                Output::Event(ClientEvent::NotOpened(end)) => {
                    return Err(fails("refused", printable(&end.to_string())));
                }
                Output::Event(_) => {}
                Output::Closed => return Err(fails("closed", "it ended before it answered".into())),
                Output::Send(_) | Output::Wait { .. } | Output::Blocked { .. } => {
                    if Instant::now() >= until || !self.carry(until)? {
                        return Err(silent(&format!("the handshake with `{far}`"), self.timeout));
                    }
                }
            }
        }
    }

    /// Asks for so long, `in_flight` requests at once, and waits for the answers that are still due then.
    pub(super) fn load(&mut self, ask: &Ask<'_>, in_flight: usize, time: Duration) -> Result<Ran, Failure> {
        let (began, sent, received) = (Instant::now(), self.sent, self.received);
        let (mut calls, mut errors, mut error, mut latencies) = (0, 0, None, Vec::new());
        let mut open: HashMap<CallId, Instant> = HashMap::with_capacity(in_flight);
        let mut quiet_since = began;
        loop {
            let now = self.now();
            match self.client.poll(now) {
                Output::Event(ClientEvent::Ended { end: End::Lost, .. }) | Output::Closed => {
                    return Err(lost());
                }
                Output::Event(ClientEvent::Ended { of, end, .. }) => {
                    quiet_since = Instant::now();
                    if let Some(asked) = open.remove(&of) {
                        calls += 1;
                        if !matches!(end, End::Done { is_error: false }) {
                            errors += 1;
                            error = Some(end.to_string());
                        }
                        let nanos = quiet_since.saturating_duration_since(asked).as_nanos();
                        latencies.push(u32::try_from(nanos).unwrap_or(u32::MAX));
                    }
                }
                Output::Event(_) => {}
                Output::Send(_) | Output::Wait { .. } | Output::Blocked { .. } => {
                    let asking = began.elapsed() < time;
                    if !asking && open.is_empty() {
                        break;
                    }
                    while asking && open.len() < in_flight {
                        match send(&mut self.client, ask) {
                            Ok(id) => open.insert(id, Instant::now()),
                            Err(SendError::Full) => break,
                            Err(error) => return Err(Failure::usage(error.to_string())),
                        };
                    }
                    // A server that says much may answer nothing all the same.
                    let until = quiet_since + self.timeout;
                    if Instant::now() >= until || !self.carry(until)? {
                        return Err(silent(&ask.to_string(), self.timeout));
                    }
                }
            }
        }
        let time = began.elapsed();
        latencies.sort_unstable();
        let (sent, received) = (self.sent - sent, self.received - received);
        Ok(Ran { calls, errors, error, time, sent, received, latencies })
    }

    /// What the server has used so far, if it is a child.
    pub(super) fn usage(&self) -> Option<Usage> {
        Usage::of_group(self.child.as_ref()?.id())
    }

    /// Waits until bytes can be moved, and moves them; `false`: nothing could be until that moment.
    fn carry(&mut self, until: Instant) -> Result<bool, Failure> {
        let io = self.client.io();
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(|_| silent("a request", self.timeout))?;
        let writing = self.write.as_ref().filter(|_| !io.output.is_empty());
        let (mut can_read, mut can_write) = (false, false);
        {
            let nothing = PollFlags::empty();
            let reading = if io.space.is_empty() { nothing } else { PollFlags::IN };
            let mut ends = vec![PollFd::new(&self.read, reading)];
            ends.extend(writing.map(|end| PollFd::new(end, PollFlags::OUT)));
            match poll(&mut ends, Some(&left)) {
                Ok(0) => return Ok(false),
                Ok(_) => {
                    can_read = !io.space.is_empty() && !ends[0].revents().is_empty();
                    can_write = ends.get(1).is_some_and(|end| !end.revents().is_empty());
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(Failure::io("can't wait for the server", &error.into())),
            }
        }
        if can_read {
            match rustix::io::read(&self.read, io.space) {
                Ok(0) => self.client.end_of_input(),
                Ok(n) => {
                    self.received += n as u64;
                    self.client.filled(n);
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => self.client.end_of_input(),
            }
        }
        if let Some(write) = self.write.as_ref().filter(|_| can_write) {
            match rustix::io::write(write, self.client.output()) {
                Ok(n) => {
                    self.sent += n as u64;
                    self.client.sent(n);
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                // What it still says is read.
                Err(_) => self.write = None,
            }
        }
        Ok(true)
    }

    fn now(&self) -> Millis {
        Millis(u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// A server that was started is ended: by the end of its input, or else at once.
impl Drop for Link {
    fn drop(&mut self) {
        self.write = None;
        let Some(child) = &mut self.child else { return };
        let until = Instant::now() + GRACE;
        while Instant::now() < until && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        sys::kill_group(child.id());
        super::signals::forget();
        let _ = child.wait();
    }
}

fn send(client: &mut Client<'_>, ask: &Ask<'_>) -> Result<CallId, SendError> {
    match ask {
        Ask::List => client.list_tools(None)?.send(),
        Ask::Call { tool, arguments } => {
            let arguments = Raw::new(arguments).ok_or(SendError::NotJson)?;
            client.call_tool(tool)?.args_json(arguments).send()
        }
    }
}

fn lost() -> Failure {
    Failure::new(code::SERVER, "exited", "the server ended, or closed the connection, under the load")
}

/// The two ends of a connection, and the child behind it, if it is one.
fn reach(far: &Far, timeout: Duration) -> Result<(OwnedFd, OwnedFd, Option<Child>), Failure> {
    let failed = |error: io::Error| Failure::io("can't set up the connection", &error);
    let (read, write, child) = match far {
        Far::Command(words) => {
            let (program, arguments) = words.split_first().ok_or_else(|| Failure::usage(MISSING))?;
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            let started = super::signals::start(|| command.spawn());
            let mut child = started.map_err(|error| Failure::spawn(&program.to_string_lossy(), &error))?;
            let (Some(write), Some(read)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(failed(io::ErrorKind::Other.into()));
            };
            (OwnedFd::from(read), OwnedFd::from(write), Some(child))
        }
        Far::Tcp { .. } | Far::Unix(_) => {
            let read = Socket::connect(far, timeout)?.into_fd();
            let write = read.try_clone().map_err(failed)?;
            (read, write, None)
        }
        Far::Serial { .. } => {
            return Err(Failure::usage(
                "a serial line has its own speed; bench measures commands and sockets",
            ));
        }
    };
    let flags = fcntl_getfl(&write).map_err(|error| failed(error.into()))?;
    fcntl_setfl(&write, flags | OFlags::NONBLOCK).map_err(|error| failed(error.into()))?;
    Ok((read, write, child))
}

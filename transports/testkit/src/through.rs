//! A transport that is a program.

use crate::{End, Link};
use core::time::Duration;
use std::{
    ffi::OsString,
    io,
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

/// Tests a relay from outside, in whatever language it is written.
///
/// The relay is started with a server's command behind its own arguments. It must start that command, carry its own
/// stdin to the command's stdin and the command's stdout to its own stdout through the transport under test, in
/// whatever processes it likes, and end when that command has ended. The client is at the relay's stdin and stdout.
///
/// ```no_run
/// use barewire_testkit::{Claims, Suite, Through};
/// // A server whose `main` is `barewire_testkit::serve_stdio`.
/// let relay = Through::new("./relay").arg("--over=ble").server(["./kit-server"]);
/// let report = Suite::new(Claims::stream().half_close()).run(|| relay.connect());
/// println!("{report}");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Through {
    command: Vec<OsString>,
    server: Vec<OsString>,
}

impl Through {
    /// The relay's program.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { command: vec![program.into()], server: Vec::new() }
    }

    /// One more argument for the relay, before the server's command.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.command.push(argument.into());
        self
    }

    /// The server's command and its arguments: a program that does what [`serve_stdio`](crate::serve_stdio) does.
    pub fn server<S: Into<OsString>>(mut self, command: impl IntoIterator<Item = S>) -> Self {
        self.server = command.into_iter().map(Into::into).collect();
        self
    }

    /// Starts the relay: one connection. Its stderr is passed on.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn connect(&self) -> io::Result<Link> {
        let mut words = self.command.iter().chain(&self.server);
        let program = words.next().map(OsString::as_os_str).unwrap_or_default();
        let mut child =
            Command::new(program).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(write), Some(read)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the relay was started without its pipes"));
        };
        let relay = Relay(child);
        Ok(Link::to_server(End::stream(read, write)).gone(move |patience| relay.gone(patience)))
    }
}

/// A relay that is ended and reaped when nobody waits for it any more.
struct Relay(Child);

impl Relay {
    fn gone(mut self, patience: Duration) -> Result<(), String> {
        let until = Instant::now() + patience;
        loop {
            match self.0.try_wait() {
                Ok(Some(_)) => return Ok(()),
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(2)),
                Ok(None) => {
                    return Err(format!("the relay still ran {patience:?} after its input had ended"));
                }
                Err(error) => return Err(format!("the relay can't be waited for: {error}")),
            }
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It has gone already, mostly.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

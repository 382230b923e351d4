//! Servers as child processes.

mod child;
mod sys;

use crate::{
    Client, Ended, ExitReport, Trace,
    client::settings::{Settings, unwatched},
};
use barewire::{
    ClientConfig, Era, Limits, Version,
    owned::{Stderr, StderrLog},
};
use core::{fmt, future::Future, time::Duration};
use std::{ffi::OsStr, path::Path};

/// A command that runs a server, and how to talk to it.
///
/// On Unix the child runs in a process group of its own, so that signals to end it reach what it starts in turn, and so that
/// Ctrl-C at the terminal does not.
#[must_use]
pub struct Command<H = fn(Trace<'_>)> {
    command: async_process::Command,
    program: String,
    settings: Settings,
    stderr: Stderr,
    era: Option<Era>,
    version: Option<Version>,
    hook: H,
}

impl Command {
    /// A program, to be found as the system finds programs; without arguments.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = sys::command(&program);
        let piped = async_process::Stdio::piped;
        command.stdin(piped()).stdout(piped()).stderr(piped());
        let program = program.as_ref().to_string_lossy().into_owned();
        let (settings, stderr) = (Settings::new(), Stderr::default());
        Self { command, program, settings, stderr, era: None, version: None, hook: unwatched }
    }
}

impl<H: FnMut(Trace<'_>)> Command<H> {
    /// One argument more.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Arguments more.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(args);
        self
    }

    /// Sets a variable in its environment, which is this process's otherwise.
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    /// Takes a variable out of its environment.
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.command.env_remove(key);
        self
    }

    /// Starts with an empty environment.
    pub fn env_clear(mut self) -> Self {
        self.command.env_clear();
        self
    }

    /// The directory it runs in.
    pub fn current_dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// What becomes of its stderr.
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// Which era to speak, whatever the config says.
    pub fn era(mut self, era: Era) -> Self {
        self.era = Some(era);
        self
    }

    /// Which revision to ask for, whatever the config says; the era follows from it. A server may answer with another
    /// one of the same era.
    pub fn protocol_version(mut self, version: Version) -> Self {
        self.version = Some(version);
        self
    }

    /// How long each step of ending it may take: what is still to be written, closed input, SIGTERM. 2 s by default.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.settings.grace = grace;
        self
    }

    /// How long a request may take; progress that was asked for starts it anew. 60 s by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// How long a request may take whatever progress says. 10 minutes by default.
    pub fn max_timeout(mut self, timeout: Duration) -> Self {
        self.settings.max_timeout = timeout;
        self
    }

    /// How long the handshake may take, each time that the child is started. 60 s by default.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.settings.start_timeout = timeout;
        self
    }

    /// The longest message read, the longest written, and how many requests may be open; more wait for their turn.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Shows everything that happens, from inside the driver.
    pub fn trace<I: FnMut(Trace<'_>)>(self, hook: I) -> Command<I> {
        let Self { command, program, settings, stderr, era, version, .. } = self;
        Command { command, program, settings, stderr, era, version, hook }
    }

    /// A handle, and the driver, which starts the child when it is polled first and ends when the child has ended and is
    /// reaped.
    ///
    /// With [`Era::Auto`] the newest revision is probed for first. Some older servers exit on a message that they do
    /// not know; such a one is started once more and greeted in the old way. Calls that wait for the session notice nothing
    /// of that.
    ///
    /// The child is ended on [`Client::close`], and when the last handle is dropped and no call is left: its input is closed,
    /// then it gets SIGTERM, then SIGKILL. **If the driver is dropped before, it is killed at once**, its group too, and reaped
    /// within 100 ms, or else by async-process.
    pub fn start<'h>(
        self,
        config: &ClientConfig<'_>,
    ) -> (Client, impl Future<Output = ExitReport> + use<'h, H>)
    where
        H: 'h,
    {
        let mut config = *config;
        if let Some(version) = self.version {
            let era = if version.is_modern() { Era::Modern } else { Era::Legacy };
            config = config.protocol_version(version).era(era);
        }
        if let Some(era) = self.era {
            config = config.era(era);
        }
        let log = StderrLog::new(self.stderr);
        let client = Client::new(&config, self.settings, log);
        let run = child::Run {
            command: self.command,
            program: self.program,
            pass: self.stderr == Stderr::Pass,
            grace: self.settings.grace,
            may_restart: config.era == Era::Auto,
            shared: client.shared(),
        };
        let driver = run.run(self.hook);
        (client, driver)
    }
}

impl<H> fmt::Debug for Command<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("command", &self.command)
            .field("settings", &self.settings)
            .field("stderr", &self.stderr)
            .finish_non_exhaustive()
    }
}

const fn send<T: Send>(_: &T) {}
/// Compiles only if the driver can be spawned.
const _: fn(Command) = |command| {
    let (_, driver) = command.start(&ClientConfig::new("", ""));
    send(&driver);
    let _: Option<Ended> = None;
};

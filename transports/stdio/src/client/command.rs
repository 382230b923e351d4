//! A server that is started as a child process.

use super::{Client, Ends, Settings, StartError, Stderr, Trace, line::Line, state::Gone};
use crate::{
    after,
    child::{self, Child},
};
use barewire::{ClientConfig, Era, Limits, Version};
use core::time::Duration;
use std::{
    ffi::OsStr,
    path::Path,
    process,
    sync::{Arc, Mutex},
    time::Instant,
};

/// A command that runs a server, and how to talk to it.
///
/// The child runs in a process group of its own, so that signals to end it reach what it starts in turn, and so that
/// Ctrl-C at the terminal does not: see [`kill_all`](crate::kill_all).
#[derive(Debug)]
#[must_use]
pub struct Command {
    command: process::Command,
    settings: Settings,
    stderr: Stderr,
    era: Option<Era>,
    version: Option<Version>,
    grace: Duration,
}

impl Command {
    /// A program, to be found as the system finds programs; without arguments.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            command: process::Command::new(program),
            settings: Settings::new(),
            stderr: Stderr::default(),
            era: None,
            version: None,
            grace: Duration::from_secs(2),
        }
    }

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

    /// How long each step of ending it may take: closed input, then SIGTERM. 2 s by default.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// See [`Settings::timeout`]. The start has its own: [`start_timeout`](Self::start_timeout).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings = self.settings.timeout(timeout);
        self
    }

    /// See [`Settings::max_timeout`].
    pub fn max_timeout(mut self, timeout: Duration) -> Self {
        self.settings = self.settings.max_timeout(timeout);
        self
    }

    /// See [`Settings::start_timeout`].
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.settings = self.settings.start_timeout(timeout);
        self
    }

    /// See [`Settings::limits`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings = self.settings.limits(limits);
        self
    }

    /// See [`Settings::trace`].
    pub fn trace(mut self, hook: impl Fn(Trace<'_>) + Send + Sync + 'static) -> Self {
        self.settings = self.settings.trace(hook);
        self
    }

    /// Starts it and opens a session.
    ///
    /// With [`Era::Auto`] the newest revision is probed for first. Some older servers exit on a message that they do
    /// not know; such a one is started once more and greeted in the old way.
    pub fn start(mut self, config: &ClientConfig<'_>) -> Result<Client, StartError> {
        let mut config = *config;
        if let Some(version) = self.version {
            let era = if version.is_modern() { Era::Modern } else { Era::Legacy };
            config = config.protocol_version(version).era(era);
        }
        if let Some(era) = self.era {
            config = config.era(era);
        }
        let until = after(self.settings.start_timeout);
        match self.attempt(&config, until) {
            Err(StartError::Exited { .. }) if config.era == Era::Auto && !child::all_ended() => {
                self.settings.tracer.trace(Trace::Restarted);
                let result = self.attempt(&config.era(Era::Legacy), until);
                result.map_err(|error| match error {
                    StartError::Exited { status, stderr_tail, junk, .. } => {
                        StartError::Exited { status, stderr_tail, junk, restarted: true }
                    }
                    error => error,
                })
            }
            result => result,
        }
    }

    fn attempt(&mut self, config: &ClientConfig<'_>, until: Instant) -> Result<Client, StartError> {
        let line = Line::new(config, &self.settings);
        let told = Arc::clone(&line);
        let on_exit = move |status| told.lost(Gone::Exited(status));
        let tracer = &self.settings.tracer;
        let spawned = Child::spawn(&mut self.command, self.stderr, self.grace, tracer, on_exit);
        let (child, stdin, stdout) = spawned.map_err(|error| StartError::Spawn {
            program: self.command.get_program().to_string_lossy().into_owned(),
            error: Arc::new(error),
        })?;
        let ends = Ends { line, child: Some(Arc::clone(&child)), report: Mutex::new(None) };
        ends.line.run(stdout, stdin, Some(child)).map_err(|error| StartError::Io(Arc::new(error)))?;
        Client::open(ends, self.settings.clone(), until)
    }
}

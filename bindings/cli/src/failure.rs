//! What ends a command early: an exit code, a kind for programs, a sentence for people.

use std::io::{self, Write};

use crate::text;

/// Exit codes of the command line.
pub(crate) mod code {
    /// The tool ran and said `isError`.
    pub(crate) const TOOL_ERROR: i32 = 1;
    /// The command line is wrong; nothing was sent.
    pub(crate) const USAGE: i32 = 2;
    /// The server can't be started, or no session came about.
    pub(crate) const CONNECT: i32 = 3;
    /// No answer in time.
    pub(crate) const TIMEOUT: i32 = 4;
    /// The server answered with an error, or broke the protocol.
    pub(crate) const SERVER: i32 = 5;
}

/// Why a command ended early.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) code: i32,
    /// A stable word for programs.
    pub(crate) kind: &'static str,
    /// What went wrong and how to mend it.
    pub(crate) message: String,
    /// The server's error object's code, if it sent one.
    pub(crate) rpc_code: Option<i64>,
    /// Its data, as JSON.
    pub(crate) rpc_data: Option<String>,
    /// The server's last lines on stderr.
    pub(crate) stderr: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: i32, kind: &'static str, message: impl Into<String>) -> Self {
        Self { code, kind, message: message.into(), rpc_code: None, rpc_data: None, stderr: None }
    }

    /// A wrong command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(code::USAGE, "usage", message)
    }

    /// The command can't be run at all.
    pub(crate) fn spawn(program: &str, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::NotFound if program.contains(' ') => {
                "no such command; its arguments must be words of their own, not in the same quotes".to_owned()
            }
            io::ErrorKind::NotFound => "no such command; is it installed, and spelled so?".to_owned(),
            io::ErrorKind::PermissionDenied => "it may not be executed; is it a program?".to_owned(),
            _ => error.to_string(),
        };
        Self::new(code::CONNECT, "start", format!("can't start `{program}`: {why}"))
    }

    /// Our own input or output failed.
    pub(crate) fn io(what: &str, error: &io::Error) -> Self {
        Self::new(code::CONNECT, "io", format!("{what}: {error}"))
    }

    /// Output can't be written. A reader that has enough (`| head`) is no failure: exit code 0, and nothing is said.
    pub(crate) fn stdout(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(0, "closed", "");
        }
        Self::io("can't write to stdout", &error)
    }

    /// Adds the server's last words.
    pub(crate) fn with_stderr(mut self, tail: &str) -> Self {
        let tail = tail.trim_end();
        self.stderr = (!tail.is_empty()).then(|| tail.to_owned());
        self
    }

    /// Says it: as JSON on stdout where that was asked for, else on stderr.
    pub(crate) fn report(&self, json: bool) {
        if self.code == 0 {
            return;
        }
        // Whoever closed the stream does not want to know.
        let _ = if json { self.write_json(&mut io::stdout()) } else { self.write_text(&mut io::stderr()) };
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = text::object(|o| {
            o.object("error", |e| {
                e.str("kind", self.kind);
                e.str("message", &self.message);
                e.int("exit", i64::from(self.code));
                if let Some(code) = self.rpc_code {
                    e.int("code", code);
                }
                if let Some(data) = self.rpc_data.as_deref().and_then(barewire::json::Raw::new) {
                    e.raw("data", data);
                }
                if let Some(stderr) = &self.stderr {
                    e.str("stderr", stderr);
                }
            });
        });
        line.push(b'\n');
        out.write_all(&line)?;
        out.flush()
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        // It may name what a peer or a file is called.
        let message: Vec<String> = self.message.lines().map(text::printable).collect();
        writeln!(out, "barewire: {}", message.join("\n"))?;
        if let Some(data) = &self.rpc_data {
            writeln!(out, "  data: {data}")?;
        }
        if let Some(stderr) = &self.stderr {
            writeln!(out, "  the server's last words on stderr:")?;
            for line in stderr.lines() {
                writeln!(out, "    {}", text::printable(line))?;
            }
        }
        Ok(())
    }
}

/// Adds to a message what the server wrote, as a sentence of its own where the message is a question.
pub(crate) fn it_wrote(told: &str, what: &str) -> String {
    if told.ends_with('?') { format!("{told} It wrote {what}") } else { format!("{told}; it wrote {what}") }
}

//! What `list`, `call` and `demo` have in common: a server, wherever it is, and a session with it.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitStatus;
use std::thread;

use barewire::{ClientConfig, Era, Millis, Version};
use barewire_serial::host::{Failure as Missed, OpenError, Port};
use barewire_stdio::{CallError, Client, Command, Settings, StartError, Stderr, Trace, kill_all};

use super::record::{Record, Show, not_mcp};
use super::waiting::Waiting;
use crate::capture::Event;
use crate::failure::{Failure, code, it_wrote};
use crate::far::peer::Peer;
use crate::far::socket::Socket;
use crate::far::{Far, MISSING};
use crate::packets::texts::Table;
use crate::sys::{self, Signals};
use crate::text::printable;

/// Who we say we are.
pub(crate) static CONFIG: ClientConfig<'static> = ClientConfig::new("barewire", env!("CARGO_PKG_VERSION"));
/// How much of a server's stderr is kept for messages.
const TAIL: usize = 16 << 10;
/// How long an answer may take whatever progress says, unless --timeout is longer.
const LONGEST: Duration = Duration::from_secs(600);
/// How long each step of ending a child may take after Ctrl-C.
const GRACE: Duration = Duration::from_millis(500);

/// How long a device may take to boot and answer, if each answer may take longer.
const BOOT: Duration = Duration::from_secs(15);

/// How to reach a server.
#[derive(Debug)]
pub(crate) struct Connect {
    /// Where it is.
    pub(crate) far: Far,
    /// The era to speak; `None` is that of the revision.
    pub(crate) era: Option<Era>,
    /// The revision to ask for.
    pub(crate) version: Option<Version>,
    /// How long each answer may take.
    pub(crate) timeout: Duration,
    /// Pass the server's stderr on.
    pub(crate) verbose: bool,
    /// Say what is waited for.
    pub(crate) aloud: bool,
    /// Keep results as they come.
    pub(crate) keep: bool,
}

/// A session with a server.
pub(crate) struct Session {
    pub(crate) peer: Peer,
    pub(crate) record: Record,
    aloud: bool,
}

impl Connect {
    /// Reaches the server and opens a session. `shown` is the far end as it is told.
    pub(crate) fn start(self, table: Table, show: Show, shown: Vec<String>) -> Result<Session, Failure> {
        let record = Record::new(table, show, shown, self.keep);
        exit_on_signals(&record)?;
        let name = format!("`{}`", self.far);
        let waiting = Waiting::begin(format!("{name} to start and answer"), &record, self.aloud);
        let peer = match &self.far {
            Far::Command(words) => self.child(words, &record),
            Far::Serial { path, baud } => self.device(path, *baud, &record),
            Far::Tcp { .. } | Far::Unix(_) => self.socket(&record),
        };
        let peer = peer.map_err(|failure| {
            let mut failure = record.explain(failure);
            if failure.rpc_code == Some(-32601) && self.era == Some(Era::Modern) {
                failure.message += "; it may know only the older handshake: leave --era out";
            }
            if failure.code != code::USAGE && record.echoes() {
                let told = format!("{name} sends back what is written to it; it is no MCP server");
                return Failure::new(code::SERVER, "protocol", told);
            }
            failure
        })?;
        drop(waiting);
        Ok(Session { peer, record, aloud: self.aloud })
    }

    fn child(&self, words: &[OsString], record: &Record) -> Result<Peer, Failure> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(Failure::usage(MISSING));
        };
        let tracer = record.clone();
        let mut command = Command::new(program)
            .args(arguments)
            .timeout(self.timeout)
            .max_timeout(self.timeout.max(LONGEST))
            .start_timeout(self.timeout)
            .stderr(if self.verbose { Stderr::Pass } else { Stderr::Keep(TAIL) })
            .trace(move |trace| follow(&tracer, &trace));
        if let Some(version) = self.version {
            command = command.protocol_version(version);
        }
        if let Some(era) = self.era {
            command = command.era(era);
        }
        command.start(&self.config()).map(Peer::over).map_err(|error| start_failure(error, &self.far))
    }

    /// A server that hangs up on the question for its newest revision is called once more, without it.
    fn socket(&self, record: &Record) -> Result<Peer, Failure> {
        let first = self.call_up(record, self.config());
        let asked = self.version.is_none() && self.era == Some(Era::Auto);
        match first {
            Err(failure) if asked && failure.kind == "closed" => {
                record
                    .event(Event::Other("the server hung up before it answered; it is called again".into()));
                self.call_up(record, self.config().era(Era::Legacy))
            }
            first => first,
        }
    }

    fn call_up(&self, record: &Record, config: ClientConfig<'_>) -> Result<Peer, Failure> {
        let (read, write) = Socket::connect(&self.far, self.timeout)?.halves();
        record.event(Event::Start { command: self.far.words(), pid: None });
        let client = Client::over_with(read, write, &config, self.settings(record));
        client.map(Peer::over).map_err(|error| start_failure(error, &self.far))
    }

    fn device(&self, path: &Path, baud: u32, record: &Record) -> Result<Peer, Failure> {
        let (console, aloud) = (record.clone(), self.verbose);
        record.event(Event::Start { command: self.far.words(), pid: None });
        let patience = self.timeout.min(BOOT);
        let port = Port::new(path)
            .baud(baud)
            .patience(patience)
            .settings(self.settings(record))
            .trace(move |trace| console.serial(&trace, aloud));
        let gone = || OpenError::Silent { path: path.into(), baud, after: patience, heard: None };
        let device = port.connect(&self.config());
        device.and_then(|device| Peer::behind(device, gone())).map_err(|error| open_failure(error, &self.far))
    }

    fn settings(&self, record: &Record) -> Settings {
        let tracer = record.clone();
        Settings::new()
            .timeout(self.timeout)
            .max_timeout(self.timeout.max(LONGEST))
            .start_timeout(self.timeout)
            .trace(move |trace| follow(&tracer, &trace))
    }

    /// Who we say we are, and what we ask for.
    fn config(&self) -> ClientConfig<'static> {
        // A server that never answers the probe must leave time for the handshake.
        let probe = u64::try_from(self.timeout.as_millis() / 3).map_or(CONFIG.probe, Millis);
        let config = CONFIG.probe(probe.min(CONFIG.probe));
        let config = match self.version {
            Some(version) => config.protocol_version(version),
            None => config,
        };
        match self.era {
            Some(era) => config.era(era),
            None => config,
        }
    }
}

impl Session {
    /// Says what is waited for from now on, until the guard is dropped.
    pub(crate) fn waiting(&self, what: String) -> Waiting {
        Waiting::begin(what, &self.record, self.aloud)
    }

    /// Ends the session with a command's outcome: what failed is said before the server is ended, for that may take
    /// its time. Hands out the exit code.
    pub(crate) fn conclude(self, outcome: Result<i32, Failure>, json: bool) -> Result<i32, Failure> {
        yield_to_signals();
        match outcome {
            Ok(code) => self.close().map(|()| code).map_err(Failure::stdout),
            Err(failure) => {
                let failure = self.record.explain(failure);
                failure.report(json);
                let _ = self.close();
                Ok(failure.code)
            }
        }
    }

    /// Ends the session and the server, and shows what is left of a trace.
    fn close(self) -> io::Result<()> {
        self.peer.close();
        match self.record.finish()? {
            (summary, Show::Words(view, mut out)) => out.write_all(view.summary(&summary).as_bytes()),
            _ => Ok(()),
        }
    }
}

/// Whether a signal ends us: what fails from then on fails because of it.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Before the process ends with a code of its own: once a signal came, the code is that of the signal.
pub(crate) fn yield_to_signals() {
    while INTERRUPTED.load(Ordering::SeqCst) {
        // The thread that caught the signal ends the process.
        thread::park();
    }
}

/// Passes a trace on. Once a signal came, no further child is started: the end of the first looks like that of a
/// server that does not know the newest revision, which is started once more.
fn follow(record: &Record, trace: &Trace<'_>) {
    record.trace(trace);
    match trace {
        Trace::Started { pid } if INTERRUPTED.load(Ordering::SeqCst) => sys::kill_group(*pid),
        Trace::Restarted => {}
        _ => return,
    }
    yield_to_signals();
}

/// Ctrl-C and its like end the server's whole process group, and then us with 128 and the signal's number.
fn exit_on_signals(record: &Record) -> Result<(), Failure> {
    let mut signals = Signals::catch().map_err(|error| Failure::io("can't catch signals", &error))?;
    let (record, again) = (record.clone(), record.clone());
    thread::spawn(move || {
        let Some((signal, _)) = signals.wait() else { return };
        INTERRUPTED.store(true, Ordering::SeqCst);
        thread::spawn(move || {
            kill_all(GRACE);
            // Whatever of the group ignored that, or was started too late to be known there.
            if let Some(pid) = record.pid() {
                sys::kill_group(pid);
            }
            std::process::exit(128 + signal);
        });
        // A second Ctrl-C does not wait.
        if signals.wait().is_some() {
            if let Some(pid) = again.pid() {
                sys::kill_group(pid);
            }
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

fn open_failure(error: OpenError, far: &Far) -> Failure {
    match error {
        OpenError::Refused { error, .. } => start_failure(error, far),
        OpenError::Silent { .. } => Failure::new(code::TIMEOUT, "timeout", error.to_string()),
        error => Failure::new(code::CONNECT, "open", error.to_string()),
    }
}

fn start_failure(error: StartError, far: &Far) -> Failure {
    let program = far.to_string();
    let (what, on_stdio) = match far {
        Far::Command(_) => ("its output", " on stdio"),
        _ => ("the connection", ""),
    };
    match error {
        StartError::Spawn { error, .. } => Failure::spawn(&program, &error),
        StartError::Exited { status, stderr_tail, restarted, junk } => {
            let again = if restarted { " (twice: it was started once more)" } else { "" };
            let told = format!("`{program}` ended with {} before it answered{again}", ended(status));
            Failure::new(code::CONNECT, "exited", with_junk(told, junk)).with_stderr(&stderr_tail)
        }
        StartError::TimedOut { after, stderr_tail, junk } => {
            let unknown =
                if junk.is_none() { format!("; is it an MCP server{on_stdio}?") } else { String::new() };
            let told = format!("`{program}` did not answer within {}{unknown}", time(after));
            Failure::new(code::TIMEOUT, "timeout", with_junk(told, junk)).with_stderr(&stderr_tail)
        }
        StartError::ContentLength => Failure::new(
            code::SERVER,
            "protocol",
            format!(
                "`{program}` speaks Content-Length framing, which MCP does not use; it wants one message a line"
            ),
        ),
        StartError::Refused { code: rpc, message } => {
            let told =
                format!("`{program}` refused the session: {} ({})", printable(&message), rpc_code(rpc));
            let mut failure = Failure::new(code::SERVER, "refused", told);
            failure.rpc_code = Some(rpc);
            failure
        }
        StartError::Closed { junk: None } => {
            Failure::new(code::CONNECT, "closed", format!("`{program}` closed {what} before it answered"))
        }
        StartError::Closed { junk } => {
            let told = format!("`{program}` closed {what} before it answered");
            Failure::new(code::SERVER, "protocol", with_junk(told, junk))
        }
        StartError::Protocol(why) => {
            Failure::new(code::SERVER, "protocol", format!("`{program}` broke the protocol: {why}"))
        }
        StartError::Io(error) => Failure::io("can't speak with the server", &error),
        other => Failure::new(code::CONNECT, "start", other.to_string()),
    }
}

/// What went wrong with a request, in words; `what` names it.
pub(crate) fn call_failure(missed: Missed, what: &str) -> Failure {
    let error = match missed {
        Missed::Call(error) => error,
        Missed::Lost(lost) => {
            let told = format!("{lost} before it answered {what}; it may have done it all the same");
            return Failure::new(code::SERVER, "lost", told);
        }
        missed => return Failure::new(code::CONNECT, "open", missed.to_string()),
    };
    match error {
        CallError::Server { code: rpc, message, data } => {
            let mut told = format!(
                "the server answered {what} with an error: {} ({})",
                printable(&message),
                rpc_code(rpc)
            );
            if rpc == -32021 {
                told += "; it wants to ask back, which barewire can't answer yet";
            }
            let mut failure = Failure::new(code::SERVER, "server", told);
            failure.rpc_code = Some(rpc);
            failure.rpc_data = data;
            failure
        }
        CallError::TimedOut { after, stderr_tail } => {
            let told = format!("no answer to {what} within {} (--timeout changes that)", time(after));
            Failure::new(code::TIMEOUT, "timeout", told).with_stderr(&stderr_tail)
        }
        CallError::Exited { status, stderr_tail } => {
            let told = format!("the server ended with {} before it answered {what}", ended(status));
            Failure::new(code::SERVER, "exited", told).with_stderr(&stderr_tail)
        }
        CallError::Protocol(why) => Failure::new(
            code::SERVER,
            "protocol",
            format!("the server broke the protocol in its answer to {what}: {why}"),
        ),
        CallError::InputRequired { asks, .. } => {
            let told = format!("{what} needs input first, which barewire can't give yet; it asks: {asks}");
            Failure::new(code::SERVER, "input_required", told)
        }
        CallError::BadArguments(why) => Failure::usage(why),
        CallError::TooLarge => {
            Failure::new(code::SERVER, "too_large", format!("{what} is larger than messages may be"))
        }
        other => Failure::new(code::SERVER, "closed", format!("{what}: {other}")),
    }
}

/// An error's code; what is no integer came as 0.
fn rpc_code(code: i64) -> String {
    match code {
        0 => "no code, or 0".into(),
        code => format!("code {code}"),
    }
}

fn with_junk(told: String, junk: Option<String>) -> String {
    match junk {
        Some(line) => it_wrote(&told, &not_mcp(line.as_bytes())),
        None => told,
    }
}

fn ended(status: ExitStatus) -> String {
    let code = super::tap::exit_code(status);
    match status.code() {
        Some(code) => format!("status {code}"),
        None => format!("signal {}", code - 128),
    }
}

/// In seconds: it answers to what --timeout takes.
fn time(duration: Duration) -> String {
    let seconds = format!("{:.1}", duration.as_secs_f64());
    format!("{} s", seconds.strip_suffix(".0").unwrap_or(&seconds))
}

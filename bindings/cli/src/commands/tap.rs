//! `barewire tap`: sits between a host and a server, changes no byte, and logs every read.
//!
//! * **Exact.** Each read is logged as one entry, then written on as it is; nothing is parsed on the way.
//! * **In order.** A read is queued for the log before it is passed on, so no answer precedes its request there.
//! * **Never in the way.** The log has a thread of its own and may fail (see [`queue`](crate::capture::queue)).
//! * **Invisible.** Nothing of our own goes to stdout; end of input, closed pipes and signals are passed on, and the
//!   exit status is the child's.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::io::{self, ErrorKind, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

use crate::capture::queue::Log;
use crate::capture::write::Format;
use crate::capture::{Entry, Event, Stream, What};
use crate::failure::Failure;
use crate::sys;

/// The longest read that is passed on in one piece.
const CHUNK: usize = 64 << 10;
/// How long output may still come after the child is gone: from grandchildren that hold its pipes.
const AFTERMATH: Duration = Duration::from_millis(500);
/// How long a slow log may hold up the end.
const LOG_LIMIT: Duration = Duration::from_secs(2);

/// What to run and where to log.
pub(crate) struct Tap {
    /// The server's command and arguments; not empty.
    pub(crate) command: Vec<String>,
    /// The log file, if any.
    pub(crate) log: Option<PathBuf>,
    /// How it is written.
    pub(crate) format: Format,
}

impl Tap {
    /// Runs until the child is gone, and says with which status to exit. `watch` sees every entry, off the data's way.
    pub(crate) fn run(self, watch: impl FnMut(&Entry) + Send + 'static) -> Result<i32, Failure> {
        let mut signals =
            sys::Signals::catch().map_err(|error| Failure::io("can't catch signals", &error))?;
        let mut child = spawn(&self.command)?;
        let (log, writing) = Log::start(self.log.map(with_pid), self.format, watch);
        log.put(What::Event(Event::Start { command: self.command, pid: Some(child.id()) }));

        let leader = child.id();
        let signal_log = log.clone();
        thread::spawn(move || {
            while let Some((signal, name)) = signals.wait() {
                signal_log.put(What::Event(Event::Signal(name.into())));
                sys::signal_group(leader, signal);
            }
        });

        let (ended, ends) = mpsc::channel();
        let writing_out = Arc::new(AtomicUsize::new(0));
        pump_all(&mut child, &log, &ended, &writing_out);
        let status = child.wait().map_err(|error| Failure::io("can't wait for the server", &error))?;
        // Two streams come from the child. Its own words are in the pipes by now; a grandchild may hold them open.
        let mut open = 2;
        while open > 0 {
            match ends.recv_timeout(AFTERMATH) {
                Ok(Pumped::Moved) => {}
                Ok(Pumped::Ended) => open -= 1,
                // A host that reads slowly gets all the same.
                Err(_) if writing_out.load(Ordering::SeqCst) > 0 => {}
                Err(_) => break,
            }
        }
        log.put(What::Event(exit_event(status)));
        log.close();
        writing.wait(LOG_LIMIT);
        Ok(exit_code(status))
    }
}

/// `%p` in the file's name becomes our process id.
fn with_pid(path: PathBuf) -> PathBuf {
    match path.to_str() {
        Some(name) => name.replace("%p", &std::process::id().to_string()).into(),
        None => path,
    }
}

fn spawn(command: &[String]) -> Result<Child, Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Failure::usage("no command given: put it after --"));
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: signals reach grandchildren too, and Ctrl-C comes from us alone.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map_err(|error| Failure::spawn(program, &error))
}

/// What a pump of the child's output tells while it runs.
enum Pumped {
    /// Bytes were passed on.
    Moved,
    /// The stream is over.
    Ended,
}

fn pump_all(child: &mut Child, log: &Log, ended: &Sender<Pumped>, writing: &Arc<AtomicUsize>) {
    if let Some(mut to) = child.stdin.take() {
        let log = log.clone();
        thread::spawn(move || {
            let mut from = sys::stdin();
            if pump(&mut *from, &mut to, Stream::C2s, &log, |_| ()) == Stop::Writer {
                sys::close_stdin();
            }
            // Dropping `to` passes the end of input on.
        });
    }
    if let Some(mut from) = child.stdout.take() {
        let (log, ended, writing) = (log.clone(), ended.clone(), Arc::clone(writing));
        thread::spawn(move || {
            let mut to = sys::stdout();
            let moved = |begins| tell(&ended, &writing, begins);
            if pump(&mut from, &mut *to, Stream::S2c, &log, moved) == Stop::Reader {
                sys::close_stdout();
            }
            // When the host closed its end, dropping `from` lets the server see that.
            _ = ended.send(Pumped::Ended);
        });
    }
    if let Some(mut from) = child.stderr.take() {
        let (log, ended, writing) = (log.clone(), ended.clone(), Arc::clone(writing));
        thread::spawn(move || {
            let mut to = io::stderr();
            let moved = |begins| tell(&ended, &writing, begins);
            if pump(&mut from, &mut to, Stream::Err, &log, moved) == Stop::Writer {
                // Nobody reads our stderr; the server's must be drained all the same.
                pump(&mut from, &mut io::sink(), Stream::Err, &log, moved);
            }
            _ = ended.send(Pumped::Ended);
        });
    }
}

/// Tells the waiting thread that a write begins or is over.
fn tell(ended: &Sender<Pumped>, writing: &AtomicUsize, begins: bool) {
    if begins {
        writing.fetch_add(1, Ordering::SeqCst);
    } else {
        writing.fetch_sub(1, Ordering::SeqCst);
    }
    let _ = ended.send(Pumped::Moved);
}

/// Which side ended a pump.
#[derive(PartialEq, Eq)]
enum Stop {
    /// No more input.
    Reader,
    /// The output took no more.
    Writer,
}

fn pump(from: &mut dyn Read, to: &mut dyn Write, stream: Stream, log: &Log, writing: impl Fn(bool)) -> Stop {
    let mut chunk = vec![0; CHUNK];
    loop {
        let bytes = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => &chunk[..n],
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        log.put(What::Bytes(stream, bytes.to_vec()));
        writing(true);
        let written = to.write_all(bytes).and_then(|()| to.flush());
        writing(false);
        if written.is_err() {
            return Stop::Writer;
        }
    }
    log.put(What::Event(Event::Eof(stream)));
    Stop::Reader
}

fn exit_event(status: ExitStatus) -> Event {
    Event::Exit { code: status.code(), signal: signal_of(status) }
}

/// The child's code, or 128 and its signal as shells have it.
pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| signal_of(status).map(|signal| 128 + signal)).unwrap_or(1)
}

#[cfg(unix)]
pub(crate) fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
pub(crate) fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}

//! The far ends: how they are called, and how they are started again under the feet of those who call.

use core::pin::pin;
use core::time::Duration;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use async_io::{Async, Timer, block_on};
use barewire::ClientConfig;
use barewire::owned::OwnedProgress;
use barewire_async::{Connect, IoTimer};
use barewire_serial::host::{Device, Failure, Port};
use barewire_serial::{Checked, LinkStats};
use barewire_stdio::{CallError, Client, Command, Options, Settings, Trace};
use futures_lite::future::or;

use super::board::{Board, Line};
use super::servers::{self, LIMITS};

/// Nothing that is answered takes so long, on whatever line and machine.
const PATIENCE: Duration = Duration::from_secs(120);
static CONFIG: ClientConfig<'static> = ClientConfig::new("soak", "1.0.0");

/// When a call is given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Never,
    /// By its own time limit.
    Deadline(Duration),
    /// By its caller.
    Cancel(Duration),
}

/// Why a call has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Why {
    TimedOut,
    Cancelled,
    /// The far end went meanwhile; in its words.
    Lost(String),
    Wrong(String),
}

/// Hears of progress: what is done, and the words.
pub(super) type Hear<'a> = &'a mut (dyn FnMut(f64, Option<&str>) + Send);

/// A handle that many threads use.
pub(super) trait Caller: Send + Sync {
    fn call(&self, tool: &str, args: &str, limit: Limit, hear: Option<Hear<'_>>) -> Result<String, Why>;
}

/// A far end, and the way to it.
pub(super) trait Far: Send {
    fn name(&self) -> &'static str;
    fn caller(&self) -> Arc<dyn Caller>;
    /// Ends the far end at once, whatever it does, and starts another one.
    fn restart(&mut self) -> Result<(), String>;
    /// What happened on the link, if it has one: at the near end and at the far one.
    fn links(&mut self) -> Vec<LinkStats> {
        Vec::new()
    }
    /// Resident bytes of a process of its own.
    fn resident(&self) -> Option<u64> {
        None
    }
    /// Ends both sides.
    fn close(self: Box<Self>) -> Result<(), String>;
}

/// Answers to nothing that was asked, as far as this side knows: each is the late answer to a call that was given up, or
/// one too many.
pub(super) type Strays = Arc<AtomicU64>;

fn stray(line: &[u8], strays: &AtomicU64) {
    let has = |what: &[u8]| line.windows(what.len()).any(|window| window == what);
    if has(b"\"id\":") && has(b"\"result\":") {
        strays.fetch_add(1, Relaxed);
    }
}

fn settings(strays: &Strays) -> Settings {
    let strays = Arc::clone(strays);
    let settings =
        Settings::new().timeout(PATIENCE).max_timeout(PATIENCE).start_timeout(PATIENCE).limits(LIMITS);
    settings.trace(move |what| {
        if let Trace::Junk { line, .. } = what {
            stray(line, &strays);
        }
    })
}

fn options<'h>(limit: Limit, hear: Option<&'h mut dyn FnMut(OwnedProgress)>) -> Options<'h> {
    let options = match limit {
        // Threads cannot be interrupted: they give up by time alone.
        Limit::Deadline(time) | Limit::Cancel(time) => Options::new().timeout(time).max_timeout(time),
        Limit::Never => Options::new(),
    };
    match hear {
        Some(hear) => options.on_progress(hear),
        None => options,
    }
}

fn why(error: CallError) -> Why {
    match error {
        CallError::TimedOut { after, .. } if after < PATIENCE => Why::TimedOut,
        error @ (CallError::Exited { .. } | CallError::Closed) => Why::Lost(error.to_string()),
        error => Why::Wrong(error.to_string()),
    }
}

impl Caller for Client {
    fn call(&self, tool: &str, args: &str, limit: Limit, hear: Option<Hear<'_>>) -> Result<String, Why> {
        let mut hear =
            hear.map(|hear| move |progress: OwnedProgress| hear(progress.done, progress.message.as_deref()));
        let hear = hear.as_mut().map(|hear| hear as &mut dyn FnMut(OwnedProgress));
        self.call_with(tool, args, options(limit, hear)).map(|result| result.text()).map_err(why)
    }
}

impl Caller for Device {
    fn call(&self, tool: &str, args: &str, limit: Limit, hear: Option<Hear<'_>>) -> Result<String, Why> {
        let mut hear =
            hear.map(|hear| move |progress: OwnedProgress| hear(progress.done, progress.message.as_deref()));
        let hear = hear.as_mut().map(|hear| hear as &mut dyn FnMut(OwnedProgress));
        let result = self.call_with(tool, args, options(limit, hear));
        result.map(|result| result.text()).map_err(|failure| match failure {
            Failure::Call(error) => why(error),
            lost @ Failure::Lost(_) => Why::Lost(lost.to_string()),
            other => Why::Wrong(other.to_string()),
        })
    }
}

impl Caller for barewire_async::Client {
    fn call(&self, tool: &str, args: &str, limit: Limit, hear: Option<Hear<'_>>) -> Result<String, Why> {
        use barewire_async::CallError as Error;
        let mut call = Self::call(self, tool, args);
        if let Limit::Deadline(time) = limit {
            call = call.timeout(time).max_timeout(time);
        }
        let answered = async {
            let result = match hear {
                Some(hear) => {
                    call.on_progress(|progress| hear(progress.done, progress.message.as_deref())).await
                }
                None => call.await,
            };
            result.map(|result| result.text()).map_err(|error| match error {
                Error::TimedOut { after, .. } if after < PATIENCE => Why::TimedOut,
                Error::Closed => Why::Lost(error.to_string()),
                error => Why::Wrong(error.to_string()),
            })
        };
        block_on(or(pin!(answered), async {
            match limit {
                // The call's future is dropped then.
                Limit::Cancel(time) => Timer::after(time).await,
                Limit::Never | Limit::Deadline(_) => core::future::pending().await,
            };
            Err(Why::Cancelled)
        }))
    }
}

/// A child process and its pipes.
pub(super) struct Pipes {
    program: PathBuf,
    client: Client,
    strays: Strays,
}

impl Pipes {
    pub(super) fn start(strays: &Strays) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(told)?;
        let client = Self::spawn(&program, strays)?;
        Ok(Self { program, client, strays: Arc::clone(strays) })
    }

    fn spawn(program: &PathBuf, strays: &Strays) -> Result<Client, String> {
        let strays = Arc::clone(strays);
        let command = Command::new(program).arg("--serve").limits(LIMITS).timeout(PATIENCE);
        let command = command.max_timeout(PATIENCE).start_timeout(PATIENCE).trace(move |what| {
            if let Trace::Junk { line, .. } = what {
                stray(line, &strays);
            }
        });
        command.start(&CONFIG).map_err(told)
    }
}

impl Far for Pipes {
    fn name(&self) -> &'static str {
        "pipes"
    }

    fn caller(&self) -> Arc<dyn Caller> {
        Arc::new(self.client.clone())
    }

    fn restart(&mut self) -> Result<(), String> {
        let pid = self.client.pid().and_then(|pid| i32::try_from(pid).ok());
        let pid = pid.and_then(rustix::process::Pid::from_raw).ok_or("the child has no process")?;
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).map_err(told)?;
        self.client = Self::spawn(&self.program, &self.strays)?;
        Ok(())
    }

    fn resident(&self) -> Option<u64> {
        super::census::resident(self.client.pid())
    }

    fn close(self: Box<Self>) -> Result<(), String> {
        let report = self.client.close();
        match report.status {
            Some(status) if status.success() => Ok(()),
            status => Err(format!("the child ended with {status:?}: {}", report.stderr_tail)),
        }
    }
}

/// A socket and the thread of its server, threads or futures on both sides.
pub(super) struct Sockets {
    name: &'static str,
    listener: TcpListener,
    near: Near,
    socket: TcpStream,
    server: JoinHandle<io::Result<()>>,
    strays: Strays,
}

enum Near {
    Threads(Client),
    Futures(barewire_async::Client, JoinHandle<io::Result<()>>),
}

impl Sockets {
    pub(super) fn start(futures: bool, strays: &Strays) -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(told)?;
        let (near, socket, server) = Self::open(&listener, futures, strays)?;
        let name = if futures { "async" } else { "TCP" };
        Ok(Self { name, listener, near, socket, server, strays: Arc::clone(strays) })
    }

    /// A connection and what is at its ends.
    fn open(
        listener: &TcpListener,
        futures: bool,
        strays: &Strays,
    ) -> Result<(Near, TcpStream, JoinHandle<io::Result<()>>), String> {
        let address = listener.local_addr().map_err(told)?;
        let here = TcpStream::connect(address).map_err(told)?;
        let (there, _) = listener.accept().map_err(told)?;
        here.set_nodelay(true).and_then(|()| there.set_nodelay(true)).map_err(told)?;
        let socket = there.try_clone().map_err(told)?;
        let thread = std::thread::Builder::new().name("soak-server".into());
        let server =
            thread.spawn(move || if futures { servers::futures(there) } else { servers::threads(&there) });
        let server = server.map_err(told)?;
        let near = if futures {
            let strays = Arc::clone(strays);
            let connect =
                Connect::new(&CONFIG, IoTimer).limits(LIMITS).timeout(PATIENCE).max_timeout(PATIENCE);
            let connect = connect.trace(move |what| {
                if let barewire_async::Trace::Junk { line, .. } = what {
                    stray(line, &strays);
                }
            });
            let (client, driver) = connect.over(Async::new(here).map_err(told)?);
            let thread = std::thread::Builder::new().name("soak-driver".into());
            Near::Futures(client, thread.spawn(move || block_on(driver)).map_err(told)?)
        } else {
            let read = here.try_clone().map_err(told)?;
            Near::Threads(Client::over_with(read, Half(here), &CONFIG, settings(strays)).map_err(told)?)
        };
        Ok((near, socket, server))
    }

    fn end(near: Near, server: JoinHandle<io::Result<()>>) -> Result<(), String> {
        let mut driven = Ok(());
        match near {
            Near::Threads(client) => drop(client.close()),
            Near::Futures(client, driver) => {
                block_on(client.close());
                drop(client);
                driven = joined(driver);
            }
        }
        joined(server).and(driven)
    }
}

/// A client that closes ends its output; the socket has other clones.
struct Half(TcpStream);

impl io::Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

impl Far for Sockets {
    fn name(&self) -> &'static str {
        self.name
    }

    fn caller(&self) -> Arc<dyn Caller> {
        match &self.near {
            Near::Threads(client) => Arc::new(client.clone()),
            Near::Futures(client, _) => Arc::new(client.clone()),
        }
    }

    fn restart(&mut self) -> Result<(), String> {
        self.socket.shutdown(Shutdown::Both).map_err(told)?;
        let futures = matches!(self.near, Near::Futures(..));
        let (near, socket, server) = Self::open(&self.listener, futures, &self.strays)?;
        let (near, server) =
            (core::mem::replace(&mut self.near, near), core::mem::replace(&mut self.server, server));
        self.socket = socket;
        Self::end(near, server)
    }

    fn close(self: Box<Self>) -> Result<(), String> {
        Self::end(self.near, self.server)
    }
}

/// A serial port, and the board at its line.
pub(super) struct Serial {
    line: Line,
    device: Device,
    board: Option<Board>,
    seed: u64,
    /// Of the boards before.
    links: Vec<LinkStats>,
}

impl Serial {
    pub(super) fn start(seed: u64, strays: &Strays) -> Result<Self, String> {
        let line = Line::new().map_err(told)?;
        let board = Board::start(&line, seed).map_err(told)?;
        // Not even the handshake would get through such a line unharmed.
        let port = Port::new(&line.path).baud(921_600).checked(Checked::Always).patience(PATIENCE);
        let port = port.settings(settings(strays));
        let device = port.connect(&CONFIG).map_err(told)?;
        Ok(Self { line, device, board: Some(board), seed, links: Vec::new() })
    }

    fn kill(&mut self) -> Result<(), String> {
        if let Some(board) = self.board.take() {
            self.links.push(board.kill()?);
        }
        Ok(())
    }
}

impl Far for Serial {
    fn name(&self) -> &'static str {
        "serial"
    }

    fn caller(&self) -> Arc<dyn Caller> {
        Arc::new(self.device.clone())
    }

    fn restart(&mut self) -> Result<(), String> {
        self.kill()?;
        self.seed += 2;
        self.board = Some(Board::start(&self.line, self.seed).map_err(told)?);
        Ok(())
    }

    fn links(&mut self) -> Vec<LinkStats> {
        let mut links = core::mem::take(&mut self.links);
        links.push(self.device.stats());
        links
    }

    fn close(mut self: Box<Self>) -> Result<(), String> {
        self.device.close();
        self.kill()
    }
}

pub(super) fn told(error: impl ToString) -> String {
    error.to_string()
}

fn joined(thread: JoinHandle<io::Result<()>>) -> Result<(), String> {
    thread.join().map_err(|_| "a thread panicked".to_owned())?.map_err(told)
}

pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

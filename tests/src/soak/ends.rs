//! The far ends: a child process, sockets with threads or futures at both sides, a board on a serial line.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use async_io::{Async, block_on};
use barewire::ClientConfig;
use barewire_async::{Connect, IoTimer};
use barewire_serial::host::{Device, Port};
use barewire_serial::{Checked, LinkStats};
use barewire_stdio::{Client, Command, Trace};

use super::board::{Board, Line};
use super::far::{Caller, Far, PATIENCE, Strays, settings, stray, told};
use super::servers::{self, LIMITS};

static CONFIG: ClientConfig<'static> = ClientConfig::new("soak", "1.0.0");

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

fn joined(thread: JoinHandle<io::Result<()>>) -> Result<(), String> {
    thread.join().map_err(|_| "a thread panicked".to_owned())?.map_err(told)
}

//! Sockets: the two halves of a connection.

use core::time::Duration;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;

use super::Far;
use crate::failure::{Failure, code};

/// A connection. Its halves share it; dropping the writing half ends what the peer reads.
pub(crate) enum Socket {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a Unix socket.
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
}

impl Socket {
    /// Connects to a TCP port, each of its addresses for at most `patience`, or to a Unix socket.
    pub(crate) fn connect(far: &Far, patience: Duration) -> Result<Self, Failure> {
        let connected = match far {
            Far::Tcp { host, port } => tcp(host, *port, patience).map(Self::Tcp),
            #[cfg(unix)]
            Far::Unix(path) => unix(path, patience).map(Self::Unix),
            _ => Err(io::Error::new(io::ErrorKind::Unsupported, "there are no such sockets on this system")),
        };
        connected.map_err(|error| failure(far, &error))
    }

    /// Its reading and its writing half.
    pub(crate) fn halves(self) -> (Reader, Writer) {
        let socket = Arc::new(self);
        (Reader(Arc::clone(&socket)), Writer(socket))
    }

    /// The same, and what ends the connection while they are in use elsewhere.
    pub(crate) fn halves_and_end(self) -> (Reader, Writer, Closer) {
        let socket = Arc::new(self);
        (Reader(Arc::clone(&socket)), Writer(Arc::clone(&socket)), Closer(socket))
    }

    /// Its descriptor.
    #[cfg(unix)]
    pub(crate) fn into_fd(self) -> std::os::fd::OwnedFd {
        match self {
            Self::Tcp(stream) => stream.into(),
            Self::Unix(stream) => stream.into(),
        }
    }

    fn shutdown(&self, how: Shutdown) {
        // A connection that is gone already needs no end.
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(how),
            #[cfg(unix)]
            Self::Unix(stream) => stream.shutdown(how),
        };
    }
}

/// What the peer says.
pub(crate) struct Reader(Arc<Socket>);

/// What the peer is told.
pub(crate) struct Writer(Arc<Socket>);

/// Ends a connection.
pub(crate) struct Closer(Arc<Socket>);

impl Closer {
    /// Both directions, now: whoever reads or writes comes to an end.
    pub(crate) fn close(&self) {
        self.0.shutdown(Shutdown::Both);
    }
}

impl Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &*self.0 {
            Socket::Tcp(stream) => (&*stream).read(out),
            #[cfg(unix)]
            Socket::Unix(stream) => (&*stream).read(out),
        }
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &*self.0 {
            Socket::Tcp(stream) => (&*stream).write(bytes),
            #[cfg(unix)]
            Socket::Unix(stream) => (&*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.shutdown(Shutdown::Write);
    }
}

fn tcp(host: &str, port: u16, patience: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => {
                // Each message is written whole: waiting for more only costs time.
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The system's own call waits without limit while a listener's queue is full.
#[cfg(unix)]
fn unix(path: &std::path::Path, patience: Duration) -> io::Result<std::os::unix::net::UnixStream> {
    let (tell, told) = std::sync::mpsc::channel();
    let path = path.to_owned();
    std::thread::spawn(move || tell.send(std::os::unix::net::UnixStream::connect(path)));
    told.recv_timeout(patience).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

fn failure(far: &Far, error: &io::Error) -> Failure {
    let why = match error.kind() {
        io::ErrorKind::ConnectionRefused => "nobody listens there; is the server running?".into(),
        io::ErrorKind::NotFound if matches!(far, Far::Unix(_)) => {
            "there is no such socket; is the server running?".into()
        }
        io::ErrorKind::TimedOut if matches!(far, Far::Unix(_)) => {
            "it listens, but takes no connection; does it hang?".into()
        }
        io::ErrorKind::TimedOut => "it does not answer; is the address right?".into(),
        _ => error.to_string(),
    };
    Failure::new(code::CONNECT, "connect", format!("can't connect to {far}: {why}"))
}

//! Sockets pass, with both ends in the suite's hands: TCP on loopback, Unix sockets with a name.
#![cfg(unix)]

mod common;

use barewire_testkit::{Claims, End, Suite};
use common::told;
use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::net::{UnixListener, UnixStream},
};

/// A socket, whatever it is called.
trait Socket: Read + Write + Send + Sized + 'static {
    fn again(&self) -> io::Result<Self>;
    fn end_output(&self);
}

impl Socket for TcpStream {
    fn again(&self) -> io::Result<Self> {
        self.set_nodelay(true)?;
        self.try_clone()
    }
    fn end_output(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

impl Socket for UnixStream {
    fn again(&self) -> io::Result<Self> {
        self.try_clone()
    }
    fn end_output(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

struct Half<S: Socket>(S);

impl<S: Socket> Write for Half<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<S: Socket> Drop for Half<S> {
    fn drop(&mut self) {
        self.0.end_output();
    }
}

fn end<S: Socket>(socket: S) -> io::Result<End> {
    Ok(End::stream(socket.again()?, Half(socket)))
}

/// One test alone: the suite looks at the threads and descriptors of the whole process.
#[test]
fn sockets_pass() {
    let claims = Claims::stream().half_close().noise();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let report =
        Suite::new(claims).run(|| Ok((end(TcpStream::connect(address)?)?, end(listener.accept()?.0)?)));
    assert_eq!(told("TCP", &report), ["borders"]);

    let path = std::env::temp_dir().join(format!("barewire-kit-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    let report =
        Suite::new(claims).run(|| Ok((end(UnixStream::connect(&path)?)?, end(listener.accept()?.0)?)));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(told("Unix sockets", &report), ["borders"]);
}

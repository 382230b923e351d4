//! A byte stream as a transport: TCP whose halves close by themselves. `cargo run --example bytes` tests it.
use barewire_testkit::{Claims, End, Suite};
use std::io::{self, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

/// A socket stays open as long as any clone of it lives, so the half that writes says itself when it is done.
struct Half(TcpStream);

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write); // gone already: nothing to end
    }
}

fn end(socket: TcpStream) -> io::Result<End> {
    socket.set_nodelay(true)?; // a small message must not wait for the next one
    Ok(End::stream(socket.try_clone()?, Half(socket)))
}

pub(crate) fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
    let address = listener.local_addr().expect("its address");
    let report = Suite::new(Claims::stream().half_close().noise()).run(|| {
        let client = TcpStream::connect(address)?;
        Ok((end(client)?, end(listener.accept()?.0)?))
    });
    println!("{report}");
    report.assert_passed();
}

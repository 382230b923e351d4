//! Asynchronous ends pass: TCP on loopback through a reactor.

mod common;

use async_io::Async;
use barewire_testkit::{Claims, End, Suite};
use core::{
    pin::Pin,
    task::{Context, Poll},
};
use futures_lite::{AsyncRead, AsyncWrite};
use std::{
    io,
    net::{Shutdown, TcpListener, TcpStream},
    sync::Arc,
};

/// One half of a socket; the one that writes ends its direction when it is dropped.
struct Half(Arc<Async<TcpStream>>, bool);

impl AsyncRead for Half {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, space: &mut [u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self.0).poll_read(cx, space)
    }
}

impl AsyncWrite for Half {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self.0).poll_write(cx, bytes)
    }
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self.0).poll_flush(cx)
    }
    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self.0).poll_close(cx)
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        if self.1 {
            let _ = self.0.get_ref().shutdown(Shutdown::Write);
        }
    }
}

fn end(socket: TcpStream) -> io::Result<End> {
    socket.set_nodelay(true)?;
    let socket = Arc::new(Async::new(socket)?);
    Ok(End::futures(Half(Arc::clone(&socket), false), Half(socket, true)))
}

#[test]
fn asynchronous_ends_pass() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let claims = Claims::stream().half_close().noise().largest(1 << 20);
    let report = Suite::new(claims).run(|| {
        let client = TcpStream::connect(address)?;
        Ok((end(client)?, end(listener.accept()?.0)?))
    });
    assert_eq!(common::told("TCP, asynchronous", &report), ["borders"]);
}

//! Two halves as one stream.

use core::{
    pin::Pin,
    task::{Context, Poll},
};
use futures_lite::{AsyncRead, AsyncWrite};
use std::io;

/// One stream made of two: a pair of pipes, standard input and output.
///
/// Closing it also drops the writing half, since closing is what ends a pipe.
///
/// ```
/// use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let stdio = barewire_async::Duplex::new(tokio::io::stdin().compat(), tokio::io::stdout().compat_write());
/// # drop(stdio) });
/// ```
///
/// On standard output a tool that prints spoils the peer's lines: the crate `barewire-stdio` moves it aside, this one does not.
#[derive(Debug)]
pub struct Duplex<R, W> {
    read: R,
    write: Option<W>,
}

impl<R, W> Duplex<R, W> {
    /// Reads from one, writes to the other.
    pub const fn new(read: R, write: W) -> Self {
        Self { read, write: Some(write) }
    }
}

impl<R: AsyncRead + Unpin, W: Unpin> AsyncRead for Duplex<R, W> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.read).poll_read(cx, space)
    }
}

impl<R: Unpin, W: AsyncWrite + Unpin> AsyncWrite for Duplex<R, W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.write {
            Some(write) => Pin::new(write).poll_write(cx, bytes),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.write {
            Some(write) => Pin::new(write).poll_flush(cx),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(write) = &mut self.write else { return Poll::Ready(Ok(())) };
        let closed = Pin::new(write).poll_close(cx);
        if closed.is_ready() {
            self.write = None;
        }
        closed
    }
}

//! Bytes on their way out.

use core::{
    pin::Pin,
    task::{Context, Poll},
};
use futures_lite::AsyncWrite;
use std::io;

/// What is kept between writes.
const KEEP: usize = 64 << 10;

/// What was taken out of the machine to be written. While the peer does not read it the machine has its own buffer free, so
/// that it still takes in what needs little room: a cancel, a ping.
#[derive(Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    written: usize,
    told: usize,
    /// Written, but not flushed.
    unflushed: bool,
}

impl Outbox {
    /// All is written; more may be taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All is written and flushed.
    pub(crate) fn is_done(&self) -> bool {
        self.bytes.is_empty() && !self.unflushed
    }

    /// Where to put what is to be written, once it [is empty](Self::is_empty).
    pub(crate) fn refill(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// What was put in and not [told](Self::told) of.
    pub(crate) fn fresh(&self) -> &[u8] {
        self.bytes.get(self.told..).unwrap_or_default()
    }

    pub(crate) const fn told(&mut self) {
        self.told = self.bytes.len();
    }

    /// Writes what `stream` takes. `true`: it took something.
    pub(crate) fn write(
        &mut self,
        stream: &mut (impl AsyncWrite + Unpin),
        cx: &mut Context<'_>,
    ) -> io::Result<bool> {
        let mut moved = false;
        while let Some(rest) = self.bytes.get(self.written..).filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut *stream).poll_write(cx, rest) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(n)) => self.written += n,
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => return Ok(moved),
            }
            (moved, self.unflushed) = (true, true);
        }
        self.clear();
        if self.unflushed
            && let Poll::Ready(flushed) = Pin::new(stream).poll_flush(cx)
        {
            flushed?;
            (moved, self.unflushed) = (true, false);
        }
        Ok(moved)
    }

    /// Forgets what is not written.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEEP);
        (self.written, self.told) = (0, 0);
    }
}

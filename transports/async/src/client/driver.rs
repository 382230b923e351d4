//! The part of a client that reads and writes.

use super::{
    Ended, ExitReport, Shared, Trace,
    state::{Gone, News},
};
use crate::{BUSY, Timer, is_close, outbox::Outbox, timer::Alarm};
use barewire::Millis;
use core::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use futures_lite::{AsyncRead, AsyncWrite};
use std::{io, sync::Arc};

/// Bytes asked for at once; pages are touched only as far as they are filled.
const CHUNK: usize = 64 << 10;

pub(crate) struct Link<S, T: Timer, H> {
    shared: Arc<Shared>,
    stream: S,
    alarm: Alarm<T>,
    hook: H,
    outbox: Outbox,
    chunk: Vec<u8>,
    /// What of the chunk the machine has not taken.
    unread: core::ops::Range<usize>,
    /// The peer sends no more.
    eof: bool,
    /// The peer reads no more.
    mute: bool,
    /// The writing half is closed.
    closed: bool,
    /// There was nothing more to do.
    idle: bool,
    grace: Duration,
    /// When closing must be over.
    until: Option<Millis>,
    failed: Option<io::Error>,
}

impl<S, T, H> Link<S, T, H>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: Timer,
    H: FnMut(Trace<'_>),
{
    pub(crate) fn new(shared: Arc<Shared>, stream: S, timer: T, hook: H, grace: Duration) -> Self {
        Self {
            shared,
            stream,
            alarm: Alarm::new(timer),
            hook,
            outbox: Outbox::default(),
            chunk: Vec::new(),
            unread: 0..0,
            eof: false,
            mute: false,
            closed: false,
            idle: false,
            grace,
            until: None,
            failed: None,
        }
    }

    /// Goes as far as it can. Afterwards the flags say how far that is.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) {
        for _ in 0..BUSY {
            self.idle = !self.step(cx);
            if self.idle {
                return;
            }
        }
        // There is more to do, but other tasks want their turn.
        cx.waker().wake_by_ref();
    }

    /// The writing half is closed.
    #[cfg(feature = "process")]
    pub(crate) const fn is_closed(&self) -> bool {
        self.closed
    }

    /// A half has ended that this side did not close, and what the peer said before has been read.
    pub(crate) const fn is_broken(&self) -> bool {
        self.eof || self.mute && self.idle
    }

    /// The peer sends no more, and what it sent has been read.
    #[cfg(feature = "process")]
    pub(crate) const fn is_read(&self) -> bool {
        self.eof
    }

    #[cfg(feature = "process")]
    pub(crate) fn into_hook(self) -> H {
        self.hook
    }

    #[cfg(feature = "process")]
    pub(crate) fn hook(&mut self) -> &mut H {
        &mut self.hook
    }

    fn step(&mut self, cx: &mut Context<'_>) -> bool {
        let now = self.alarm.now();
        let mut news = Vec::new();
        let Self { shared, outbox, chunk, unread, .. } = self;
        let (mut moved, closing, deadline) = shared.with(|state, woken| {
            state.listen(cx.waker());
            let mut moved = false;
            loop {
                let rest = chunk.get(unread.clone()).unwrap_or_default();
                let taken = if state.gone.is_some() { rest.len() } else { state.machine.feed(rest) };
                unread.start += taken;
                moved |= state.turn(now, outbox, &mut news, woken);
                if taken == 0 || unread.start == unread.end {
                    break;
                }
            }
            if state.closing && state.gone.is_none() {
                // What it has to say yet, such as that calls were given up, is not lost.
                state.machine.take_output(outbox.refill());
                state.lose(Gone::Closed, woken);
                moved = true;
            }
            (moved, state.closing, state.deadline())
        });
        self.tell(&news);
        if closing && self.until.is_none() && !self.closed {
            self.until = Some(now.after(super::settings::millis(self.grace)));
        }
        moved |= self.write(cx, closing);
        moved |= self.read(cx);
        let until = self.until.filter(|_| !self.closed);
        if self.alarm.poll(until.or(deadline), cx) {
            moved = true;
            if until.is_some() {
                self.shut(cx);
            }
        }
        moved
    }

    fn write(&mut self, cx: &mut Context<'_>, closing: bool) -> bool {
        if self.closed {
            self.outbox.clear();
            return false;
        }
        if self.mute {
            if closing {
                self.shut(cx);
            }
            return closing;
        }
        let fresh = self.outbox.fresh();
        if !fresh.is_empty() {
            (self.hook)(Trace::Sent(fresh));
            self.outbox.told();
        }
        let moved = match self.outbox.write(&mut self.stream, cx) {
            Ok(moved) => moved,
            Err(error) => {
                self.failed = self.failed.take().or(Some(error).filter(|error| !is_close(error)));
                self.mute();
                true
            }
        };
        if closing && self.outbox.is_done() && Pin::new(&mut self.stream).poll_close(cx).is_ready() {
            self.closed = true;
            return true;
        }
        moved
    }

    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        if self.eof || self.unread.start < self.unread.end {
            return false;
        }
        if self.chunk.is_empty() {
            self.chunk = vec![0; CHUNK];
        }
        match Pin::new(&mut self.stream).poll_read(cx, &mut self.chunk) {
            Poll::Pending => return false,
            Poll::Ready(Ok(n)) if n > 0 => {
                self.unread = 0..n;
                (self.hook)(Trace::Received(self.chunk.get(..n).unwrap_or_default()));
            }
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Poll::Ready(Ok(_)) => self.eof = true,
            Poll::Ready(Err(error)) => {
                self.failed = self.failed.take().or(Some(error).filter(|error| !is_close(error)));
                self.eof = true;
            }
        }
        true
    }

    /// Nothing more is written. What the peer said before it went is still read.
    fn mute(&mut self) {
        self.mute = true;
        self.outbox.clear();
    }

    /// Closes the writing half without waiting for anything.
    fn shut(&mut self, cx: &mut Context<'_>) {
        self.mute();
        let _ = Pin::new(&mut self.stream).poll_close(cx);
        self.closed = true;
    }

    fn tell(&mut self, news: &[News]) {
        for one in news {
            (self.hook)(match one {
                News::Junk(line, fault) => Trace::Junk { line, fault: *fault },
                News::Changed(what) => Trace::Changed(*what),
                News::Log(level, logger, data) => Trace::Log { level, logger: logger.as_deref(), data },
                News::Notified(method, params) => Trace::Notified { method, params: params.as_deref() },
            });
        }
    }

    /// For a stream that is no child's: a half that ended is the end.
    pub(crate) fn is_over(&mut self) -> bool {
        if self.is_broken() && !self.closed {
            self.shared.with(|state, woken| {
                state.lose(Gone::Closed, woken);
                state.closing = true;
            });
            self.closed = true;
        }
        self.closed
    }

    pub(crate) fn into_result(self) -> io::Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}

/// Ends all calls when the driver ends or is dropped.
pub(crate) struct Finish {
    pub(crate) shared: Arc<Shared>,
    /// What being dropped does to a child.
    pub(crate) how: Ended,
}

impl Drop for Finish {
    fn drop(&mut self) {
        self.shared.with(|state, woken| {
            let report = ExitReport::new(None, self.how, state.log.tail());
            state.finish(report, woken);
        });
    }
}

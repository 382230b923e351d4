//! A server over one asynchronous stream.

mod bell;
mod call;
mod driver;
mod tasks;

pub use call::{Reporter, ToolCall};

use crate::Timer;
use barewire::{
    Buffers, Framing, Limits, Server, ServerConfig, Tool,
    owned::{Fail, ToolResult},
};
use core::{fmt, future::Future};
use driver::Driver;
use futures_lite::{AsyncRead, AsyncWrite};
use std::io;

/// Serves over `stream` until its input ends, with the numbers of [`Serve::new`].
///
/// # Errors
/// What the stream says, if that is more than the peer's leaving.
pub async fn serve<S, T, H, F>(stream: S, config: &ServerConfig<'_>, timer: T, handler: H) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: Timer,
    H: Fn(ToolCall) -> F,
    F: Future<Output = Result<ToolResult, Fail>>,
{
    Serve::new(config, timer).run(stream, handler).await
}

/// Tools that are made at run time, for [`ServerConfig::dynamic_tools`].
pub trait ToolSource {
    /// The tool at `index`, `None` past the last one. An index may be asked for twice.
    fn tool(&self, index: usize) -> Option<Tool<'_>>;
}

/// No tools but those of the table.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSource;

impl ToolSource for NoSource {
    fn tool(&self, _: usize) -> Option<Tool<'_>> {
        None
    }
}

impl<S: ToolSource + ?Sized> ToolSource for &S {
    fn tool(&self, index: usize) -> Option<Tool<'_>> {
        (**self).tool(index)
    }
}

/// How to serve.
#[derive(Clone)]
#[must_use]
pub struct Serve<'c, T, L = NoSource> {
    config: ServerConfig<'c>,
    timer: T,
    source: L,
    concurrent: usize,
    queue: usize,
    limits: Limits,
}

impl<'c, T: Timer> Serve<'c, T> {
    /// 64 handlers at once, 192 calls that wait for one of them.
    ///
    /// Input that is no message is reported to nobody unless the config says [`Noise::Answer`](barewire::Noise::Answer), which is right
    /// for reliable channels.
    ///
    /// The timer bounds by [`ServerConfig::drain`] how long calls may still be answered once the input has ended. With
    /// [`NoTimer`](crate::NoTimer) a handler that never ends holds the server for ever.
    pub fn new(config: &ServerConfig<'c>, timer: T) -> Self {
        let limits = Limits::default();
        Self { config: *config, timer, source: NoSource, concurrent: 64, queue: 192, limits }
    }
}

impl<'c, T: Timer, L: ToolSource> Serve<'c, T, L> {
    /// How many handlers run at once; 0 counts as 1.
    pub fn concurrent(mut self, handlers: usize) -> Self {
        self.concurrent = handlers.max(1);
        self
    }

    /// How many calls are taken in beyond those that run, as long as the arguments of all take no more than twice the limit for messages. One more is left unread, and everything behind it (a cancel, the end of the input), until a call
    /// has ended; or refused with -32603 "busy" if [`ServerConfig::refuse_when_full`] says so.
    pub fn queue(mut self, calls: usize) -> Self {
        self.queue = calls;
        self
    }

    /// The longest message read and the longest reply. The number of calls is that of [`concurrent`](Self::concurrent) and
    /// [`queue`](Self::queue).
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Where the tools are listed from, if the config says [`ServerConfig::dynamic_tools`].
    pub fn source<M: ToolSource>(self, source: M) -> Serve<'c, T, M> {
        let Self { config, timer, concurrent, queue, limits, .. } = self;
        Serve { config, timer, source, concurrent, queue, limits }
    }

    /// Serves over `stream` until its input ends and accepted calls are answered. All handlers run inside this future;
    /// it is `Send` if they, the stream and the timer are.
    ///
    /// To have a handler run elsewhere, let it return the handle of a task that is spawned there and that stops when the
    /// handle is dropped.
    ///
    /// # Errors
    /// What the stream says, if that is more than the peer's leaving.
    pub async fn run<S, H, F>(self, stream: S, handler: H) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin,
        H: Fn(ToolCall) -> F,
        F: Future<Output = Result<ToolResult, Fail>>,
    {
        // A byte stream has no other borders than line feeds.
        let config = self.config.framing(Framing::Lines);
        let mut limits = self.limits;
        limits.calls = self.concurrent.saturating_add(self.queue).min(usize::from(u16::MAX));
        let machine = Server::new(&config, Buffers::growing(limits));
        let numbers = (self.concurrent, limits, config.drain);
        let mut driver = Driver::new(machine, stream, self.timer, self.source, handler, numbers);
        core::future::poll_fn(move |cx| driver.poll(cx)).await
    }
}

impl<T, L> fmt::Debug for Serve<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("config", &self.config)
            .field("concurrent", &self.concurrent)
            .field("queue", &self.queue)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

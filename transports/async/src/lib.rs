//! MCP over any asynchronous byte stream: no runtime, nothing spawned, one future to run where you like.
//!
//! The protocol itself is the crate [`barewire`], which does no I/O; this crate carries its bytes over whatever has the
//! [`AsyncRead`](futures_lite::AsyncRead) and [`AsyncWrite`](futures_lite::AsyncWrite) of futures-io: sockets and pipes of
//! async-io and smol, those of tokio through `tokio_util::compat`, or a channel of your own.
//!
//! # A server
//!
//! ```
//! use barewire_async::{Fail, ToolCall, ToolResult, barewire::*};
//!
//! static TOOLS: &[Tool<'static>] = &[Tool::new(
//!     "greet",
//!     "Greets somebody.",
//!     r#"{"type":"object","properties":{"who":{"type":"string"}},"required":["who"]}"#,
//! )];
//! const _: () = check_tools(TOOLS); // mistakes in the table do not compile
//! static CONFIG: ServerConfig<'static> = ServerConfig::new("greeter", "1.0.0").tools(TOOLS);
//!
//! struct Greet<'m> {
//!     who: &'m str,
//! }
//! impl<'m> FromArgs<'m> for Greet<'m> {
//!     fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
//!         let mut who = Err(BadArgs::new("who", "a string"));
//!         while let Some((key, value)) = fields.next() {
//!             if key == "who" {
//!                 who = value.str("who");
//!             }
//!         }
//!         Ok(Self { who: who? })
//!     }
//! }
//!
//! async fn tools(mut call: ToolCall) -> Result<ToolResult, Fail> {
//!     match call.name() {
//!         "greet" => Ok(ToolResult::text(format!("Hello, {}!", call.decode::<Greet<'_>>()?.who))),
//!         _ => Err(Fail::Unknown),
//!     }
//! }
//!
//! async fn run(stream: tokio::net::TcpStream) -> std::io::Result<()> {
//!     use tokio_util::compat::TokioAsyncReadCompatExt;
//!     let timer = barewire_async::Sleep::with(tokio::time::sleep);
//!     barewire_async::serve(stream.compat(), &CONFIG, timer, tools).await
//! }
//! ```
//!
//! - Handlers are futures, run at once up to a bound inside the one future that [`serve`] is; each has a waker of its own. While
//!   they run, ping, cancel and further calls are taken in, and reports of progress go out. [`Serve`] has the numbers.
//! - A cancel drops the handler's future where it is. A handler that panics is answered with -32603, and the others go on.
//! - Queues are bounded: a peer that asks for more than it reads, or than handlers can take, is not read until it has caught up.
//! - At the end of the input accepted calls are answered, within a bound. A peer that has gone is a normal end.
//!
//! # A client
//!
//! ```
//! use barewire_async::{CallError, Sleep, barewire::ClientConfig};
//! use core::time::Duration;
//! use futures_lite::{AsyncRead, AsyncWrite, future::zip};
//!
//! static CONFIG: ClientConfig<'static> = ClientConfig::new("my-host", "1.0.0");
//!
//! async fn greet(stream: impl AsyncRead + AsyncWrite + Unpin) -> Result<String, CallError> {
//!     let timer = Sleep::with(tokio::time::sleep);
//!     let (client, driver) = barewire_async::connect(stream, &CONFIG, timer);
//!     let work = async move {
//!         for tool in client.list_tools().await? {
//!             println!("{}: {}", tool.name, tool.description);
//!         }
//!         let (one, two) = (client.call("greet", r#"{"who":"you"}"#), client.call("greet", r#"{"who":"me"}"#));
//!         let two = two.timeout(Duration::from_secs(5)).on_progress(|progress| println!("{} done", progress.done));
//!         let (one, two) = zip(one, two).await;
//!         Ok(format!("{} {}", one?.text(), two?.text()))
//!     };
//!     // The work ends, its client with it, and so does the driver. `spawn` the driver where there is an executor.
//!     zip(driver, work).await.1
//! }
//! # use barewire_async::{NoTimer, ToolResult, barewire::{ServerConfig, Tool}};
//! # use tokio_util::compat::TokioAsyncReadCompatExt;
//! # static TOOLS: &[Tool<'static>] = &[Tool::new("greet", "", r#"{"type":"object"}"#)];
//! # static SERVER: ServerConfig<'static> = ServerConfig::new("t", "1").tools(TOOLS);
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! #     let (here, there) = tokio::io::duplex(1000);
//! #     let server = barewire_async::serve(there.compat(), &SERVER, NoTimer, |_| async { Ok(ToolResult::text("Hello!")) });
//! #     assert_eq!(zip(server, greet(here.compat())).await.1.unwrap(), "Hello! Hello!");
//! # });
//! ```
//!
//! - A [`Client`] is `Send`, `Sync` and `Clone`; any number of tasks may call at once. More calls than may be open wait for their
//!   turn, first come, first served.
//! - Dropping a [`Call`] cancels it at the server. Every call has a deadline, its wait for its turn included.
//! - The driver is the only one that reads and writes. It must run, beside the calls or as a task.
//!
//! With the feature `process` servers are run as child processes, by `Command`: stderr is drained, death is told at once with the
//! exit status and the last words, a server that dies on the newest handshake is started again with the old one, and in the end it is
//! asked to go, told to, made to, and reaped.
//!
//! # A channel of your own
//!
//! What carries bytes needs the two traits, some 30 lines. This one has messages, as a WebSocket or the port of a worker has them;
//! their borders do not matter.
//!
//! ```
//! use async_channel::{Receiver, Sender, unbounded};
//! use core::{pin::Pin, task::{Context, Poll, ready}};
//! use futures_lite::{AsyncRead, AsyncWrite, Stream};
//! use std::io;
//!
//! struct Port {
//!     incoming: Pin<Box<Receiver<Vec<u8>>>>,
//!     rest: Vec<u8>,
//!     outgoing: Sender<Vec<u8>>,
//! }
//!
//! impl AsyncRead for Port {
//!     fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, space: &mut [u8]) -> Poll<io::Result<usize>> {
//!         if self.rest.is_empty() {
//!             match ready!(self.incoming.as_mut().poll_next(cx)) {
//!                 Some(message) => self.rest = message,
//!                 None => return Poll::Ready(Ok(0)), // the other side has gone
//!             }
//!         }
//!         let n = space.len().min(self.rest.len());
//!         space[..n].copy_from_slice(&self.rest[..n]);
//!         self.rest.drain(..n);
//!         Poll::Ready(Ok(n))
//!     }
//! }
//!
//! impl AsyncWrite for Port {
//!     // `Poll::Pending` here is what pushes back; this channel takes all.
//!     fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
//!         let sent = self.outgoing.try_send(bytes.to_vec());
//!         Poll::Ready(sent.map(|()| bytes.len()).map_err(|_| io::ErrorKind::BrokenPipe.into()))
//!     }
//!     fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
//!         Poll::Ready(Ok(()))
//!     }
//!     fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
//!         self.outgoing.close();
//!         Poll::Ready(Ok(()))
//!     }
//! }
//! # use barewire_async::{NoTimer, connect, serve, barewire::{ClientConfig, ServerConfig}};
//! # let ((a, b), (c, d)) = (unbounded(), unbounded());
//! # let port = |incoming, outgoing| Port { incoming: Box::pin(incoming), rest: Vec::new(), outgoing };
//! # let (client, driver) = connect(port(b, c), &ClientConfig::new("t", "1"), NoTimer);
//! # let config = ServerConfig::new("other side", "1");
//! # let server = serve(port(d, a), &config, NoTimer, |_| async { Ok("".into()) });
//! # let name = async move { client.server().await.unwrap().name.clone() };
//! # use futures_lite::future::{block_on, zip};
//! # assert_eq!(block_on(zip(zip(driver, server), name)).1, "other side");
//! ```
//!
//! A pair of halves, such as standard input and output, is a stream through [`Duplex`].
//!
//! # No runtime
//!
//! - Nothing is spawned, and no thread is started. What wakes the streams is the caller's: async-io (which has a thread of its own for
//!   that), tokio, a browser.
//! - Time comes from a [`Timer`] that the caller gives: `IoTimer` (feature `timer`), the runtime's own through [`Sleep`], or
//!   [`NoTimer`].
//! - Nothing need be `Send`. What is made of parts that are, is.
//!
//! # Features
//!
//! `timer`: `IoTimer`, by async-io. `process`: `Command`, by async-process. `serde`: [`ToolCall`] decodes arguments into serde types.
//! `derive`: the core's `#[derive(Tools)]`, for [`ToolCall::tool`]. None
//! is on by default.
//!
//! # Systems
//!
//! Child processes have a process group of their own on Unix alone. Elsewhere only the child itself is ended, at once instead of by
//! a ladder. On Linux a child is reaped only after the last signal to its group was sent; elsewhere before.

mod client;
mod duplex;
mod outbox;
#[cfg(feature = "process")]
mod process;
mod server;
mod timer;

pub use barewire;
#[cfg(feature = "process")]
pub use barewire::owned::Stderr;
pub use barewire::owned::{
    CallResult, Fail, HintsInfo, OwnedContent, OwnedData, OwnedProgress, ServerInfo, ToolInfo, ToolResult,
};
pub use client::{Call, CallError, Client, Connect, Ended, ExitReport, StartError, Trace, connect};
pub use duplex::Duplex;
#[cfg(feature = "process")]
pub use process::Command;
pub use server::{NoSource, Reporter, Serve, ToolCall, ToolSource, serve};
#[cfg(feature = "timer")]
pub use timer::IoTimer;
pub use timer::{NoTimer, Sleep, Timer, Unit};

use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// How often a driver goes round before it lets other tasks have their turn.
const BUSY: usize = 32;

/// A thread that panicked in a user's callback must not take the others with it.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The peer has gone: a normal end.
fn is_close(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset | ConnectionAborted)
}

//! MCP over standard input and output, pipes and child processes: blocking, `std` only, no async runtime.
//!
//! The protocol itself is the crate [`barewire`], which does no I/O; this crate carries its bytes. It adds threads,
//! child processes and clocks, and no protocol.
//!
//! # A server
//!
//! ```no_run
//! use barewire_stdio::{Fail, ToolResult, barewire::*};
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
//! fn main() -> std::io::Result<()> {
//!     barewire_stdio::serve(&CONFIG, |call| match call.name() {
//!         "greet" => Ok(ToolResult::text(format!("Hello, {}!", call.decode::<Greet<'_>>()?.who))),
//!         _ => Err(Fail::Unknown),
//!     })
//! }
//! ```
//!
//! - Tools run on a bounded pool of threads; while they do, ping, cancel and further calls are taken in. A call beyond
//!   the queue waits as long as others end quickly, else it is answered with -32603 "busy". [`Serve`] has the numbers, and a mode without
//!   threads.
//! - On Unix nothing that a tool, a C library or a child process prints reaches the peer: it goes to stderr.
//! - At the end of the input accepted calls are answered, within a bound. A peer that has gone is a normal end.
//!
//! # A client
//!
//! ```no_run
//! use barewire_stdio::{Command, Options, Stderr, barewire::ClientConfig};
//! use core::time::Duration;
//!
//! fn main() -> Result<(), Box<dyn core::error::Error>> {
//!     let client = Command::new("uv")
//!         .args(["run", "weather.py"])
//!         .stderr(Stderr::Pass)
//!         .timeout(Duration::from_secs(30))
//!         .start(&ClientConfig::new("my-host", "1.0.0"))?;
//!     println!("{} speaks {}", client.server().name, client.server().protocol);
//!     for tool in client.list_tools()? {
//!         println!("{}: {}", tool.name, tool.description);
//!     }
//!     let result = client.call("get_alerts", r#"{"state":"TX"}"#)?;
//!     println!("{}", result.text());
//!
//!     let mut told = |progress: barewire_stdio::OwnedProgress| println!("{} done", progress.done);
//!     let options = Options::new().timeout(Duration::from_secs(5)).on_progress(&mut told);
//!     client.call_with("get_forecast", r#"{"latitude":40.7,"longitude":-74.0}"#, options)?;
//!     client.close();
//!     Ok(())
//! }
//! ```
//!
//! - A [`Client`] is `Send`, `Sync` and `Clone`; any number of threads may call at once.
//! - Every request has a deadline, whether or not the server reads, writes or lives.
//! - The child has a process group of its own. Its death is noticed by waiting for it, and told at once with its exit
//!   status and the last lines of its stderr, which is always drained.
//! - It is ended by closing its input, then SIGTERM, then SIGKILL, and reaped: on [`Client::close`], on drop, and by
//!   [`kill_all`] for those who handle Ctrl-C themselves; `exit_on_signals` (feature `signals`) does it for the others.
//! - What goes over the wire can be watched byte by byte: [`Command::trace`].
//!
//! Both sides also run over any `Read` and `Write`: [`Serve::run_over`], [`Client::over`].
//!
//! # Features
//!
//! `serde`: [`ToolCall`] decodes arguments into serde types. `derive`: the core's `#[derive(Tools)]`, for [`ToolCall::tool`].
//! `signals`: `exit_on_signals` on Unix. None of these is on by default.
//!
//! `client` and `server`, the two sides, and `simd` are. A program that is one of the two compiles in less time without the other:
//! `default-features = false`, then what is needed.
//!
//! # Systems
//!
//! Unix is where all of this holds. Elsewhere there are no process groups, so that only the child itself is ended, at
//! once instead of by a ladder; and stdout is not moved aside, so that tools must not print.

#[cfg(any(feature = "client", feature = "server"))]
mod bell;
#[cfg(feature = "client")]
mod child;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "server")]
mod server;
#[cfg(all(feature = "signals", unix))]
mod signals;

pub use barewire;
#[cfg(feature = "client")]
pub use barewire::owned::{CallResult, HintsInfo, OwnedProgress, ServerInfo, ToolInfo};
#[cfg(feature = "server")]
pub use barewire::owned::{Fail, ToolResult};
pub use barewire::owned::{OwnedContent, OwnedData};
#[cfg(feature = "client")]
pub use child::{Ended, kill_all};
#[cfg(feature = "client")]
pub use client::{CallError, Client, Command, ExitReport, Options, Settings, StartError, Stderr, Trace};
#[cfg(feature = "server")]
pub use server::{Serve, ToolCall, ToolSource, serve};

#[cfg(any(feature = "client", feature = "server"))]
use bell::{after, lock};
#[cfg(all(feature = "signals", unix))]
pub use signals::exit_on_signals;

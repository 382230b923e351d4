//! The proof for any MCP transport.
//!
//! MCP can be carried over anything that moves bytes or messages. This crate tells whether a transport does it right: it
//! runs a client and a server through it, in every way that goes wrong in practice, and says of each check why it is
//! there, what it saw, and what to fix.
//!
//! ```
//! use barewire_testkit::{Claims, End, Suite};
//! use std::os::unix::net::UnixStream;
//! use std::net::Shutdown;
//! use std::io::{self, Write};
//!
//! /// Ends its direction when it is dropped, and only that one.
//! struct Half(UnixStream);
//! impl Write for Half {
//!     fn write(&mut self, bytes: &[u8]) -> io::Result<usize> { self.0.write(bytes) }
//!     fn flush(&mut self) -> io::Result<()> { self.0.flush() }
//! }
//! impl Drop for Half {
//!     fn drop(&mut self) { let _ = self.0.shutdown(Shutdown::Write); }
//! }
//! fn end(socket: UnixStream) -> io::Result<End> {
//!     Ok(End::stream(socket.try_clone()?, Half(socket)))
//! }
//!
//! # let suite = Suite::new(Claims::stream().half_close()).only("half-close").only("chunkings");
//! # let _ = "
//! let suite = Suite::new(Claims::stream().half_close());
//! # ";
//! let report = suite.run(|| {
//!     let (client, server) = UnixStream::pair()?;
//!     Ok((end(client)?, end(server)?))
//! });
//! report.assert_passed();
//! ```
//!
//! - [`Claims`] say what the transport is; checks that do not apply are named as skipped, with the reason.
//! - [`End`] is one end: a byte stream, a message channel, or (feature `futures`) an asynchronous stream.
//! - [`Link`] joins two ends, or one end to a server that runs elsewhere ([`serve`], [`serve_stdio`], [`Tools`]).
//! - [`Through`] tests a relay program, in whatever language: it is given our server's command to run.
//! - [`Faults`] makes any byte stream lose, change, double, delay, cut and break what it carries, the same way each time.
//!
//! `docs/custom-transport.md` in the repository walks through two transports of forty lines.

mod bench;
mod check;
mod checks;
mod claims;
mod diary;
mod faults;
mod lines;
mod link;
mod motion;
mod peer;
mod pipe;
mod report;
mod server;
mod suite;
mod text;
mod through;
mod wrap;

pub use check::{Check, checks};
pub use claims::{Claims, Form};
pub use faults::{
    Clock, Counts, Fault, Faults, FaultyReader, FaultyWriter, Injector, RealClock, SimClock, SpecError,
};
pub use link::{End, Link};
pub use pipe::{PipeReader, PipeWriter, duplex, pipe};
pub use report::{Outcome, Ran, Report};
pub use server::{CONFIG, TOOLS, Tools, serve, serve_stdio};
pub use suite::Suite;
pub use through::Through;

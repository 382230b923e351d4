//! The Model Context Protocol down to the bare wire: bytes in, events and bytes out.
//!
//! No I/O, no clock, no allocation (but for the feature `alloc`), no unsafe code, no panics. A machine works in memory that
//! you lend it, and you carry its bytes: over a UART, a pipe, a socket, a message port. All revisions from 2024-11-05 to
//! 2026-07-28 are spoken, by one machine on one line, message by message.
//!
//! - [`Server`] answers for tools; [`Client`] lists and calls them. Both are driven by the same run loop, which their
//!   pages show: `poll` until it waits, read into `space`, write what it says.
//! - [`Storage`] has the memory, usable in a `static`: 256 bytes to receive carry a legacy session with small arguments, 512
//!   both eras, 1,024 are comfortable; 64 to transmit are the least.
//! - The layers below are public and useful alone: [`json`] (strict, resumable, in place), [`frame`] (lines over a buffer),
//!   [`rpc`] (the envelope).
//!
//! # Features
//! On by default: `client` and `server`, the machines; `legacy` and `modern`, the eras that they speak (with a handshake up to
//! 2025-11-25; stateless, 2026-07-28). A program for one of them says so with `default-features = false`; what an era that is not
//! there sends is answered as by a program that has never heard of it. A machine needs one era at least: without any it opens nothing.
//!
//! To be asked for: `serde`, arguments into serde types, serde types as JSON; `alloc`, buffers that grow to a limit, copied
//! configurations, owned results; `std`, what the drivers for operating systems share; `simd`, the processor's vector instructions by way of a small crate; `derive`, `#[derive(ToolInput)]` and `#[derive(Tools)]`, which
//! make schemas and decoders from Rust types, so that no JSON is typed: see [`Tools`]. Each adds, none changes anything.
//!
//! Ready-made drivers: `barewire-stdio` (blocking; standard streams and child processes), `barewire-async` (any futures-io stream),
//! `barewire-serial` (`no_std` UARTs, serial ports).
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]
// What only one of the machines, or only one of the eras needs is left out by the compiler where it isn't there.
#![cfg_attr(
    not(all(feature = "client", feature = "server", feature = "legacy", feature = "modern")),
    allow(dead_code, unused_imports)
)]
#[cfg(any(feature = "alloc", test))]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

#[cfg(feature = "client")]
mod client;
pub mod frame;
pub mod json;
mod machine;
mod mcp;
#[cfg(feature = "alloc")]
pub mod owned;
pub mod rpc;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "client")]
pub use client::{Client, ClientConfig, ClientEvent, End, Era, Listed, Request, SendError, ToolDef, Why};
pub use json::Fixed;
#[cfg(feature = "alloc")]
pub use machine::Limits;
pub use machine::{Buffers, CallId, Framing, Full, Io, Millis, Noise, Output, Refused, Slot, Stats, Storage};
pub use mcp::{Abilities, Content, Data, Hints, Level, Link, Tool, Version, check_tools};
pub use rpc::{Code, Fault};
#[cfg(feature = "server")]
pub use server::{
    Args, BadArgs, BadCall, Call, Context, Fields, FromArgs, List, Progress, Reply, Server, ServerConfig,
    ServerEvent, Source, Tools, Value,
};
#[cfg(feature = "derive")]
pub use {
    barewire_derive::{ToolInput, Tools},
    server::input::{Argument, Items, ToolInput},
};

/// What derived code calls. Not for use by hand: it goes with one version of the derive.
#[cfg(feature = "derive")]
#[doc(hidden)]
pub mod derived {
    pub use crate::server::input::{
        DEPTH, Entry, Field, Need, Of, Shape, arguments, begin, depth, is_object, joined, length, members,
        own, slots, take, take_or, text, word,
    };
}

const fn is_send<T: Send>() {}
const _: () = {
    #[cfg(feature = "server")]
    is_send::<Server<'static>>();
    #[cfg(feature = "client")]
    is_send::<Client<'static>>();
};

//! The Model Context Protocol down to the bare wire: a sans-IO core.
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
#[cfg(any(feature = "alloc", test))]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod client;
pub mod frame;
pub mod json;
mod machine;
mod mcp;
#[cfg(feature = "alloc")]
pub mod owned;
pub mod rpc;
mod server;

pub use client::{Client, ClientConfig, ClientEvent, End, Era, Listed, Request, SendError, ToolDef, Why};
#[cfg(feature = "alloc")]
pub use machine::Limits;
pub use machine::{Buffers, CallId, Framing, Full, Io, Millis, Noise, Output, Refused, Slot, Stats, Storage};
pub use mcp::{Abilities, Content, Data, Hints, Level, Link, Tool, Version, check_tools};
pub use rpc::{Code, Fault};
pub use server::{
    Args, BadArgs, Call, Context, Fields, FromArgs, List, Progress, Reply, Server, ServerConfig, ServerEvent,
    Source, Value,
};

const fn is_send<T: Send>() {}
const _: () = {
    is_send::<Server<'static>>();
    is_send::<Client<'static>>();
};

//! The client's machine: bytes in, events and bytes out.
//!
//! Start with [`Client`](crate::Client), which explains the run loop.
mod config;
mod decode;
mod ends;
mod event;
mod handshake;
mod jobs;
mod lend;
mod machine;
mod message;
mod notice;
mod request;
mod result;
mod slot;
mod usual;

pub use config::{ClientConfig, Era};
pub use decode::ToolDef;
pub use event::{ClientEvent, End, Listed, Why};
pub use machine::Client;
pub use request::{Request, SendError};
pub(crate) use slot::SlotClient;

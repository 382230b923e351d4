//! The server's machine: bytes in, events and bytes out.
//!
//! Start with [`Server`](crate::Server), which explains the run loop.
mod args;
mod bad_args;
mod config;
mod event;
#[cfg(feature = "derive")]
pub(crate) mod input;
mod jobs;
mod judge;
mod lend;
mod line;
mod list;
mod machine;
mod message;
mod reply;
mod slot;
mod state;
mod stream;
mod tools;
mod usual;
mod work;

pub use args::{Args, Fields, FromArgs, Value};
pub use bad_args::BadArgs;
pub use config::{ServerConfig, Source};
pub use event::{Call, Context, ServerEvent};
pub use list::List;
pub use reply::{Progress, Reply};
pub(crate) use slot::SlotServer;
pub use state::Server;
pub use tools::{BadCall, Tools};

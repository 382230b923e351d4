//! The server's machine: bytes in, events and bytes out.
//!
//! Start with [`Server`](crate::Server), which explains the run loop.
mod args;
mod config;
mod event;
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
mod work;

pub use args::{Args, BadArgs, Fields, FromArgs, Value};
pub use config::{ServerConfig, Source};
pub use event::{Call, Context, ServerEvent};
pub use list::List;
pub use reply::{Progress, Reply};
pub(crate) use slot::SlotServer;
pub use state::Server;

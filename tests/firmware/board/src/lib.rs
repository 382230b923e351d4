//! What the boards share. The application is [`App`]; the rest is around it.
#![no_std]

mod app;
mod log;
mod proof;
mod ring;
#[cfg(feature = "stack")]
mod stack;
mod text;
mod tools;

pub use app::{App, Hardware, earliest};
pub use log::LOG;
pub use ring::Ring;
#[cfg(feature = "stack")]
pub use stack::paint;
pub use text::Text;
pub use tools::{Arguments, CONFIG, TOOLS};

/// What the tool `uptime` tells.
#[cfg(not(feature = "stack"))]
pub fn uptime(now: barewire::Millis) -> u64 {
    now.0 / 1000
}

/// What the tool `uptime` tells.
#[cfg(feature = "stack")]
pub fn uptime(_: barewire::Millis) -> usize {
    stack::used()
}

//! What the boards share. The application is [`App`]; the rest is around it.
#![no_std]

mod app;
mod log;
mod proof;
mod ring;
mod text;
mod tools;

pub use app::{App, Hardware, earliest};
pub use log::LOG;
pub use ring::Ring;
pub use text::Text;
pub use tools::{CONFIG, Tool};

//! What the boards share. The application is [`App`]; the rest is around it.
#![no_std]

mod app;
mod log;
mod proof;
mod ring;

pub use app::{App, CONFIG, Hardware, TOOLS, earliest};
pub use log::LOG;
pub use ring::Ring;

#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]
#[cfg(any(feature = "host", test))]
extern crate std;

pub mod asynch;
pub mod blocking;
#[doc = include_str!("format.md")]
pub mod format {}
#[cfg(feature = "host")]
pub mod host;
mod link;
mod node;

pub use barewire;
pub use link::{Checked, Heard, LEAST_RX, LEAST_TX, Link, LinkStats, LinkStorage, OVERHEAD, Role};
pub use node::{EXTENSIONS, KEY, Machine, Node, SerialClient, SerialServer, Turn, offers_checked};

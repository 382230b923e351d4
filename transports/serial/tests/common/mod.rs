//! What several tests share.
#![allow(dead_code, unreachable_pub)]
pub mod device;
#[cfg(all(unix, feature = "host"))]
pub mod pty;
pub mod sim;
pub mod uart;

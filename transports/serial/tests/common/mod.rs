//! What several tests share.
#![allow(dead_code, unreachable_pub)]
pub mod device;
pub mod sim;
pub mod uart;

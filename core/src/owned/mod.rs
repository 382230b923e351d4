//! Values that own what they hold (feature `alloc`): what tools give back, and what clients are given.
//!
//! The drivers for pipes, asynchronous streams and serial lines share them, so that a tool written for one of them runs
//! under any other.

mod base64;
mod content;
mod info;
mod result;

pub use content::{OwnedContent, OwnedData};
pub use info::{CallResult, Gathered, HintsInfo, OwnedProgress, ServerInfo, ToolInfo};
pub use result::{Answer, Fail, ToolResult};

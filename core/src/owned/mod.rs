//! Values that own what they hold (feature `alloc`): what tools give back, and what clients are given.
//!
//! The drivers for pipes, asynchronous streams and serial lines share them, so that a tool written for one of them runs
//! under any other. With the feature `std` what they share about child processes and errors is here too.

#[cfg(feature = "server")]
mod args;
mod base64;
#[cfg(feature = "std")]
mod child;
mod content;
#[cfg(feature = "std")]
mod error;
#[cfg(feature = "client")]
mod info;
#[cfg(feature = "server")]
mod result;

#[cfg(feature = "server")]
pub use args::OwnedArgs;
#[cfg(feature = "std")]
pub use child::{Ended, ExitReport, Stderr, StderrLog};
pub use content::{OwnedContent, OwnedData};
#[cfg(feature = "std")]
pub use error::{CallError, StartError};
#[cfg(feature = "client")]
pub use info::{CallResult, Gathered, HintsInfo, OwnedProgress, ServerInfo, ToolInfo};
#[cfg(feature = "server")]
pub use result::{Answer, Fail, ToolResult};

//! The computer's side: firmware in QEMU, the line to it, and what may be between them.
mod line;
mod pty;

pub use line::{Board, Image};
pub use pty::Cable;

/// The member of `params` that a request of 2026-07-28 has.
pub const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A request to call a tool, in the older era.
pub fn call(id: impl std::fmt::Display, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// The log in the boards' flash.
pub fn log() -> String {
    (0..1000).map(|n| format!("{n:04} supply 3.01 V, door closed, \"all is well\", o\n")).collect()
}

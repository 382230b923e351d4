//! Protocol values: revisions, tools, content, and the one table that knows eras.
mod content;
pub(crate) mod pattern;
mod refusal;
mod session;
mod tool;
mod version;
pub(crate) mod write;

pub use content::{Content, Data, Link};
pub(crate) use refusal::Refusal;
pub use session::{Abilities, Level};
pub(crate) use session::{Claim, Method, Ready, Route, Session, claim, claim_of};
pub use tool::{Hints, Tool, check_tools};
pub use version::Version;
pub(crate) use version::{LEGACY, MODERN};

/// Reserved keys of `_meta` (2026-07-28, basic/index).
pub(crate) mod key {
    pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    pub(crate) const PROGRESS_TOKEN: &str = "progressToken";
}

//! What a client learns from its server, owned.

use crate::OwnedContent;
use barewire::{ToolDef, Version};

/// The server, as it presented itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Its name.
    pub name: String,
    /// Its version; may be empty.
    pub version: String,
    /// The revision that is spoken.
    pub protocol: Version,
    /// What a model should know before it uses the tools.
    pub instructions: Option<String>,
    /// Its capabilities as JSON text.
    pub capabilities_json: String,
}

/// One tool, as the server lists it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolInfo {
    /// What to call it by.
    pub name: String,
    /// What it does, for the model; may be empty.
    pub description: String,
    /// The JSON Schema of its arguments, as JSON text.
    pub input_schema: String,
    /// Its name for people.
    pub title: Option<String>,
    /// The JSON Schema of its structured content, as JSON text.
    pub output_schema: Option<String>,
    /// What it says of its effects. A server can lie.
    pub hints: HintsInfo,
    /// Its icons, a JSON array as text.
    pub icons: Option<String>,
    /// Whether it may be called as a task, revision 2025-11-25.
    pub task_support: Option<String>,
    /// Its `_meta`, as JSON text.
    pub meta: Option<String>,
    /// The whole definition as it was received.
    pub json: String,
}

/// A tool's annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HintsInfo {
    /// Its name for people, in revisions that have no `title`.
    pub title: Option<String>,
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Calling it again with the same arguments changes nothing more.
    pub idempotent: Option<bool>,
    /// It reaches out into the world.
    pub open_world: Option<bool>,
}

impl ToolInfo {
    pub(super) fn copy(tool: ToolDef<'_>) -> Self {
        let json = tool.json().as_str().to_owned();
        let tool = tool.decode();
        let own = |text: Option<&str>| text.map(str::to_owned);
        Self {
            name: tool.name.into(),
            description: tool.description.into(),
            input_schema: tool.input_schema.into(),
            title: own(tool.title),
            output_schema: own(tool.output_schema),
            hints: HintsInfo {
                title: own(tool.hints.title),
                read_only: tool.hints.read_only,
                destructive: tool.hints.destructive,
                idempotent: tool.hints.idempotent,
                open_world: tool.hints.open_world,
            },
            icons: own(tool.icons),
            task_support: own(tool.task_support),
            meta: own(tool.meta),
            json,
        }
    }
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallResult {
    /// The content blocks in order.
    pub content: Vec<OwnedContent>,
    /// `structuredContent` as JSON text.
    pub structured: Option<String>,
    /// The tool failed; its content says why.
    pub is_error: bool,
    /// `_meta` as JSON text.
    pub meta: Option<String>,
}

impl CallResult {
    /// The text blocks, a line break between two.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(OwnedContent::as_text).collect();
        texts.join("\n")
    }
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OwnedProgress {
    /// What is done, in the tool's own unit.
    pub done: f64,
    /// Of how much, if it knows.
    pub total: Option<f64>,
    /// What it is doing.
    pub message: Option<String>,
}

//! What a client learns from its server, owned.
use super::OwnedContent;
use crate::client::{ClientEvent, End, ToolDef};
use crate::json::Raw;
use crate::mcp::Version;
use alloc::{borrow::ToOwned, string::String, vec::Vec};

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

impl ServerInfo {
    /// Copies what [`ClientEvent::Opened`] tells; `None` for any other event.
    #[must_use]
    pub fn copy(event: &ClientEvent<'_>) -> Option<Self> {
        let ClientEvent::Opened { server, server_version, version, instructions, capabilities } = *event
        else {
            return None;
        };
        Some(Self {
            name: server.into(),
            version: server_version.into(),
            protocol: version,
            instructions: own(instructions),
            capabilities_json: capabilities.unwrap_or(Raw::EMPTY_OBJECT).as_str().into(),
        })
    }
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
    /// Copies what the machine lends.
    #[must_use]
    pub fn copy(definition: ToolDef<'_>) -> Self {
        let json = definition.json().as_str().to_owned();
        let tool = definition.decode();
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
    #[must_use]
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

impl OwnedProgress {
    /// Copies what [`ClientEvent::Progress`] tells; `None` for any other event.
    #[must_use]
    pub fn copy(event: &ClientEvent<'_>) -> Option<Self> {
        let ClientEvent::Progress { done, total, message, .. } = *event else { return None };
        Some(Self { done, total, message: own(message) })
    }
}

/// What the events of one request add up to.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Gathered {
    /// Of a tool's call.
    pub result: CallResult,
    /// Of a list of tools, page after page.
    pub tools: Vec<ToolInfo>,
    /// Of any other method: its result as JSON text. Or, of a call that wants input, what it asks.
    pub json: Option<String>,
    /// Of a call that wants input: what it wants back as it is, JSON text.
    pub state: Option<String>,
}

impl Gathered {
    /// Adds what an event brings. Progress brings nothing, nor do events of no request.
    pub fn add(&mut self, event: ClientEvent<'_>) {
        match event {
            ClientEvent::Tool { tool, .. } => self.tools.push(ToolInfo::copy(tool)),
            ClientEvent::Content { content, .. } => self.result.content.push(OwnedContent::copy(&content)),
            ClientEvent::Structured { json, .. } => self.result.structured = Some(json.as_str().into()),
            ClientEvent::Meta { json, .. } => self.result.meta = Some(json.as_str().into()),
            ClientEvent::Json { json, .. } => self.json = Some(json.as_str().into()),
            ClientEvent::InputRequired { asks, state, .. } => {
                self.json = asks.map(|asks| asks.as_str().into());
                self.state = state.map(|state| state.as_str().into());
            }
            ClientEvent::Ended { end: End::Done { is_error }, .. } => self.result.is_error = is_error,
            _ => {}
        }
    }
}

fn own(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

//! Messages as derived types, for contenders that write by serde.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::corpora::Outgoing;

/// A message as somebody who likes serde would define it, ready to be written.
#[derive(Serialize, Debug)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum Message {
    /// A request.
    Call { jsonrpc: &'static str, id: u64, method: &'static str, params: Call },
    /// A notification.
    Progress { jsonrpc: &'static str, method: &'static str, params: Progress },
    /// The result of a call.
    Text { jsonrpc: &'static str, id: u64, result: Text },
    /// The result of a list.
    Tools { jsonrpc: &'static str, id: u64, result: Tools },
}

/// Params of a call.
#[derive(Serialize, Debug)]
#[allow(missing_docs)]
pub struct Call {
    pub name: String,
    #[serde(serialize_with = "members")]
    pub arguments: Vec<(String, String)>,
}

fn members<S: serde::Serializer>(of: &[(String, String)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(of.iter().map(|(key, value)| (key, value)))
}

/// Params of a report of progress.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Progress {
    pub progress_token: u64,
    pub progress: u64,
    pub total: u64,
    pub message: String,
}

/// A result with one block of text.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Text {
    pub content: [Block; 1],
    pub is_error: bool,
}

/// A block of text.
#[derive(Serialize, Debug)]
#[allow(missing_docs)]
pub struct Block {
    pub r#type: &'static str,
    pub text: String,
}

/// A list of tools.
#[derive(Serialize, Debug)]
#[allow(missing_docs)]
pub struct Tools {
    pub tools: Vec<Tool>,
}

/// A tool.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub input_schema: Box<RawValue>,
    pub annotations: Hints,
}

/// Annotations of a tool.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Hints {
    pub title: String,
    pub read_only_hint: bool,
}

impl Message {
    /// The same message.
    #[must_use]
    pub fn new(outgoing: &Outgoing) -> Self {
        const JSONRPC: &str = "2.0";
        match outgoing.clone() {
            Outgoing::Call { id, name, arguments } => {
                Self::Call { jsonrpc: JSONRPC, id, method: "tools/call", params: Call { name, arguments } }
            }
            Outgoing::Progress { token, done, total, message } => Self::Progress {
                jsonrpc: JSONRPC,
                method: "notifications/progress",
                params: Progress { progress_token: token, progress: done, total, message },
            },
            Outgoing::Text { id, text } => Self::Text {
                jsonrpc: JSONRPC,
                id,
                result: Text { content: [Block { r#type: "text", text }], is_error: false },
            },
            Outgoing::Tools { id, tools } => {
                let tool = |tool: crate::ToolDef| Tool {
                    name: tool.name,
                    description: tool.description,
                    input_schema: RawValue::from_string(tool.schema).unwrap_or_default(),
                    annotations: Hints { title: tool.title, read_only_hint: tool.read_only },
                };
                Self::Tools {
                    jsonrpc: JSONRPC,
                    id,
                    result: Tools { tools: tools.into_iter().map(tool).collect() },
                }
            }
        }
    }
}

//! What a tool gives back.

use super::{OwnedContent, OwnedData};
use crate::json::{Kind, Raw};
use crate::machine::Full;
use crate::rpc::Code;
use crate::server::{BadArgs, BadCall, Reply};
use alloc::{format, string::String, vec::Vec};

/// The result of a tool: content blocks, and what may go with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolResult {
    content: Vec<OwnedContent>,
    structured: Option<(String, bool)>,
    is_error: bool,
    meta: Option<String>,
}

impl ToolResult {
    /// No content at all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One text block.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().and_text(text)
    }

    /// One image, from its bytes.
    #[must_use]
    pub fn image(bytes: impl Into<Vec<u8>>, mime: impl Into<String>) -> Self {
        Self::new().and_image(bytes, mime)
    }

    /// One sound, from its bytes.
    #[must_use]
    pub fn audio(bytes: impl Into<Vec<u8>>, mime: impl Into<String>) -> Self {
        Self::new().and_audio(bytes, mime)
    }

    /// Structured content and the same JSON as text; see [`structured_json`](Self::structured_json).
    #[must_use]
    pub fn structured(json: impl Into<String>) -> Self {
        Self::new().structured_json(json)
    }

    /// One more text block.
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.content(OwnedContent::Text(text.into()))
    }

    /// One more image.
    #[must_use]
    pub fn and_image(self, bytes: impl Into<Vec<u8>>, mime: impl Into<String>) -> Self {
        self.content(OwnedContent::Image { data: OwnedData::Bytes(bytes.into()), mime: mime.into() })
    }

    /// One more sound.
    #[must_use]
    pub fn and_audio(self, bytes: impl Into<Vec<u8>>, mime: impl Into<String>) -> Self {
        self.content(OwnedContent::Audio { data: OwnedData::Bytes(bytes.into()), mime: mime.into() })
    }

    /// One more block of any kind.
    #[must_use]
    pub fn content(mut self, block: OwnedContent) -> Self {
        self.content.push(block);
        self
    }

    /// `structuredContent`, as JSON text, and a text block with the same JSON for clients that do not read it.
    /// Text that is no JSON becomes -32603.
    #[must_use]
    pub fn structured_json(mut self, json: impl Into<String>) -> Self {
        self.structured = Some((json.into(), true));
        self
    }

    /// `structuredContent` without the text block: for tools that write a better text themselves.
    #[must_use]
    pub fn structured_only(mut self, json: impl Into<String>) -> Self {
        self.structured = Some((json.into(), false));
        self
    }

    /// `isError`: the tool failed, and the model should read why.
    #[must_use]
    pub fn error(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// `_meta`, a JSON object as text.
    #[must_use]
    pub fn meta_json(mut self, json: impl Into<String>) -> Self {
        self.meta = Some(json.into());
        self
    }
}

impl From<String> for ToolResult {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolResult {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<OwnedContent> for ToolResult {
    fn from(block: OwnedContent) -> Self {
        Self::new().content(block)
    }
}

/// Why a tool has no ordinary result. `?` makes one from [`BadArgs`], and from a text: an `isError` result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fail {
    /// There is no such tool: -32602.
    Unknown,
    /// The arguments are not what the tool takes: an `isError` result, or -32602 for peers before 2025-11-25.
    BadArgs(BadArgs),
    /// A JSON-RPC error.
    Code(Code, String),
    /// A result of the tool's own.
    Result(ToolResult),
}

impl From<BadArgs> for Fail {
    fn from(bad: BadArgs) -> Self {
        Self::BadArgs(bad)
    }
}

impl From<BadCall> for Fail {
    fn from(bad: BadCall) -> Self {
        match bad {
            BadCall::Unknown => Self::Unknown,
            BadCall::Args(bad) => Self::BadArgs(bad),
        }
    }
}

impl From<ToolResult> for Fail {
    fn from(result: ToolResult) -> Self {
        Self::Result(result)
    }
}

impl From<String> for Fail {
    fn from(text: String) -> Self {
        Self::Result(ToolResult::text(text).error())
    }
}

impl From<&str> for Fail {
    fn from(text: &str) -> Self {
        Self::Result(ToolResult::text(text).error())
    }
}

/// What a tool gave back, its JSON parts checked, so that writing it can only fail for size: for drivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer(Fail);

impl Answer {
    /// Checks what a tool gave back. What is no JSON becomes -32603.
    #[must_use]
    pub fn new(outcome: Result<ToolResult, Fail>) -> Self {
        let result = match outcome {
            Ok(result) | Err(Fail::Result(result)) => result,
            Err(fail) => return Self(fail),
        };
        let is_json = |text: &String| Raw::new(text).is_some();
        let is_object = |text: &String| Raw::new(text).is_some_and(|raw| raw.kind() == Kind::Object);
        let wrong = if result.structured.as_ref().is_some_and(|(json, _)| !is_json(json)) {
            Some("structuredContent")
        } else if result.meta.as_ref().is_some_and(|json| !is_object(json)) {
            Some("_meta")
        } else if result.content.iter().any(|block| block.lend().is_none()) {
            Some("content")
        } else {
            None
        };
        match wrong {
            Some(part) => {
                Self(Fail::Code(Code::INTERNAL, format!("the tool returned a {part} that is not valid JSON")))
            }
            None => Self(Fail::Result(result)),
        }
    }

    /// For a tool that panicked: -32603.
    #[must_use]
    pub fn panicked() -> Self {
        Self(Fail::Code(Code::INTERNAL, "the tool panicked".into()))
    }

    /// Answers the call.
    ///
    /// # Errors
    /// [`Full`]: it is longer than a reply may be, and the peer was told so.
    pub fn write(&self, mut reply: Reply<'_>) -> Result<(), Full> {
        match &self.0 {
            Fail::Unknown => reply.unknown(),
            Fail::BadArgs(bad) => reply.bad_args(*bad),
            Fail::Code(code, message) => reply.fail(*code, message),
            Fail::Result(result) => {
                for block in result.content.iter().filter_map(OwnedContent::lend) {
                    reply = reply.content(&block);
                }
                if let Some((json, with_text)) = &result.structured
                    && let Some(json) = Raw::new(json)
                {
                    reply = if *with_text { reply.structured(json) } else { reply.structured_only(json) };
                }
                if let Some(meta) = result.meta.as_deref().and_then(Raw::new) {
                    reply = reply.meta(meta);
                }
                if result.is_error {
                    reply = reply.error();
                }
                return reply.finish();
            }
        }
        Ok(())
    }
}

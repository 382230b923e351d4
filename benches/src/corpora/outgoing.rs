//! Messages as values: what a program has in hand before it writes one.

use std::fmt::Write as _;

use super::random::Random;
use super::text::{Language, words};

/// A message to be written.
#[derive(Clone, PartialEq, Debug)]
pub enum Outgoing {
    /// `tools/call`.
    Call {
        /// The request's id.
        id: u64,
        /// The tool.
        name: String,
        /// Its arguments, all of them strings.
        arguments: Vec<(String, String)>,
    },
    /// `notifications/progress`.
    Progress {
        /// `progressToken`.
        token: u64,
        /// `progress`.
        done: u64,
        /// `total`.
        total: u64,
        /// `message`.
        message: String,
    },
    /// The result of a call: one block of text.
    Text {
        /// The request's id.
        id: u64,
        /// The text, not escaped.
        text: String,
    },
    /// The result of `tools/list`.
    Tools {
        /// The request's id.
        id: u64,
        /// The tools.
        tools: Vec<ToolDef>,
    },
}

/// A tool of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolDef {
    /// `name`.
    pub name: String,
    /// `description`, not escaped.
    pub description: String,
    /// `inputSchema`, as JSON.
    pub schema: String,
    /// `annotations.title`, not escaped.
    pub title: String,
    /// `annotations.readOnlyHint`.
    pub read_only: bool,
}

/// `text` as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

impl Outgoing {
    /// The message as compact JSON, without a line feed.
    #[must_use]
    pub fn json(&self) -> String {
        match self {
            Self::Call { id, name, arguments } => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{},"arguments":{{{}}}}}}}"#,
                quoted(name),
                list(arguments, |(key, value)| format!("{}:{}", quoted(key), quoted(value)))
            ),
            Self::Progress { token, done, total, message } => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{done},"total":{total},"message":{}}}}}"#,
                quoted(message)
            ),
            Self::Text { id, text } => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{}}}],"isError":false}}}}"#,
                quoted(text)
            ),
            Self::Tools { id, tools } => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{}]}}}}"#,
                list(tools, ToolDef::json)
            ),
        }
    }
}

fn list<T>(of: &[T], json: impl Fn(&T) -> String) -> String {
    of.iter().map(json).collect::<Vec<_>>().join(",")
}

impl ToolDef {
    fn json(&self) -> String {
        format!(
            r#"{{"name":{},"description":{},"inputSchema":{},"annotations":{{"title":{},"readOnlyHint":{}}}}}"#,
            quoted(&self.name),
            quoted(&self.description),
            self.schema,
            quoted(&self.title),
            self.read_only
        )
    }

    /// A tool of about 700 bytes.
    pub(crate) fn random(random: &mut Random, language: Language, number: usize) -> Self {
        const VERBS: &[&str] = &["get", "list", "search", "create", "update", "delete"];
        const NOUNS: &[&str] = &["alerts", "forecast", "stations", "readings", "reports", "rivers"];
        const KEYS: &[&str] =
            &["latitude", "longitude", "query", "limit", "cursor", "unit", "station", "since"];
        let mut description = words(random, language, 110);
        if random.below(3) == 0 {
            description.push_str("\nReturns \"");
            description.push_str(&words(random, language, 20));
            description.push_str("\".");
        }
        let mut properties = String::new();
        let (first, count) = (random.below(KEYS.len()), 3 + random.below(2));
        for at in 0..count {
            let comma = if at == 0 { "" } else { "," };
            let kind = random.pick(&["string", "number", "integer"]);
            let about = quoted(&words(random, language, 50));
            let key = KEYS[(first + at) % KEYS.len()];
            let _ = write!(properties, r#"{comma}"{key}":{{"type":"{kind}","description":{about}}}"#);
        }
        Self {
            name: format!("{}_{}_{number}", random.pick(VERBS), random.pick(NOUNS)),
            description,
            schema: format!(
                r#"{{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{{{properties}}},"required":["{}"],"additionalProperties":false}}"#,
                KEYS[first]
            ),
            title: words(random, language, 16),
            read_only: random.below(2) == 0,
        }
    }
}

//! Tools as peers see them.

/// One tool. Fields of newer revisions are left out for older peers.
///
/// ```
/// use barewire::{Tool, check_tools};
/// static TOOLS: &[Tool<'static>] = &[
///     Tool::new("read_temperature", "Degrees Celsius at the sensor.", r#"{"type":"object"}"#).title("Temperature"),
/// ];
/// const _: () = check_tools(TOOLS);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tool<'a> {
    /// 1 to 128 of `A-Z a-z 0-9 _ - .` (2025-11-25, server/tools); hosts that make it a function name want 64.
    pub name: &'a str,
    /// All that a model learns about it, with the schema.
    pub description: &'a str,
    /// A JSON Schema whose root says `"type":"object"`; white space is allowed, line breaks too.
    pub input_schema: &'a str,
    /// For people (since 2025-06-18).
    pub title: Option<&'a str>,
    /// A JSON Schema of `structuredContent` (since 2025-06-18); its root must be an object's before 2026-07-28.
    pub output_schema: Option<&'a str>,
    /// What it does to the world (since 2025-03-26).
    pub hints: Hints<'a>,
    /// A JSON array of icons (since 2025-11-25).
    pub icons: Option<&'a str>,
    /// `forbidden`, `optional` or `required` (2025-11-25 alone).
    pub task_support: Option<&'a str>,
    /// A JSON object for `_meta` (since 2025-06-18).
    pub meta: Option<&'a str>,
}

/// The annotations of a tool: hints that a client must not trust.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hints<'a> {
    /// For people; [`Tool::title`] is newer and comes first.
    pub title: Option<&'a str>,
    /// It changes nothing; absent counts as false.
    pub read_only: Option<bool>,
    /// It may destroy; absent counts as true.
    pub destructive: Option<bool>,
    /// Twice is as once; absent counts as false.
    pub idempotent: Option<bool>,
    /// It deals with the outside; absent counts as true.
    pub open_world: Option<bool>,
}

impl Hints<'_> {
    /// No hint at all.
    pub const NONE: Self =
        Self { title: None, read_only: None, destructive: None, idempotent: None, open_world: None };
}

impl<'a> Tool<'a> {
    /// A tool with what every revision knows.
    #[must_use]
    pub const fn new(name: &'a str, description: &'a str, input_schema: &'a str) -> Self {
        Self {
            name,
            description,
            input_schema,
            title: None,
            output_schema: None,
            hints: Hints::NONE,
            icons: None,
            task_support: None,
            meta: None,
        }
    }

    /// A name for people.
    #[must_use]
    pub const fn title(mut self, title: &'a str) -> Self {
        self.title = Some(title);
        self
    }

    /// The schema of its structured content.
    #[must_use]
    pub const fn output_schema(mut self, schema: &'a str) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// It only reads.
    #[must_use]
    pub const fn read_only(mut self) -> Self {
        self.hints.read_only = Some(true);
        self
    }

    /// May it destroy something?
    #[must_use]
    pub const fn destructive(mut self, yes: bool) -> Self {
        self.hints.destructive = Some(yes);
        self
    }

    /// Is a second call with the same arguments without effect?
    #[must_use]
    pub const fn idempotent(mut self, yes: bool) -> Self {
        self.hints.idempotent = Some(yes);
        self
    }

    /// Does it deal with the outside world?
    #[must_use]
    pub const fn open_world(mut self, yes: bool) -> Self {
        self.hints.open_world = Some(yes);
        self
    }

    /// A JSON array of icons.
    #[must_use]
    pub const fn icons(mut self, json: &'a str) -> Self {
        self.icons = Some(json);
        self
    }

    /// `forbidden`, `optional` or `required`.
    #[must_use]
    pub const fn task_support(mut self, support: &'a str) -> Self {
        self.task_support = Some(support);
        self
    }

    /// A JSON object for `_meta`.
    #[must_use]
    pub const fn meta(mut self, json: &'a str) -> Self {
        self.meta = Some(json);
        self
    }
}

/// Makes mistakes in a table compile errors: `const _: () = check_tools(TOOLS);`
///
/// # Panics
/// While compiling: on an empty or doubled name, a name over 128 bytes or with other characters than
/// `A-Z a-z 0-9 _ - .`, and on a schema (or `_meta`) that is no JSON object, or icons that are no array, by its brackets.
#[allow(clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)] // runs in the compiler
pub const fn check_tools(tools: &[Tool<'_>]) {
    let mut i = 0;
    while i < tools.len() {
        let name = tools[i].name.as_bytes();
        assert!(!name.is_empty() && name.len() <= 128, "a tool's name has 1 to 128 characters");
        let mut c = 0;
        while c < name.len() {
            assert!(
                name[c].is_ascii_alphanumeric() || matches!(name[c], b'_' | b'-' | b'.'),
                "a tool's name consists of A-Z a-z 0-9 _ - ."
            );
            c += 1;
        }
        let mut j = 0;
        while j < i {
            assert!(!same(name, tools[j].name.as_bytes()), "two tools have the same name");
            j += 1;
        }
        assert!(brackets(tools[i].input_schema, b'{', b'}'), "an inputSchema is a JSON object");
        assert!(
            contains(tools[i].input_schema.as_bytes(), b"\"object\""),
            "an inputSchema's root says \"type\":\"object\""
        );
        if let Some(schema) = tools[i].output_schema {
            assert!(brackets(schema, b'{', b'}'), "an outputSchema is a JSON object");
        }
        if let Some(meta) = tools[i].meta {
            assert!(brackets(meta, b'{', b'}'), "_meta is a JSON object");
        }
        if let Some(icons) = tools[i].icons {
            assert!(brackets(icons, b'[', b']'), "icons are a JSON array");
        }
        i += 1;
    }
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn contains(text: &[u8], part: &[u8]) -> bool {
    let mut i = 0;
    while i + part.len() <= text.len() {
        let mut j = 0;
        while j < part.len() && text[i + j] == part[j] {
            j += 1;
        }
        if j == part.len() {
            return true;
        }
        i += 1;
    }
    false
}

/// Does the text open and close with these, and do all brackets outside of strings pair up in between?
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn brackets(text: &str, open: u8, close: u8) -> bool {
    let text = text.trim_ascii().as_bytes();
    if text.len() < 2 || text[0] != open || text[text.len() - 1] != close {
        return false;
    }
    let (mut depth, mut in_string, mut i) = (0usize, false, 0);
    while i < text.len() {
        match text[i] {
            b'\\' if in_string => i += 1,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                if depth == 0 || (depth == 1 && i + 1 != text.len()) {
                    return false;
                }
                depth -= 1;
            }
            _ => {}
        }
        i += 1;
    }
    depth == 0 && !in_string
}

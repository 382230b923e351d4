//! Values of results, decoded where they lie.
use crate::json::{Kind, Raw, unescape};
use crate::machine::mem::Span;
use crate::mcp::{Content, Data, Hints, Link, Tool};

/// The definition of a tool, as received. Take what is needed of [`json`](Self::json) first: decoding undoes escapes in place.
pub struct ToolDef<'m>(&'m mut [u8]);

impl<'m> ToolDef<'m> {
    pub(super) const fn new(object: &'m mut [u8]) -> Self {
        Self(object)
    }

    /// As received, an object.
    #[must_use]
    pub fn json(&self) -> Raw<'_> {
        Raw::trusted(self.0)
    }

    /// The tool's name, if nothing in it is escaped; to look before decoding.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.json().get("name").is_some_and(|n| n.is(name))
    }

    /// All of it. Absent and null members are the same; a member of a wrong type counts as absent. A missing schema is `{}`
    /// (and was reported as a fault before).
    #[must_use]
    pub fn decode(self) -> Tool<'m> {
        tool(self.0)
    }
}

impl core::fmt::Debug for ToolDef<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("ToolDef").field(&self.json()).finish()
    }
}

/// Where `raw`, a part of `all`, stands.
pub(super) fn place(all: &[u8], raw: Raw<'_>) -> Span {
    Span::within(all, raw.as_bytes()).unwrap_or_default()
}

/// Undoes the escapes of the string at `quoted`; returns where its text stands now.
pub(super) fn text(bytes: &mut [u8], quoted: Span) -> Span {
    match quoted.of_mut(bytes) {
        [_, body @ .., _] => {
            let start = quoted.start.saturating_add(1);
            Span::new(start, start.saturating_add(unescape(body).len()))
        }
        _ => Span::default(),
    }
}

/// The text at a place that [`text`] returned.
pub(super) fn str_at(bytes: &[u8], at: Span) -> &str {
    crate::json::text(at.of(bytes))
}

/// Is it a usable definition (a name), and complete (a schema)?
pub(super) fn check_tool(json: Raw<'_>) -> (bool, bool) {
    let named = json.get("name").is_some_and(|n| n.kind() == Kind::String);
    (named, json.get("inputSchema").is_some_and(|s| s.kind() == Kind::Object))
}

/// Places of members by the type that they must have.
struct Found<'a> {
    all: &'a [u8],
}

impl Found<'_> {
    fn of(&self, value: Raw<'_>, kind: Kind) -> Option<Span> {
        (value.kind() == kind).then(|| place(self.all, value))
    }
}

#[inline(never)]
fn tool(all: &mut [u8]) -> Tool<'_> {
    let [mut name, mut description, mut title, mut hint_title, mut support] = [None; 5];
    let [mut input, mut output, mut icons, mut meta] = [None; 4];
    let mut hints = Hints::NONE;
    let found = Found { all };
    for (key, value) in Raw::trusted(all).members() {
        if key.is("name") {
            name = found.of(value, Kind::String);
        } else if key.is("description") {
            description = found.of(value, Kind::String);
        } else if key.is("inputSchema") {
            input = found.of(value, Kind::Object);
        } else if key.is("title") {
            title = found.of(value, Kind::String);
        } else if key.is("outputSchema") {
            output = found.of(value, Kind::Object);
        } else if key.is("icons") {
            icons = found.of(value, Kind::Array);
        } else if key.is("_meta") {
            meta = found.of(value, Kind::Object);
        } else if key.is("execution") {
            support = value.get("taskSupport").and_then(|s| found.of(s, Kind::String));
        } else if key.is("annotations") {
            for (key, value) in value.members() {
                if key.is("title") {
                    hint_title = found.of(value, Kind::String);
                } else if key.is("readOnlyHint") {
                    hints.read_only = value.as_bool();
                } else if key.is("destructiveHint") {
                    hints.destructive = value.as_bool();
                } else if key.is("idempotentHint") {
                    hints.idempotent = value.as_bool();
                } else if key.is("openWorldHint") {
                    hints.open_world = value.as_bool();
                }
            }
        }
    }
    let texts = [name, description, title, hint_title, support].map(|at| at.map(|at| text(all, at)));
    let all = &*all;
    let [name, description, title, hint_title, support] = texts.map(|at| at.map(|at| str_at(all, at)));
    let json = |at: Option<Span>| at.map(|at| str_at(all, at));
    let mut tool = Tool::new(name.unwrap_or(""), description.unwrap_or(""), json(input).unwrap_or("{}"));
    tool.title = title;
    tool.output_schema = json(output);
    tool.hints = Hints { title: hint_title, ..hints };
    tool.icons = json(icons);
    tool.task_support = support;
    tool.meta = json(meta);
    tool
}

/// The members of a content block that some kind has.
#[derive(Clone, Copy, Default)]
struct Block {
    text: Option<Span>,
    data: Option<Span>,
    mime: Option<Span>,
    uri: Option<Span>,
    name: Option<Span>,
    title: Option<Span>,
    description: Option<Span>,
    size: Option<u64>,
}

impl Block {
    #[inline(never)]
    fn read(all: &[u8], object: Raw<'_>) -> Self {
        let mut block = Self::default();
        let found = Found { all };
        for (key, value) in object.members() {
            let member = if key.is("text") {
                &mut block.text
            } else if key.is("data") || key.is("blob") {
                &mut block.data
            } else if key.is("mimeType") {
                &mut block.mime
            } else if key.is("uri") {
                &mut block.uri
            } else if key.is("name") {
                &mut block.name
            } else if key.is("title") {
                &mut block.title
            } else if key.is("description") {
                &mut block.description
            } else {
                if key.is("size") {
                    block.size = value.as_u64();
                }
                continue;
            };
            *member = found.of(value, Kind::String);
        }
        block
    }
}

/// One content block; what does not decode stays whole.
#[inline(never)]
pub(super) fn content(all: &mut [u8]) -> Content<'_> {
    let whole = Raw::trusted(all);
    let kind = whole.get("type").filter(|k| k.kind() == Kind::String);
    let is = |name: &str| kind.is_some_and(|k| k.is(name));
    let embedded = is("resource");
    let object = if embedded { whole.get("resource").unwrap_or(whole) } else { whole };
    let (is_text, is_image, is_audio, is_link) = (is("text"), is("image"), is("audio"), is("resource_link"));
    let b = Block::read(all, object);
    let enough = is_text && b.text.is_some()
        || (is_image || is_audio) && b.data.is_some() && b.mime.is_some()
        || is_link && b.uri.is_some() && b.name.is_some()
        || embedded && b.uri.is_some() && (b.text.is_some() || b.data.is_some());
    if !enough {
        let whole = Raw::trusted(all);
        let kind = whole.get("type").and_then(Raw::as_string).and_then(|k| k.plain()).unwrap_or("");
        return Content::Other { kind, json: whole };
    }
    let texts = [b.text, b.data, b.mime, b.uri, b.name, b.title, b.description];
    let texts = texts.map(|at| at.map(|at| text(all, at)));
    let all = &*all;
    let [text, data, mime, uri, name, title, description] = texts.map(|at| at.map(|at| str_at(all, at)));
    let data = Data::Base64(data.unwrap_or(""));
    let uri = uri.unwrap_or("");
    match text {
        Some(text) if is_text => Content::Text(text),
        Some(text) if embedded => Content::TextResource { uri, mime, text },
        _ if embedded => Content::BlobResource { uri, mime, data },
        _ if is_link => {
            let mut link = Link::new(uri, name.unwrap_or(""));
            (link.title, link.description, link.mime, link.size) = (title, description, mime, b.size);
            Content::Link(link)
        }
        _ if is_image => Content::Image { data, mime: mime.unwrap_or("") },
        _ => Content::Audio { data, mime: mime.unwrap_or("") },
    }
}

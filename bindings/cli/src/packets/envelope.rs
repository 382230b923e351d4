//! The outermost object of a message, and what a line that is no message looks like.

use barewire::json::{Kind as Json, Raw, ScanFault};

/// The members of a JSON-RPC envelope, as they are: nothing is checked yet.
#[derive(Clone, Default, Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) jsonrpc: Option<Raw<'a>>,
    pub(crate) id: Option<Raw<'a>>,
    pub(crate) method: Option<Raw<'a>>,
    pub(crate) params: Option<Raw<'a>>,
    pub(crate) result: Option<Raw<'a>>,
    pub(crate) error: Option<Raw<'a>>,
    /// Members that JSON-RPC does not know.
    pub(crate) extra: Vec<String>,
    /// Known members that came twice.
    pub(crate) doubled: Vec<&'static str>,
}

/// What a message is, by the members that it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A method and an id.
    Request,
    /// A method and no id.
    Notification,
    /// A result, or a result beside an error.
    Result,
    /// An error.
    Error,
    /// An object that is none of these.
    Nonsense,
}

impl<'a> Envelope<'a> {
    /// Reads the members of an object.
    pub(crate) fn read(object: Raw<'a>) -> Self {
        let mut envelope = Self::default();
        for (key, value) in object.members() {
            let place = [
                ("jsonrpc", &mut envelope.jsonrpc),
                ("id", &mut envelope.id),
                ("method", &mut envelope.method),
                ("params", &mut envelope.params),
                ("result", &mut envelope.result),
                ("error", &mut envelope.error),
            ]
            .into_iter()
            .find(|(name, _)| key.is(name));
            match place {
                None => envelope.extra.push(key.to_string()),
                Some((name, place)) => {
                    if place.replace(value).is_some() {
                        envelope.doubled.push(name);
                    }
                }
            }
        }
        envelope
    }

    /// By which members are there.
    pub(crate) fn kind(&self) -> Kind {
        match (self.method, self.id, self.result, self.error) {
            (Some(_), Some(_), _, _) => Kind::Request,
            (Some(_), None, _, _) => Kind::Notification,
            // `error: null` beside a result is a mistake, and still a result.
            (None, _, Some(_), error) if error.is_none_or(Raw::is_null) => Kind::Result,
            (None, _, _, Some(_)) => Kind::Error,
            (None, _, Some(_), _) => Kind::Result,
            (None, _, None, None) => Kind::Nonsense,
        }
    }

    /// The method's name, where it is a string.
    pub(crate) fn method_name(&self) -> Option<String> {
        self.method.and_then(text)
    }

    /// A member of `params`.
    pub(crate) fn param(&self, key: &str) -> Option<Raw<'a>> {
        self.params.and_then(|params| params.get(key))
    }

    /// A member of `params._meta` under MCP's own prefix.
    pub(crate) fn meta(&self, name: &str) -> Option<Raw<'a>> {
        self.param("_meta")?.get(&format!("io.modelcontextprotocol/{name}"))
    }
}

/// The text of a JSON string; `None` for anything else.
pub(crate) fn text(raw: Raw<'_>) -> Option<String> {
    (raw.kind() == Json::String).then(|| raw.as_string().map(|s| s.to_string())).flatten()
}

/// A key under which equal ids are equal: 5 and 5.0 are, 5 and "5" are not.
pub(crate) fn id_key(id: Raw<'_>) -> String {
    match id.kind() {
        Json::String => format!("s{}", text(id).unwrap_or_default()),
        Json::Number => match id.as_i64() {
            Some(number) => format!("n{number}"),
            None => format!("n{}", id.as_str()),
        },
        _ => format!("x{}", id.as_str()),
    }
}

/// What a line that is no message looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Looks {
    /// The first line of a message that was written over several lines.
    PrettyStart,
    /// A further line of it.
    PrettyPiece,
    /// `Content-Length:` framing, as language servers use it.
    ContentLength,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// More than 128 containers inside each other.
    TooDeep,
    /// A line of a Python or JavaScript stack trace.
    Traceback,
    /// A line of npm, npx, pip or uv.
    Installer,
    /// Text with terminal colours.
    Ansi,
    /// A log line: a level or a time stands in front.
    Log,
    /// A message cut off in the middle.
    Cut,
    /// JSON, but neither object nor array.
    Scalar,
    /// A message that follows something else on its line.
    Prefixed,
    /// Some other text.
    Print,
}

/// What `line` looks like, given that it is no JSON text (`fault`), or only a scalar (`None`).
pub(crate) fn looks(line: &[u8], fault: Option<ScanFault>, in_pretty: bool) -> Looks {
    let Some(fault) = fault else { return Looks::Scalar };
    if fault == ScanFault::Depth {
        return Looks::TooDeep;
    }
    let Ok(text) = core::str::from_utf8(line) else { return Looks::NotUtf8 };
    let text = text.trim();
    let lower = text.to_lowercase();
    if lower.starts_with("content-length:") || lower.starts_with("content-type:") {
        return Looks::ContentLength;
    }
    if text == "{" || text == "[" || text == "[{" {
        return Looks::PrettyStart;
    }
    if in_pretty && (text.starts_with(['"', '}', ']', '{', '[']) || text.ends_with([',', '{', '['])) {
        return Looks::PrettyPiece;
    }
    if text.contains("\u{1b}[") {
        return Looks::Ansi;
    }
    let python = lower.starts_with("traceback (most recent call last)") || text.starts_with("File \"");
    let script =
        text.starts_with("at ") && (text.contains(".js:") || text.contains(".ts:") || text.contains("node:"));
    if python || script {
        return Looks::Traceback;
    }
    if ["npm ", "npx ", "need to install the following", "added ", "installed ", "resolved ", "downloading "]
        .iter()
        .any(|start| lower.starts_with(start))
    {
        return Looks::Installer;
    }
    if text.starts_with('{') || text.starts_with('[') && text.contains("\"jsonrpc\"") {
        return Looks::Cut;
    }
    if text.contains("{\"") && text.ends_with('}') && text.contains("\"jsonrpc\"") {
        return Looks::Prefixed;
    }
    let level =
        ["info", "debug", "warn", "error", "trace", "[info", "[debug", "[warn", "[error", "[trace", "(info"];
    if level.iter().any(|word| lower.starts_with(word)) || is_stamp(text) {
        return Looks::Log;
    }
    Looks::Print
}

/// Whether a date or a time of day stands in front.
fn is_stamp(text: &str) -> bool {
    let digits = text.trim_start_matches('[');
    digits.len() >= 8
        && digits.bytes().take(2).all(|b| b.is_ascii_digit())
        && digits.bytes().take(10).filter(|b| matches!(b, b'-' | b':' | b'/')).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(json: &str) -> Kind {
        Envelope::read(Raw::new(json).unwrap()).kind()
    }

    #[test]
    fn kinds() {
        assert_eq!(kind(r#"{"id":1,"method":"ping"}"#), Kind::Request);
        assert_eq!(kind(r#"{"id":null,"method":"ping"}"#), Kind::Request);
        assert_eq!(kind(r#"{"method":"ping"}"#), Kind::Notification);
        assert_eq!(kind(r#"{"result":{},"id":1}"#), Kind::Result);
        assert_eq!(kind(r#"{"result":{},"error":null,"id":1}"#), Kind::Result);
        assert_eq!(kind(r#"{"error":{},"id":1}"#), Kind::Error);
        assert_eq!(kind(r#"{"id":1}"#), Kind::Nonsense);
        assert_eq!(kind(r#"{"\u006dethod":"a"}"#), Kind::Notification);
    }

    #[test]
    fn ids_are_equal_by_value_and_type() {
        let key = |json| id_key(Raw::new(json).unwrap());
        assert_eq!(key("5"), key("5.0"));
        assert_eq!(key("\"a\""), key("\"\\u0061\""));
        assert_ne!(key("5"), key("\"5\""));
    }

    #[test]
    fn junk_is_recognised() {
        let cases: [(&str, Looks); 13] = [
            ("{", Looks::PrettyStart),
            ("Content-Length: 52\r", Looks::ContentLength),
            ("Traceback (most recent call last):", Looks::Traceback),
            ("    at run (file:///srv/a.js:3:4)", Looks::Traceback),
            ("npm warn deprecated x", Looks::Installer),
            ("\u{1b}[32mready\u{1b}[0m", Looks::Ansi),
            ("INFO starting", Looks::Log),
            ("2026-11-30 12:00:00 starting", Looks::Log),
            ("[12:00:01] x", Looks::Log),
            ("{\"jsonrpc\":\"2.0\",\"id\":4,\"resu", Looks::Cut),
            ("RESULT: {\"jsonrpc\":\"2.0\",\"id\":4}", Looks::Prefixed),
            ("hello", Looks::Print),
            ("{'a': 1}", Looks::Cut),
        ];
        for (line, expected) in cases {
            assert_eq!(looks(line.as_bytes(), Some(ScanFault::Syntax), false), expected, "{line}");
        }
        assert_eq!(looks(b"\"id\": 1,", Some(ScanFault::Syntax), true), Looks::PrettyPiece);
        assert_eq!(looks(b"a\xff", Some(ScanFault::Utf8), false), Looks::NotUtf8);
        assert_eq!(looks(b"5", None, false), Looks::Scalar);
    }
}

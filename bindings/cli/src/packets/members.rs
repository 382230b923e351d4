//! Rows for members that many messages share.

use barewire::json::{Kind, Raw};

use super::call::brief;
use super::envelope::{Envelope, text};
use super::model::{Row, When};
use super::texts::{T, Table, say};
use crate::text::{printable, shortened, span};

/// What a message says, before it is placed in the session.
#[derive(Default)]
pub(crate) struct Story {
    /// In plain words.
    pub(crate) sentence: String,
    /// The same shortly; empty where the header says enough.
    pub(crate) brief: String,
    pub(crate) rows: Vec<Row>,
}

impl Story {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), ..Self::default() }
    }

    pub(crate) fn with(mut self, rows: impl IntoIterator<Item = Row>) -> Self {
        self.rows.extend(rows);
        self
    }
}

/// The row of a request's id.
pub(crate) fn id_row(table: Table, id: Raw<'_>) -> Row {
    let gloss = match id.kind() {
        Kind::Number => say(table, T::IdNumber, &[]),
        Kind::String => say(table, T::IdString, &[]),
        _ => String::new(),
    };
    Row::new("id", brief(id, 40), gloss)
}

/// `weather 0.1`, from an object with a name and a version.
pub(crate) fn implementation(info: Raw<'_>) -> String {
    let part =
        |key| info.get(key).and_then(text).map(|part| printable(&shortened(&part, 60))).unwrap_or_default();
    format!("{} {}", part("name"), part("version")).trim().to_owned()
}

/// `tools, resources (listChanged, subscribe)`
pub(crate) fn capabilities(object: Raw<'_>) -> String {
    let mut list = Vec::new();
    for (key, value) in object.members() {
        let name = printable(&key.to_string());
        let inner: Vec<String> = value
            .members()
            .filter(|(_, on)| on.as_bool() != Some(false))
            .map(|(key, _)| printable(&key.to_string()))
            .collect();
        list.push(if inner.is_empty() { name } else { format!("{name} ({})", inner.join(", ")) });
    }
    if list.is_empty() { "{}".into() } else { shortened(&list.join(", "), 160) }
}

/// Rows of a request's `_meta`: the modern era's members, and the progress token.
pub(crate) fn meta_rows(table: Table, envelope: &Envelope<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(version) = envelope.meta("protocolVersion") {
        rows.push(Row::new("_meta …/protocolVersion", brief(version, 30), say(table, T::VersionModern, &[])));
    }
    if let Some(info) = envelope.meta("clientInfo") {
        rows.push(Row::new("_meta …/clientInfo", implementation(info), say(table, T::ClientInfo, &[])));
    }
    if let Some(capabilities) = envelope.meta("clientCapabilities") {
        rows.push(client_capabilities(table, "_meta …/clientCapabilities", capabilities));
    }
    if let Some(level) = envelope.meta("logLevel") {
        rows.push(Row::new("_meta …/logLevel", brief(level, 30), say(table, T::LogLevel, &[])));
    }
    if let Some(token) = envelope.param("_meta").and_then(|meta| meta.get("progressToken")) {
        rows.push(Row::new("_meta progressToken", brief(token, 40), say(table, T::ProgressToken, &[])));
    }
    rows
}

/// The row of what a client offers.
pub(crate) fn client_capabilities(table: Table, key: &str, object: Raw<'_>) -> Row {
    let names = capabilities(object);
    let gloss = if names == "{}" { T::CapsNothing } else { T::CapsClient };
    Row::new(key, names, say(table, gloss, &[]))
}

/// The row of what a server offers.
pub(crate) fn server_capabilities(table: Table, object: Raw<'_>) -> Row {
    let names: Vec<String> = object.members().map(|(key, _)| key.to_string()).collect();
    let gloss = match names.as_slice() {
        [] => T::CapsNone,
        [only] if only == "tools" => T::CapsTools,
        _ => T::CapsServer,
    };
    Row::new("capabilities", capabilities(object), say(table, gloss, &[]))
}

/// Rows of a modern result: `resultType`, caching, `serverInfo`.
pub(crate) fn modern_result_rows(table: Table, result: Raw<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(kind) = result.get("resultType") {
        let gloss = match text(kind).as_deref() {
            Some("complete") => T::ResultComplete,
            Some("input_required") => T::ResultInput,
            Some("task") => T::GotTaskMade,
            _ => T::ResultUnknown,
        };
        rows.push(Row::new("resultType", brief(kind, 30), say(table, gloss, &[])));
    }
    if let Some(ttl) = result.get("ttlMs") {
        let gloss = match ttl.as_u64() {
            Some(0) => say(table, T::TtlNone, &[]),
            Some(ms) => say(table, T::Ttl, &[&span(ms.saturating_mul(1_000))]),
            None => String::new(),
        };
        rows.push(Row::new("ttlMs", brief(ttl, 24), gloss));
    }
    if let Some(scope) = result.get("cacheScope") {
        let gloss = if scope.is("public") { T::ScopePublic } else { T::ScopePrivate };
        rows.push(Row::new("cacheScope", brief(scope, 24), say(table, gloss, &[])));
    }
    if let Some(info) = result.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo")) {
        rows.push(Row::new("_meta …/serverInfo", implementation(info), say(table, T::ServerInfo, &[])));
    }
    rows
}

/// Every member of `object` that no row speaks of yet, for `--full`.
pub(crate) fn rest(object: Raw<'_>, rows: &[Row]) -> Vec<Row> {
    let mut more = Vec::new();
    for (key, value) in object.members() {
        let key = printable(&key.to_string());
        let same = |row: &Row| {
            row.key == key
                || row.key.starts_with(&format!("{key}["))
                || row.key.starts_with(&format!("{key} "))
        };
        if !rows.iter().any(same) {
            more.push(Row::new(key, brief(value, 4_000), "").when(When::Full));
        }
    }
    more
}

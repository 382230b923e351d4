//! What requests and notifications say.

use barewire::json::{Kind, Raw};

use super::call::{arguments, brief};
use super::envelope::{Envelope, text};
use super::members::{Story, client_capabilities, id_row, implementation, meta_rows, rest};
use super::model::{Row, When};
use super::session::Session;
use super::texts::{T, Table, say};
use crate::arguments::schema::complaints;
use crate::text::{printable, shortened};

/// The newest revision that shakes hands.
const NEWEST_LEGACY: &str = "2025-11-25";

/// Tells a request.
pub(crate) fn request(table: Table, envelope: &Envelope<'_>, method: &str, session: &Session) -> Story {
    let mut story = Story::default();
    if let Some(id) = envelope.id {
        story.rows.push(id_row(table, id));
    }
    let key = match method {
        "initialize" => {
            story.rows.extend(initialize(table, envelope));
            T::AskInitialize
        }
        "server/discover" => T::AskDiscover,
        "ping" => T::AskPing,
        "tools/list" => T::AskTools,
        "tools/call" => {
            let (sentence, worth_telling) = call_sentence(table, envelope, session);
            if worth_telling {
                story.brief.clone_from(&sentence);
            }
            story.sentence = sentence;
            story.rows.extend(retry(table, envelope));
            T::AskCall
        }
        "resources/list" => T::AskResources,
        "resources/templates/list" => T::AskTemplates,
        "resources/read" => T::AskRead,
        "resources/subscribe" => T::AskSubscribe,
        "resources/unsubscribe" => T::AskUnsubscribe,
        "prompts/list" => T::AskPrompts,
        "prompts/get" => T::AskPrompt,
        "completion/complete" => T::AskComplete,
        "logging/setLevel" => T::AskLevel,
        "subscriptions/listen" => T::AskListen,
        "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/list" | "tasks/update" => T::AskTask,
        "sampling/createMessage" => T::AskSample,
        "elicitation/create" => T::AskElicit,
        "roots/list" => T::AskRoots,
        _ => T::AskUnknown,
    };
    if story.sentence.is_empty() {
        story.sentence = say(table, key, &[]);
    }
    if let Some(cursor) = envelope.param("cursor") {
        story.rows.push(Row::new("cursor", brief(cursor, 60), say(table, T::Cursor, &[])).when(When::Always));
    }
    story.rows.extend(quoted(envelope));
    story.rows.extend(meta_rows(table, envelope));
    if let Some(params) = envelope.params {
        let more = rest(params, &story.rows);
        story.rows.extend(more);
    }
    story
}

/// Tells a notification. `target` is the packet that a cancel or progress is about.
pub(crate) fn notification(
    table: Table,
    envelope: &Envelope<'_>,
    method: &str,
    target: Option<String>,
) -> Story {
    let key = match method {
        "notifications/initialized" => T::NoteInitialized,
        "notifications/cancelled" => T::NoteCancelled,
        "notifications/progress" => T::NoteProgress,
        "notifications/message" => T::NoteMessage,
        "notifications/tools/list_changed" => T::NoteToolsChanged,
        "notifications/resources/list_changed" => T::NoteResourcesChanged,
        "notifications/prompts/list_changed" => T::NotePromptsChanged,
        "notifications/roots/list_changed" => T::NoteRootsChanged,
        "notifications/resources/updated" => T::NoteUpdated,
        "notifications/subscriptions/acknowledged" => T::NoteAcknowledged,
        "notifications/elicitation/complete" => T::NoteElicited,
        "notifications/tasks" | "notifications/tasks/status" => T::NoteTask,
        _ => T::NoteUnknown,
    };
    let target = target.or_else(|| envelope.param("requestId").map(|id| format!("id {}", brief(id, 40))));
    let mut story = Story::new(say(table, key, &[&target.unwrap_or_default()]));
    if method == "notifications/cancelled" {
        story.brief.clone_from(&story.sentence);
    }
    for (name, always) in
        [("reason", true), ("message", true), ("level", false), ("logger", false), ("data", true)]
    {
        if let Some(value) = envelope.param(name) {
            let when = if always { When::Always } else { When::Long };
            story.rows.push(Row::new(name, brief(value, 120), "").when(when));
        }
    }
    if let Some(id) = envelope.meta("subscriptionId") {
        story.rows.push(Row::new("_meta …/subscriptionId", brief(id, 40), "").when(When::Always));
    }
    if let Some(params) = envelope.params {
        let more = rest(params, &story.rows);
        story.rows.extend(more);
    }
    story
}

fn initialize(table: Table, envelope: &Envelope<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(version) = envelope.param("protocolVersion") {
        let gloss = if version.is(NEWEST_LEGACY) { T::VersionNewest } else { T::VersionAsked };
        rows.push(Row::new("protocolVersion", brief(version, 30), say(table, gloss, &[])));
    }
    if let Some(capabilities) = envelope.param("capabilities") {
        rows.push(client_capabilities(table, "capabilities", capabilities));
    }
    if let Some(info) = envelope.param("clientInfo") {
        rows.push(Row::new("clientInfo", implementation(info), say(table, T::ClientInfo, &[])));
    }
    rows
}

/// Whether the arguments obey the tool's schema, where a list with that tool was seen; and whether that is worth
/// telling every time.
fn call_sentence(table: Table, envelope: &Envelope<'_>, session: &Session) -> (String, bool) {
    if envelope.param("inputResponses").is_some() || envelope.param("requestState").is_some() {
        return (say(table, T::AskCallAgain, &[]), true);
    }
    let Some(name) = envelope.param("name").and_then(text) else {
        return (say(table, T::AskCall, &[]), false);
    };
    let shown = printable(&shortened(&name, 60));
    let Some(schema) = session.tools.get(&name).and_then(|tool| Raw::new(&tool.input)) else {
        let key = if session.tools.is_empty() { T::AskCall } else { T::AskCallUnlisted };
        return (say(table, key, &[&shown]), key == T::AskCallUnlisted);
    };
    let complaints = complaints(schema, envelope.param("arguments").unwrap_or(Raw::EMPTY_OBJECT));
    if complaints.is_empty() {
        (say(table, T::AskCallChecked, &[&shown]), false)
    } else {
        (say(table, T::AskCallBroken, &[&shown, &complaints.join("; ")]), true)
    }
}

/// The rows of a call that is sent again with answers (2026-07-28, basic/patterns/mrtr).
fn retry(table: Table, envelope: &Envelope<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (key, answer) in envelope.param("inputResponses").into_iter().flat_map(Raw::members) {
        rows.push(
            Row::new(format!("inputResponses {}", printable(&key.to_string())), brief(answer, 100), "")
                .when(When::Always),
        );
    }
    if let Some(state) = envelope.param("requestState") {
        rows.push(Row::new("requestState", brief(state, 40), say(table, T::RequestState, &[])));
    }
    rows
}

/// What a server asks of the user or the model, in its own words.
fn quoted(envelope: &Envelope<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(message) = envelope.param("message") {
        rows.push(Row::new("message", brief(message, 200), "").when(When::Always));
    }
    if let Some(schema) = envelope.param("requestedSchema").filter(|schema| schema.kind() == Kind::Object) {
        let fields = super::call::signature(schema);
        rows.push(Row::new("requestedSchema", fields, "").when(When::Always));
    }
    if let Some(filter) = envelope.param("notifications") {
        rows.push(Row::new("notifications", arguments(filter, 160), "").when(When::Always));
    }
    rows
}

//! What results and errors say.

use barewire::json::{Kind, Raw};

use super::call::{brief, signature};
use super::envelope::text;
use super::members::{Story, implementation, modern_result_rows, rest, server_capabilities};
use super::model::{Row, When};
use super::session::Open;
use super::texts::{T, Table, say};
use crate::text::{grouped, printable, shortened};

/// Tells a result, given the request that it answers.
pub(crate) fn result(table: Table, result: Raw<'_>, open: &Open) -> Story {
    if result.get("resultType").is_some_and(|kind| kind.is("input_required")) {
        return input_required(table, result);
    }
    let mut story = match open.method.as_str() {
        "initialize" => initialize(table, result, open),
        "server/discover" => discover(table, result),
        "ping" => Story::new(say(table, T::GotPong, &[])),
        "tools/list" => tools(table, result),
        "tools/call" => call(table, result),
        "resources/list" => items(table, result, "resources", "uri"),
        "resources/templates/list" => items(table, result, "resourceTemplates", "uriTemplate"),
        "prompts/list" => items(table, result, "prompts", "name"),
        "roots/list" => items(table, result, "roots", "uri"),
        "resources/read" => Story::new(say(table, T::GotRead, &[])).with(read(table, result)),
        "prompts/get" => Story::new(say(table, T::GotPrompt, &[])).with(messages(result)),
        "sampling/createMessage" => {
            let row = result.get("content").map(|c| content_row(table, "content", c));
            Story::new(say(table, T::GotSample, &[])).with(row.into_iter().flatten())
        }
        "elicitation/create" => {
            let action = result.get("action").and_then(text).unwrap_or_else(|| "?".into());
            Story::new(say(table, T::GotElicit, &[&printable(&action)]))
        }
        "subscriptions/listen" => Story::new(say(table, T::GotListenEnd, &[])),
        _ => {
            let empty = result.members().all(|(key, _)| key.is("_meta") || key.is("resultType"));
            Story::new(say(table, if empty { T::GotEmpty } else { T::GotOther }, &[]))
        }
    };
    if let Some(cursor) = result.get("nextCursor") {
        let row =
            Row::new("nextCursor", brief(cursor, 60), say(table, T::CursorMore, &[])).when(When::Always);
        story.rows.push(row);
    } else if open.method.ends_with("/list") && open.method != "roots/list" {
        story.rows.push(Row::new("nextCursor", "absent", say(table, T::CursorNone, &[])));
    }
    story.rows.extend(modern_result_rows(table, result));
    let more = rest(result, &story.rows);
    story.rows.extend(more);
    story
}

/// Tells an error; `open` is the request, where one is answered.
pub(crate) fn error(table: Table, error: Raw<'_>, open: Option<&Open>) -> Story {
    let code = error.get("code").and_then(Raw::as_i64);
    let probe = open.is_some_and(|open| open.method == "server/discover");
    let key = match code {
        Some(-32022) => T::ErrVersion,
        Some(-32021) => T::ErrCapability,
        Some(-32020) => T::ErrHeader,
        _ if probe => T::ErrMethodProbe,
        Some(-32700) => T::ErrParse,
        Some(-32600) => T::ErrRequest,
        Some(-32601) => T::ErrMethod,
        Some(-32602) => T::ErrParams,
        Some(-32603) => T::ErrInternal,
        Some(-32002) => T::ErrResource,
        Some(-32042) => T::ErrUrl,
        _ => T::ErrOther,
    };
    let mut sentence = say(table, key, &[]);
    if open.is_some_and(|open| open.method == "tools/call") {
        sentence = format!("{sentence} {}", say(table, T::ErrToolRuns, &[]));
    }
    let mut story = Story::new(sentence);
    story.brief = say(table, key, &[]);
    if let Some(code) = error.get("code") {
        story.rows.push(Row::new("code", brief(code, 30), "").when(When::Always));
    }
    if let Some(message) = error.get("message") {
        story.rows.push(
            Row::new("message", brief(message, 300), say(table, T::ErrorMessage, &[])).when(When::Always),
        );
    }
    if let Some(data) = error.get("data") {
        story.rows.push(Row::new("data", brief(data, 300), say(table, T::ErrorData, &[])).when(When::Always));
    }
    story
}

fn initialize(table: Table, result: Raw<'_>, open: &Open) -> Story {
    let offered = have(table, result);
    let mut story = Story::new(say(table, T::GotInitialize, &[&offered]));
    if let Some(version) = result.get("protocolVersion") {
        let asked = open.version.clone().unwrap_or_default();
        let gloss = if text(version).as_ref() == open.version.as_ref() {
            say(table, T::VersionSame, &[])
        } else {
            say(table, T::VersionOther, &[&printable(&shortened(&asked, 30))])
        };
        story.rows.push(Row::new("protocolVersion", brief(version, 30), gloss));
    }
    story.with(offer(table, result))
}

fn discover(table: Table, result: Raw<'_>) -> Story {
    let mut story = Story::new(say(table, T::GotDiscover, &[&have(table, result)]));
    if let Some(versions) = result.get("supportedVersions") {
        let gloss = say(table, T::SupportedVersions, &[]);
        story.rows.push(Row::new("supportedVersions", brief(versions, 100), gloss));
    }
    story.with(offer(table, result))
}

fn offer(table: Table, result: Raw<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(capabilities) = result.get("capabilities") {
        rows.push(server_capabilities(table, capabilities));
    }
    if let Some(info) = result.get("serverInfo") {
        rows.push(Row::new("serverInfo", implementation(info), say(table, T::ServerInfo, &[])));
    }
    if let Some(instructions) = result.get("instructions") {
        rows.push(Row::new("instructions", brief(instructions, 80), say(table, T::Instructions, &[])));
    }
    rows
}

/// “I have tools and prompts.”
fn have(table: Table, result: Raw<'_>) -> String {
    let names: Vec<String> = result
        .get("capabilities")
        .into_iter()
        .flat_map(Raw::members)
        .map(|(key, _)| printable(&shortened(&key.to_string(), 40)))
        .collect();
    match names.as_slice() {
        [] => say(table, T::HaveNothing, &[]),
        names => say(table, T::HaveThese, &[&names.join(", ")]),
    }
}

fn tools(table: Table, result: Raw<'_>) -> Story {
    let tools: Vec<Raw<'_>> = result.get("tools").into_iter().flat_map(Raw::elements).collect();
    let count = match tools.len() {
        0 => say(table, T::NoTools, &[]),
        1 => say(table, T::OneTool, &[]),
        n => say(table, T::ManyTools, &[&n]),
    };
    let mut story = Story::new(say(table, T::GotTools, &[&count]));
    story.brief = say(table, T::GotToolsShort, &[&count]);
    for tool in tools {
        let name = tool.get("name").and_then(text).unwrap_or_else(|| "?".into());
        let schema = tool.get("inputSchema").unwrap_or(Raw::NULL);
        let call = format!("{}({})", printable(&shortened(&name, 60)), signature(schema));
        let description = tool.get("description").and_then(text).unwrap_or_default();
        let first = description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let more = if first.len() + 8 < description.len() { " …" } else { "" };
        let shown = format!("“{}{more}”", shortened(&printable(first), 34));
        let description = if first.is_empty() { String::new() } else { shown };
        story
            .rows
            .push(Row::new(call, description, format!("{} B", grouped(tool.as_bytes().len()))).listed());
    }
    // The rest of `result` must not tell the list once more.
    story.rows.push(Row::new("tools", "", "").when(When::Full));
    story
}

fn items(table: Table, result: Raw<'_>, list: &str, naming: &str) -> Story {
    let all: Vec<Raw<'_>> = result.get(list).into_iter().flat_map(Raw::elements).collect();
    let sentence = say(table, T::GotItems, &[&all.len(), &list]);
    let mut story = Story::new(sentence.clone());
    story.brief = sentence;
    for item in all {
        let name = item.get(naming).or_else(|| item.get("name")).and_then(text).unwrap_or_default();
        let what =
            item.get("description").or_else(|| item.get("name")).map(|d| brief(d, 48)).unwrap_or_default();
        story.rows.push(Row::new(printable(&shortened(&name, 60)), what, "").listed());
    }
    story.rows.push(Row::new(list, "", "").when(When::Full));
    story
}

fn call(table: Table, result: Raw<'_>) -> Story {
    if result.get("task").is_some() || result.get("resultType").is_some_and(|kind| kind.is("task")) {
        return Story::new(say(table, T::GotTaskMade, &[]));
    }
    let failed = result.get("isError").and_then(Raw::as_bool) == Some(true);
    let mut story = if failed {
        let mut story = Story::new(say(table, T::GotCallError, &[]));
        story.brief.clone_from(&story.sentence);
        let gloss = say(table, T::IsErrorTrue, &[]);
        story.rows.push(Row::new("isError", "true", gloss).when(When::Always));
        story
    } else {
        let mut story = Story::new(say(table, T::GotCall, &[]));
        story.brief = say(table, T::GotCallShort, &[]);
        story
    };
    for (i, block) in result.get("content").into_iter().flat_map(Raw::elements).enumerate() {
        story.rows.extend(content_row(table, &format!("content[{i}]"), block));
    }
    if let Some(structured) = result.get("structuredContent") {
        let gloss = say(table, T::Structured, &[]);
        story.rows.push(Row::new("structuredContent", brief(structured, 60), gloss).when(When::Always));
    }
    story
}

/// The rows of one content block: what it is, and with `--full` its text.
fn content_row(table: Table, key: &str, block: Raw<'_>) -> Vec<Row> {
    let kind = block.get("type").and_then(text).unwrap_or_else(|| "?".into());
    let member = |name| block.get(name).map(|value| brief(value, 80)).unwrap_or_default();
    let size = |name| block.get(name).map_or(0, |data| data.as_bytes().len().saturating_sub(2));
    let row = match kind.as_str() {
        "text" => {
            let body = block.get("text").and_then(text).unwrap_or_default();
            return text_rows(table, key, &body);
        }
        "image" | "audio" => {
            let sizes =
                [&member("mimeType") as &dyn core::fmt::Display, &format!("{} B", grouped(size("data")))];
            Row::new(key, kind, say(table, T::ContentData, &sizes))
        }
        "resource_link" => {
            Row::new(key, format!("{kind} {}", member("uri")), say(table, T::ContentLink, &[]))
        }
        "resource" => {
            let uri = block
                .get("resource")
                .and_then(|r| r.get("uri"))
                .map(|uri| brief(uri, 80))
                .unwrap_or_default();
            Row::new(key, format!("{kind} {uri}"), say(table, T::ContentResource, &[]))
        }
        "tool_use" | "tool_result" => Row::new(key, kind, ""),
        other => Row::new(key, printable(&shortened(other, 40)), say(table, T::ContentUnknown, &[])),
    };
    vec![row.when(When::Always)]
}

fn text_rows(table: Table, key: &str, body: &str) -> Vec<Row> {
    let lines = body.lines().count();
    let lines = match lines {
        0 | 1 => say(table, T::OneLine, &[]),
        n => say(table, T::ManyLines, &[&grouped(n)]),
    };
    if !body.contains('\n') && body.chars().count() <= 60 {
        let row = Row::new(key, "text", format!("“{}”", printable(body)));
        return vec![row.when(When::Always)];
    }
    let characters = grouped(body.chars().count());
    let key_of = if body.contains('\n') { T::ContentText } else { T::ContentTextLine };
    let gloss = say(table, key_of, &[&characters, &lines]);
    let mut rows = vec![Row::new(key, "text", gloss).when(When::Always)];
    for line in body.lines() {
        rows.push(Row::new("", printable(line), "").when(When::Full));
    }
    rows
}

fn read(table: Table, result: Raw<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (i, part) in result.get("contents").into_iter().flat_map(Raw::elements).enumerate() {
        let key = format!("contents[{i}]");
        match part.get("text").and_then(text) {
            Some(body) => rows.extend(text_rows(table, &key, &body)),
            None => {
                let size = part.get("blob").map_or(0, |blob| blob.as_bytes().len().saturating_sub(2));
                let mime = part.get("mimeType").map(|mime| brief(mime, 40)).unwrap_or_default();
                let gloss = say(table, T::ContentData, &[&mime, &format!("{} B", grouped(size))]);
                rows.push(Row::new(key, "blob", gloss).when(When::Always));
            }
        }
    }
    rows
}

fn messages(result: Raw<'_>) -> Vec<Row> {
    let all = result.get("messages").into_iter().flat_map(Raw::elements);
    all.enumerate()
        .map(|(i, message)| {
            let role = message.get("role").and_then(text).unwrap_or_default();
            let content = message.get("content").map(|content| brief(content, 100)).unwrap_or_default();
            Row::new(format!("messages[{i}]"), format!("{}: {content}", printable(&role)), "")
                .when(When::Always)
        })
        .collect()
}

/// 2026-07-28, basic/patterns/mrtr: the server needs answers first.
fn input_required(table: Table, result: Raw<'_>) -> Story {
    let mut story = Story::new(say(table, T::GotInput, &[]));
    story.brief.clone_from(&story.sentence);
    for (key, ask) in result.get("inputRequests").into_iter().flat_map(Raw::members) {
        let method = ask.get("method").and_then(text).unwrap_or_default();
        let params = ask.get("params").filter(|params| params.kind() == Kind::Object);
        let message = params.and_then(|p| p.get("message")).map(|m| brief(m, 120)).unwrap_or_default();
        let gloss = say(table, T::InputAsked, &[&printable(&method)]);
        let key = format!("inputRequests {}", printable(&key.to_string()));
        story.rows.push(Row::new(key, message, gloss).when(When::Always));
    }
    if let Some(state) = result.get("requestState") {
        story.rows.push(Row::new("requestState", brief(state, 40), say(table, T::RequestState, &[])));
    }
    story.with(modern_result_rows(table, result))
}

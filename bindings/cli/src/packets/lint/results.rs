//! Rules for results and errors, given the request that they answer.

use std::collections::HashSet;

use barewire::json::{Kind as Json, Raw};

use super::super::call::brief;
use super::super::envelope::text;
use super::super::nulls;
use super::super::rules::Finding;
use super::super::session::{Open, Session, Stage};
use crate::arguments::schema::complaints;
use crate::capture::base64;

use super::{finding, implementation, null_members};

/// Checks a result against the request that it answers.
pub(crate) fn result(result: Raw<'_>, open: &Open, session: &Session, list: &mut Vec<Finding>) {
    if result.kind() != Json::Object {
        return;
    }
    let kind = result.get("resultType").and_then(text);
    if open.modern {
        modern(result, open, kind.as_deref(), list);
    }
    let complete = kind.as_deref().is_none_or(|kind| kind == "complete");
    match open.method.as_str() {
        "initialize" => initialized(result, list),
        "tools/list" => tools(result, list),
        "tools/call" if complete && result.get("task").is_none() => called(result, open, session, list),
        _ => {}
    }
    let values: &[&str] = if open.modern { &[] } else { &["structuredContent"] };
    null_members(nulls::places(result, "result", values), list);
}

fn modern(result: Raw<'_>, open: &Open, kind: Option<&str>, list: &mut Vec<Finding>) {
    match kind {
        None => list.push(finding(502, "result.resultType", "missing; \"complete\" in most cases")),
        Some("complete" | "input_required" | "task") => {}
        Some(other) => {
            let text =
                format!("is {other:?}, which no revision knows: clients must treat the result as invalid");
            list.push(finding(502, "result.resultType", text));
        }
    }
    let cached = matches!(
        open.method.as_str(),
        "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    );
    if cached && kind != Some("input_required") {
        if result.get("ttlMs").and_then(Raw::as_u64).is_none() {
            list.push(finding(
                503,
                "result.ttlMs",
                "missing or no integer from 0 on; 0 means: don't keep it",
            ));
        }
        if !result.get("cacheScope").is_some_and(|scope| scope.is("public") || scope.is("private")) {
            list.push(finding(503, "result.cacheScope", "missing; \"private\" or \"public\""));
        }
    }
}

fn initialized(result: Raw<'_>, list: &mut Vec<Finding>) {
    for name in ["protocolVersion", "capabilities", "serverInfo"] {
        if result.get(name).is_none_or(Raw::is_null) {
            list.push(finding(306, format!("result.{name}"), "missing; no client connects without it"));
        }
    }
    if let Some(info) = result.get("serverInfo").filter(|info| !info.is_null()) {
        implementation(info, "result.serverInfo", list);
    }
    if result.get("protocolVersion").is_some_and(|version| version.is("2026-07-28")) {
        list.push(finding(
            307,
            "result.protocolVersion",
            "2026-07-28 has no handshake: it can't be agreed on here",
        ));
    }
}

fn tools(result: Raw<'_>, list: &mut Vec<Finding>) {
    let mut names = HashSet::new();
    for (i, tool) in result.get("tools").into_iter().flat_map(Raw::elements).enumerate() {
        let place = format!("result.tools[{i}]");
        match tool.get("inputSchema") {
            None => list.push(finding(
                401,
                format!("{place}.inputSchema"),
                "missing; {\"type\":\"object\"} at least",
            )),
            Some(schema) if schema.kind() != Json::Object => {
                let text = format!("is {}; {{\"type\":\"object\"}} at least", brief(schema, 20));
                list.push(finding(401, format!("{place}.inputSchema"), text));
            }
            Some(schema) if !schema.get("type").is_some_and(|kind| kind.is("object")) => {
                list.push(finding(401, format!("{place}.inputSchema.type"), "must be \"object\""));
            }
            Some(_) => {}
        }
        match tool.get("name").and_then(text) {
            None => list.push(finding(401, format!("{place}.name"), "missing, or no string")),
            Some(name) => {
                if name.chars().count() > 128 || name.is_empty() {
                    list.push(finding(403, format!("{place}.name"), "1 to 128 characters"));
                }
                if !names.insert(name.clone()) {
                    list.push(finding(403, format!("{place}.name"), format!("{name:?} is listed twice")));
                }
            }
        }
        if tool.get("description").is_none() {
            list.push(finding(
                404,
                format!("{place}.description"),
                "missing: a model can only guess what it does",
            ));
        }
    }
}

fn called(result: Raw<'_>, open: &Open, session: &Session, list: &mut Vec<Finding>) {
    match result.get("content") {
        None => list.push(finding(408, "result.content", "missing; [] at least")),
        Some(content) if content.kind() != Json::Array => {
            list.push(finding(
                408,
                "result.content",
                format!("is {}; it must be an array", brief(content, 30)),
            ));
        }
        Some(content) => {
            for (i, block) in content.elements().enumerate() {
                content_block(block, &format!("result.content[{i}]"), list);
            }
        }
    }
    let structured = result.get("structuredContent");
    self::structured(result, structured, open, session, list);
    let object = structured.is_none_or(|value| matches!(value.kind(), Json::Object | Json::Null));
    if !open.modern && session.stage != Stage::Fresh && !object {
        list.push(finding(407, "result.structuredContent", "must be an object up to 2025-11-25"));
    }
}

/// Structured content against the tool's outputSchema, and beside a text with the same.
fn structured(
    result: Raw<'_>,
    structured: Option<Raw<'_>>,
    open: &Open,
    session: &Session,
    list: &mut Vec<Finding>,
) {
    // What a failed tool says is judged by nothing.
    if result.get("isError").and_then(Raw::as_bool) == Some(true) {
        return;
    }
    let tool = open.tool.as_ref().and_then(|name| session.tools.get(name));
    let schema = tool.and_then(|tool| tool.output.as_deref()).and_then(Raw::new);
    match (schema, structured) {
        (Some(_), None) => {
            list.push(finding(
                405,
                "result.structuredContent",
                "missing, though the tool has an outputSchema",
            ));
        }
        (Some(schema), Some(value)) => {
            if let Some(first) = complaints(schema, value).first() {
                let text = format!("does not obey the tool's outputSchema: {first}");
                list.push(finding(405, "result.structuredContent", text));
            }
        }
        (None, _) => {}
    }
    let blocks = || result.get("content").into_iter().flat_map(Raw::elements);
    if structured.is_some_and(|value| !value.is_null()) && !blocks().any(|block| block.get("text").is_some())
    {
        let text = "no text block says the same: clients that don't read this get nothing";
        list.push(finding(406, "result.structuredContent", text));
    }
}

fn content_block(block: Raw<'_>, place: &str, list: &mut Vec<Finding>) {
    let needed: &[&str] = match block.get("type").and_then(text).as_deref() {
        Some("text") => &["text"],
        Some("image" | "audio") => &["data", "mimeType"],
        Some("resource_link") => &["uri", "name"],
        Some("resource") => &["resource"],
        Some(other) => {
            list.push(finding(
                408,
                format!("{place}.type"),
                format!("is {other:?}, which no revision knows"),
            ));
            return;
        }
        None => {
            list.push(finding(408, format!("{place}.type"), "missing, or no string"));
            return;
        }
    };
    for name in needed {
        let wanted = if *name == "resource" { Json::Object } else { Json::String };
        let value = block.get(name);
        if value.is_none_or(|value| value.kind() != wanted) {
            list.push(finding(408, format!("{place}.{name}"), "missing, or of another type"));
        } else if *name == "data" && !value.and_then(text).is_some_and(|data| base64::is_valid(&data)) {
            list.push(finding(409, format!("{place}.data"), "is no base64"));
        }
    }
}

/// Checks an error against the request that it answers.
pub(crate) fn failed(error: Raw<'_>, modern: bool, list: &mut Vec<Finding>) {
    let Some(code) = error.get("code").and_then(Raw::as_i64) else { return };
    if modern && (-32099..=-32020).contains(&code) && ![-32020, -32021, -32022].contains(&code) {
        list.push(finding(210, "error.code", format!("{code} is reserved and not defined")));
    }
    let data = error.get("data");
    let has = |name| data.is_some_and(|data| data.get(name).is_some());
    if code == -32022 && !(has("supported") && has("requested")) {
        list.push(finding(508, "error.data", "-32022 needs data with `supported` and `requested`"));
    }
    if code == -32021 && data.is_none_or(|data| data.kind() != Json::Object) {
        list.push(finding(508, "error.data", "-32021 needs data with `requiredCapabilities`"));
    }
}

//! `barewire list`: the tools of a server, as people and as programs read them.

use std::io::{self, Write};

use barewire::json::Raw;
use barewire_stdio::{ServerInfo, ToolInfo};

use super::connect::{Session, call_failure};
use crate::failure::Failure;
use crate::packets::call::{brief, limits, type_name};
use crate::packets::envelope::text;
use crate::paint::{self, Paint};
use crate::text::{self as words, columns, printable, wrapped};

/// Lists the tools on stdout.
pub(crate) fn run(session: &Session, json: bool, paint: Paint) -> Result<(), Failure> {
    let waiting = session.waiting("the answer to tools/list".into());
    let tools = session.peer.list_tools().map_err(|error| call_failure(error, "tools/list"))?;
    drop(waiting);
    let server = session.peer.server();
    let out = if json {
        in_json(server, &tools)
    } else {
        in_words(server, &tools, paint, paint::width()).into_bytes()
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(&out).and_then(|()| stdout.flush()).map_err(Failure::stdout)
}

fn in_json(server: &ServerInfo, tools: &[ToolInfo]) -> Vec<u8> {
    let mut line = words::object(|o| {
        o.object("server", |s| {
            s.str("name", &server.name);
            s.str("version", &server.version);
            s.str("protocol", server.protocol.as_str());
            if let Some(instructions) = &server.instructions {
                s.str("instructions", instructions);
            }
            if let Some(capabilities) = Raw::new(&server.capabilities_json) {
                s.raw("capabilities", capabilities);
            }
        });
        o.array("tools", |a| {
            for definition in tools.iter().filter_map(|tool| Raw::new(&tool.json)) {
                a.raw(definition);
            }
        });
    });
    line.push(b'\n');
    line
}

fn in_words(server: &ServerInfo, tools: &[ToolInfo], paint: Paint, width: usize) -> String {
    let count = match tools.len() {
        0 => "no tools".to_owned(),
        1 => "1 tool".to_owned(),
        n => format!("{n} tools"),
    };
    let name = if server.name.is_empty() { "(no name)".into() } else { printable(&server.name) };
    let name = format!("{name} {}", printable(&server.version));
    let mut out = format!("{}, {}: {count}\n", paint.bold(name.trim()), server.protocol.as_str());
    for line in server.instructions.iter().flat_map(|text| wrapped(&shown(text), width.saturating_sub(4))) {
        out += &format!("    {}\n", paint.dim(&line));
    }
    for tool in tools {
        out += "\n";
        out += &in_words_tool(tool, paint, width);
    }
    out
}

fn in_words_tool(tool: &ToolInfo, paint: Paint, width: usize) -> String {
    let title = tool.title.as_ref().or(tool.hints.title.as_ref()).filter(|title| **title != tool.name);
    let mut out = paint.bold(&printable(&tool.name));
    if let Some(title) = title {
        out += &format!("  {}", printable(title));
    }
    let hints = [
        (tool.hints.read_only == Some(true), "only reads"),
        (tool.hints.destructive == Some(true), "may destroy"),
        (tool.task_support.as_deref() == Some("required"), "runs as a task only"),
    ];
    for (_, hint) in hints.iter().filter(|(on, _)| *on) {
        out += &paint.dim(&format!("  [{hint}]"));
    }
    out += "\n";
    for line in wrapped(&shown(&tool.description), width.saturating_sub(4)) {
        out += format!("    {line}").trim_end();
        out += "\n";
    }
    if let Some(schema) = Raw::new(&tool.input_schema) {
        out += &arguments(schema, paint, width);
    }
    out
}

/// One line per argument: name, type, whether it is required, what it is for.
fn arguments(schema: Raw<'_>, paint: Paint, width: usize) -> String {
    let required: Vec<String> =
        schema.get("required").into_iter().flat_map(Raw::elements).filter_map(text).collect();
    let rows: Vec<(String, String, String)> = schema
        .get("properties")
        .into_iter()
        .flat_map(Raw::members)
        .map(|(key, property)| {
            let key = key.to_string();
            let mut kind = type_name(property);
            if let Some(limits) = limits(property) {
                kind += &format!(" {limits}");
            }
            if required.contains(&key) {
                kind += ", required";
            }
            if let Some(default) = property.get("default") {
                kind += &format!(", else {}", brief(default, 30));
            }
            let about = property
                .get("description")
                .or_else(|| property.get("title"))
                .and_then(text)
                .unwrap_or_default();
            (printable(&key), kind, shown(&about))
        })
        .collect();
    let key = rows.iter().map(|(key, ..)| columns(key)).max().unwrap_or(0).min(30);
    let kind = rows.iter().map(|(_, kind, _)| columns(kind)).max().unwrap_or(0).min(40);
    let mut out = String::new();
    for (name, sort, about) in rows {
        let gap = |text: &str, width: usize| " ".repeat(width.saturating_sub(columns(text)));
        let left = format!("      {}{}  {}{}  ", paint.cyan(&name), gap(&name, key), sort, gap(&sort, kind));
        let indent = 6 + key.max(columns(&name)) + 2 + kind.max(columns(&sort)) + 2;
        let room = width.saturating_sub(indent);
        if room < 24 {
            out += left.trim_end();
            out += "\n";
            for line in wrapped(&about, width.saturating_sub(10)) {
                out += &format!("          {}\n", paint.dim(&line));
            }
            continue;
        }
        let mut lines = wrapped(&about, room).into_iter();
        out += format!("{left}{}", paint.dim(&lines.next().unwrap_or_default())).trim_end();
        out += "\n";
        for line in lines {
            out += &format!("{}{}\n", " ".repeat(indent), paint.dim(&line));
        }
    }
    out
}

/// A peer's text for the screen: line breaks stay, everything else that moves the cursor is made visible.
fn shown(text: &str) -> String {
    text.trim().lines().map(printable).collect::<Vec<_>>().join("\n")
}

//! `barewire call`: runs one tool. Payload goes to stdout, everything said about it to stderr.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use barewire::json::Raw;
use barewire_serial::host::Failure as Missed;
use barewire_stdio::{CallError, CallResult, Options, OwnedContent, OwnedData, OwnedProgress, ToolInfo};

use super::connect::{Session, call_failure};
use super::save::save;
use crate::arguments::Given;
use crate::arguments::schema::{hints, nearest};
use crate::failure::{Failure, code};
use crate::text::{grouped, printable};

/// What to call, and what to do with the result.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) given: Given,
    /// `--args`, read before the server was started.
    pub(crate) whole: Option<String>,
    /// Where images and their like go.
    pub(crate) save: Option<PathBuf>,
    pub(crate) json: bool,
    /// Tell progress.
    pub(crate) aloud: bool,
}

impl Call {
    /// Runs it; the exit code is 0, or 1 if the tool says that it failed.
    pub(crate) fn run(self, session: &Session) -> Result<i32, Failure> {
        let arguments = self.arguments(session)?;
        let what = format!("tools/call {}", printable(&self.tool));
        let waiting = session.waiting(format!("the answer to {what}"));
        let aloud = self.aloud;
        let mut told = |progress: OwnedProgress| tell_progress(aloud, &progress);
        let options = Options::new().on_progress(&mut told);
        let called = session.peer.call(&self.tool, &arguments, options);
        drop(waiting);
        let result = called.map_err(|error| call_failure(error, &what))?;
        let code = if result.is_error { code::TOOL_ERROR } else { 0 };
        if self.json {
            let json = session.record.result().unwrap_or_else(|| "{}".into());
            let mut out = io::stdout().lock();
            out.write_all(json.as_bytes())
                .and_then(|()| out.write_all(b"\n"))
                .and_then(|()| out.flush())
                .map_err(Failure::stdout)?;
            self.save_all(&result)?;
        } else {
            self.print(&result)?;
        }
        Ok(code)
    }

    /// The arguments object, typed by the tool's schema; what looks wrong is said and sent all the same.
    fn arguments(&self, session: &Session) -> Result<String, Failure> {
        let waiting = session.waiting("the answer to tools/list".into());
        // A server without a list may still know the tool.
        let tools = match session.peer.list_tools() {
            Ok(tools) => tools,
            Err(Missed::Call(CallError::Server { .. })) => Vec::new(),
            Err(error) => return Err(call_failure(error, "tools/list")),
        };
        drop(waiting);
        let tool = tools.iter().find(|tool| tool.name == self.tool);
        let schema = tool.and_then(|tool| Raw::new(&tool.input_schema));
        let arguments = self.given.object(self.whole.as_deref(), schema)?;
        let notes = match (schema, Raw::new(&arguments)) {
            (Some(schema), Some(arguments)) => hints(schema, arguments),
            _ => Vec::new(),
        };
        if tool.is_none() && !tools.is_empty() {
            hint(&unlisted(&self.tool, &tools));
        }
        for note in notes {
            hint(&format!("by the inputSchema of {}, {note}", printable(&self.tool)));
        }
        Ok(arguments)
    }

    /// Texts to stdout, or to stderr where the tool failed; all else as a line on stderr.
    fn print(&self, result: &CallResult) -> Result<(), Failure> {
        let stdout = io::stdout();
        let on_screen = if result.is_error { io::stderr().is_terminal() } else { stdout.is_terminal() };
        let mut payload = String::new();
        for block in &result.content {
            let Some(text) = as_text(block) else {
                self.tell(block)?;
                continue;
            };
            if !payload.is_empty() && !payload.ends_with('\n') {
                payload.push('\n');
            }
            payload.push_str(&text);
        }
        if let Some(structured) = result.structured.as_ref().filter(|_| payload.is_empty()) {
            payload.push_str(structured);
            payload.push('\n');
        }
        if on_screen {
            // A screen gets whole lines, and nothing that moves its cursor; a pipe gets what was sent.
            payload = payload.lines().map(|line| printable(&line.replace('\t', "    ")) + "\n").collect();
        }
        if result.is_error {
            let mut err = io::stderr().lock();
            let tool = printable(&self.tool);
            if payload.trim().is_empty() {
                let _ = writeln!(err, "barewire: the tool {tool} says that it failed, without saying why");
                return Ok(());
            }
            let _ = writeln!(err, "barewire: the tool {tool} says that it failed:");
            let _ = err.write_all(payload.as_bytes());
            let _ = if payload.ends_with('\n') { Ok(()) } else { writeln!(err) };
            return Ok(());
        }
        let mut out = stdout.lock();
        out.write_all(payload.as_bytes()).and_then(|()| out.flush()).map_err(Failure::stdout)
    }

    fn save_all(&self, result: &CallResult) -> Result<(), Failure> {
        if self.save.is_some() {
            for block in result.content.iter().filter(|block| as_text(block).is_none()) {
                self.tell(block)?;
            }
        }
        Ok(())
    }

    /// Saves what is no text, or says what was there.
    fn tell(&self, block: &OwnedContent) -> Result<(), Failure> {
        let line = match block {
            OwnedContent::Image { data, mime } => self.keep("image", mime, data)?,
            OwnedContent::Audio { data, mime } => self.keep("audio", mime, data)?,
            OwnedContent::BlobResource { uri, mime, data, .. } => {
                let line =
                    self.keep("resource", mime.as_deref().unwrap_or("application/octet-stream"), data)?;
                format!("{line} ({})", printable(uri))
            }
            OwnedContent::Other { kind, json } => {
                let what = match kind.as_str() {
                    "" if !json.starts_with('{') => "content that is no object".into(),
                    "" => "content without a type".into(),
                    "text" => "a text block without a text".into(),
                    "image" | "audio" => format!("content of the kind {kind} without its data or mimeType"),
                    "resource" | "resource_link" => format!("content of the kind {kind} without its members"),
                    kind => format!("content of the kind {}, which barewire does not know", printable(kind)),
                };
                format!("{what} ({} bytes; --json shows it)", grouped(json.len()))
            }
            _ => "content that has no text (--json shows it)".into(),
        };
        hint(&line);
        Ok(())
    }

    fn keep(&self, kind: &str, mime: &str, data: &OwnedData) -> Result<String, Failure> {
        let mime_shown = printable(mime);
        let Some(bytes) = data.bytes() else {
            return Ok(format!("{kind} ({mime_shown}) whose base64 can't be read"));
        };
        let what = format!("{kind}, {mime_shown}, {} bytes", grouped(bytes.len()));
        match &self.save {
            Some(folder) => {
                let path = save(folder, &self.tool, mime, &bytes).map_err(|error| {
                    Failure::usage(format!("can't save to {}: {error}", folder.display()))
                })?;
                Ok(format!("{what}, saved as {}", path.display()))
            }
            None => Ok(format!("{what}; --save DIR writes it to a file")),
        }
    }
}

fn as_text(block: &OwnedContent) -> Option<String> {
    match block {
        OwnedContent::Text(text) | OwnedContent::TextResource { text, .. } => Some(text.clone()),
        OwnedContent::Link { uri, name, .. } => Some(format!("{name}: {uri}")),
        _ => None,
    }
}

fn unlisted(name: &str, tools: &[ToolInfo]) -> String {
    let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let name_shown = printable(name);
    match nearest(name, &names) {
        Some(near) => format!("the server lists no tool `{name_shown}`; did you mean `{}`?", printable(near)),
        None => format!("the server lists no tool `{name_shown}`; it has {}", printable(&names.join(", "))),
    }
}

fn tell_progress(aloud: bool, progress: &OwnedProgress) {
    if aloud {
        let total = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
        let message = progress.message.as_deref().map(|m| format!(": {}", printable(m))).unwrap_or_default();
        hint(&format!("progress {}{total}{message}", progress.done));
    }
}

fn hint(text: &str) {
    // Nobody may be reading stderr.
    let _ = writeln!(io::stderr(), "barewire: {text}");
}

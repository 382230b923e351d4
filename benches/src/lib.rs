//! Benchmarks, and the messages that they read.
//!
//! `cargo bench -p barewire-benches` runs all; a word behind it (`framing`, `envelope`, `served`) some of them.
//! Figures of different machines, or of a loaded one, can't be compared: each bench therefore runs its rivals too.

/// A small call as the TypeScript SDK writes it, its `id` last.
#[must_use]
pub fn request() -> String {
    r#"{"method":"tools/call","params":{"name":"get_alerts","arguments":{"state":"TX"}},"jsonrpc":"2.0","id":17}"#.into()
}

/// The same of a stateless client, with its `_meta`.
#[must_use]
pub fn modern_request() -> String {
    r#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"get_forecast","arguments":{"latitude":40.7128,"longitude":-74.006},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"mcp","version":"0.1.0"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{},"elicitation":{"form":{},"url":{}}}}}}"#.into()
}

/// A result of 51 KB of text on one line, as a weather service gives its alerts: prose with line breaks and some accents.
#[must_use]
pub fn alerts() -> String {
    let alert = "\\nEvent: Heat Advisory\\nArea: Bexar; Medina; Uvalde \u{2013} S\u{e3}o\\nSeverity: Moderate\\nDescription: * WHAT...Heat index values up to 109 expected.\\n\\n* WHERE...Portions of south central Texas.\\n\\n* WHEN...From 1 PM to 8 PM CDT.\\nInstructions: Drink plenty of fluids, stay in an \\\"air-conditioned\\\" room.\\n---\\n";
    let text = alert.repeat(51 * 1024 / alert.len());
    format!(
        r#"{{"jsonrpc":"2.0","id":3,"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":false}}}}"#
    )
}

/// Lines of one kind, `bytes` in all or a little more.
#[must_use]
pub fn lines(line: &str, bytes: usize) -> Vec<u8> {
    let line = format!("{line}\n");
    line.repeat(bytes.div_ceil(line.len())).into_bytes()
}

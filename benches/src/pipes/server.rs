//! Our side of the pipe benches: a stdio server with a short answer and a long one. `--threads N` is that of `Serve::threads`.

use std::path::PathBuf;

use barewire::{BadArgs, Fields, FromArgs, ServerConfig, Tool, check_tools};
use barewire_stdio::{Fail, Serve, ToolCall, ToolResult};

const SCHEMA: &str = r#"{"type":"object","properties":{"state":{"type":"string"}},"required":["state"]}"#;
static TOOLS: &[Tool<'static>] = &[
    Tool::new("get_alerts", "Warnings for a state, in short.", SCHEMA),
    Tool::new("get_alerts_full", "Warnings for a state, in full.", SCHEMA),
];
const _: () = check_tools(TOOLS);

struct State<'m>(&'m str);

impl<'m> FromArgs<'m> for State<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut state = Err(BadArgs::new("state", "a string"));
        while let Some((key, value)) = fields.next() {
            if key == "state" {
                state = value.str("state");
            }
        }
        state.map(Self)
    }
}

fn main() -> std::io::Result<()> {
    let path: PathBuf = std::env::var_os("BENCH_TEXT").unwrap_or_default().into();
    let full = std::fs::read_to_string(path)?;
    let run = |call: &mut ToolCall<'_>| -> Result<ToolResult, Fail> {
        if call.name() == "get_alerts_full" {
            return Ok(ToolResult::text(full.as_str()));
        }
        let State(state) = call.decode()?;
        Ok(ToolResult::text(format!("No active alerts for {state}.")))
    };
    let config = ServerConfig::new("alerts", "1.0.0").tools(TOOLS);
    let serve = Serve::new(&config).hint(false);
    let mut args = std::env::args().skip(1);
    match (args.next().as_deref(), args.next().and_then(|n| n.parse().ok())) {
        (Some("--threads"), Some(threads)) => serve.threads(threads).run(run),
        _ => serve.run(run),
    }
}

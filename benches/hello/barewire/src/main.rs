//! Two tools on standard input and output.

use barewire::{BadArgs, Fields, FromArgs, ServerConfig, Tool, check_tools};
use barewire_stdio::{Fail, Serve, ToolCall, ToolResult};

const NUMBERS: &str =
    r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}"#;
static TOOLS: &[Tool<'static>] = &[
    Tool::new("add", "Adds two integers.", NUMBERS),
    Tool::new("multiply", "Multiplies two integers.", NUMBERS),
];
const _: () = check_tools(TOOLS);

struct Numbers {
    a: i64,
    b: i64,
}

impl<'m> FromArgs<'m> for Numbers {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let (mut a, mut b) = (Err(BadArgs::new("a", "an integer")), Err(BadArgs::new("b", "an integer")));
        while let Some((key, value)) = fields.next() {
            match key {
                "a" => a = value.i64("a"),
                "b" => b = value.i64("b"),
                _ => {}
            }
        }
        Ok(Self { a: a?, b: b? })
    }
}

fn run(call: &mut ToolCall<'_>) -> Result<ToolResult, Fail> {
    let Numbers { a, b } = call.decode()?;
    let result = if call.name() == "add" { a.checked_add(b) } else { a.checked_mul(b) };
    Ok(ToolResult::text(result.ok_or("the result is too large")?.to_string()))
}

fn main() -> std::io::Result<()> {
    let config = ServerConfig::new("hello", "1.0.0").tools(TOOLS);
    // As rmcp's: one thread does all.
    Serve::new(&config).threads(0).run(run)
}

//! The least server: one tool on standard input and output. Its size and memory are what a server costs.
use barewire::{BadArgs, Fields, FromArgs, ServerConfig, Tool, check_tools};
use barewire_stdio::{Fail, ToolCall, ToolResult};

static TOOLS: &[Tool<'static>] = &[Tool::new(
    "add",
    "Adds two integers.",
    r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}"#,
)];
const _: () = check_tools(TOOLS);

struct Add {
    a: i64,
    b: i64,
}

impl<'m> FromArgs<'m> for Add {
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
    let Add { a, b } = call.decode()?;
    let sum = a.checked_add(b).ok_or("the sum is too large")?;
    Ok(ToolResult::text(sum.to_string()))
}

fn main() -> std::io::Result<()> {
    barewire_stdio::serve(&ServerConfig::new("adder", "1.0.0").tools(TOOLS), run)
}

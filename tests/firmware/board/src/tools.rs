//! What clients see of the boards: six tools and their arguments.
use barewire::{BadArgs, Fields, FromArgs, ServerConfig, Tool, check_tools};

pub static TOOLS: &[Tool<'static>] = &[
    Tool::new(
        "set_led",
        "Turns the LED on or off.",
        r#"{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}"#,
    ),
    Tool::new("read_temperature", "Degrees Celsius at the board.", r#"{"type":"object"}"#).read_only(),
    Tool::new("read_log", "The whole log, 50 KB.", r#"{"type":"object"}"#).read_only(),
    Tool::new("uptime", "Seconds since the start.", r#"{"type":"object"}"#).read_only(),
    Tool::new(
        "echo",
        "Says it again.",
        r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#,
    ),
    Tool::new("calibrate", "Measures for half a second.", r#"{"type":"object"}"#),
];
const _: () = check_tools(TOOLS);
pub static CONFIG: ServerConfig<'static> =
    ServerConfig::new("board", "1.0.0").tools(TOOLS).extensions(r#"{"dev.barewire/checked":{"version":1}}"#);

/// The arguments of all tools.
#[derive(Default)]
pub struct Arguments<'m> {
    pub on: Option<bool>,
    pub text: Option<&'m str>,
}

impl<'m> FromArgs<'m> for Arguments<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut arguments = Self::default();
        while let Some((key, value)) = fields.next() {
            match key {
                "on" => arguments.on = Some(value.bool("on")?),
                "text" => arguments.text = Some(value.str("text")?),
                _ => {}
            }
        }
        Ok(arguments)
    }
}

//! What clients see of the boards: six tools and their arguments.
use barewire::{ServerConfig, Tools};

#[derive(Tools)]
pub enum Tool<'a> {
    /// Turns the LED on or off.
    SetLed { on: bool },
    /// Degrees Celsius at the board.
    #[tool(read_only)]
    ReadTemperature,
    /// The whole log, 50 KB.
    #[tool(read_only)]
    ReadLog,
    /// Seconds since the start.
    #[tool(read_only)]
    Uptime,
    /// Says it again.
    Echo { text: &'a str },
    /// Measures for half a second.
    Calibrate,
}

pub static CONFIG: ServerConfig<'static> = ServerConfig::new("board", "1.0.0")
    .tools(Tool::TOOLS)
    .extensions(r#"{"dev.barewire/checked":{"version":1}}"#);

//! A tool without an arm.
use barewire::Tools;

#[derive(Tools)]
enum Board {
    /// Turns the LED on or off.
    SetLed { on: bool },
    /// Milliseconds since the start.
    Uptime,
}

fn run(tool: Board) -> bool {
    match tool {
        Board::SetLed { on } => on,
    }
}

fn main() {}

//! The device of the tests: tools that echo, wait, and answer at length.
use barewire::{Call, ServerConfig, ServerEvent, Tool};

pub static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "Says it again.", r#"{"type":"object"}"#),
    Tool::new("later", "Never answers.", r#"{"type":"object"}"#),
];

pub static PLAIN: ServerConfig<'static> = ServerConfig::new("board", "1.0.0").tools(TOOLS);
pub static CONFIG: ServerConfig<'static> = PLAIN.extensions(barewire_serial::EXTENSIONS);

/// Answers at once; the ids of calls that wait go to `kept`.
pub fn act(event: ServerEvent<'_>, kept: &mut Vec<barewire::CallId>) {
    if let ServerEvent::Call(Call { name, args, reply, .. }) = event {
        if name == "later" {
            kept.push(reply.defer());
        } else {
            let _ = reply.text(args.json().as_str()).finish();
        }
    }
}

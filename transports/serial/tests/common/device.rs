//! The device of the tests: tools that echo, wait, and answer at length.
use barewire::{Call, ServerConfig, ServerEvent, Tool};

pub static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "Says it again.", r#"{"type":"object"}"#),
    Tool::new("kilobyte", "1 KB.", r#"{"type":"object"}"#),
    Tool::new("log", "50 KB, in pieces.", r#"{"type":"object"}"#),
    Tool::new("later", "Never answers.", r#"{"type":"object"}"#),
];

pub static PLAIN: ServerConfig<'static> = ServerConfig::new("board", "1.0.0").tools(TOOLS).reply(1280);
pub static CONFIG: ServerConfig<'static> = PLAIN.extensions(barewire_serial::EXTENSIONS);

const LOG: usize = 50_000;
const LINE: &str = "0123456789 The quick brown fox jumps over the lazy dog, again and again.. ";

/// Answers at once; the ids of calls that wait go to `kept`; how far the log is told is `at`.
pub fn act(event: ServerEvent<'_>, kept: &mut Vec<barewire::CallId>, at: &mut usize) {
    match event {
        ServerEvent::Call(Call { name: "later", reply, .. }) => kept.push(reply.defer()),
        ServerEvent::Call(Call { name: "kilobyte", reply, .. }) => {
            let _ = reply.text(&LINE.repeat(14)[..1000]).finish();
        }
        ServerEvent::Call(Call { name: "log", reply, .. }) => {
            *at = 0;
            piece(reply, at);
        }
        ServerEvent::Call(Call { args, reply, .. }) => drop(reply.text(args.json().as_str()).finish()),
        ServerEvent::More(reply) => piece(reply, at),
        _ => {}
    }
}

fn piece(mut reply: barewire::Reply<'_>, at: &mut usize) {
    while *at < LOG {
        let from = *at % LINE.len();
        let rest = &LINE[from..LINE.len().min(from + LOG - *at)];
        let n = reply.write_text(rest);
        *at += n;
        if n < rest.len() {
            reply.pause();
            return;
        }
    }
    let _ = reply.finish();
}

//! A server that behaves as its first argument says: well, or as badly as real ones do.

use barewire::{BadArgs, Fields, FromArgs, Millis, Progress, ServerConfig, Tool, check_tools};
use barewire_stdio::{Fail, Serve, ToolCall, ToolResult};
use core::time::Duration;
use std::{
    env,
    io::{self, BufRead, Cursor, Read, Write},
    process::{Command, Stdio, exit},
    thread,
};

static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "Says it again.", r#"{"type":"object","properties":{"text":{"type":"string"}}}"#),
    Tool::new("big", "A text of so many letters.", r#"{"type":"object"}"#),
    Tool::new("hang", "Waits until it is cancelled.", r#"{"type":"object"}"#),
    Tool::new("stuck", "Never ends, whatever is asked of it.", r#"{"type":"object"}"#),
    Tool::new("steps", "Tells progress.", r#"{"type":"object"}"#),
    Tool::new("fails", "Says isError.", r#"{"type":"object"}"#),
    Tool::new("shout", "Writes 300 KB to stderr.", r#"{"type":"object"}"#),
    Tool::new("print", "Prints, and lets a child print, to stdout.", r#"{"type":"object"}"#),
    Tool::new("die", "Exits with 5.", r#"{"type":"object"}"#),
];
const _: () = check_tools(TOOLS);
static CONFIG: ServerConfig<'static> =
    ServerConfig::new("fixture", "1.0").tools(TOOLS).instructions("Be gentle.").drain(Millis(300));

struct Text<'m>(&'m str);
impl<'m> FromArgs<'m> for Text<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut text = None;
        while let Some((key, value)) = fields.next() {
            if key == "text" {
                text = Some(value.str("text")?);
            }
        }
        text.map(Self).ok_or(BadArgs::new("text", "a string"))
    }
}
struct Size(usize);
impl<'m> FromArgs<'m> for Size {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut size = 100_000;
        while let Some((key, value)) = fields.next() {
            if key == "size" {
                size = value.i64("size")?;
            }
        }
        Ok(Self(usize::try_from(size).unwrap_or(0)))
    }
}

fn tools(call: &mut ToolCall<'_>) -> Result<ToolResult, Fail> {
    match call.name() {
        "echo" => Ok(ToolResult::text(call.decode::<Text<'_>>()?.0)),
        "big" => Ok("x".repeat(call.decode::<Size>()?.0).into()),
        "hang" => {
            eprintln!("hanging");
            call.wait_cancelled(Duration::from_secs(60));
            eprintln!("cancelled");
            Ok("late".into())
        }
        "stuck" => {
            eprintln!("stuck");
            loop {
                thread::sleep(Duration::from_secs(60));
            }
        }
        "steps" => {
            for done in 1..=3 {
                call.progress(Progress { done, total: Some(3), message: Some("step") });
            }
            Ok("stepped".into())
        }
        "fails" => Err("it went wrong".into()),
        "shout" => {
            shout();
            Ok("shouted".into())
        }
        "print" => {
            println!("a stray line");
            print!("and half a line");
            let _ = Command::new("echo").arg("from a child").status();
            Ok("printed".into())
        }
        "die" => {
            eprintln!("last words");
            exit(5)
        }
        _ => Err(Fail::Unknown),
    }
}

fn shout() {
    let line = "e".repeat(99) + "\n";
    for _ in 0..3000 {
        io::stderr().write_all(line.as_bytes()).unwrap();
    }
}

fn serve(threads: usize) {
    Serve::new(&CONFIG).threads(threads).run(tools).unwrap();
}

fn forever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(60));
    }
}

fn first_line() -> String {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).unwrap();
    line
}

fn main() {
    let mode = env::args().nth(1).unwrap_or_default();
    match &*mode {
        "serve" => serve(4),
        "unthreaded" => serve(0),
        "ignores-end" => {
            serve(4);
            forever()
        }
        "exits-on-probe" => {
            let line = first_line();
            if line.contains("server/discover") {
                exit(9);
            }
            let input = Cursor::new(line).chain(io::stdin());
            Serve::new(&CONFIG).run_over(input, io::stdout(), tools).unwrap();
        }
        "exits-on-anything" => {
            first_line();
            eprintln!("Traceback: it cannot be\nModuleNotFoundError: mcp");
            exit(9);
        }
        "shouts" => {
            shout();
            serve(4);
        }
        "grandchild" => {
            // It holds stdout and stderr, and knows nothing of MCP.
            #[allow(clippy::zombie_processes)] // to be left behind is its purpose
            let child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
            eprintln!("grandchild {}", child.id());
            serve(4);
        }
        "banner" => {
            println!("Welcome to the fixture!");
            serve(4);
        }
        "junk-only" => {
            println!("Listening on port 8080");
            exit(1);
        }
        "content-length" => {
            first_line();
            let body = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
            print!("Content-Length: {}\r\n\r\n{body}", body.len());
            io::stdout().flush().unwrap();
            forever()
        }
        "silent" => forever(),
        // A thread prints so many lines while calls are served.
        "prints" => {
            let lines: usize = env::args().nth(2).unwrap().parse().unwrap();
            thread::scope(|scope| {
                let (go, started) = std::sync::mpsc::channel();
                scope.spawn(move || {
                    started.recv().unwrap();
                    for i in 0..lines {
                        println!("stray {i}");
                    }
                    eprintln!("\nprinted all");
                });
                let go = std::sync::Mutex::new(Some(go));
                let tools = |call: &mut ToolCall<'_>| {
                    if let Some(go) = go.lock().unwrap().take() {
                        go.send(()).unwrap();
                    }
                    tools(call)
                };
                Serve::new(&CONFIG).run(tools).unwrap();
            });
        }
        #[cfg(all(feature = "signals", unix))]
        "hosts" => {
            barewire_stdio::exit_on_signals().unwrap();
            let this = env::current_exe().unwrap();
            let config = barewire::ClientConfig::new("host", "1");
            let client = barewire_stdio::Command::new(this).arg("ignores-end").start(&config).unwrap();
            println!("{}", client.pid().unwrap());
            forever()
        }
        mode => panic!("no such mode: {mode:?}"),
    }
}

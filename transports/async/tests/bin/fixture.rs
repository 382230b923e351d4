//! A server that behaves as its first argument says: well, or as badly as real ones do.
#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() {
    unix::main();
}

#[cfg(unix)]
mod unix {
    use barewire_async::{
        Duplex, IoTimer, ToolCall,
        barewire::{
            Millis, ServerConfig, Tool,
            owned::{Fail, ToolResult},
        },
    };
    use core::{future::pending, time::Duration};
    use std::{
        env,
        fs::File,
        io::{self, BufRead, Write},
        os::fd::AsFd,
        process::{Command, Stdio, exit},
        thread,
    };

    static TOOLS: &[Tool<'static>] = &[
        Tool::new("echo", "Says its arguments again.", r#"{"type":"object"}"#),
        Tool::new("hang", "Waits until it is cancelled.", r#"{"type":"object"}"#),
        Tool::new("shout", "Writes 300 KB to stderr.", r#"{"type":"object"}"#),
        Tool::new("die", "Exits with 5.", r#"{"type":"object"}"#),
    ];
    static CONFIG: ServerConfig<'static> =
        ServerConfig::new("fixture", "1.0").tools(TOOLS).drain(Millis(100));

    async fn tools(call: ToolCall) -> Result<ToolResult, Fail> {
        struct Guard;
        impl Drop for Guard {
            fn drop(&mut self) {
                eprintln!("cancelled");
            }
        }
        match call.name() {
            "echo" => Ok(call.args_json().into()),
            "hang" => {
                eprintln!("hanging");
                let _guard = Guard;
                pending().await
            }
            "shout" => {
                shout();
                Ok("shouted".into())
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

    fn serve() {
        let open = |fd: io::Result<_>| async_io::Async::new(File::from(fd.unwrap())).unwrap();
        let read = open(io::stdin().as_fd().try_clone_to_owned());
        let write = open(io::stdout().as_fd().try_clone_to_owned());
        async_io::block_on(barewire_async::serve(Duplex::new(read, write), &CONFIG, IoTimer, tools)).unwrap();
    }

    fn forever() -> ! {
        loop {
            thread::sleep(Duration::from_secs(60));
        }
    }

    /// Byte by byte, so that the rest is left for the server.
    fn first_line() -> String {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).unwrap();
        line
    }

    pub(crate) fn main() {
        let mode = env::args().nth(1).unwrap_or_default();
        match &*mode {
            "serve" => serve(),
            "ignores-end" => {
                serve();
                forever()
            }
            "exits-on-anything" => {
                first_line();
                eprintln!("Traceback: it cannot be\nModuleNotFoundError: mcp");
                exit(9);
            }
            "exits-on-probe" => {
                // A greeting by hand: one call is answered.
                let line = first_line();
                if line.contains("server/discover") {
                    exit(9);
                }
                let id = |line: &str| {
                    let rest = line.split_once("\"id\":").map_or("0", |(_, rest)| rest);
                    rest[..rest.find([',', '}']).unwrap()].to_owned()
                };
                println!(
                    r#"{{"jsonrpc":"2.0","id":{},"result":{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"old","version":"0"}}}}}}"#,
                    id(&line)
                );
                first_line();
                let id = id(&first_line());
                println!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"old"}}]}}}}"#
                );
                first_line();
            }
            "shouts" => {
                shout();
                serve();
            }
            "grandchild" => {
                // It holds stdout and stderr, and knows nothing of MCP.
                #[allow(clippy::zombie_processes)] // to be left behind is its purpose
                let child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
                eprintln!("grandchild {}", child.id());
                serve();
            }
            "banner" => {
                println!("Welcome to the fixture!");
                serve();
            }
            "junk-only" => {
                println!("Listening on port 8080");
                forever()
            }
            "silent" => forever(),
            mode => panic!("no such mode: {mode:?}"),
        }
    }
}

//! What several tests need.
#![allow(dead_code)] // each test uses some of it

use barewire_async::{
    ToolCall,
    barewire::{
        BadArgs, Fields, FromArgs, Progress, ServerConfig, Tool,
        owned::{Fail, ToolResult},
    },
};
use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
};

pub(crate) static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "Says it again.", r#"{"type":"object"}"#),
    Tool::new("wait", "Waits until it is let go.", r#"{"type":"object"}"#),
    Tool::new("big", "A text of 4 MiB.", r#"{"type":"object"}"#),
    Tool::new("steps", "Tells progress.", r#"{"type":"object"}"#),
];
pub(crate) static CONFIG: ServerConfig<'static> = ServerConfig::new("t", "1").tools(TOOLS);

pub(crate) type Outcome = Result<ToolResult, Fail>;

/// One argument, a text.
pub(crate) struct Text<'m>(pub(crate) &'m str);
impl<'m> FromArgs<'m> for Text<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut text = Err(BadArgs::new("text", "a string"));
        while let Some((key, value)) = fields.next() {
            if key == "text" {
                text = value.str("text");
            }
        }
        text.map(Self)
    }
}

/// The client's side of a connection, by hand.
pub(crate) struct Peer {
    pub(crate) to: UnixStream,
    pub(crate) from: BufReader<UnixStream>,
}

impl Peer {
    pub(crate) fn over(stream: UnixStream) -> Self {
        Self { from: BufReader::new(stream.try_clone().unwrap()), to: stream }
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.to.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line
    }

    pub(crate) fn call(&mut self, id: u32, tool: &str, args: &str) {
        self.send(&call(id, tool, args));
    }

    pub(crate) fn cancel(&mut self, id: u32) {
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ));
    }

    pub(crate) fn ping(&mut self, id: u32) {
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    }

    pub(crate) fn open(&mut self) {
        self.send(OPEN);
        assert!(self.line().contains(r#""id":0,"result""#));
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    pub(crate) fn end(&self) {
        self.to.shutdown(std::net::Shutdown::Write).unwrap();
    }
}

pub(crate) const OPEN: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

pub(crate) fn call(id: u32, tool: &str, args: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{args}}}}}"#
    )
}

/// The id of an answer, as far as these tests write them.
pub(crate) fn id(line: &str) -> u32 {
    let rest = line.split_once("\"id\":").unwrap_or_else(|| panic!("no id: {line}")).1;
    rest[..rest.find([',', '}']).unwrap()].parse().unwrap()
}

/// What the tools of `CONFIG` do, as long as nothing holds them.
pub(crate) async fn tools(mut call: ToolCall) -> Outcome {
    match call.name() {
        "echo" => Ok(ToolResult::text(call.decode::<Text<'_>>()?.0)),
        "wait" => core::future::pending().await,
        "big" => Ok("x".repeat(4 << 20).into()),
        "steps" => {
            for done in 1..=3 {
                call.progress(Progress { done, total: Some(3), message: Some("step") });
                futures_lite::future::yield_now().await;
            }
            Ok("stepped".into())
        }
        _ => Err(Fail::Unknown),
    }
}

/// What /proc says of processes.
#[cfg(target_os = "linux")]
pub(crate) mod procs {
    use core::time::Duration;
    use std::time::Instant;

    /// State and parent, if there is such a process.
    fn process(pid: u32) -> Option<(char, u32)> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
    }

    /// Neither alive nor a zombie of ours.
    pub(crate) fn assert_reaped(pid: u32) {
        let mine = std::process::id();
        assert!(process(pid).is_none_or(|(_, parent)| parent != mine), "child {pid}: {:?}", process(pid));
    }

    /// Ended; whoever inherited it may not have reaped it yet.
    pub(crate) fn assert_ended(pid: u32) {
        let end = Instant::now() + Duration::from_secs(10);
        while process(pid).is_some_and(|(state, _)| state != 'Z') {
            assert!(Instant::now() < end, "process {pid} lives: {:?}", process(pid));
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Far more than anything takes here, far less than the timeouts that must not be met.
    pub(crate) fn assert_within(started: Instant, seconds: u64) {
        assert!(started.elapsed() < Duration::from_secs(seconds), "took {:?}", started.elapsed());
    }
}

/// A channel that nobody made for MCP: messages of bytes, passed on in memory.
pub(crate) mod port {
    use async_channel::{Receiver, Sender, unbounded};
    use core::{
        pin::Pin,
        task::{Context, Poll, ready},
    };
    use futures_lite::{AsyncRead, AsyncWrite, Stream};
    use std::io;

    /// One end.
    pub(crate) struct Port {
        incoming: Pin<Box<Receiver<Vec<u8>>>>,
        rest: Vec<u8>,
        outgoing: Sender<Vec<u8>>,
    }

    pub(crate) fn pair() -> (Port, Port) {
        let ((a, b), (c, d)) = (unbounded(), unbounded());
        let port = |incoming, outgoing| Port { incoming: Box::pin(incoming), rest: Vec::new(), outgoing };
        (port(b, c), port(d, a))
    }

    impl AsyncRead for Port {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            space: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            if self.rest.is_empty() {
                match ready!(self.incoming.as_mut().poll_next(cx)) {
                    Some(message) => self.rest = message,
                    None => return Poll::Ready(Ok(0)),
                }
            }
            let n = space.len().min(self.rest.len());
            space[..n].copy_from_slice(&self.rest[..n]);
            self.rest.drain(..n);
            Poll::Ready(Ok(n))
        }
    }

    impl AsyncWrite for Port {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            // Messages of at most 1000 bytes, as such channels have them.
            let n = bytes.len().min(1000);
            let sent = self.outgoing.try_send(bytes[..n].to_vec());
            Poll::Ready(sent.map(|()| n).map_err(|_| io::ErrorKind::BrokenPipe.into()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.outgoing.close();
            Poll::Ready(Ok(()))
        }
    }
}

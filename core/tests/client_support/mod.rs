//! A simulated server side: bytes in, pieces of any size, events as text.
#![allow(dead_code)]
use barewire::{CallId, Client, ClientConfig, ClientEvent, End, Era, Millis, Output, Storage};

/// What a client said and told, and how it is driven.
pub(crate) struct Log {
    pub(crate) events: Vec<String>,
    pub(crate) out: Vec<u8>,
    pub(crate) now: u64,
    /// The most bytes written at once.
    pub(crate) write: usize,
    pub(crate) until: Option<Millis>,
    pub(crate) closed: bool,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self { events: Vec::new(), out: Vec::new(), now: 0, write: usize::MAX, until: None, closed: false }
    }

    /// Polls until there is nothing to do.
    pub(crate) fn drain(&mut self, client: &mut Client<'_>) {
        loop {
            match client.poll(Millis(self.now)) {
                Output::Send(bytes) => {
                    let n = bytes.len().min(self.write);
                    assert!(n > 0, "nothing to send");
                    self.out.extend_from_slice(&bytes[..n]);
                    client.sent(n);
                }
                Output::Event(event) => self.events.push(show(event)),
                Output::Wait { until } => {
                    self.until = until;
                    return;
                }
                Output::Blocked { .. } => panic!("a client never blocks"),
                Output::Closed => {
                    self.closed = true;
                    return;
                }
            }
        }
    }

    /// Gives the client bytes in pieces of `cut`, and drains after each.
    pub(crate) fn feed(&mut self, client: &mut Client<'_>, bytes: &[u8], cut: usize) {
        for piece in bytes.chunks(cut) {
            let mut rest = piece;
            while !rest.is_empty() {
                if self.closed {
                    return;
                }
                let n = client.feed(rest);
                assert!(n > 0, "no room to read, and nothing to do");
                rest = &rest[n..];
                self.drain(client);
            }
        }
    }

    pub(crate) fn line(&mut self, client: &mut Client<'_>, line: &str) {
        self.feed(client, format!("{line}\n").as_bytes(), usize::MAX);
    }

    pub(crate) fn at(&mut self, client: &mut Client<'_>, now: u64) {
        self.now = now;
        self.drain(client);
    }

    /// The lines said since the last time.
    pub(crate) fn said(&mut self) -> Vec<String> {
        let text = String::from_utf8(std::mem::take(&mut self.out)).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "half a line: {text}");
        text.lines().map(Into::into).collect()
    }

    /// The events told since the last time.
    pub(crate) fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.events)
    }
}

pub(crate) fn show_end(end: End<'_>) -> String {
    match end {
        End::Done { is_error: false } => "done".into(),
        End::Done { is_error: true } => "failed".into(),
        End::Error { code, message, data } => format!("error {code} {message} {data:?}"),
        End::Invalid(why) => format!("invalid {why:?}"),
        end => format!("{end:?}"),
    }
}

pub(crate) fn show(event: ClientEvent<'_>) -> String {
    match event {
        ClientEvent::Opened { server, server_version, version, instructions, capabilities, .. } => {
            format!("opened {server} {server_version} {version} {instructions:?} {capabilities:?}")
        }
        ClientEvent::NotOpened(end) => format!("not opened: {}", show_end(end)),
        ClientEvent::Tool { of, tool, .. } => {
            let _ = tool.json();
            let tool = tool.decode();
            format!("{} tool {}: {} {}", of.to_bits() >> 16, tool.name, tool.description, tool.input_schema)
        }
        ClientEvent::Content { of, content, .. } => format!("{} {content:?}", of.to_bits() >> 16),
        ClientEvent::Structured { of, json, .. } => format!("{} structured {json}", of.to_bits() >> 16),
        ClientEvent::Meta { of, json, .. } => format!("{} meta {json}", of.to_bits() >> 16),
        ClientEvent::Json { of, json, .. } => format!("{} json {json}", of.to_bits() >> 16),
        ClientEvent::Page { of, next, .. } => format!("{} page {next}", of.to_bits() >> 16),
        ClientEvent::InputRequired { of, asks, state, .. } => {
            format!("{} asks {asks:?} {state:?}", of.to_bits() >> 16)
        }
        ClientEvent::Ended { of, end, .. } => format!("{} {}", of.to_bits() >> 16, show_end(end)),
        ClientEvent::Progress { of, done, total, message, .. } => {
            format!("{} progress {done} {total:?} {message:?}", of.to_bits() >> 16)
        }
        ClientEvent::Log { level, level_text, logger, data, .. } => {
            format!("log {level:?} {level_text} {logger:?} {data}")
        }
        ClientEvent::Changed { what, .. } => format!("changed {what:?}"),
        ClientEvent::Updated { uri, .. } => format!("updated {uri}"),
        ClientEvent::Fault { fault, line, .. } => {
            format!("fault {fault:?} {}", String::from_utf8_lossy(line))
        }
        ClientEvent::Notified { method, params, .. } => format!("notified {method} {params:?}"),
        event => format!("{event:?}"),
    }
}

/// A client with an open session. Its first request has id 2.
pub(crate) fn open<'b>(
    config: &'static ClientConfig<'static>,
    storage: &'b mut Storage<2048, 1024, 2>,
) -> (Client<'b>, Log) {
    let mut client = Client::new(config, storage.buffers());
    let mut log = Log::new();
    log.drain(&mut client);
    log.line(
        &mut client,
        if config.era == Era::Legacy {
            r#"{"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":1}"#
        } else {
            r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#
        },
    );
    assert!(log.told()[0].starts_with("opened"));
    log.said();
    (client, log)
}

pub(crate) fn call(client: &mut Client<'_>, name: &str) -> CallId {
    client.call_tool(name).unwrap().send().unwrap()
}

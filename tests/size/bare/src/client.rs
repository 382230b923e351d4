//! A client that opens a session, lists all tools and calls three of them at once.
use crate::sys;
use barewire::{CallId, Client, ClientConfig, ClientEvent, Content, End, Millis, Output, SendError, Storage};

static CONFIG: ClientConfig<'static> = ClientConfig::new("bare", "1");

/// What came in so far.
#[derive(Default)]
struct Seen {
    tools: u32,
    sum: bool,
    progress: bool,
    text: usize,
    done: u32,
    failed: bool,
}

/// 0 if all went as it should, else the number of what did not.
pub fn talk() -> i32 {
    let mut storage = Storage::<2048, 1024, 4>::new();
    let mut client = Client::new(&CONFIG, storage.buffers());
    let (mut seen, mut list, mut now) = (Seen::default(), None, 0u64);
    loop {
        match client.poll(Millis(now)) {
            Output::Send(bytes) => {
                let n = sys::write(1, bytes);
                if n == 0 {
                    return 2;
                }
                client.sent(n);
            }
            Output::Event(ClientEvent::Opened { .. }) => match client.list_tools(None).map(|r| r.send()) {
                Ok(Ok(id)) => list = Some(id),
                _ => return 3,
            },
            Output::Event(ClientEvent::Ended { of, end, .. }) => {
                if !matches!(end, End::Done { is_error: false }) {
                    return 4;
                }
                if list == Some(of) {
                    if seen.tools != 3 || call(&mut client).is_err() {
                        return 5;
                    }
                } else {
                    seen.done = seen.done.wrapping_add(1);
                }
                if seen.done == 3 {
                    let all = seen.sum && seen.progress && seen.text == 1000 && !seen.failed;
                    return if all { 0 } else { 6 };
                }
            }
            Output::Event(event) => note(&mut seen, event),
            Output::Wait { .. } | Output::Blocked { .. } => match sys::read(0, client.space()) {
                0 => client.end_of_input(),
                n => client.filled(n),
            },
            Output::Closed => return 7,
        }
        now = now.wrapping_add(1);
    }
}

fn call(client: &mut Client<'_>) -> Result<CallId, SendError> {
    client
        .call_tool("add")?
        .args(|o| {
            o.int("a", 40).int("b", 2);
        })
        .limit(Millis(60_000), None)
        .send()?;
    client.call_tool("later")?.want_progress().send()?;
    client.call_tool("stream")?.send()
}

fn note(seen: &mut Seen, event: ClientEvent<'_>) {
    match event {
        ClientEvent::Tool { tool, .. } => {
            if tool.decode().input_schema.len() > 2 {
                seen.tools = seen.tools.wrapping_add(1);
            }
        }
        ClientEvent::Content { content: Content::Text(text), .. } => {
            seen.sum |= text == "42";
            seen.text = seen.text.max(text.len());
        }
        ClientEvent::Progress { done, .. } => seen.progress |= done == 1.0,
        ClientEvent::Fault { .. } | ClientEvent::NotOpened(_) => seen.failed = true,
        _ => {}
    }
}

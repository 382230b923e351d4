//! A client's doors.
use barewire::json::Raw;
use barewire::{CallId, Client, ClientConfig, ClientEvent, Millis, Output, Storage};
use core::hint::black_box;

static CONFIG: ClientConfig<'static> = ClientConfig::new("stack", "1");

#[unsafe(no_mangle)]
#[inline(never)]
fn door_client_poll<'c>(client: &'c mut Client<'_>, now: u64) -> Output<'c, ClientEvent<'c>> {
    client.poll(Millis(now))
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_client_feed(client: &mut Client<'_>, bytes: &[u8]) -> usize {
    client.feed(bytes)
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_client_call(client: &mut Client<'_>) -> Option<CallId> {
    let meta = Raw::from_bytes(black_box(b"{\"k\":1}")).ok()?;
    let request = client.call_tool("t").ok()?.args(|args| {
        args.int("a", -1).str("b", "\"x\"");
    });
    request.meta(meta).want_progress().limit(Millis(100), Some(Millis(200))).send().ok()
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_client_list(client: &mut Client<'_>) -> Option<CallId> {
    client.list_tools(None).ok()?.send().ok()
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_client_cancel(client: &mut Client<'_>, call: CallId) {
    client.cancel(call);
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_client_tool(tool: barewire::ToolDef<'_>) -> usize {
    tool.decode().name.len()
}

/// What the server says, one line at each rest.
const INPUT: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2025-06-18"],"requested":"2026-07-28"}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s\n","version":"1"},"instructions":"\u00e9"}}"#,
    r#"{"jsonrpc":"2.0","id":"s","method":"ping"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":0.5e1,"total":1e300,"message":"\n"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"l","data":[1]}}"#,
    r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"\ud83e\udd80"},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"resource","resource":{"uri":"a:b","text":"t"}},{"type":7}],"structuredContent":{"a":[[1]]},"_meta":{"k":1}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"\u0074","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}],"nextCursor":"c"}}"#,
    r#"{"jsonrpc":"2.0","id":5,"error":{"code":-1,"message":"\"no\"","data":[{}]}}"#,
    r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
    r#"{"jsonrpc""#,
];

#[inline(never)]
pub(crate) fn session() -> u32 {
    static mut STORAGE: Storage<512, 512, 3> = Storage::new();
    // The one reference to it: this runs once.
    let storage = unsafe { &mut *(&raw mut STORAGE) };
    let mut client = Client::new(&CONFIG, storage.buffers());
    let (mut sum, mut last) = (0u32, None);
    for line in INPUT {
        drive(&mut client, 0, &mut sum, &mut last);
        for piece in [line.as_bytes(), b"\n"] {
            let _ = door_client_feed(&mut client, piece);
        }
    }
    drive(&mut client, 0, &mut sum, &mut last);
    if let Some(call) = door_client_call(&mut client) {
        door_client_cancel(&mut client, call);
    }
    last = door_client_call(&mut client).or(last);
    drive(&mut client, 0, &mut sum, &mut last);
    drive(&mut client, 10_000, &mut sum, &mut last);
    client.end_of_input();
    drive(&mut client, 10_000, &mut sum, &mut last);
    sum
}

#[inline(never)]
fn drive(client: &mut Client<'_>, now: u64, sum: &mut u32, last: &mut Option<CallId>) {
    loop {
        let mut opened = false;
        match door_client_poll(client, now) {
            Output::Send(bytes) => {
                let n = bytes.len().min(31);
                client.sent(n);
            }
            Output::Event(ClientEvent::Opened { .. }) => opened = true,
            Output::Event(ClientEvent::Tool { tool, .. }) => {
                let n = door_client_tool(tool);
                *sum = sum.wrapping_add(u32::from(n == 1));
            }
            Output::Event(_) => *sum = sum.wrapping_add(1),
            Output::Wait { .. } | Output::Blocked { .. } | Output::Closed => return,
        }
        if opened {
            *last = door_client_call(client);
            *last = door_client_list(client).or(*last);
        }
    }
}

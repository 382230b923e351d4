//! A server's doors.
use barewire::json::Raw;
use barewire::{
    Args, BadArgs, Call, CallId, Content, Data, Fields, FromArgs, Millis, Noise, Output, Progress, Reply,
    Server, ServerConfig, ServerEvent, Storage, Tool,
};
use core::hint::black_box;

const ANY: &str = r#"{"type":"object"}"#;
static TOOLS: &[Tool<'static>] = &[
    Tool::new("add", "Adds.", ANY).title("Adder").read_only().output_schema(ANY),
    Tool::new("later", "Answers later.", ANY),
    Tool::new("stream", "In pieces.", ANY),
    Tool::new("rich", "All kinds.", ANY),
    Tool::new("shown", "Through core::fmt.", ANY),
    Tool::new("mute", "Never.", ANY),
];
static CONFIG: ServerConfig<'static> =
    ServerConfig::new("stack", "1").tools(TOOLS).page(2).noise(Noise::Answer);

struct Add<'m> {
    a: i64,
    b: f64,
    text: &'m str,
    yes: bool,
}

impl<'m> FromArgs<'m> for Add<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut add = Self { a: 0, b: 0.0, text: "", yes: false };
        while let Some((key, value)) = fields.next() {
            match key {
                "a" => add.a = value.i64("a")?,
                "b" => add.b = value.f64("b")?,
                "text" => add.text = value.str("text")?,
                "yes" => add.yes = value.bool("yes")?,
                "in" => {
                    let _ = value.object("in")?.next();
                }
                _ => {}
            }
        }
        Ok(add)
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_server_poll<'s>(server: &'s mut Server<'_>, now: u64) -> Output<'s, ServerEvent<'s>> {
    server.poll(Millis(now))
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_server_feed(server: &mut Server<'_>, bytes: &[u8]) -> usize {
    server.feed(bytes)
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_server_sent(server: &mut Server<'_>, n: usize) {
    server.sent(n);
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_server_progress(server: &mut Server<'_>, call: CallId) -> bool {
    server.progress(call, Progress { done: 2, total: Some(3), message: Some("two") }).is_ok()
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_server_resume(server: &mut Server<'_>, call: CallId) -> bool {
    server.resume(call).is_ok_and(|reply| reply.text("later").finish().is_ok())
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_decode<'m>(args: Args<'m>) -> Result<Add<'m>, BadArgs> {
    args.decode()
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_reply_text(reply: Reply<'_>) -> bool {
    reply.text(black_box("a \"text\"")).finish().is_ok()
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_reply_rich(reply: Reply<'_>) -> bool {
    let Ok(json) = Raw::from_bytes(black_box(b"{\"a\":[1,null]}")) else { return false };
    reply
        .text("x")
        .structured(json)
        .content(&Content::Image { data: Data::Bytes(b"abcd"), mime: "image/png" })
        .meta(json)
        .finish()
        .is_ok()
}

/// Not on ARM: the library's own formatting of integers keeps a bounds check there, which could panic.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[inline(never)]
fn door_reply_fmt(reply: Reply<'_>, n: i64) -> bool {
    reply.text_fmt(format_args!("{n} {:x}", black_box(n))).finish().is_ok()
}

#[unsafe(no_mangle)]
#[inline(never)]
fn door_reply_bad_args(reply: Reply<'_>, bad: BadArgs) {
    reply.bad_args(bad);
}

/// Writes a piece; says how much is left.
#[unsafe(no_mangle)]
#[inline(never)]
fn door_reply_stream(mut reply: Reply<'_>, left: usize) -> usize {
    let left = left.saturating_sub(reply.write_text(LONG.get(..left).unwrap_or("")));
    if left == 0 {
        let _ = reply.finish();
    } else {
        reply.pause();
    }
    left
}

static LONG: &str = match core::str::from_utf8(&[b'\n'; 1000]) {
    Ok(text) => text,
    Err(_) => "",
};

/// What makes it go deep: handshakes of both eras, junk, deep nesting, what is too long, batches, every tool.
const INPUT: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"sampling":{}},"clientInfo":{"name":"a\n\u00e9","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"2"}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"add","arguments":{"a":7.0e0,"b":1.7976931348623157e308,"text":"\ud83e\udd80\ud800","yes":true,"in":{"x":[[[]]]}}}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"add","arguments":{"a":"x"}}}"#,
    r#"{"jsonrpc":"2.0","id":"l\u0061ter","method":"tools/call","params":{"name":"later","_meta":{"progressToken":"t"}}}"#,
    r#"[{"jsonrpc":"2.0","id":6,"method":"ping"},{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"rich"}},{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"stream"}}]"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"shown"}}"#,
    r#"{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"mute"}}"#,
    r#"{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"stream"}}"#,
    r#"{"jsonrpc":"2.0","id":11,"method":"no/such","x":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}"#,
    r#"{"jsonrpc":"2.0","id":12,"id":13,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","junk"#,
    r#"{"jsonrpc":"2.0","id":14,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}"#,
    r#"{"jsonrpc":"2.0","id":15,"method":"tools/call","params":{"name":"rich","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"debug"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"later"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/\u006fther","params":{}}"#,
    r#"{"id":16,"jsonrpc":"2.0","method":"tools/call","params":{"name":"add","arguments":{"text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}}"#,
];

#[inline(never)]
pub(crate) fn session() -> u32 {
    static mut STORAGE: Storage<512, 256, 2> = Storage::new();
    // The one reference to it: this runs once.
    let storage = unsafe { &mut *(&raw mut STORAGE) };
    let mut server = Server::new(&CONFIG, storage.buffers());
    let (mut kept, mut left, mut sum) = (None, 0usize, 0u32);
    for line in INPUT {
        for piece in [line.as_bytes(), b"\n"] {
            let mut rest = piece;
            loop {
                let taken = door_server_feed(&mut server, rest);
                rest = rest.get(taken..).unwrap_or(&[]);
                drive(&mut server, 0, &mut kept, &mut left, &mut sum);
                if rest.is_empty() {
                    break;
                }
                if taken == 0 {
                    settle(&mut server, &mut kept, &mut sum);
                }
            }
        }
    }
    settle(&mut server, &mut kept, &mut sum);
    server.end_of_input();
    drive(&mut server, 0, &mut kept, &mut left, &mut sum);
    drive(&mut server, 10_000, &mut kept, &mut left, &mut sum);
    sum
}

fn settle(server: &mut Server<'_>, kept: &mut Option<CallId>, sum: &mut u32) {
    if let Some(call) = kept.take() {
        *sum = sum.wrapping_add(u32::from(door_server_progress(server, call)));
        *sum = sum.wrapping_add(u32::from(door_server_resume(server, call)));
    }
}

#[inline(never)]
fn drive(server: &mut Server<'_>, now: u64, kept: &mut Option<CallId>, left: &mut usize, sum: &mut u32) {
    loop {
        let done = match door_server_poll(server, now) {
            Output::Send(bytes) => {
                let n = bytes.len().min(31);
                door_server_sent(server, n);
                true
            }
            Output::Event(ServerEvent::Call(call)) => called(call, kept, left),
            Output::Event(ServerEvent::More(reply)) => {
                *left = door_reply_stream(reply, *left);
                true
            }
            Output::Event(_) => true,
            Output::Wait { .. } | Output::Blocked { .. } | Output::Closed => return,
        };
        *sum = sum.wrapping_add(u32::from(done));
    }
}

fn called(call: Call<'_>, kept: &mut Option<CallId>, left: &mut usize) -> bool {
    let Call { name, args, reply, .. } = call;
    match name {
        "add" => match door_decode(args) {
            Ok(add) => {
                let _ = black_box((add.a, add.b, add.text, add.yes));
                door_reply_text(reply)
            }
            Err(bad) => {
                door_reply_bad_args(reply, bad);
                false
            }
        },
        "later" => {
            *kept = Some(reply.defer());
            true
        }
        "stream" => {
            *left = door_reply_stream(reply, LONG.len());
            true
        }
        "rich" => door_reply_rich(reply),
        #[cfg(target_arch = "x86_64")]
        "shown" => door_reply_fmt(reply, black_box(-7)),
        _ => false,
    }
}

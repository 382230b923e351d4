//! A server of three tools on file descriptors 0 and 1.
use crate::sys;
use barewire::{
    BadArgs, Call, CallId, Fields, FromArgs, Millis, Noise, Output, Progress, Reply, Server, ServerConfig,
    ServerEvent, Storage, Tool, check_tools,
};

static TOOLS: &[Tool<'static>] = &[
    Tool::new(
        "add",
        "Adds a and b.",
        r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}"#,
    )
    .title("Adder")
    .read_only()
    .output_schema(r#"{"type":"object"}"#),
    Tool::new("later", "Answers with the next call.", r#"{"type":"object"}"#),
    Tool::new("stream", "A long text in pieces.", r#"{"type":"object"}"#),
];
const _: () = check_tools(TOOLS);
static CONFIG: ServerConfig<'static> =
    ServerConfig::new("size", "1").tools(TOOLS).page(2).noise(Noise::Answer);

struct Add<'m> {
    a: i64,
    b: i64,
    times: f64,
    unit: &'m str,
}

impl<'m> FromArgs<'m> for Add<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut add = Self { a: 0, b: 0, times: 1.0, unit: "" };
        while let Some((key, value)) = fields.next() {
            match key {
                "a" => add.a = value.i64("a")?,
                "b" => add.b = value.i64("b")?,
                "times" => add.times = value.f64("times")?,
                "unit" => add.unit = value.str("unit")?,
                _ => {}
            }
        }
        Ok(add)
    }
}

/// Until the input ends.
pub fn serve() {
    #[cfg(feature = "alloc")]
    let mut server = Server::new(&CONFIG, barewire::Buffers::growing(barewire::Limits::default()));
    #[cfg(not(feature = "alloc"))]
    let mut storage = Storage::<1024, 512, 2>::new();
    #[cfg(not(feature = "alloc"))]
    let mut server = Server::new(&CONFIG, storage.buffers());
    let mut waiting: Option<CallId> = None;
    let mut left = 0usize;
    loop {
        match server.poll(Millis(0)) {
            Output::Send(bytes) => {
                let n = sys::write(1, bytes);
                if n == 0 {
                    return;
                }
                server.sent(n);
            }
            Output::Event(ServerEvent::Call(Call { name: "add", args, reply, .. })) => {
                match args.decode::<Add<'_>>() {
                    Ok(add) => {
                        let sum = add.a.wrapping_add(add.b);
                        // A float that is shown through core::fmt would bring its panics along.
                        let sum = if add.times >= 2.0 { sum.wrapping_mul(2) } else { sum };
                        let _ = reply.text_fmt(format_args!("{sum}{}", add.unit)).finish();
                    }
                    Err(bad) => reply.bad_args(bad),
                }
            }
            Output::Event(ServerEvent::Call(Call { name: "later", mut reply, .. })) => {
                let _ = reply.progress(Progress { done: 1, total: None, message: Some("wait") });
                waiting = Some(reply.defer());
            }
            Output::Event(ServerEvent::Call(Call { mut reply, .. })) => {
                left = LONG.len();
                left = left.saturating_sub(reply.write_text(LONG));
                go_on(left, reply);
            }
            Output::Event(ServerEvent::More(mut reply)) => {
                let rest = LONG.get(LONG.len().saturating_sub(left)..).unwrap_or("");
                left = left.saturating_sub(reply.write_text(rest));
                go_on(left, reply);
            }
            Output::Event(_) => {}
            Output::Wait { .. } | Output::Blocked { .. } => {
                if let Some(id) = waiting.take() {
                    if let Ok(reply) = server.resume(id) {
                        let _ = reply.text("now").finish();
                    }
                    continue;
                }
                match sys::read(0, server.space()) {
                    0 => server.end_of_input(),
                    n => server.filled(n),
                }
            }
            Output::Closed => return,
        }
        #[cfg(feature = "panic")]
        let _ = TOOLS[left].name;
    }
}

fn go_on(left: usize, reply: Reply<'_>) {
    if left == 0 {
        let _ = reply.finish();
    } else {
        reply.pause();
    }
}

static LONG: &str = match core::str::from_utf8(&[b'x'; 1000]) {
    Ok(text) => text,
    Err(_) => "",
};

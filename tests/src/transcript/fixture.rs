//! The server that transcripts talk to: its tools, and the configurations that a transcript can name.

use barewire::json::Raw;
use barewire::{
    BadArgs, Call, CallId, Code, Content, Data, Fields, Framing, FromArgs, Link, Noise, Progress, Reply,
    ServerConfig, Tool, check_tools,
};

const ANY: &str = r#"{"type":"object"}"#;

const ECHO: Tool<'static> = Tool::new(
    "echo",
    "Says it back.",
    r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#,
);
const ADD: Tool<'static> = Tool::new(
    "add",
    "Adds \"a\" and \"b\".",
    "{\"type\":\"object\",\n \"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}}}",
)
.title("Adder")
.output_schema(r#"{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}"#)
.read_only()
.destructive(false)
.idempotent(true)
.open_world(false)
.icons(r#"[{"src":"data:image/png;base64,AA==","mimeType":"image/png"}]"#)
.task_support("optional")
.meta(r#"{"example.org/k":[1,null]}"#);

static FEW: &[Tool<'static>] = &[ECHO, ADD];
static FIVE: &[Tool<'static>] = &[
    Tool::new("t1", "One.", ANY),
    Tool::new("t2", "Two.", ANY),
    Tool::new("t3", "Three.", ANY),
    Tool::new("t4", "Four.", ANY),
    Tool::new("t5", "Five.", ANY),
];
static ALL: &[Tool<'static>] = &[
    ECHO,
    ADD,
    Tool::new("raw", "Says its arguments back as they came.", ANY),
    Tool::new("fail", "Fails.", ANY),
    Tool::new("later", "Answers when it is told to.", ANY),
    Tool::new("progress", "Says how far it is.", ANY),
    Tool::new("big", "Text of many 16 bytes.", ANY),
    Tool::new("stream", "The same in pieces.", ANY),
    Tool::new("blob", "Bytes in pieces.", ANY),
    Tool::new("kinds", "Every kind of content.", ANY),
    Tool::new("list", "Structured content that is an array.", ANY),
    Tool::new("only", "Structured content alone.", ANY),
    Tool::new("meta", "A result with _meta.", ANY),
    Tool::new("mute", "Never answers.", ANY),
    Tool::new("code", "A JSON-RPC error of its own.", ANY),
    Tool::new("context", "What it was told about its caller.", ANY),
];
const _: () = check_tools(ALL);
const _: () = check_tools(FIVE);

const BASE: ServerConfig<'static> = ServerConfig::new("fixture", "1.0").noise(Noise::Answer);
static CONFIGS: &[(&str, ServerConfig<'static>)] = &[
    ("all", BASE.tools(ALL)),
    ("few", BASE.tools(FEW)),
    ("none", BASE),
    ("paged", BASE.tools(FIVE).page(2)),
    ("dynamic", BASE.dynamic_tools()),
    ("dynamic-paged", BASE.dynamic_tools().page(2)),
    ("ignore", BASE.tools(ALL).noise(Noise::Ignore)),
    ("busy", BASE.tools(ALL).refuse_when_full()),
    ("changing", BASE.tools(FEW).list_changed().instructions("Ask \"nicely\".")),
    ("short", BASE.tools(ALL).reply(300)),
    ("messages", BASE.tools(ALL).framing(Framing::Messages)),
];

/// The configuration of that name.
pub(super) fn config(name: &str) -> Option<&'static ServerConfig<'static>> {
    CONFIGS.iter().find(|(n, _)| *n == name).map(|(_, config)| config)
}

/// What a dynamic source has.
pub(super) fn dynamic(index: usize) -> Option<Tool<'static>> {
    FIVE.get(index).copied()
}

/// 16 bytes over and over; one of them is escaped as two.
pub(super) static LONG: [u8; 16 * 4096] = {
    let mut long = [0; 16 * 4096];
    let mut i = 0;
    while i < long.len() {
        long[i] = b"0123456789abcde\n"[i % 16];
        i += 1;
    }
    long
};

/// A result in pieces that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    blob: bool,
    at: usize,
    len: usize,
}

struct Args<'m> {
    text: Option<&'m str>,
    a: i64,
    b: i64,
    blocks: usize,
}

impl<'m> FromArgs<'m> for Args<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut args = Self { text: None, a: 0, b: 0, blocks: 0 };
        while let Some((key, value)) = fields.next() {
            match key {
                "text" => args.text = Some(value.str("text")?),
                "a" => args.a = value.i64("a")?,
                "b" => args.b = value.i64("b")?,
                "blocks" => {
                    args.blocks =
                        value.u64("blocks")?.try_into().map_err(|_| BadArgs::new("blocks", "less"))?;
                }
                _ => {}
            }
        }
        Ok(args)
    }
}

/// What a call left behind.
pub(super) enum Left {
    Nothing,
    Later(CallId),
    Streaming(Stream),
}

/// Runs a tool. Never allocates: transcripts are also run under a counting allocator.
pub(super) fn call(call: Call<'_>) -> Left {
    let Call { name, args, mut reply, context, .. } = call;
    match name {
        "later" => return Left::Later(reply.defer()),
        "raw" => {
            let _ = reply.text(args.json().as_str()).finish();
            return Left::Nothing;
        }
        "context" => {
            let meta = context.meta.map_or("none", Raw::as_str);
            let _ = reply
                .text_fmt(format_args!(
                    "{} progress={} form={} url={} sample={} roots={} log={:?} meta={meta}",
                    context.version.as_str(),
                    context.wants_progress,
                    context.can.form,
                    context.can.url,
                    context.can.sample,
                    context.can.roots,
                    context.log,
                ))
                .finish();
            return Left::Nothing;
        }
        _ => {}
    }
    let args = match args.decode::<Args<'_>>() {
        Ok(args) => args,
        Err(bad) => {
            reply.bad_args(bad);
            return Left::Nothing;
        }
    };
    let long = |blocks: usize| core::str::from_utf8(&LONG[..blocks * 16]).unwrap_or("");
    match name {
        "echo" => match args.text {
            Some(text) => drop(reply.text(text).finish()),
            None => reply.bad_args(BadArgs::new("text", "a string")),
        },
        "add" => sum(reply, args.a + args.b),
        "fail" => drop(reply.text("it failed").error().finish()),
        "progress" => {
            for done in [1, 2, 2, 1, 3] {
                let message = (done != 2).then_some("so \"far\"");
                let _ = reply.progress(Progress { done, total: (done > 1).then_some(3), message });
            }
            let _ = reply.text("done").finish();
        }
        "big" => drop(reply.text(long(args.blocks)).finish()),
        "stream" | "blob" => {
            let stream = Stream { blob: name == "blob", at: 0, len: args.blocks * 16 };
            return go_on(stream, reply);
        }
        "kinds" => kinds(reply),
        "list" => drop(reply.structured(json("[1,{\"a\":null}]")).finish()),
        "only" => drop(reply.structured_only(json("{\"b\": 2}")).finish()),
        "meta" => {
            let meta = r#"{"k":1,"io.modelcontextprotocol/serverInfo":{"name":"forged","version":"0"}}"#;
            let _ = reply.text("x").meta(json(meta)).error().finish();
        }
        "mute" => drop(reply.text("half an answer")),
        "code" => reply.fail_with(Code(7), "of its \"own\"", Some(json("[1]"))),
        _ => reply.unknown(),
    }
    Left::Nothing
}

/// Goes on with a result in pieces, as far as there is room.
pub(super) fn go_on(mut stream: Stream, mut reply: Reply<'_>) -> Left {
    let rest = &LONG[stream.at..stream.len];
    stream.at += if stream.blob {
        reply.write_blob("image/png", rest)
    } else {
        reply.write_text(core::str::from_utf8(rest).unwrap_or(""))
    };
    if stream.at == stream.len {
        let _ = reply.finish();
        return Left::Nothing;
    }
    reply.pause();
    Left::Streaming(stream)
}

fn sum(reply: Reply<'_>, sum: i64) {
    let mut text = [0; 64];
    let mut writer = barewire::json::Writer::new(&mut text);
    let mut object = barewire::json::Object::new(&mut writer);
    let done = object.int("sum", sum).ok() && object.end();
    if let (true, Ok(raw)) = (done, Raw::from_bytes(writer.written())) {
        let _ = reply.structured(raw).finish();
    }
}

fn kinds(reply: Reply<'_>) {
    let mut link = Link::new("file:///a", "a \"file\"");
    link.title = Some("A");
    link.mime = Some("text/plain");
    link.size = Some(3);
    let _ = reply
        .text("tab\tquote\" slash\\ \u{1f980}\u{7f}")
        .content(&Content::Image { data: Data::Bytes(b"abcd"), mime: "image/png" })
        .content(&Content::Audio { data: Data::Base64("YWJj"), mime: "audio/wav" })
        .content(&Content::Link(link))
        .content(&Content::TextResource { uri: "file:///t", mime: Some("text/plain"), text: "t\n" })
        .content(&Content::BlobResource { uri: "file:///b", mime: None, data: Data::Bytes(b"") })
        .content(&Content::Other {
            kind: "text",
            json: json(r#"{"type":"text","text":"own","annotations":{"priority":0.5}}"#),
        })
        .finish();
}

fn json(text: &'static str) -> Raw<'static> {
    Raw::new(text).unwrap_or(Raw::NULL)
}

//! The types that several tests look at, and a server driven by lines of text.
#![allow(dead_code, unreachable_pub)]

use barewire::json::Raw;
use barewire::{Call, Items, Millis, Output, Server, ServerConfig, ServerEvent, Storage, Tool, ToolInput};

/// Which one.
#[derive(ToolInput, schemars::JsonSchema, serde::Serialize, PartialEq, Clone, Copy, Debug)]
#[input(rename_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Colour {
    Red,
    LightGreen,
    #[arg(rename = "b\"lue\\")]
    #[serde(rename = "b\"lue\\")]
    Blue,
}

/// Where.
#[derive(ToolInput, schemars::JsonSchema, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// To the right.
    #[arg(range = -10..=10)]
    #[schemars(range(min = -10, max = 10))]
    pub x: i8,
    #[schemars(range(min = -32768, max = 32767))]
    pub y: i16,
}

/// Everything at once.
///
/// Second paragraph, "quoted".
#[derive(ToolInput, schemars::JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct Everything<'a> {
    pub flag: bool,
    pub small: u8,
    #[schemars(range(min = -2147483648, max = 2147483647))]
    pub medium: i32,
    #[schemars(range(min = 0, max = 4294967295_i64))]
    pub large: u32,
    pub huge: i64,
    pub unsigned: u64,
    #[arg(range = 5..300)]
    #[schemars(range(min = 5, max = 299))]
    pub narrow: u16,
    pub single: f32,
    #[arg(range = -0.5..=1.5)]
    #[schemars(range(min = -0.5, max = 1.5))]
    pub ratio: f64,
    /// Some text.
    pub text: &'a str,
    #[arg(min_length = 2, max_length = 4)]
    #[schemars(length(min = 2, max = 4))]
    pub short: &'a str,
    #[arg(default = 7, rename = "seven")]
    #[serde(default = "seven", rename = "seven")]
    pub number: u8,
    #[arg(default = "a\n\"b\"")]
    #[serde(default = "text")]
    pub greeting: &'a str,
    #[arg(default = true)]
    #[serde(default = "yes")]
    pub yes: bool,
    #[arg(default = -1.5)]
    #[serde(default = "low")]
    pub low: f64,
    pub colour: Colour,
    /// A colour of its own.
    pub other: Colour,
    #[arg(default = Colour::LightGreen)]
    #[serde(default = "green")]
    pub third: Colour,
    pub maybe: Option<bool>,
    #[arg(range = 1..=9)]
    #[schemars(range(min = 1, max = 9))]
    pub digit: Option<i64>,
    pub maybe_text: Option<&'a str>,
    pub maybe_point: Option<Point>,
    pub point: Point,
    pub triple: [u8; 3],
    pub corners: [Point; 2],
    #[schemars(with = "Vec<f64>")]
    pub list: Items<'a, f64>,
    #[arg(items = 1..=3)]
    #[schemars(with = "Vec<&str>", length(min = 1, max = 3))]
    pub names: Items<'a, &'a str>,
    #[schemars(with = "Vec<Point>")]
    pub points: Items<'a, Point>,
    #[schemars(with = "Option<Vec<[bool; 2]>>")]
    pub pairs: Option<Items<'a, [bool; 2]>>,
    #[schemars(with = "serde_json::Value")]
    pub any: Raw<'a>,
}

fn seven() -> u8 {
    7
}
fn text() -> &'static str {
    "a\n\"b\""
}
fn yes() -> bool {
    true
}
fn low() -> f64 {
    -1.5
}
fn green() -> Colour {
    Colour::LightGreen
}

/// What a real server of these tools answers to `lines`, after a handshake of `version`; the handshake's answer is left out.
pub fn answers(
    tools: &'static [Tool<'static>],
    version: &str,
    lines: &[&str],
    mut run: impl FnMut(Call<'_>),
) -> Vec<String> {
    let config = ServerConfig::new("test", "1").tools(tools);
    let mut storage = Storage::<4096, 4096, 2>::new();
    let mut server = Server::new(&config, storage.buffers());
    let hello = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
    );
    let mut out = Vec::new();
    for line in core::iter::once(hello.as_str()).chain(lines.iter().copied()) {
        let mut rest = format!("{line}\n").into_bytes();
        loop {
            match server.poll(Millis(0)) {
                Output::Send(bytes) => {
                    out.extend_from_slice(bytes);
                    let n = bytes.len();
                    server.sent(n);
                }
                Output::Event(ServerEvent::Call(call)) => run(call),
                Output::Event(_) => {}
                Output::Wait { .. } if rest.is_empty() => break,
                Output::Wait { .. } => {
                    let taken = server.feed(&rest);
                    rest.drain(..taken);
                }
                Output::Blocked { .. } | Output::Closed => panic!("the server stops"),
            }
        }
    }
    String::from_utf8(out).unwrap().lines().skip(1).map(str::to_owned).collect()
}

/// One `tools/call`.
pub fn call(id: u32, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
    )
}

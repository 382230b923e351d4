//! Attributes that do not fit.
use barewire::{Items, ToolInput};

#[derive(ToolInput)]
enum Colour {
    Red,
}

#[derive(ToolInput)]
struct Ranges<'a> {
    #[arg(range = 0..=5)]
    text: &'a str,
    #[arg(range = 0..=5)]
    flag: bool,
    #[arg(range = 0..=5)]
    other: Colour,
    #[arg(range = 0..=256)]
    wide: u8,
    #[arg(range = 5..5)]
    empty: u8,
    #[arg(range = 1.5..=0.5)]
    backwards: f32,
    #[arg(range = 0.5..=1.5)]
    part: u8,
    #[arg(range = 0..=MAX)]
    named: u8,
    #[arg(range = 5)]
    one: u8,
    #[arg(range = ..)]
    all: u8,
}

#[derive(ToolInput)]
struct Lengths<'a> {
    #[arg(min_length = 1)]
    number: u8,
    #[arg(min_length = 3, max_length = 2)]
    text: &'a str,
    #[arg(format = "uri")]
    flag: bool,
    #[arg(items = 1..=2)]
    array: [u8; 2],
    #[arg(items = -1..=2)]
    items: Items<'a, u8>,
}

#[derive(ToolInput)]
struct Defaults<'a> {
    #[arg(default = 256)]
    wide: u8,
    #[arg(default = 0, range = 1..=5)]
    narrow: u8,
    #[arg(default = "5")]
    number: u8,
    #[arg(default = 5)]
    text: &'a str,
    #[arg(default = "ab", max_length = 1)]
    short: &'a str,
    #[arg(default = 0)]
    flag: bool,
    #[arg(default = 2.5, range = 0..=1)]
    part: f64,
    #[arg(default = "red")]
    colour: Colour,
    #[arg(default = 5)]
    maybe: Option<u8>,
    #[arg(default = 5)]
    list: [u8; 2],
}

#[derive(ToolInput)]
struct Names {
    #[arg(rename = "b")]
    a: u8,
    b: u8,
}

#[derive(ToolInput)]
struct Nameless {
    #[arg(rename = "")]
    a: u8,
}

#[derive(ToolInput)]
enum Words {
    Red,
    #[arg(rename = "Red")]
    Blue,
}

#[derive(ToolInput)]
enum WordRules {
    #[arg(default = 1)]
    Red,
}

#[derive(ToolInput)]
#[input(rename_all = "Snake")]
struct Case {
    a: u8,
}

#[derive(ToolInput)]
struct Unknown {
    #[arg(minimum = 1)]
    a: u8,
}

#[derive(ToolInput)]
struct Twice {
    #[arg(default = 1, default = 2)]
    a: u8,
}

#[derive(ToolInput)]
#[input(strict)]
struct Container {
    a: u8,
}

fn main() {}

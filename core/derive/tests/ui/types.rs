//! Types that can't be arguments.
use barewire::ToolInput;
use std::collections::HashMap;

#[derive(ToolInput)]
struct Several<'a> {
    size: usize,
    wide: u128,
    letter: char,
    map: HashMap<&'a str, u8>,
    pair: (u8, u8),
    slice: &'a [u8],
    changed: &'a mut str,
    borrowed: &'a u8,
    boxed: Box<u8>,
    twice: Option<Option<u8>>,
    inside: [Option<u8>; 2],
    named: [u8; LEN],
    none: [u8; 0],
    function: fn(),
}

const LEN: usize = 2;

#[derive(ToolInput)]
struct Generic<T> {
    value: T,
}

#[derive(ToolInput)]
struct Lifetimes<'a, 'b> {
    a: &'a str,
    b: &'b str,
}

#[derive(ToolInput)]
struct Tuple(u8, u8);

#[derive(ToolInput)]
struct Around(Option<u8>);

#[derive(ToolInput)]
enum Fields {
    Red,
    Rgb(u8, u8, u8),
}

#[derive(ToolInput)]
enum Empty {}

#[derive(ToolInput)]
union Union {
    a: u8,
}

fn main() {}

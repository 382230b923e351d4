//! A type that knows nothing of schemas.
use barewire::ToolInput;

struct Colour;

#[derive(ToolInput)]
struct Paint {
    colour: Colour,
}

fn main() {}

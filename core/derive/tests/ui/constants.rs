//! What only constants can tell.
use barewire::{ToolInput, Tools};

#[derive(ToolInput)]
enum Colour {
    Red,
}

#[derive(Tools)]
enum NoObject {
    /// One.
    Paint(Colour),
}

#[derive(Tools)]
enum NoObjectOut {
    /// One.
    #[tool(output = Colour)]
    Paint,
}

#[derive(ToolInput)]
struct Deep {
    a: [[[[[[u8; 1]; 1]; 1]; 1]; 1]; 1],
}

fn main() {}

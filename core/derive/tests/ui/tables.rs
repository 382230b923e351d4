//! Tables that are wrong.
use barewire::Tools;

#[derive(Tools)]
enum Doubled {
    /// One.
    Blink,
    /// Two.
    #[tool(name = "blink")]
    Other,
}

#[derive(Tools)]
enum Name {
    /// One.
    #[tool(name = "set led")]
    SetLed,
}

#[derive(Tools)]
enum Described {
    /// One.
    First,
    Second,
    ///
    Third,
    #[tool(description = " ")]
    Fourth,
}

#[derive(Tools)]
enum Empty {}

#[derive(Tools)]
struct Struct {
    on: bool,
}

#[derive(Tools)]
enum Unnamed {
    /// One.
    SetLed(bool, u8),
}

#[derive(Tools)]
enum Attributes {
    /// One.
    #[tool(readonly)]
    First,
}

#[derive(Tools)]
#[tool(name = "all")]
enum Whole {
    /// One.
    First,
}

#[derive(Tools)]
enum HandWritten {
    /// One.
    #[tool(schema = "{}")]
    First { on: bool },
}

fn main() {}

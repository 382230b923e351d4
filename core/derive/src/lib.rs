//! `#[derive(ToolInput)]` and `#[derive(Tools)]` for the crate `barewire`, whose feature `derive` re-exports them.
//!
//! Everything is made while compiling: schemas are constant text, decoders are constant tables that one function in the core
//! walks. Nothing needs an allocator.
//!
//! # Tools
//! ```
//! use barewire::{ServerConfig, ToolInput, Tools};
//!
//! #[derive(Tools)]
//! enum Board<'a> {
//!     /// Turns the LED on or off.
//!     #[tool(idempotent)]
//!     SetLed { on: bool },
//!     /// The newest lines of the log.
//!     #[tool(read_only, title = "Log")]
//!     ReadLog {
//!         /// How many.
//!         #[arg(range = 1..=100, default = 10)]
//!         lines: u16,
//!         containing: Option<&'a str>,
//!     },
//!     /// Blinks.
//!     Blink(Blink),
//! }
//!
//! #[derive(ToolInput)]
//! struct Blink {
//!     colour: Colour,
//! }
//!
//! #[derive(ToolInput)]
//! #[input(rename_all = "lowercase")]
//! enum Colour { Red, Green }
//!
//! static CONFIG: ServerConfig<'static> = ServerConfig::new("board", "1.0.0").tools(Board::TOOLS);
//!
//! // In the run loop of the core: what is wrong is answered, what is right is matched, and no tool can be forgotten.
//! fn call(call: barewire::Call<'_>) {
//!     let Some((tool, reply)) = Board::decode(call) else { return };
//!     let text = match tool {
//!         Board::SetLed { on: true } => "on",
//!         Board::SetLed { on: false } => "off",
//!         Board::ReadLog { lines, containing: None } if lines > 50 => "long",
//!         Board::ReadLog { .. } => "short",
//!         Board::Blink(Blink { colour: Colour::Red }) => "red",
//!         Board::Blink(Blink { colour: Colour::Green }) => "green",
//!     };
//!     let _ = reply.text(text).finish();
//! }
//! ```
//! A tool without an arm does not compile:
//! ```compile_fail,E0004
//! # use barewire::Tools;
//! #[derive(Tools)]
//! enum Board {
//!     /// Turns the LED on.
//!     On,
//!     /// Turns the LED off.
//!     Off,
//! }
//! fn run(tool: Board) -> bool {
//!     match tool {
//!         Board::On => true,
//!     }
//! }
//! ```
//!
//! Nor does what can't be told by a schema:
//! ```compile_fail,E0277
//! # use barewire::ToolInput;
//! struct Colour(u8); // derives no `ToolInput`
//! #[derive(ToolInput)]
//! struct Blink {
//!     colour: Colour,
//! }
//! ```
//! ```compile_fail,E0080
//! # use barewire::{ToolInput, Tools};
//! #[derive(ToolInput)]
//! enum Colour { Red, Green }
//! #[derive(Tools)]
//! enum Board {
//!     /// Arguments have names; a colour alone has none.
//!     Paint(Colour),
//! }
//! ```
//!
//! # Types of arguments
//! `bool`, `i8` to `i64`, `u8` to `u64`, `f32`, `f64`, `&'a str`, `Raw<'a>` (any JSON), arrays `[T; N]`, `Items<'a, T>` (a list read
//! where it lies), `Option` of these (absent or `null`), and what derives `ToolInput`: structs with named fields, enums of variants
//! without fields (one of these words), structs around one value. With the core's feature `alloc` also `String` and `Vec<T>`.
//!
//! A value that the decoder takes is valid by the schema, and the reverse, but for integers beyond 64 bits, floats that
//! overflow, and members that are given twice (the last wins).
//!
//! # Attributes
//! On a field, `#[arg(…)]`: `range = 0..=100`, `min_length = 1`, `max_length = 20` (characters), `items = 1..=8` (of a list),
//! `default = 5`, `rename = "…"`, `format = "uri"` (told, not checked), `description = "…"` (in place of the doc comment). `range` and
//! lengths also reach the elements of a list. On a variant of an enum of words: `rename`.
//!
//! On a type that derives `ToolInput`, `#[input(…)]`: `rename_all = "camelCase"` (the names that serde has), `open` (other members
//! are allowed and skipped; else they are refused, and the schema says so), `crate = "path::to::barewire"`.
//!
//! On a variant of `Tools`, `#[tool(…)]`: `name`, `title`, `description`, `read_only`, `destructive`, `idempotent`, `open_world` (each also
//! `= false`), `output = Type`, `output_schema`, `icons`, `task_support`, `meta`, `rename_all` and `open` for its fields, and
//! `schema = r#"…"#` for a hand-written schema: `Search(Query)` where `Query` implements `FromArgs` by hand. On the enum:
//! `rename_all` (of tool names; else they are in `snake_case`), `crate`.
//!
//! What is written by hand is checked as far as [`check_tools`] goes:
//! ```compile_fail,E0080
//! # use barewire::{Args, BadArgs, Fields, FromArgs, Tools};
//! # struct Query;
//! # impl FromArgs<'_> for Query {
//! #     fn from_args(_: Fields<'_>) -> Result<Self, BadArgs> { Ok(Self) }
//! # }
//! #[derive(Tools)]
//! enum Board {
//!     /// Looks for something.
//!     #[tool(schema = r#"{"type":"string"}"#)]
//!     Search(Query),
//! }
//! ```
//!
//! [`check_tools`]: https://docs.rs/barewire/latest/barewire/fn.check_tools.html

mod arg;
mod attributes;
mod input;
mod kind;
mod names;
mod pieces;
mod target;
mod tools;

use proc_macro::TokenStream;

/// The JSON Schema and the decoder of a type of arguments. See the crate's page for types and attributes.
#[proc_macro_derive(ToolInput, attributes(input, arg))]
pub fn derive_tool_input(item: TokenStream) -> TokenStream {
    expand(item, input::derive)
}

/// The table, the schemas and the decoder of all tools of a server. See the crate's page for attributes.
#[proc_macro_derive(Tools, attributes(tool, arg))]
pub fn derive_tools(item: TokenStream) -> TokenStream {
    expand(item, tools::derive)
}

fn expand(
    item: TokenStream,
    derive: fn(&syn::DeriveInput) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    syn::parse(item).and_then(|item| derive(&item)).unwrap_or_else(|error| error.into_compile_error()).into()
}

//! How fast messages are framed, read and written: Barewire beside those that one would take instead.
//!
//! - `cargo bench -p barewire-benches`: criterion, this crate's own contenders; a word behind `--` picks some (`read/call`).
//! - `cargo run --release -p barewire-benches --bin results`: tables of ratios over interleaved rounds; in `benches/peers` the same with
//!   all the peers, which writes `RESULTS.md` and the plots.
//! - `cargo run --release -p barewire-benches --bin mine -- capture.jsonl`: the same for your own traffic.
//!
//! A contender of one's own is a [`Contender`] and one line: [`row`] in the list given to [`report::main`], as in `benches/peers`.
//!
//! What makes the figures worth something: every contender must give the same [`Digest`] of every message ([`proof`]); what each lets
//! pass that is no message is tried out, not claimed ([`strict`]); contenders of one cell take turns in one process, on the
//! processor time of one thread ([`measure`]); and nothing is said but as a ratio to ours in the same round.

pub mod capture;
pub mod clock;
mod contender;
pub mod corpora;
pub mod count;
pub mod measure;
pub mod mine;
pub mod ours;
pub mod outgoing;
pub mod proof;
pub mod report;
pub mod rows;
pub mod strict;
mod turns;

#[doc(inline)]
pub use contender::{Contender, Digest, Group, Kind, Row, Seen, row};
pub use corpora::{Corpus, Outgoing, ToolDef};
pub use turns::Turns;

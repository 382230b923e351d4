//! The relay by transcripts, with a simulated clock.

mod lines;
mod script;
mod sessions;

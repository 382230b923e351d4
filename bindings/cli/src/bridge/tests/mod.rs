//! The relay by transcripts, with a simulated clock.

mod chaos;
mod lines;
mod noise;
mod script;
mod sessions;
mod spoilt;

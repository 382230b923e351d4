//! Packets: what the bytes of a session say, in order, with what is known about each.
//!
//! [`tracker::Tracker`] turns entries of a capture into [`model::Item`]s; [`view`] shows those to people and
//! [`export`] to programs. Nothing here does I/O, and no bytes are ever changed.

pub(crate) mod call;
pub(crate) mod envelope;
pub(crate) mod export;
mod layout;
pub(crate) mod lines;
pub(crate) mod lint;
pub(crate) mod members;
pub(crate) mod model;
pub(crate) mod nulls;
pub(crate) mod requests;
pub(crate) mod results;
pub(crate) mod rules;
pub(crate) mod session;
pub(crate) mod texts;
pub(crate) mod tracker;
pub(crate) mod view;

#[cfg(test)]
mod tests;

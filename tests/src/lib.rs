//! Tests of the whole.

pub mod alloc;
pub mod transcript;

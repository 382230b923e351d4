//! What the checks do.

pub(crate) mod calls;
pub(crate) mod carry;
pub(crate) mod ends;
pub(crate) mod handshake;
mod leaks;
pub(crate) mod limits;
pub(crate) mod load;
pub(crate) mod order;
mod outside;
pub(crate) mod shutdown;

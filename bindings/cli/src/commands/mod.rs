//! One module per command.

pub(crate) mod explain;
pub(crate) mod serve;
pub(crate) mod tap;

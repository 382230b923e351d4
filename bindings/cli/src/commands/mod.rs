//! One module per command.

pub(crate) mod explain;
pub(crate) mod tap;

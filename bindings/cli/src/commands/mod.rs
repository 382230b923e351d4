//! One module per command, and what they share.

pub(crate) mod bridge;
pub(crate) mod call;
pub(crate) mod connect;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod list;
pub(crate) mod ports;
pub(crate) mod record;
pub(crate) mod save;
pub(crate) mod serve;
pub(crate) mod tap;
pub(crate) mod testkit;
pub(crate) mod waiting;

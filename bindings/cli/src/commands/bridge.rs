//! `barewire bridge`: see [`crate::bridge`].

use crate::args;
use crate::bridge::Bridge;
use crate::capture::Entry;
use crate::failure::Failure;
use crate::far::Far;
use crate::paint::Paint;

/// Runs it; `watch` sees every entry of the log.
pub(crate) fn run(
    bridge: args::Bridge,
    paint: Paint,
    watch: impl FnMut(Option<&Entry>) + Send + 'static,
) -> Result<i32, Failure> {
    let args::Bridge { checked, faults, patience, log, log_format, server, .. } = bridge;
    let far = Far::parse(&server)?;
    Bridge { far, checked, faults, patience, log, format: log_format, paint }.run(watch)
}

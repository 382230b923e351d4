//! Says what is waited for, once that takes long: after one second, and every ten seconds from then on.

use core::time::Duration;
use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Instant;

use super::record::Record;
use crate::text::{printable, shortened};

/// The first word comes after this long.
const FIRST: Duration = Duration::from_secs(1);
/// The others follow so far apart.
const NEXT: Duration = Duration::from_secs(10);

/// Ends the waiting when dropped.
pub(crate) struct Waiting(#[expect(dead_code, reason = "dropping it ends the thread")] Option<Sender<()>>);

impl Waiting {
    /// Begins to wait for `what`; says nothing at all if not `aloud`.
    pub(crate) fn begin(what: String, record: &Record, aloud: bool) -> Self {
        if !aloud {
            return Self(None);
        }
        let (over, ends) = mpsc::channel::<()>();
        let record = record.clone();
        thread::spawn(move || {
            let began = Instant::now();
            let mut pause = FIRST;
            while ends.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                pause = NEXT;
                let stderr = match record.last_stderr() {
                    Some(line) => format!("; its last word on stderr: {}", shortened(&printable(&line), 120)),
                    None => String::new(),
                };
                let seconds = began.elapsed().as_secs();
                // Nobody may be reading stderr.
                let _ = writeln!(io::stderr(), "barewire: waiting for {what} ({seconds} s){stderr}");
            }
        });
        Self(Some(over))
    }
}

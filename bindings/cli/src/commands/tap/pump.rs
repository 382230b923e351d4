//! Passing bytes on and logging them.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::io::{ErrorKind, Read, Write};
use std::sync::mpsc::Sender;

use crate::capture::queue::Log;
use crate::capture::{Event, Stream, What};

/// The longest read that is passed on in one piece.
const CHUNK: usize = 64 << 10;

/// What a pump of the server's output tells while it runs.
pub(super) enum Pumped {
    /// Bytes were passed on.
    Moved,
    /// The stream is over.
    Ended,
}

/// Tells the waiting thread that a write begins or is over.
pub(super) fn tell(ended: &Sender<Pumped>, writing: &AtomicUsize, begins: bool) {
    if begins {
        writing.fetch_add(1, Ordering::SeqCst);
    } else {
        writing.fetch_sub(1, Ordering::SeqCst);
    }
    let _ = ended.send(Pumped::Moved);
}

/// Which side ended a pump.
#[derive(PartialEq, Eq)]
pub(super) enum Stop {
    /// No more input.
    Reader,
    /// The input failed.
    Broken,
    /// The output took no more.
    Writer,
}

/// Passes on what is read until either side ends; each read is logged before it is written.
pub(super) fn pump(
    from: &mut dyn Read,
    to: &mut dyn Write,
    stream: Stream,
    log: &Log,
    writing: impl Fn(bool),
) -> Stop {
    let mut chunk = vec![0; CHUNK];
    let mut broken = false;
    loop {
        let bytes = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => &chunk[..n],
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => {
                broken = true;
                break;
            }
        };
        log.put(What::Bytes(stream, bytes.to_vec()));
        writing(true);
        let written = to.write_all(bytes).and_then(|()| to.flush());
        writing(false);
        if written.is_err() {
            return Stop::Writer;
        }
    }
    log.put(What::Event(Event::Eof(stream)));
    if broken { Stop::Broken } else { Stop::Reader }
}

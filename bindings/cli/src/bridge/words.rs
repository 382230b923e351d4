//! What people read, on stderr, written by a thread of its own: a host that does not read it must not hold up the session.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender, SyncSender};
use std::thread;
use std::time::SystemTime;

use super::relay::Note;
use crate::capture::write::utc;
use crate::paint::Paint;
use crate::text::printable;

/// Lines that may wait.
const WAITING: usize = 1024;

/// The end that is spoken into; never waits.
#[derive(Clone)]
pub(super) struct Words {
    lines: SyncSender<Line>,
    lost: Arc<AtomicUsize>,
}

enum Line {
    Note(SystemTime, Note),
    /// Everything before this is written.
    Flush(Sender<()>),
}

impl Words {
    pub(super) fn start(paint: Paint) -> Self {
        let (lines, waiting) = mpsc::sync_channel::<Line>(WAITING);
        let lost = Arc::new(AtomicUsize::new(0));
        let missing = Arc::clone(&lost);
        thread::spawn(move || {
            for next in waiting {
                let mut text = match next {
                    Line::Note(time, note) => line(time, &note, paint),
                    Line::Flush(done) => {
                        let _ = done.send(());
                        continue;
                    }
                };
                let missed = missing.swap(0, Ordering::SeqCst);
                if missed > 0 {
                    text += &format!(
                        "barewire: {missed} more lines were not shown: stderr is not read fast enough\n"
                    );
                }
                // Nobody may be reading it.
                let _ = io::stderr().write_all(text.as_bytes());
            }
        });
        Self { lines, lost }
    }

    pub(super) fn say(&self, note: Note) {
        if self.lines.try_send(Line::Note(SystemTime::now(), note)).is_err() {
            self.lost.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Waits until all is written, but not for ever.
    pub(super) fn flush(&self, at_most: Duration) {
        let (done, flushed) = mpsc::channel();
        if self.lines.try_send(Line::Flush(done)).is_ok() {
            let _ = flushed.recv_timeout(at_most);
        }
    }
}

fn line(time: SystemTime, note: &Note, paint: Paint) -> String {
    match note {
        Note::Told(what) => format!("barewire: {}\n", printable(what)),
        Note::Console(bytes) => {
            let time = utc(time);
            // Of a date in RFC 3339 the time of day, to the millisecond.
            let clock = time.get(11..23).unwrap_or_default();
            format!("{} {}\n", paint.dim(&format!("{clock} │")), printable(&String::from_utf8_lossy(bytes)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_console_line_has_its_time_and_moves_no_cursor() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(45_296_789);
        let note = Note::Console(b"\x1b[2Jready \xff".to_vec());
        assert_eq!(line(time, &note, Paint(false)), "12:34:56.789 │ \\e[2Jready \u{fffd}\n");
        assert_eq!(line(time, &note, Paint(true)), "\u{1b}[2m12:34:56.789 │\u{1b}[0m \\e[2Jready \u{fffd}\n");
    }
}

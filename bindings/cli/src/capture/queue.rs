//! A log that can't hold up what it logs.
//!
//! Entries go into a bounded queue; a thread of its own writes them. A disk that is full, slow or gone costs entries,
//! never the session: what found no room is counted, and the count is written as an event once there is room again.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Instant, SystemTime};

use super::write::{Encoder, Format};
use super::{Entry, Event, Micros, What};

/// Bytes that may wait to be written.
const ROOM: usize = 64 << 20;

/// The sending half; one per thread that reads.
#[derive(Clone)]
pub(crate) struct Log {
    began: Instant,
    state: Arc<Mutex<State>>,
    pace: Arc<Pace>,
}

/// What both ends know of the writing.
#[derive(Default)]
struct Pace {
    /// Entries that are done with.
    done: AtomicUsize,
    /// There is no more time: bytes are only counted, so that the log still gets its end.
    hurry: AtomicBool,
    /// Some reads found no room.
    lost: AtomicBool,
}

struct State {
    queue: Option<Sender<Entry>>,
    waiting: usize,
    lost: u64,
}

/// The writing thread's end: waited for once, at the end.
pub(crate) struct Writing {
    over: Receiver<()>,
    pace: Arc<Pace>,
}

impl Log {
    /// Starts a thread that writes entries to `path`, and shows them to `also`, which gets `None` once that was all.
    ///
    /// The file is opened by that thread, for opening may block or fail as well; trouble is told on stderr once.
    pub(crate) fn start(
        path: Option<PathBuf>,
        format: Format,
        mut also: impl FnMut(Option<&Entry>) + Send + 'static,
    ) -> (Self, Writing) {
        let (queue, entries) = mpsc::channel::<Entry>();
        let (done, writing) = mpsc::channel();
        let state = Arc::new(Mutex::new(State { queue: Some(queue), waiting: 0, lost: 0 }));
        let shared = Arc::clone(&state);
        let pace = Arc::new(Pace::default());
        let (paced, log_pace) = (Arc::clone(&pace), Arc::clone(&pace));
        let date = SystemTime::now();
        thread::spawn(move || {
            let mut file = path.map(|path| LogFile::create(path, format, date));
            let mut write = |entry: &Entry| {
                if let Some(file) = &mut file {
                    file.write(entry);
                }
                also(Some(entry));
            };
            let mut skipped = 0;
            for entry in entries {
                if paced.hurry.load(Ordering::SeqCst) && matches!(entry.what, What::Bytes(..)) {
                    skipped += 1;
                } else {
                    if skipped > 0 {
                        let lost = Event::Lost(core::mem::take(&mut skipped));
                        write(&Entry { at: entry.at, what: What::Event(lost) });
                    }
                    write(&entry);
                }
                lock(&shared).waiting -= cost(&entry);
                paced.done.fetch_add(1, Ordering::SeqCst);
            }
            if let Some(file) = &mut file {
                file.finish();
            }
            also(None);
            drop(done);
        });
        (Self { began: Instant::now(), state, pace: log_pace }, Writing { over: writing, pace })
    }

    /// Microseconds since the log was started.
    pub(crate) fn now(&self) -> Micros {
        Micros::try_from(self.began.elapsed().as_micros()).unwrap_or(Micros::MAX)
    }

    /// Queues what happened just now. Never blocks on the file.
    pub(crate) fn put(&self, what: What) {
        let mut state = lock(&self.state);
        // Taken under the lock, so that the times in a log never go back.
        let at = Some(self.now());
        let mut entries = Vec::with_capacity(2);
        // Events are few, small, and what the rest is read by: they always find room.
        let event = matches!(what, What::Event(_));
        if state.lost > 0 && (event || state.waiting < ROOM / 2) {
            entries.push(Entry { at, what: What::Event(Event::Lost(core::mem::take(&mut state.lost))) });
        }
        entries.push(Entry { at, what });
        for entry in entries {
            let cost = cost(&entry);
            let full = state.lost > 0 || (state.waiting > 0 && state.waiting + cost > ROOM);
            if full && matches!(entry.what, What::Bytes(..)) {
                state.lost += 1;
                self.pace.lost.store(true, Ordering::SeqCst);
            } else if let Some(queue) = &state.queue
                && queue.send(entry).is_ok()
            {
                state.waiting += cost;
            }
        }
    }

    /// Takes no more entries, from any clone.
    pub(crate) fn close(&self) {
        lock(&self.state).queue = None;
    }

    /// Once it is closed: what waits to be written is only counted.
    pub(crate) fn hurry(&self) {
        if lock(&self.state).queue.is_none() {
            self.pace.hurry.store(true, Ordering::SeqCst);
        }
    }
}

impl Writing {
    /// Waits until everything is written: for `stall` while nothing gets done, for `limit` in all. Then what is left is
    /// only counted, so that the log has its last entry all the same. Says whether the log is complete.
    pub(crate) fn wait(self, stall: Duration, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let mut done = self.pace.done.load(Ordering::SeqCst);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if self.over.recv_timeout(stall.min(left)) == Err(RecvTimeoutError::Disconnected) {
                let Pace { hurry, lost, .. } = &*self.pace;
                return !hurry.load(Ordering::SeqCst) && !lost.load(Ordering::SeqCst);
            }
            let now = self.pace.done.load(Ordering::SeqCst);
            if now == done || left.is_zero() {
                break;
            }
            done = now;
        }
        self.pace.hurry.store(true, Ordering::SeqCst);
        let _ = self.over.recv_timeout(stall);
        false
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cost(entry: &Entry) -> usize {
    64 + match &entry.what {
        What::Bytes(_, bytes) => bytes.len(),
        What::Event(_) => 0,
    }
}

/// The file, until it fails.
struct LogFile {
    path: PathBuf,
    encoder: Encoder,
    file: Option<File>,
}

impl LogFile {
    fn create(path: PathBuf, format: Format, date: SystemTime) -> Self {
        let file = File::create(&path);
        let mut log = Self { path, encoder: Encoder::new(format, date), file: None };
        match file {
            Ok(file) => log.file = Some(file),
            Err(error) => log.give_up(&error),
        }
        log
    }

    fn write(&mut self, entry: &Entry) {
        let lines = self.encoder.encode(entry);
        self.append(&lines);
    }

    fn finish(&mut self) {
        let lines = self.encoder.finish();
        self.append(&lines);
    }

    /// One write per entry: whoever follows the file sees whole lines.
    fn append(&mut self, lines: &[u8]) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(lines)
        {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        self.file = None;
        let path = self.path.display();
        // The session goes on whatever becomes of this line as well.
        let _ = writeln!(
            io::stderr(),
            "barewire: can't write the log {path}: {error}; the session goes on without it"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Stream;

    const EXIT: Event = Event::Exit { code: Some(0), signal: None };

    /// A log whose writer stops at its first entry until the gate opens; hands out all entries in the end.
    fn gated() -> (Log, Writing, Sender<()>, Receiver<Vec<What>>) {
        let (open, gate) = mpsc::channel();
        let (told, all) = mpsc::channel();
        let mut written = Vec::new();
        let (log, writing) = Log::start(None, Format::Jsonl, move |entry| {
            let Some(entry) = entry else { return };
            let _ = gate.recv();
            written.push(entry.what.clone());
            if entry.what == What::Event(EXIT) {
                told.send(core::mem::take(&mut written)).unwrap();
            }
        });
        (log, writing, open, all)
    }

    #[test]
    fn a_log_out_of_time_still_gets_its_end() {
        let (log, writing, open, all) = gated();
        for n in 0..4 {
            log.put(What::Bytes(Stream::S2c, vec![n]));
        }
        log.put(What::Event(Event::Eof(Stream::S2c)));
        log.put(What::Event(EXIT));
        log.close();
        assert!(!writing.wait(Duration::from_millis(1), Duration::ZERO), "it is not complete");
        drop(open);
        let kept = all.recv().unwrap();
        // The writer may not have begun with the first when the time was over.
        let first = usize::from(kept.first() == Some(&What::Bytes(Stream::S2c, vec![0])));
        let expected = [Event::Lost(4 - first as u64), Event::Eof(Stream::S2c), EXIT].map(What::Event);
        assert_eq!(kept[first..], expected);
    }

    #[test]
    fn events_find_room_where_reads_do_not() {
        let (log, writing, open, all) = gated();
        let reads = ROOM / (1 << 20) + 3;
        for _ in 0..reads {
            log.put(What::Bytes(Stream::S2c, vec![0; 1 << 20]));
        }
        log.put(What::Event(EXIT));
        log.close();
        drop(open);
        let kept = all.recv().unwrap();
        assert!(!writing.wait(Duration::from_secs(60), Duration::from_secs(60)), "it is not complete");
        let whole = kept.len() - 2;
        let lost = u64::try_from(reads - whole).unwrap();
        assert!(lost >= 3, "{lost}");
        assert_eq!(kept[whole..], [Event::Lost(lost), EXIT].map(What::Event));
    }

    #[test]
    fn a_log_in_time_is_complete() {
        let (log, writing, open, all) = gated();
        log.put(What::Bytes(Stream::C2s, vec![1]));
        log.put(What::Event(EXIT));
        log.close();
        drop(open);
        assert!(writing.wait(Duration::from_secs(60), Duration::from_secs(60)));
        assert_eq!(all.recv().unwrap(), [What::Bytes(Stream::C2s, vec![1]), What::Event(EXIT)]);
    }
}

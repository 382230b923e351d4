//! A log that can't hold up what it logs.
//!
//! Entries go into a bounded queue; a thread of its own writes them. A disk that is full, slow or gone costs entries,
//! never the session: what found no room is counted, and the count is written as an event once there is room again.

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
}

struct State {
    queue: Option<Sender<Entry>>,
    waiting: usize,
    lost: u64,
}

/// The writing thread's end: waited for once, at the end.
pub(crate) struct Writing(Receiver<()>);

impl Log {
    /// Starts a thread that writes entries to `path`, and to `also`.
    ///
    /// The file is opened by that thread, for opening may block or fail as well; trouble is told on stderr once.
    pub(crate) fn start(
        path: Option<PathBuf>,
        format: Format,
        mut also: impl FnMut(&Entry) + Send + 'static,
    ) -> (Self, Writing) {
        let (queue, entries) = mpsc::channel::<Entry>();
        let (done, writing) = mpsc::channel();
        let state = Arc::new(Mutex::new(State { queue: Some(queue), waiting: 0, lost: 0 }));
        let shared = Arc::clone(&state);
        let date = SystemTime::now();
        thread::spawn(move || {
            let mut file = path.map(|path| LogFile::create(path, format, date));
            for entry in entries {
                if let Some(file) = &mut file {
                    file.write(&entry);
                }
                also(&entry);
                lock(&shared).waiting -= cost(&entry);
            }
            if let Some(file) = &mut file {
                file.finish();
            }
            drop(done);
        });
        (Self { began: Instant::now(), state }, Writing(writing))
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
        if state.lost > 0 && state.waiting < ROOM / 2 {
            entries.push(Entry { at, what: What::Event(Event::Lost(core::mem::take(&mut state.lost))) });
        }
        entries.push(Entry { at, what });
        for entry in entries {
            let cost = cost(&entry);
            if state.lost > 0 || (state.waiting > 0 && state.waiting + cost > ROOM) {
                state.lost += 1;
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
}

impl Writing {
    /// Waits until everything is written, but not longer than `limit`.
    pub(crate) fn wait(self, limit: Duration) -> bool {
        self.0.recv_timeout(limit) == Err(RecvTimeoutError::Disconnected)
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

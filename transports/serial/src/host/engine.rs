//! The thread that owns a port and its link.
use super::pipe::{Pipe, Reader, Wake, Writer};
use super::port::{BootText, Halves, Hook, Trace};
use super::sift::Sift;
use super::{Lost, OpenError, Port, lock};
use crate::link::{Checked, Heard, Link, LinkStats, Role};
use barewire::Millis;
use core::cell::Cell;
use serial2::SerialPort;
use std::{
    boxed::Box,
    io,
    string::String,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::{Builder, JoinHandle},
    time::{Duration, Instant, SystemTime},
    vec,
    vec::Vec,
};

/// The link's buffers: the longest frame from a device, and what the line carries in a second or so.
const RX: usize = 8 << 10;
const TX: usize = 16 << 10;
/// Bytes written at once, so that what arrives meanwhile is seen to.
const CHUNK: usize = 256;
/// Reads that may wait for the thread.
const BACKLOG: usize = 64;

enum Message {
    Received(Vec<u8>),
    Gone,
    Wake,
    Attach(Session),
    Upgrade(SyncSender<()>),
    Stop,
}

/// An open port. Sessions come and go on it; dropping it closes the port.
pub struct Wire {
    shared: Arc<Shared>,
    send: SyncSender<Message>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    stop: AtomicBool,
    gone: AtomicBool,
    checked: AtomicBool,
    stats: Mutex<LinkStats>,
    heard: Mutex<Option<String>>,
}

/// One session's pipes.
struct Ends {
    input: Arc<Pipe>,
    output: Arc<Pipe>,
    lost: Mutex<Option<Lost>>,
}

/// What tells how a session is, while its halves are in use elsewhere.
#[derive(Clone)]
pub struct Session(Arc<Ends>);

impl Session {
    /// Why it is over, if it is.
    #[must_use]
    pub fn lost(&self) -> Option<Lost> {
        *lock(&self.0.lost)
    }

    /// Ends it: its reader ends, its writer fails.
    pub fn close(&self) {
        self.end(Lost::Closed);
    }

    fn end(&self, why: Lost) {
        lock(&self.0.lost).get_or_insert(why);
        self.0.input.close();
        self.0.output.close();
    }
}

impl core::fmt::Debug for Session {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Session").field("lost", &self.lost()).finish()
    }
}

impl Wire {
    pub(super) fn start(serial: SerialPort, port: &Port) -> Result<Self, OpenError> {
        let serial = Arc::new(serial);
        let halves: Halves = (Box::new(Half(Arc::clone(&serial))), Box::new(Half(serial)));
        let (input, output) = match &port.wrap {
            Some(wrap) => wrap(halves),
            None => halves,
        };
        let (send, receive) = sync_channel(BACKLOG);
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            checked: AtomicBool::new(false),
            stats: Mutex::default(),
            heard: Mutex::default(),
        });
        let mut wire = Self { shared: Arc::clone(&shared), send: send.clone(), threads: Vec::new() };
        let failed = |error| OpenError::Io { path: port.path.clone(), error };
        let flag = Arc::clone(&shared);
        let reader = Builder::new().name("serial-read".into()).spawn(move || read(input, &send, &flag));
        wire.threads.push(reader.map_err(failed)?);
        let mut engine = Engine {
            output,
            shared,
            hook: port.hook.clone(),
            boot_text: port.boot_text,
            session: None,
            sift: Sift::default(),
            spoke: false,
            out: Vec::new(),
            born: Instant::now(),
        };
        let (checked, window) = (port.checked, port.window);
        let main = Builder::new().name("serial-link".into()).spawn(move || {
            let (mut rx, mut tx) = (vec![0; RX].into_boxed_slice(), vec![0; TX].into_boxed_slice());
            engine.run(&receive, checked, window, (&mut rx, &mut tx));
        });
        wire.threads.push(main.map_err(failed)?);
        Ok(wire)
    }

    /// Starts a session: what the device says, what it is told, and how it goes. The one before is over with
    /// [`Lost::Closed`]. The handshake is the caller's.
    #[must_use]
    pub fn session(&self) -> (Reader, Writer, Session) {
        let (input, output) = (Arc::<Pipe>::default(), Arc::<Pipe>::default());
        let ends = Ends { input: Arc::clone(&input), output: Arc::clone(&output), lost: Mutex::new(None) };
        let session = Session(Arc::new(ends));
        let send = self.send.clone();
        // A full channel wakes the thread as well.
        let wake: Wake = Arc::new(move || drop(send.try_send(Message::Wake)));
        if self.is_gone() || self.send.send(Message::Attach(session.clone())).is_err() {
            session.end(Lost::Unplugged);
        }
        (Reader(input, Arc::clone(&wake)), Writer(output, wake), session)
    }

    /// The handshake is over and the server's capabilities [offer](crate::offers_checked) checked lines: use them.
    /// Returns when what is written from now on will be so.
    pub fn upgrade(&self) {
        let (done, wait) = sync_channel(1);
        if self.send.send(Message::Upgrade(done)).is_ok() {
            let _ = wait.recv();
        }
    }

    /// Is the port gone?
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.shared.gone.load(Relaxed)
    }

    /// Are lines checked?
    #[must_use]
    pub fn is_checked(&self) -> bool {
        self.shared.checked.load(Relaxed)
    }

    /// What happened on the link so far.
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        *lock(&self.shared.stats)
    }

    /// The last line that the device printed.
    #[must_use]
    pub fn heard(&self) -> Option<String> {
        lock(&self.shared.heard).clone()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.shared.stop.store(true, Relaxed);
        let _ = self.send.send(Message::Stop);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl core::fmt::Debug for Wire {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Wire").field("gone", &self.is_gone()).field("checked", &self.is_checked()).finish()
    }
}

/// One half of a port, which both share.
struct Half(Arc<SerialPort>);

impl io::Read for Half {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

impl io::Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The thread that reads.
fn read(mut input: Box<dyn io::Read + Send>, send: &SyncSender<Message>, shared: &Shared) {
    let mut chunk = [0; 4096];
    while !shared.stop.load(Relaxed) {
        let message = match input.read(&mut chunk) {
            Ok(0) => Message::Gone,
            Ok(n) => Message::Received(chunk.get(..n).unwrap_or_default().to_vec()),
            Err(error) if is_temporary(&error) => continue,
            Err(_) => Message::Gone,
        };
        let over = matches!(message, Message::Gone);
        if send.send(message).is_err() || over {
            return;
        }
    }
}

pub(super) fn is_temporary(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), TimedOut | WouldBlock | Interrupted)
}

struct Engine {
    output: Box<dyn io::Write + Send>,
    shared: Arc<Shared>,
    hook: Option<Hook>,
    boot_text: BootText,
    session: Option<Session>,
    sift: Sift,
    /// The device has said something in this session.
    spoke: bool,
    /// Taken from the session, not written yet.
    out: Vec<u8>,
    born: Instant,
}

impl Engine {
    fn run(
        &mut self,
        messages: &Receiver<Message>,
        checked: Checked,
        window: usize,
        (rx, tx): (&mut Box<[u8]>, &mut Box<[u8]>),
    ) {
        let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seed = (clock.as_micros() / 1000) as u32;
        let mut link = Link::over(Role::Client, checked, rx, tx).window(window).seed(seed);
        loop {
            let idle = !self.write(&mut link);
            let message = if idle {
                let nap = link.deadline().map(|at| Duration::from_millis(at.0.saturating_sub(self.now().0)));
                messages.recv_timeout(nap.unwrap_or(Duration::from_secs(3600)))
            } else {
                messages.try_recv().map_err(|_| RecvTimeoutError::Timeout)
            };
            link.tick(self.now());
            match message {
                Ok(Message::Received(bytes)) => self.received(&mut link, &bytes),
                Ok(Message::Gone) => return self.gone(),
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    self.end(Lost::Closed);
                    return;
                }
                Ok(Message::Attach(session)) => {
                    self.end(Lost::Closed);
                    link.reset();
                    self.session = Some(session);
                }
                Ok(Message::Upgrade(done)) => {
                    link.open();
                    let _ = done.send(());
                }
                Ok(Message::Wake) | Err(RecvTimeoutError::Timeout) => {}
            }
            self.deliver(&mut link);
        }
    }

    fn now(&self) -> Millis {
        Millis(u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    fn trace(&self, what: Trace<'_>) {
        if let Some(hook) = &self.hook {
            hook(what);
        }
    }

    /// Writes a little. False: there is nothing to write.
    fn write(&mut self, link: &mut Link<'_>) -> bool {
        link.tick(self.now());
        if self.out.is_empty()
            && let Some(session) = &self.session
        {
            session.0.output.take(&mut self.out, CHUNK);
        }
        if link.is_checked() {
            let n = link.push(&self.out);
            self.out.drain(..n);
        }
        let own = link.output();
        let own = own.get(..own.len().min(CHUNK)).unwrap_or(own);
        if !own.is_empty() {
            let n = Self::put(&mut self.output, self.hook.as_ref(), own);
            link.sent(n);
            return true;
        }
        if !link.is_plain() || self.out.is_empty() {
            return false;
        }
        let n = Self::put(&mut self.output, self.hook.as_ref(), &self.out);
        link.wrote(self.out.get(..n).unwrap_or_default());
        self.out.drain(..n);
        true
    }

    /// Errors count as nothing written: the reading thread will tell that the port is gone.
    fn put(output: &mut dyn io::Write, hook: Option<&Hook>, bytes: &[u8]) -> usize {
        match output.write(bytes) {
            Ok(n) => {
                if let Some(hook) = hook {
                    hook(Trace::Sent(bytes.get(..n).unwrap_or_default()));
                }
                n
            }
            Err(error) if is_temporary(&error) => 0,
            Err(_) => {
                std::thread::sleep(Duration::from_millis(10));
                0
            }
        }
    }

    fn received(&mut self, link: &mut Link<'_>, bytes: &[u8]) {
        self.trace(Trace::Received(bytes));
        let mut rest = bytes;
        loop {
            let (mut restarted, mut printed) = (false, Vec::new());
            let hook = self.hook.clone();
            let n = link.receive(rest, &mut |heard| match heard {
                Heard::Restarted => restarted = true,
                Heard::Checked => {
                    if let Some(hook) = &hook {
                        hook(Trace::Checked);
                    }
                }
                Heard::Noise(line) => printed.push(line.to_vec()),
                _ => {}
            });
            rest = rest.get(n..).unwrap_or_default();
            for line in &printed {
                restarted |= self.printed(line);
            }
            if restarted {
                self.restarted(link);
            }
            self.deliver(link);
            if rest.is_empty() {
                return;
            }
            if n == 0 && !self.make_room() {
                return;
            }
        }
    }

    /// The session's reader is behind. False: nobody reads any more.
    fn make_room(&self) -> bool {
        let Some(session) = &self.session else { return false };
        while session.0.input.room() == 0 {
            if session.lost().is_some() || self.shared.stop.load(Relaxed) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Hands over what is ready.
    fn deliver(&mut self, link: &mut Link<'_>) {
        // First, so that whoever gets an answer finds them as they were when it came.
        self.shared.checked.store(link.is_checked(), Relaxed);
        *lock(&self.shared.stats) = link.stats();
        let room = self.session.as_ref().map_or(usize::MAX, |session| session.0.input.room());
        let ready = link.ready();
        let n = ready.len().min(room);
        let bytes = ready.get(..n).unwrap_or_default();
        if bytes.is_empty() {
            return;
        }
        let mut prints = Vec::new();
        let (session, spoke) = (self.session.as_ref(), Cell::new(self.spoke));
        self.sift.pass(
            bytes,
            &mut |message| {
                spoke.set(true);
                if let Some(session) = session {
                    session.0.input.put(message);
                }
            },
            &mut |line| prints.push((line.to_vec(), spoke.get())),
        );
        self.spoke = spoke.get();
        link.taken(n);
        let mut restarted = false;
        for (line, spoke) in &prints {
            // Text of a start that was before the session's first answer means nothing.
            restarted |= self.printed(line) && *spoke;
        }
        if restarted {
            link.reset();
            self.restarted(link);
        }
    }

    /// The device printed a line. True: it has started again.
    fn printed(&self, line: &[u8]) -> bool {
        self.trace(Trace::Printed(line));
        let text = String::from_utf8_lossy(line);
        let boots = (self.boot_text)(&text);
        *lock(&self.shared.heard) = Some(text.into_owned());
        boots
    }

    fn restarted(&mut self, link: &mut Link<'_>) {
        if link.is_checked() {
            link.reset();
        }
        self.end(Lost::Restarted);
    }

    fn gone(&mut self) {
        self.shared.gone.store(true, Relaxed);
        self.end(Lost::Unplugged);
    }

    fn end(&mut self, why: Lost) {
        self.out.clear();
        self.sift.reset();
        self.spoke = false;
        if let Some(session) = self.session.take() {
            if session.lost().is_none() {
                self.trace(Trace::Lost(why));
            }
            session.end(why);
        }
    }
}

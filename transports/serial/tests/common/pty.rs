//! A device behind a real pty: its UART runs at a baud rate in both directions, and its line may be bad.
use super::sim::{Faults, Rng};
use barewire::{Call, CallId, Millis, Server, ServerConfig, ServerEvent, Storage, Tool};
use barewire_serial::{Checked, Link, LinkStats, LinkStorage, Node, Role, SerialServer, Turn, blocking};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A pty and the name of the end that a host opens.
pub struct Pty {
    pub master: Arc<OwnedFd>,
    pub path: PathBuf,
}

impl Pty {
    pub fn new() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        fcntl_setfl(&master, OFlags::NONBLOCK).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap().into();
        Self { master: Arc::new(master), path }
    }
}

/// Bytes that time allows.
struct Tokens {
    per_second: f64,
    left: f64,
    at: Instant,
}

impl Tokens {
    fn new(per_second: f64) -> Self {
        Self { per_second, left: 0.0, at: Instant::now() }
    }

    /// What a computer slept over is made up, up to 50 ms, as long as there was something to do.
    fn look(&mut self) -> usize {
        let now = Instant::now();
        let most = (self.per_second / 20.0).max(16.0);
        self.left = (self.left + (now - self.at).as_secs_f64() * self.per_second).min(most);
        self.at = now;
        self.left as usize
    }

    /// There was nothing to do: idle time can't be saved up.
    fn idle(&mut self) {
        self.look();
        self.left = self.left.min(1.0);
    }

    fn use_up(&mut self, n: usize) {
        self.left -= n as f64;
    }
}

/// What the UART's driver holds of the output.
const FIFO: usize = 256;

/// The UART of a device.
pub struct Uart {
    fd: Arc<OwnedFd>,
    read: Tokens,
    write: Tokens,
    to_device: Faults,
    to_host: Faults,
    arrived: VecDeque<u8>,
    leaving: VecDeque<u8>,
    pub sent: u64,
}

impl Uart {
    pub fn new(pty: &Pty, baud: u32, (seed, one_in): (u64, u64)) -> Self {
        let rate = f64::from(baud) / 10.0;
        Self {
            fd: Arc::clone(&pty.master),
            read: Tokens::new(rate),
            write: Tokens::new(rate),
            to_device: Faults::new(seed, one_in),
            to_host: Faults { rng: Rng::new(seed + 1), ..Faults::new(seed, one_in) },
            arrived: VecDeque::new(),
            leaving: VecDeque::new(),
            sent: 0,
        }
    }

    /// Moves what time allows.
    fn turn(&mut self) {
        let mut chunk = [0; 1024];
        let n = self.read.look().min(chunk.len());
        if n > 0 {
            match rustix::io::read(&*self.fd, &mut chunk[..n]) {
                Ok(n) => {
                    self.read.use_up(n);
                    chunk[..n].iter().for_each(|b| self.to_device.pass(*b, &mut self.arrived));
                }
                Err(_) => self.read.idle(),
            }
        }
        let n = self.write.look().min(self.leaving.len());
        if n > 0 {
            let bytes = &self.leaving.make_contiguous()[..n];
            if let Ok(n) = rustix::io::write(&*self.fd, bytes) {
                self.write.use_up(n);
                self.leaving.drain(..n);
                self.sent += n as u64;
            }
        }
    }

    /// Waits for a byte or a little while.
    pub fn wait(&mut self, at_most: Duration) {
        let busy = !self.leaving.is_empty();
        let nap = at_most.min(Duration::from_micros(if busy { 200 } else { 1000 }));
        if busy || self.read.look() == 0 {
            std::thread::sleep(nap);
            return;
        }
        let time = Timespec { tv_sec: 0, tv_nsec: i64::from(nap.subsec_nanos()) };
        let mut fds = [PollFd::new(&*self.fd, PollFlags::IN)];
        let hung_up = poll(&mut fds, Some(&time)).is_err() || fds[0].revents().contains(PollFlags::HUP);
        if hung_up {
            std::thread::sleep(nap);
        }
    }
}

impl embedded_io::ErrorType for Uart {
    type Error = embedded_io::ErrorKind;
}

impl embedded_io::Read for Uart {
    fn read(&mut self, out: &mut [u8]) -> Result<usize, Self::Error> {
        self.turn();
        let n = out.len().min(self.arrived.len());
        out.iter_mut().zip(self.arrived.drain(..n)).for_each(|(to, from)| *to = from);
        Ok(n)
    }
}

impl embedded_io::ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, Self::Error> {
        self.turn();
        Ok(!self.arrived.is_empty())
    }
}

impl embedded_io::Write for Uart {
    /// Into a FIFO, as long as there is room.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        while self.leaving.len() >= FIFO {
            self.turn();
            if self.leaving.len() >= FIFO {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        if self.leaving.is_empty() {
            self.write.idle();
        }
        let n = bytes.len().min(FIFO - self.leaving.len());
        for byte in &bytes[..n] {
            self.to_host.pass(*byte, &mut self.leaving);
        }
        self.turn();
        Ok(n)
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

pub static TOOLS: &[Tool<'static>] = &[
    Tool::new("echo", "Says it again.", r#"{"type":"object"}"#),
    Tool::new("kilobyte", "1 KB.", r#"{"type":"object"}"#),
    Tool::new("log", "50 KB, in pieces.", r#"{"type":"object"}"#),
    Tool::new("never", "Never answers.", r#"{"type":"object"}"#),
];
pub static PLAIN: ServerConfig<'static> = ServerConfig::new("board", "1.0.0").tools(TOOLS).reply(1280);
pub static CONFIG: ServerConfig<'static> = PLAIN.extensions(barewire_serial::EXTENSIONS);
pub const LOG: usize = 50_000;
const LINE: &str = "0123456789 The quick brown fox jumps over the lazy dog, again and again.. ";

/// `n` bytes of text.
pub fn text(n: usize) -> String {
    LINE.chars().cycle().take(n).collect()
}

/// How a device is made.
#[derive(Clone, Copy)]
pub struct Make {
    pub baud: u32,
    pub checked: Checked,
    pub faults: (u64, u64),
    /// Says that it has started.
    pub hello: bool,
    /// Prints this first, without a line feed.
    pub boot: &'static str,
}

impl Default for Make {
    fn default() -> Self {
        Self { baud: 921_600, checked: Checked::Offer, faults: (1, 0), hello: true, boot: "" }
    }
}

/// A device that runs in a thread until it is killed.
pub struct Device {
    stop: Arc<AtomicBool>,
    pub waiting: Arc<AtomicU32>,
    pub stats: Arc<Mutex<LinkStats>>,
    thread: Option<JoinHandle<()>>,
}

impl Device {
    pub fn start(pty: &Pty, make: Make) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let waiting = Arc::new(AtomicU32::new(0));
        let stats = Arc::<Mutex<LinkStats>>::default();
        let (flag, count, figures) = (Arc::clone(&stop), Arc::clone(&waiting), Arc::clone(&stats));
        let mut uart = Uart::new(pty, make.baud, make.faults);
        let thread = std::thread::spawn(move || {
            let _ = embedded_io::Write::write(&mut uart, make.boot.as_bytes());
            run(&mut uart, make, &|| flag.load(Relaxed), &count, &figures);
        });
        Self { stop, waiting, stats, thread: Some(thread) }
    }

    /// In the middle of whatever it does.
    pub fn kill(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.kill();
    }
}

fn run(
    uart: &mut Uart,
    make: Make,
    stop: &dyn Fn() -> bool,
    waiting: &AtomicU32,
    figures: &Mutex<LinkStats>,
) {
    let born = Instant::now();
    let mut memory = Storage::<2048, 2560, 4>::new();
    let mut link = LinkStorage::<1024, 4096>::new();
    let config = if make.checked == Checked::Never { &PLAIN } else { &CONFIG };
    let link = Link::new(Role::Server, make.checked, &mut link);
    let link = if make.hello { link } else { link.quiet() };
    let mut node: SerialServer<'_> = Node::new(Server::new(config, memory.buffers()), link);
    let (log, kilobyte) = (text(LOG), text(1000));
    let mut at = 0;
    while !stop() {
        let now = Millis(born.elapsed().as_millis() as u64);
        match node.poll(now) {
            Turn::Event(ServerEvent::Call(Call { name, args, mut reply, .. })) => match name {
                "echo" => drop(reply.text(args.json().as_str()).finish()),
                "kilobyte" => drop(reply.text(&kilobyte).finish()),
                "log" => {
                    at = reply.write_text(&log);
                    reply.pause();
                }
                _ => {
                    let _: CallId = reply.defer();
                    waiting.fetch_add(1, Relaxed);
                }
            },
            Turn::Event(ServerEvent::More(mut reply)) => {
                at += reply.write_text(&log[at..]);
                if at == log.len() {
                    let _ = reply.finish();
                } else {
                    reply.pause();
                }
            }
            Turn::Event(_) => {}
            Turn::Transfer { .. } => {
                if blocking::transfer(&mut node, uart).unwrap() == 0 && !node.is_busy() {
                    uart.wait(Duration::from_millis(1));
                }
                *figures.lock().unwrap() = node.link().stats();
            }
            Turn::Closed => unreachable!("a serial line has no end"),
        }
    }
}

/// For tests that wait for something to happen elsewhere.
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

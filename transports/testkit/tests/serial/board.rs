//! A device with the suite's tools at the end of a pty. It runs until it is stopped, and never sees a client go.

use barewire_serial::{
    Checked, EXTENSIONS, Link, LinkStats, Role,
    barewire::{Buffers, Call, CallId, Limits, Millis, Output, Refused, Server, ServerEvent},
};
use barewire_testkit::{CONFIG, Fault, Faults, Injector, TOOLS, Tools};
use core::{sync::atomic::AtomicBool, sync::atomic::Ordering::Relaxed, time::Duration};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_setfl},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};
use std::{
    collections::BTreeMap,
    io::{Read, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, mpsc},
    thread::{self, JoinHandle},
    time::Instant,
};

/// What the line does to the bytes.
type Wire = (Injector, Injector);

pub(crate) struct Board {
    /// The end that a host opens.
    pub(crate) path: PathBuf,
    stop: Arc<AtomicBool>,
    pub(crate) stats: Arc<Mutex<LinkStats>>,
    thread: Option<JoinHandle<()>>,
}

impl Board {
    /// `damage` is what the line does in both directions.
    pub(crate) fn start(damage: Faults) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        fcntl_setfl(&master, OFlags::NONBLOCK).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap().into();
        let (stop, stats) = (Arc::<AtomicBool>::default(), Arc::<Mutex<LinkStats>>::default());
        let (flag, figures) = (Arc::clone(&stop), Arc::clone(&stats));
        let wire = (damage.injector(), damage.other().injector());
        let thread = thread::spawn(move || run(&master, wire, &flag, &figures));
        Self { path, stop, stats, thread: Some(thread) }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "the board panicked");
        }
    }
}

type Cancel = Arc<(Mutex<bool>, Condvar)>;

/// Calls that run, each in a thread of its own, since the tools block.
struct Calls {
    tools: Arc<Tools>,
    running: BTreeMap<CallId, Cancel>,
    tell: mpsc::Sender<(CallId, Option<String>)>,
    told: mpsc::Receiver<(CallId, Option<String>)>,
    /// Answers that found no room yet.
    done: Vec<(CallId, Option<String>)>,
    wake: Arc<UnixStream>,
    deaf_until: Option<Instant>,
}

fn run(master: &OwnedFd, (mut up, mut down): Wire, stop: &AtomicBool, stats: &Mutex<LinkStats>) {
    let born = Instant::now();
    let (mut rx, mut tx) = (vec![0; 4 << 10], vec![0; 16 << 10]);
    let mut link = Link::over(Role::Server, Checked::Offer, &mut rx, &mut tx);
    let limits = Limits { message: 2 << 20, reply: 2 << 20, calls: 12 };
    let mut server = Server::owning(&CONFIG.extensions(EXTENSIONS), Buffers::growing(limits));
    let (wake, mut woken) = UnixStream::pair().unwrap();
    woken.set_nonblocking(true).unwrap();
    let (tell, told) = mpsc::channel();
    let mut calls = Calls {
        tools: Arc::default(),
        running: BTreeMap::new(),
        tell,
        told,
        done: Vec::new(),
        wake: Arc::new(wake),
        deaf_until: None,
    };
    let (mut arrived, mut leaving) = (Vec::new(), Vec::new());
    while !stop.load(Relaxed) {
        let now = Millis(born.elapsed().as_millis() as u64);
        link.tick(now);
        join(&mut link, &mut server, &calls.tools);
        match server.poll(now) {
            Output::Event(event) => {
                calls.event(event);
                continue;
            }
            Output::Closed => unreachable!("a line has no end"),
            Output::Send(_) | Output::Wait { .. } | Output::Blocked { .. } => {}
        }
        let mut moved = calls.answer(&mut server);
        moved |= calls.hears() && read(master, &mut up, &mut arrived, &mut link, &mut server, &calls.tools);
        moved |= write(master, &mut down, &mut leaving, &mut link, &mut server, &calls.tools);
        *stats.lock().unwrap() = link.stats();
        if !moved {
            nap(master, &mut woken, !leaving.is_empty());
        }
    }
    for cancel in calls.running.values() {
        *cancel.0.lock().unwrap() = true;
        cancel.1.notify_all();
    }
}

/// What `Node` does, with the diary's ear at the seam.
fn join(link: &mut Link<'_>, server: &mut Server<'_>, tools: &Tools) {
    while !link.ready().is_empty() {
        let n = server.feed(link.ready());
        tools.received(&link.ready()[..n]);
        link.taken(n);
        if n == 0 {
            break;
        }
    }
    if link.is_checked() {
        let n = link.push(server.output());
        tools.sent(&server.output()[..n]);
        server.sent(n);
    }
}

fn read(
    master: &OwnedFd,
    wire: &mut Injector,
    arrived: &mut Vec<u8>,
    link: &mut Link<'_>,
    server: &mut Server<'_>,
    tools: &Tools,
) -> bool {
    let mut chunk = [0; 4096];
    if arrived.is_empty()
        && let Ok(n @ 1..) = rustix::io::read(master, &mut chunk)
    {
        assert_eq!(wire.step(&chunk[..n], arrived), (n, Fault::None));
    }
    let mut news = false;
    let n = link.receive(arrived, &mut |heard| news |= matches!(heard, barewire_serial::Heard::NewClient));
    if news {
        server.reset();
    }
    arrived.drain(..n);
    join(link, server, tools);
    n > 0
}

fn write(
    master: &OwnedFd,
    wire: &mut Injector,
    leaving: &mut Vec<u8>,
    link: &mut Link<'_>,
    server: &mut Server<'_>,
    tools: &Tools,
) -> bool {
    if leaving.is_empty() {
        let own = link.output().len();
        let (n, bytes) = match own {
            0 if link.is_plain() => (server.output().len().min(4096), server.output()),
            _ => (own, link.output()),
        };
        assert_eq!(wire.step(&bytes[..n], leaving), (n, Fault::None));
        if own > 0 {
            link.sent(n);
        } else if n > 0 {
            let out = server.output()[..n].to_vec();
            link.wrote(&out);
            tools.sent(&out);
            server.sent(n);
        }
    }
    let Ok(n @ 1..) = rustix::io::write(master, leaving) else { return false };
    leaving.drain(..n);
    true
}

/// Until there is something to do: a byte, room for one, an answer; the link's own times are looked at often enough.
fn nap(master: &OwnedFd, woken: &mut UnixStream, writes: bool) {
    let flags = if writes { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
    let mut fds = [PollFd::new(&*woken, PollFlags::IN), PollFd::new(master, flags)];
    let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 5_000_000 }));
    let nobody = fds[1].revents().contains(PollFlags::HUP);
    let _ = woken.read(&mut [0; 64]);
    if nobody {
        // No host has the line open: that wakes at once each time.
        thread::sleep(Duration::from_millis(1));
    }
}

impl Calls {
    fn event(&mut self, event: ServerEvent<'_>) {
        match event {
            ServerEvent::Call(Call { name: "deaf", args, reply, .. }) => {
                let time = args.json().get("number").and_then(|number| number.as_u64()).unwrap_or(0);
                self.deaf_until = Some(Instant::now() + Duration::from_millis(time));
                reply.text("deaf").finish().unwrap();
            }
            ServerEvent::Call(Call { name, args, reply, .. }) => {
                let (name, args, id) = (name.to_owned(), args.json().as_str().to_owned(), reply.defer());
                let cancel = Cancel::default();
                self.running.insert(id, Arc::clone(&cancel));
                let (tools, tell, wake) =
                    (Arc::clone(&self.tools), self.tell.clone(), Arc::clone(&self.wake));
                thread::spawn(move || {
                    let cancelled = |time| {
                        let lock = cancel.0.lock().unwrap();
                        *cancel.1.wait_timeout_while(lock, time, |cancelled| !*cancelled).unwrap().0
                    };
                    let _ = tell.send((id, tools.answer(&name, &args, &cancelled)));
                    let _ = (&*wake).write(b"!");
                });
            }
            ServerEvent::Cancelled(id) => {
                if let Some(cancel) = self.running.remove(&id) {
                    *cancel.0.lock().unwrap() = true;
                    cancel.1.notify_all();
                }
            }
            ServerEvent::List(list) => list.tools(|at| TOOLS.get(at).copied()),
            // What was raised and seen belongs to the client before.
            ServerEvent::Opened { .. } => self.tools = Arc::default(),
            _ => {}
        }
    }

    fn answer(&mut self, server: &mut Server<'_>) -> bool {
        self.done.extend(self.told.try_iter());
        let before = self.done.len();
        let running = &mut self.running;
        self.done.retain(|(id, text)| match server.resume(*id) {
            Err(Refused::Full) => true,
            Err(Refused::Gone) => false,
            Ok(reply) => {
                running.remove(id);
                match text {
                    Some(text) => reply.text(text).finish().unwrap(),
                    None => reply.unknown(),
                }
                false
            }
        });
        self.done.len() < before
    }

    fn hears(&mut self) -> bool {
        self.deaf_until = self.deaf_until.filter(|until| Instant::now() < *until);
        self.deaf_until.is_none()
    }
}

//! The device at the end of a pty, on a line that damages one byte in 1,000, in both directions.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use core::time::Duration;
use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use barewire::{Buffers, Call, CallId, Millis, Progress, Reply, Server, ServerEvent};
use barewire_serial::{Checked, EXTENSIONS, Link, LinkStats, LinkStorage, Node, Role, Turn};
use barewire_testkit::{Fault, Faults, Injector};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::servers::LIMITS;
use super::work::{CONFIG, TOOLS, Work};

/// A pty, whose far end the host opens by its name.
pub(super) struct Line {
    master: Arc<OwnedFd>,
    pub(super) path: PathBuf,
}

impl Line {
    pub(super) fn new() -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        fcntl_setfl(&master, OFlags::NONBLOCK)?;
        let path = ptsname(&master, Vec::new())?.into_string().map_err(io::Error::other)?.into();
        Ok(Self { master: Arc::new(master), path })
    }
}

/// A device that runs until it is killed, in the middle of whatever it does.
pub(super) struct Board {
    stop: Arc<AtomicBool>,
    stats: Arc<Mutex<LinkStats>>,
    thread: Option<JoinHandle<()>>,
}

impl Board {
    pub(super) fn start(line: &Line, seed: u64) -> io::Result<Self> {
        let (stop, stats) = (Arc::<AtomicBool>::default(), Arc::<Mutex<LinkStats>>::default());
        let (flag, figures, master) = (Arc::clone(&stop), Arc::clone(&stats), Arc::clone(&line.master));
        let thread = std::thread::Builder::new()
            .name("soak-board".into())
            .spawn(move || run(&master, seed, &flag, &figures))?;
        Ok(Self { stop, stats, thread: Some(thread) })
    }

    /// What happened on its end of the link. It must not have died before it was told to.
    pub(super) fn kill(mut self) -> Result<LinkStats, String> {
        self.stop.store(true, Relaxed);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            return Err("the board panicked".into());
        }
        Ok(*self.stats.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Calls that are not answered at once.
#[derive(Default)]
struct Calls {
    held: HashSet<CallId>,
    due: Vec<(CallId, Instant, Work)>,
    report: Vec<(CallId, Work)>,
}

fn run(master: &OwnedFd, seed: u64, stop: &AtomicBool, stats: &Mutex<LinkStats>) {
    const THIRD: f64 = 1e-3 / 3.0;
    let faults = Faults::new(seed).drop(THIRD).corrupt(THIRD).duplicate(THIRD);
    let (mut up, mut down) = (faults.injector(), faults.other().injector());
    let mut storage = Box::new(LinkStorage::<4096, 16384>::new());
    let link = Link::new(Role::Server, Checked::Offer, &mut storage);
    let server = Server::owning(&CONFIG.extensions(EXTENSIONS), Buffers::growing(LIMITS));
    let mut node = Node::new(server, link);
    let (born, mut calls) = (Instant::now(), Calls::default());
    let (mut arrived, mut leaving) = (Vec::new(), Vec::new());
    while !stop.load(Relaxed) {
        let until = match node.poll(Millis(u64::try_from(born.elapsed().as_millis()).unwrap_or(u64::MAX))) {
            Turn::Event(event) => {
                calls.event(event);
                continue;
            }
            Turn::Transfer { until } => until,
            Turn::Closed => return,
        };
        let mut moved = calls.go_on(node.machine());
        moved |= read(master, &mut up, &mut arrived, &mut node);
        moved |= write(master, &mut down, &mut leaving, &mut node);
        *stats.lock().unwrap_or_else(PoisonError::into_inner) = node.link().stats();
        if !moved && !node.is_busy() {
            let soon = until.is_some() || !calls.due.is_empty();
            nap(master, !leaving.is_empty(), if soon { 1 } else { 5 });
        }
    }
}

fn read(
    master: &OwnedFd,
    wire: &mut Injector,
    arrived: &mut Vec<u8>,
    node: &mut Node<'_, Server<'_>>,
) -> bool {
    let mut chunk = [0; 1024];
    if arrived.is_empty()
        && let Ok(n @ 1..) = rustix::io::read(master, &mut chunk)
    {
        let done = wire.step(&chunk[..n], arrived);
        debug_assert_eq!(done, (n, Fault::None));
    }
    let n = node.receive(arrived);
    arrived.drain(..n);
    n > 0
}

fn write(
    master: &OwnedFd,
    wire: &mut Injector,
    leaving: &mut Vec<u8>,
    node: &mut Node<'_, Server<'_>>,
) -> bool {
    if leaving.is_empty() {
        let output = node.output();
        let n = output.len().min(1024);
        let done = wire.step(&output[..n], leaving);
        debug_assert_eq!(done, (n, Fault::None));
        node.sent(n);
    }
    let Ok(n @ 1..) = rustix::io::write(master, leaving) else { return false };
    leaving.drain(..n);
    true
}

fn nap(master: &OwnedFd, writes: bool, millis: i64) {
    let flags = if writes { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
    let mut fds = [PollFd::new(master, flags)];
    let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: millis * 1_000_000 }));
    if fds[0].revents().contains(PollFlags::HUP) {
        // Nobody has the line open: that wakes at once each time.
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Calls {
    fn event(&mut self, event: ServerEvent<'_>) {
        match event {
            ServerEvent::Call(Call { name: "held", reply, .. }) => {
                finish(reply, &self.held.len().to_string());
            }
            ServerEvent::Call(Call { args, reply, .. }) => match Work::read(args.json().as_str()) {
                None => reply.fail(barewire::Code::INVALID_PARAMS, "these are no orders"),
                Some(work) if !work.hold && work.takes == 0 && work.steps == 0 => {
                    finish(reply, &work.answer());
                }
                Some(work) => {
                    let id = reply.defer();
                    if work.steps > 0 {
                        self.report.push((id, work.clone()));
                    }
                    if work.hold {
                        self.held.insert(id);
                    } else {
                        self.due.push((id, Instant::now() + Duration::from_millis(work.takes), work));
                    }
                }
            },
            ServerEvent::Cancelled(id) => {
                self.held.remove(&id);
                self.due.retain(|due| due.0 != id);
                self.report.retain(|report| report.0 != id);
            }
            ServerEvent::List(list) => list.tools(|at| TOOLS.get(at).copied()),
            _ => {}
        }
    }

    /// Reports what can be reported, and answers what is due.
    fn go_on(&mut self, server: &mut Server<'_>) -> bool {
        for (id, work) in self.report.drain(..) {
            let report = work.report();
            for done in 1..=work.steps {
                // Without room a report is left out.
                let _ =
                    server.progress(id, Progress { done, total: Some(work.steps), message: Some(&report) });
            }
        }
        let (before, now) = (self.due.len(), Instant::now());
        self.due.retain(|(id, at, work)| {
            if *at > now {
                return true;
            }
            match server.resume(*id) {
                Ok(reply) => finish(reply, &work.answer()),
                Err(barewire::Refused::Full) => return true,
                Err(_) => {}
            }
            false
        });
        self.due.len() < before
    }
}

/// A reply that does not fit is told to the peer as an error, which the soak finds.
fn finish(reply: Reply<'_>, text: &str) {
    let _ = reply.text(text).finish();
}

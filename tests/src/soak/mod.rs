//! The soak: clients that call at random, for a while, through every kind of channel, while far ends are started again under
//! their feet and a serial line damages one byte in 1,000.
//!
//! Every answer is compared with the one right answer to its own call, so a lost, doubled or crossed one is found, whatever
//! it passed through. Memory is watched, and threads and descriptors are counted before and after. Nothing is asserted about speed.

mod board;
mod caller;
mod census;
mod ends;
mod far;
mod servers;
mod work;

use core::time::Duration;
use std::env;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::Instant;

use barewire_serial::LinkStats;

use caller::Totals;
use census::{Census, resident};
use ends::{Pipes, Serial, Sockets};
use far::{Caller, Far, Strays, Why, lock};
use work::Random;

/// Each far end has so many clients.
const CLIENTS: u64 = 2;
/// What a call that was given up may take to reach the far end.
const SETTLE: Duration = Duration::from_secs(30);
/// How much more memory than after the warming up is still flat: what allocators keep for later.
const MORE: u64 = 24 << 20;

/// A far end and who calls it.
struct Post {
    name: &'static str,
    far: Mutex<Box<dyn Far>>,
    /// How often it was started again, and how it is called since.
    now: RwLock<(u64, Arc<dyn Caller>)>,
    strays: Strays,
    totals: Mutex<Totals>,
}

impl Post {
    fn new(far: Box<dyn Far>, strays: Strays) -> Self {
        let (name, caller) = (far.name(), far.caller());
        let now = RwLock::new((0, caller));
        Self { name, far: Mutex::new(far), now, strays, totals: Mutex::default() }
    }

    fn now(&self) -> (u64, Arc<dyn Caller>) {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        (now.0, Arc::clone(&now.1))
    }

    /// Nobody begins a call meanwhile; those under way must end.
    fn restart(&self) -> Result<(), String> {
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        let mut far = lock(&self.far);
        now.0 += 1;
        far.restart().map_err(|what| format!("{}: it could not be started again: {what}", self.name))?;
        now.1 = far.caller();
        Ok(())
    }
}

/// What all threads of a run share.
struct Run {
    seed: u64,
    stop: AtomicBool,
    /// The first thing that went wrong.
    wrong: Mutex<Option<String>>,
    changed: Condvar,
}

impl Run {
    fn fail(&self, what: String) {
        lock(&self.wrong).get_or_insert(what);
        self.stop.store(true, Relaxed);
        self.changed.notify_all();
    }

    /// Waits, or less if something goes wrong. True: go on.
    fn wait(&self, time: Duration) -> bool {
        let wrong = lock(&self.wrong);
        let waited = self.changed.wait_timeout_while(wrong, time, |wrong| wrong.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_none()
    }
}

/// The highest memory seen in each tenth of a run, in bytes.
#[derive(Default)]
struct Memory {
    here: [u64; 10],
    children: u64,
}

impl Memory {
    /// Everything was as large as it gets by half time: sizes are random, and the largest rare.
    fn warm(&self) -> u64 {
        self.here[1..5].iter().copied().max().unwrap_or(0)
    }

    fn end(&self) -> u64 {
        self.here[8..].iter().copied().max().unwrap_or(0)
    }
}

/// `soak [SECONDS]`; with `--serve` it is the server of the child process.
///
/// # Errors
/// What went wrong, as a text.
pub fn main(args: &[&str]) -> Result<(), String> {
    let seconds = match args {
        ["--serve"] => return servers::stdio().map_err(far::told),
        [] => 600,
        [seconds] => seconds.parse().map_err(|_| format!("usage: soak [SECONDS], not {seconds:?}"))?,
        _ => return Err("usage: soak [SECONDS]".into()),
    };
    let seed = match env::var("SOAK_SEED") {
        Ok(text) => text.parse().map_err(|_| format!("SOAK_SEED is a number, not {text:?}"))?,
        Err(_) => u64::from(std::process::id()),
    };
    println!("soak for {seconds} s with SOAK_SEED={seed}");
    // It has a thread of its own from its first use on.
    async_io::block_on(async_io::Timer::after(Duration::from_millis(1)));
    let before = Census::take();
    let done = soak(Duration::from_secs(seconds), seed);
    let left = before.as_ref().map_or(Ok(()), |before| before.settled(SETTLE));
    done.map_err(|what| format!("{what}\nagain with: SOAK_SEED={seed}"))?;
    left?;
    if let Some((threads, files)) = before.map(|before| before.counts()) {
        println!("threads: {threads} before and after; descriptors: {files} before and after");
    }
    Ok(())
}

fn soak(time: Duration, seed: u64) -> Result<(), String> {
    let strays: Vec<Strays> = (0..4).map(|_| Strays::default()).collect();
    let posts = [
        Post::new(Box::new(Pipes::start(&strays[0])?), Arc::clone(&strays[0])),
        Post::new(Box::new(Sockets::start(false, &strays[1])?), Arc::clone(&strays[1])),
        Post::new(Box::new(Sockets::start(true, &strays[2])?), Arc::clone(&strays[2])),
        Post::new(Box::new(Serial::start(seed, &strays[3])?), Arc::clone(&strays[3])),
    ];
    let run = Run { seed, stop: AtomicBool::new(false), wrong: Mutex::new(None), changed: Condvar::new() };
    let mut memory = Memory::default();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS * posts.len() as u64 {
            let post = &posts[(client % posts.len() as u64) as usize];
            let run = &run;
            scope.spawn(move || {
                let mut totals = Totals::default();
                let called = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
                    caller::call_at_random(run, post, client, &mut totals)
                }));
                lock(&post.totals).add(&totals);
                match called {
                    Ok(Ok(())) => {}
                    Ok(Err(what)) => run.fail(format!("{}, client {client}: {what}", post.name)),
                    Err(_) => run.fail(format!("{}, client {client} panicked", post.name)),
                }
            });
        }
        watch(&run, &posts, time, &mut memory);
        run.stop.store(true, Relaxed);
    });
    let restarts: Vec<u64> = posts.iter().map(|post| post.now().0).collect();
    let rested = posts.iter().try_for_each(at_rest);
    print(&posts, &restarts, &memory);
    let mut ended = Ok(());
    for post in posts {
        let (name, totals) = (post.name, lock(&post.totals).clone());
        drop(post.now);
        let closed = post.far.into_inner().unwrap_or_else(PoisonError::into_inner).close();
        ended = ended.and(closed.map_err(|what| format!("{name}: {what}")));
        // The answer to a call that was given up may come all the same, once.
        let strays = post.strays.load(Relaxed);
        if strays > totals.given_up() + totals.lost {
            ended = ended.and(Err(format!("{name}: {strays} answers came to nothing that was asked")));
        }
    }
    if let Some(what) = lock(&run.wrong).take() {
        return Err(what);
    }
    rested.and(ended)?;
    if memory.end() > memory.warm() + MORE {
        let (warm, end) = (memory.warm(), memory.end());
        return Err(format!("memory is not flat: {warm} bytes in the first half, {end} at the end"));
    }
    Ok(())
}

/// Starts far ends again, in turn, and looks at the memory.
fn watch(run: &Run, posts: &[Post], time: Duration, memory: &mut Memory) {
    let (started, mut random) = (Instant::now(), Random(run.seed ^ 0x3a7c));
    let mut turn = 0;
    while started.elapsed() < time && run.wait(Duration::from_millis(200 + random.below(1000))) {
        if let Err(what) = posts[turn % posts.len()].restart() {
            return run.fail(what);
        }
        turn += 1;
        let here = resident(None).unwrap_or(0);
        let part = started.elapsed().as_secs_f64() / time.as_secs_f64();
        let tenth = &mut memory.here[((part * 10.0) as usize).min(9)];
        *tenth = here.max(*tenth);
        let children = posts.iter().filter_map(|post| lock(&post.far).resident()).max();
        memory.children = memory.children.max(children.unwrap_or(0));
    }
}

/// The far end still answers, and no call waits there to be cancelled.
fn at_rest(post: &Post) -> Result<(), String> {
    let until = Instant::now() + SETTLE;
    let limit = far::Limit::Never;
    loop {
        let caller = post.now().1;
        match caller.call("held", "{}", limit, None) {
            Ok(held) if held == "0" => return Ok(()),
            Ok(held) if Instant::now() > until => {
                return Err(format!("{}: {held} calls were never cancelled at the far end", post.name));
            }
            // A cancel may be under way; a restart at the very end may only be noticed now.
            Ok(_) | Err(Why::Lost(_)) if Instant::now() <= until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return Err(format!("{}: in the end it does not answer: {other:?}", post.name)),
        }
    }
}

fn print(posts: &[Post], restarts: &[u64], memory: &Memory) {
    let mut all = Totals::default();
    for (post, restarts) in posts.iter().zip(restarts) {
        let totals = lock(&post.totals).clone();
        println!("{:<7} {totals}, {restarts} restarts", post.name);
        let links = lock(&post.far).links();
        let sum = |of: fn(&LinkStats) -> u32| links.iter().map(|link| u64::from(of(link))).sum::<u64>();
        if !links.is_empty() {
            println!(
                "        {} frames, {} sent again, {} damaged lines, {} timeouts, {} link sessions",
                sum(|link| link.frames),
                sum(|link| link.resent),
                sum(|link| link.damaged),
                sum(|link| link.timeouts),
                sum(|link| link.sessions)
            );
        }
        all.add(&totals);
    }
    let mega = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
    println!("all     {all}, {} restarts", restarts.iter().sum::<u64>());
    println!("memory  MiB at most in each tenth of the time: {}", memory.here.map(mega).join(" "));
    println!("        {} the child", mega(memory.children));
}

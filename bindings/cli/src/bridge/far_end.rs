//! The thread that keeps a connection to the far end, one after the other.

use core::time::Duration;
use std::io;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Instant;

use super::drive::{Now, Shared, pass_stderr, read_far, wait_child, write_far};
use super::link::{Dialer, End, Haste, Link};
use super::relay::Medium;
use crate::capture::{Event, What};
use crate::failure::{Failure, code};

/// What a far end that takes no more may still say, and for how long.
const LEFTOVERS: Duration = Duration::from_millis(500);
/// How long it may take to end by itself, once it was told that nothing more comes.
const GRACE: Duration = Duration::from_secs(2);
/// The first pause between two tries; it doubles.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest one.
const PAUSE_MOST: Duration = Duration::from_secs(10);
/// A connection that lasted so long was good, even if nobody asked anything.
const LASTED: Duration = Duration::from_secs(5);
/// A command that ended so often without ever an answer will not do better.
const DEATHS: u32 = 2;

/// Connects, over and over, until the bridge ends or there is no use in it. `first` is a connection that is there already.
pub(super) fn keep(shared: &Arc<Shared>, mut dialer: Dialer, mut first: Option<Link>) {
    let medium = dialer.medium();
    let (mut tries, mut deaths) = (Tries::default(), 0);
    let over = loop {
        // What is there already is lived with even if the end has come: it must be ended.
        let link = match first.take() {
            Some(link) => link,
            None if shared.wait_until(tries.pause(medium), Now::ends) => break Ok(()),
            None => match dial(shared, &mut dialer) {
                None => break Ok(()),
                Some(Ok(link)) => link,
                Some(Err(failure)) => {
                    tries.failed();
                    let mut now = shared.lock();
                    now.relay.far_trouble(failure.message, shared.time());
                    (now.tried, now.live) = (true, false);
                    shared.changed(&mut now);
                    continue;
                }
            },
        };
        let began = Instant::now();
        let (answered, ended) = match live(shared, link) {
            Ok(lived) => lived,
            Err(error) => break Err(Failure::io("can't start a thread", &error)),
        };
        let mut now = shared.lock();
        if now.ends() {
            break Ok(());
        }
        tries.lived(answered, began.elapsed());
        deaths += 1;
        if medium == Medium::Command && !now.relay.ever_answered() && deaths >= DEATHS {
            let why = format!(
                "{ended} before it ever answered, {DEATHS} times; what it wrote to stderr may say why"
            );
            now.relay.give_up("exited", &why);
            break Err(Failure::new(code::CONNECT, "exited", why));
        }
    };
    let mut now = shared.lock();
    now.over = Some(over);
    shared.changed(&mut now);
}

/// One try, unless the end has come. Once a command is being started, the bridge does not end before it.
fn dial(shared: &Shared, dialer: &mut Dialer) -> Option<Result<Link, Failure>> {
    let mut now = shared.lock();
    if now.ends() {
        return None;
    }
    now.live = dialer.medium() == Medium::Command;
    drop(now);
    Some(dialer.dial())
}

/// What came of the tries so far, for the pause before the next one.
#[derive(Default)]
struct Tries {
    /// So often in a row no connection came about.
    failures: u32,
    /// So often in a row one was of no use.
    useless: u32,
}

impl Tries {
    const fn failed(&mut self) {
        self.failures += 1;
    }

    /// There was a connection. `answered`: a request of the host's. The bridge's own handshake does not count: a server that
    /// dies right after it would be started without end.
    fn lived(&mut self, answered: bool, lasted: Duration) {
        self.failures = 0;
        self.useless = if answered || lasted >= LASTED { 0 } else { self.useless + 1 };
    }

    /// How long to wait before the next try. The first one after a connection that was good comes at once.
    fn pause(&self, medium: Medium) -> Duration {
        let (no_connection, useless) = match medium {
            // Looking for a port costs nothing, and somebody has just plugged it in.
            Medium::Serial => (PAUSE, Duration::from_secs(2)),
            Medium::Stream => (Duration::from_secs(2), PAUSE_MOST),
            Medium::Command => (PAUSE_MOST, PAUSE_MOST),
        };
        doubled(self.failures, no_connection).max(doubled(self.useless, useless))
    }
}

fn doubled(times: u32, most: Duration) -> Duration {
    match times.checked_sub(1) {
        None => Duration::ZERO,
        Some(doubled) => PAUSE.saturating_mul(1 << doubled.min(16)).min(most),
    }
}

/// One connection, from its beginning to its end: whether its far end answered anything, and how it ended.
fn live(shared: &Arc<Shared>, link: Link) -> io::Result<(bool, String)> {
    let Link { reader, writer, stderr, mut end, using } = link;
    let pid = end.pid();
    let mut now = shared.lock();
    now.connection += 1;
    (now.mute, now.deaf, now.half_closed, now.upgrading) = (false, false, false, false);
    (now.tried, now.live, now.pid) = (true, true, pid);
    let connection = now.connection;
    now.relay.far_up(shared.time());
    shared.changed(&mut now);
    drop(now);
    if connection > 1 {
        shared.log.put(What::Event(Event::Other("connected again".into())));
    }
    let checks = matches!(end, End::Serial(..));
    let threads = (|| {
        let own = Arc::clone(shared);
        spawn("far-read", move || read_far(&own, connection, reader, checks))?;
        let own = Arc::clone(shared);
        spawn("far-write", move || write_far(&own, connection, writer))?;
        if let Some(stderr) = stderr {
            let own = Arc::clone(shared);
            spawn("far-stderr", move || pass_stderr(&own, connection, stderr))?;
        }
        // Elsewhere the end of its output tells.
        if let Some(pid) = pid.filter(|_| cfg!(unix)) {
            let own = Arc::clone(shared);
            spawn("far-exit", move || wait_child(&own, connection, pid))?;
        }
        Ok(())
    })();
    let haste = if threads.is_ok() { watch(shared, connection, &end) } else { Haste::Urgent };
    let exited = |now: &Now| now.exited >= connection;
    if pid.is_some() && haste == Haste::Calm {
        // Its output is over; in a moment it has a status that can be told.
        shared.wait_until(LEFTOVERS, |now| exited(now) || now.ends());
    }
    let reason = end.reason(exited(&shared.lock()));
    let mut now = shared.lock();
    // What it says from now on is nobody's.
    now.connection += 1;
    let answered = now.relay.has_answered();
    if now.signal.is_none() && !now.host_gone {
        now.relay.far_down(&reason, shared.time());
    }
    shared.changed(&mut now);
    drop(now);
    shared.log.put(What::Event(Event::Other(format!("connection over: {reason}"))));
    end.end(haste, |at_most| shared.wait_until(at_most, exited));
    if pid.is_some() {
        // Its last words are for people.
        shared.wait_until(LEFTOVERS, |now| now.silent >= connection || now.signal.is_some());
    }
    // A process that it left behind may hold its pipes for ever; the threads must not.
    drop(using);
    let mut now = shared.lock();
    (now.live, now.pid) = (false, None);
    shared.changed(&mut now);
    threads.map(|()| (answered, reason.to_string()))
}

/// Waits for the end of a connection.
fn watch(shared: &Shared, connection: u64, end: &End) -> Haste {
    let mut now = shared.lock();
    let mut until: Option<(Instant, Haste)> = None;
    loop {
        if now.signal.is_some() {
            return Haste::Urgent;
        }
        if now.mute || now.host_gone {
            return Haste::Calm;
        }
        if now.upgrading
            && let End::Serial(wire, _) = end
        {
            drop(now);
            wire.upgrade();
            now = shared.lock();
            now.upgrading = false;
            shared.changed(&mut now);
            continue;
        }
        if now.relay.is_done() && until.is_none() {
            if !end.has_half_close() {
                return Haste::Calm;
            }
            now.half_closed = true;
            shared.changed(&mut now);
            until = Some((Instant::now() + GRACE, Haste::Late));
        } else if (now.deaf || now.exited >= connection) && until.is_none() {
            until = Some((Instant::now() + LEFTOVERS, Haste::Calm));
        } else if now.relay.host_is_behind()
            && !now.relay.is_done()
            && let Some((at, Haste::Calm)) = &mut until
        {
            // What it has said waits for the host: its time does not run.
            *at = Instant::now() + LEFTOVERS;
        }
        now = match until {
            None => shared.wait(now),
            Some((at, haste)) => {
                let left = at.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return haste;
                }
                shared.wait_for(now, left)
            }
        };
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Builder::new().name(name.into()).spawn(run).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pauses after each of these lives, in milliseconds.
    fn pauses(medium: Medium, lives: &[(bool, u64)]) -> Vec<u128> {
        let mut tries = Tries::default();
        let mut pause = |&(answered, lasted)| {
            tries.lived(answered, Duration::from_millis(lasted));
            tries.pause(medium).as_millis()
        };
        lives.iter().map(&mut pause).collect()
    }

    #[test]
    fn a_far_end_that_is_of_no_use_is_tried_more_and_more_seldom() {
        let short = [(false, 50); 8];
        assert_eq!(pauses(Medium::Command, &short), [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
        assert_eq!(pauses(Medium::Stream, &short), pauses(Medium::Command, &short));
        assert_eq!(pauses(Medium::Serial, &short), [250, 500, 1000, 2000, 2000, 2000, 2000, 2000]);
        let mixed = [(true, 50), (false, 4999), (false, 50), (true, 50), (false, 50), (false, 5000)];
        assert_eq!(pauses(Medium::Command, &mixed), [0, 250, 500, 0, 250, 0]);
    }

    #[test]
    fn a_connection_that_comes_about_does_not_hide_that_the_last_ones_were_of_no_use() {
        let mut tries = Tries::default();
        for _ in 0..4 {
            tries.lived(false, Duration::ZERO);
            tries.failed();
        }
        assert_eq!(tries.pause(Medium::Stream), Duration::from_secs(2));
        tries.lived(true, Duration::ZERO);
        assert_eq!(tries.pause(Medium::Stream), Duration::ZERO);
    }
}

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
/// A command that ended so often without ever an answer will not do better.
const DEATHS: u32 = 2;

/// Connects, over and over, until the bridge ends or there is no use in it. `first` is a connection that is there already.
pub(super) fn keep(shared: &Arc<Shared>, mut dialer: Dialer, mut first: Option<Link>) {
    let (mut failures, mut deaths) = (0, 0);
    let over = loop {
        if shared.wait_until(pause(dialer.medium(), failures), Now::ends) {
            break Ok(());
        }
        let link = match first.take().map_or_else(|| dialer.dial(), Ok) {
            Ok(link) => link,
            Err(failure) => {
                failures += 1;
                let mut now = shared.lock();
                now.relay.far_trouble(failure.message, shared.time());
                now.tried = true;
                shared.changed(&mut now);
                continue;
            }
        };
        let (answered, ended) = match live(shared, link) {
            Ok(lived) => lived,
            Err(error) => break Err(Failure::io("can't start a thread", &error)),
        };
        let mut now = shared.lock();
        if now.ends() {
            break Ok(());
        }
        failures = if answered { 0 } else { failures + 1 };
        deaths += 1;
        if dialer.medium() == Medium::Command && !now.relay.ever_answered() && deaths >= DEATHS {
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

/// How long to wait before the next try. The first one after a connection that was good comes at once.
fn pause(medium: Medium, failures: u32) -> Duration {
    let most = match medium {
        // Looking for a port costs nothing, and somebody has just plugged it in.
        Medium::Serial => PAUSE,
        Medium::Stream => Duration::from_secs(2),
        Medium::Command => Duration::from_secs(10),
    };
    match failures.checked_sub(1) {
        None => Duration::ZERO,
        Some(doubled) => PAUSE.saturating_mul(1 << doubled.min(16)).min(most),
    }
}

/// One connection, from its beginning to its end: whether its far end answered anything, and how it ended.
fn live(shared: &Arc<Shared>, link: Link) -> io::Result<(bool, String)> {
    let Link { reader, writer, stderr, mut end } = link;
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

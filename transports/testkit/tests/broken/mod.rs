//! Transports with one fault each, made so that one check alone can see it.

mod halves;
mod relay;

use barewire_testkit::{Claims, End, Link, PipeReader, PipeWriter, duplex, pipe};
use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use halves::{Closing, Counts, EndsLines, Forgotten, Newest, Shared, Swaps, WaitsForLines};
use relay::{Lines, has};
use std::{
    fs::File,
    io::{self, Write},
    mem,
    sync::{Arc, Condvar, Mutex, Weak},
    thread,
};

type Connect = Box<dyn FnMut() -> io::Result<Link>>;

/// What the good one is, small enough to be quick.
pub(crate) fn claims() -> Claims {
    Claims::stream().half_close().largest(20_000).holds(1 << 20)
}

/// What the check `name` must say of it: it is caught for this, not for something else.
pub(crate) fn symptom(name: &str) -> &'static str {
    match name {
        "handshake-legacy" => "2024-11-05: the session did not open",
        "handshake-modern" => "2026-07-28: the session did not open",
        "chunkings" => "with writes of 1 and reads of 1 bytes",
        "borders" => "client to server: a message of",
        "payloads-up" => "arguments of 65535 bytes arrived changed",
        "payloads-down" => "a result of 65535 bytes arrived with 65535 bytes, changed from",
        "order" => "client to server: message 1 came before 0",
        "pipelining" => "999 of 1000 answers had come",
        "concurrency" => "8 slow calls are open, and a fast one made after them: nothing came",
        "interleaving" => "received what it could not read, so a message was torn",
        "cancellation" => "a running call was cancelled and the server did not hear of it",
        "deadlines" => "ended otherwise than by its deadline",
        "half-close" => "101 calls were made, then the output was closed",
        "abrupt-close" => "the client died after byte 1 of",
        "release" => "a client that writes still waits",
        "back-pressure" => "127 of 128 answers had come",
        "memory" => "the client wrote",
        "noise" => "came before it: writing failed: invalid utf-8",
        "isolation" => "4 are open, connection 0, call 0",
        "shutdown" => "16 threads",
        _ => "nothing that it says",
    }
}

/// The transport that only the check `name` can tell from a good one; `None` if nobody made one yet.
pub(crate) fn broken(name: &str) -> Option<(Claims, Connect)> {
    let connect: Connect = match name {
        // Lets only those messages pass that it knows.
        "handshake-legacy" => {
            up(|| |line, to| if has(line, "2024-11-05") { Ok(()) } else { to.write_all(line) })
        }
        "handshake-modern" => {
            up(|| |line, to| if has(line, "server/discover") { Ok(()) } else { to.write_all(line) })
        }
        // Forgets that notifications have no answer to wait for.
        "cancellation" => {
            up(|| |line, to| if has(line, "notifications/") { Ok(()) } else { to.write_all(line) })
        }
        // Takes a write for a message.
        "chunkings" => Box::new(|| {
            let ((read, write), server) = wires();
            Ok(Link::pair(End::stream(read, EndsLines(write)), server))
        }),
        // Takes a line feed for the end of a message.
        "borders" => {
            return Some((Claims::messages().largest(60_000).holds(1 << 20), Box::new(split_messages)));
        }
        // Counts lengths in 16 bits.
        "payloads-up" => return Some((claims().largest(200_000), up(|| damaged))),
        "payloads-down" => return Some((claims().largest(200_000), down(|| damaged))),
        // Sends a batch in the wrong order.
        "order" => Box::new(|| {
            let ((read, write), server) = wires();
            Ok(Link::pair(End::stream(read, Swaps(write)), server))
        }),
        // Loses a message now and then: the 600th.
        "pipelining" => up(|| {
            let mut calls = 0;
            move |line, to| {
                calls += usize::from(has(line, "\"id\":"));
                if calls == 600 { Ok(()) } else { to.write_all(line) }
            }
        }),
        // Lets what it says by one thread into what it says by another.
        "interleaving" => torn(),
        // Waits for an answer before it sends the next request, if the first one looks slow.
        "concurrency" => lock_step(),
        // Gives up a connection whose answer takes long.
        "deadlines" => up(|| {
            |line, to| {
                if has(line, "past the deadline") {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                to.write_all(line)
            }
        }),
        // Closes both directions at once.
        "half-close" => Box::new(closes_all),
        // Waits for the rest of a message that will never come.
        "abrupt-close" => Box::new(|| {
            let ((read, write), (server_read, server_write)) = raw();
            let server = End::stream(WaitsForLines(server_read, false), server_write);
            Ok(Link::pair(End::stream(read, write), server))
        }),
        // Forgets those who wait to write.
        "release" => Box::new(|| {
            let ((read, write), (server_read, server_write)) = raw();
            let server = End::stream(Forgotten(Some(server_read)), server_write);
            Ok(Link::pair(End::stream(read, write), server))
        }),
        // Drops a message when its buffer is full.
        "back-pressure" => return Some((claims().holds(4 << 20), drops_when_full())),
        // Has no bound.
        "memory" => Box::new(|| Ok(Link::from(duplex(usize::MAX)))),
        // Decodes text that is none.
        "noise" => {
            return Some((
                claims().noise(),
                up(|| {
                    |line, to| match core::str::from_utf8(line) {
                        Ok(_) => to.write_all(line),
                        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
                    }
                }),
            ));
        }
        // Keeps the newest client in a static.
        "isolation" => crossed(),
        // Keeps a descriptor and a thread of each connection.
        "shutdown" => Box::new(|| {
            mem::forget(File::open("/dev/null")?);
            thread::spawn(rest);
            Ok(Link::from(duplex(1 << 16)))
        }),
        _ => return None,
    };
    Some((claims(), connect))
}

/// Does nothing for ever.
fn rest() -> ! {
    loop {
        thread::park();
    }
}

type Raw = (PipeReader, PipeWriter);

/// The halves of the client's end and of the server's.
fn raw() -> (Raw, Raw) {
    let (server_read, write) = pipe(1 << 16);
    let (read, server_write) = pipe(1 << 16);
    ((read, write), (server_read, server_write))
}

fn wires() -> (Raw, End) {
    let (client, (read, write)) = raw();
    (client, End::stream(read, write))
}

/// Does something to each line from client to server.
fn up<F>(make: impl Fn() -> F + 'static) -> Connect
where
    F: FnMut(&[u8], &mut PipeWriter) -> io::Result<()> + Send + 'static,
{
    Box::new(move || {
        let ((read, write), server) = wires();
        Ok(Link::pair(End::stream(read, Lines::new(write, make())), server))
    })
}

/// Does something to each line from server to client.
fn down<F>(make: impl Fn() -> F + 'static) -> Connect
where
    F: FnMut(&[u8], &mut PipeWriter) -> io::Result<()> + Send + 'static,
{
    Box::new(move || {
        let ((read, write), (server_read, server_write)) = raw();
        let server = End::stream(server_read, Lines::new(server_write, make()));
        Ok(Link::pair(End::stream(read, write), server))
    })
}

/// The same with a count that each answer takes one from.
fn both<F>(f: F) -> Connect
where
    F: Fn(&AtomicUsize, &[u8], &mut PipeWriter) -> io::Result<()> + Clone + Send + 'static,
{
    Box::new(move || {
        let ((read, write), (server_read, server_write)) = raw();
        let open = Arc::new(AtomicUsize::new(0));
        let (counted, f) = (Arc::clone(&open), f.clone());
        let write = Lines::new(write, move |line, to| f(&open, line, to));
        let server_write = Lines::new(server_write, move |line, to| {
            let _ = counted.fetch_update(SeqCst, SeqCst, |n| n.checked_sub(1));
            to.write_all(line)
        });
        Ok(Link::pair(End::stream(read, write), End::stream(server_read, server_write)))
    })
}

fn damaged(line: &[u8], to: &mut PipeWriter) -> io::Result<()> {
    let mut line = line.to_vec();
    if let Some(byte) = line.get_mut(65_536) {
        *byte ^= 1;
    }
    to.write_all(&line)
}

fn torn() -> Connect {
    Box::new(|| {
        let held = Arc::new(Mutex::new(None::<Vec<u8>>));
        let mut inner = both(move |open, line, to| {
            let open = open.fetch_add(usize::from(has(line, "\"id\":")), SeqCst);
            if let Some(first) = held.lock().unwrap().take() {
                let (head, tail) = first.split_at(first.len() / 2);
                to.write_all(head)?;
                to.write_all(line)?;
                return to.write_all(tail);
            }
            if open >= 4 && line.len() > 2048 {
                *held.lock().unwrap() = Some(line.to_vec());
                return Ok(());
            }
            to.write_all(line)
        });
        inner()
    })
}

fn lock_step() -> Connect {
    Box::new(|| {
        let ((read, write), (server_read, server_write)) = raw();
        let state = Arc::new((Mutex::new(false), Condvar::new()));
        let freed = Arc::clone(&state);
        let write = Lines::new(write, move |line, to: &mut PipeWriter| {
            let (busy, changed) = &*state;
            let mut busy = changed.wait_while(busy.lock().unwrap(), |busy| *busy).unwrap();
            *busy = has(line, "slow call");
            drop(busy);
            to.write_all(line)
        });
        let server_write = Lines::new(server_write, move |line, to: &mut PipeWriter| {
            *freed.0.lock().unwrap() = false;
            freed.1.notify_all();
            to.write_all(line)
        });
        Ok(Link::pair(End::stream(read, write), End::stream(server_read, server_write)))
    })
}

fn closes_all() -> io::Result<Link> {
    let ((read, write), (server_read, server_write)) = raw();
    let down = Arc::new(Mutex::new(Some(server_write)));
    let write = Closing(write, Arc::clone(&down));
    let server_write = Shared(down);
    Ok(Link::pair(End::stream(read, write), End::stream(server_read, server_write)))
}

fn drops_when_full() -> Connect {
    const ROOM: usize = 1 << 20;
    Box::new(|| {
        let (server_read, write) = pipe(1 << 16);
        let (read, server_write) = pipe(2 * ROOM);
        let inside = Arc::new(AtomicUsize::new(0));
        let read = Counts(read, Arc::clone(&inside));
        let mut dropped = false;
        let server_write = Lines::new(server_write, move |line, to: &mut PipeWriter| {
            if !dropped && inside.load(SeqCst) + line.len() > ROOM {
                dropped = true;
                return Ok(());
            }
            inside.fetch_add(line.len(), SeqCst);
            to.write_all(line)
        });
        Ok(Link::pair(End::stream(read, write), End::stream(server_read, server_write)))
    })
}

fn crossed() -> Connect {
    let newest = Arc::new(Mutex::new(Weak::<Mutex<Option<PipeWriter>>>::new()));
    Box::new(move || {
        let ((read, write), (server_read, server_write)) = raw();
        let own = Arc::new(Mutex::new(Some(server_write)));
        *newest.lock().unwrap() = Arc::downgrade(&own);
        let server_write = Newest(own, Arc::clone(&newest));
        Ok(Link::pair(End::stream(read, write), End::stream(server_read, server_write)))
    })
}

/// A channel of messages over a queue, which splits them at line feeds.
fn split_messages() -> io::Result<Link> {
    let (client, server) = crate::common::messages(4);
    let (send, receive) = client;
    let mut send = send;
    let splitting = move |message: &[u8]| message.split(|byte| *byte == b'\n').try_for_each(&mut send);
    Ok(Link::pair(End::messages(splitting, receive), End::messages(server.0, server.1)))
}

//! Ends of one direction, of both, at any moment, and of those who wait.

use super::outside;
use crate::{
    bench::{Bench, Halt, Halves, Server, Session, within},
    claims::Form,
    link::Far,
    motion::{Moved, still},
    peer::call,
    text::shown,
    wrap::Counted,
};
use core::sync::atomic::Ordering::Relaxed;
use std::{
    io::{Read, Write},
    sync::{Arc, mpsc},
    thread,
};

pub(crate) fn half_close(bench: &mut Bench<'_>) -> Result<String, Halt> {
    const CALLS: usize = 100;
    let mut session = bench.open()?;
    let peer = &mut session.peer;
    // One of them ends only after the server has seen the end of its input.
    let slow = peer.call("await", "end of input");
    let ids: Vec<u64> = (0..CALLS).map(|n| peer.call("echo", &format!("before the end {n}"))).collect();
    peer.finish();
    let answers = peer
        .answers(CALLS + 1)
        .map_err(|what| format!("{} calls were made, then the output was closed: {what}", CALLS + 1))?;
    if !ids.iter().chain([&slow]).all(|id| answers.contains_key(id)) {
        return Err("answers came to other calls than were made".to_owned().into());
    }
    session.server.ended(bench.patience)?;
    session.peer.end()?;
    Ok(format!("{} calls answered after the end of the input", CALLS + 1))
}

pub(crate) fn abrupt_close(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let session = session();
    if bench.claims.endless {
        return next_session(bench, &session);
    }
    for cut in 0..=session.len() {
        let ((read, mut write), mut server) = bench.lines()?;
        let part = session[..cut].to_vec();
        let wrote = within(bench.patience, move || {
            // The server may have gone first: then there is nothing to write to.
            let _ = write.write_all(&part).and_then(|()| write.flush());
            drop((write, read));
        });
        if wrote.is_none() {
            return Err(
                format!("the client wrote {cut} bytes and dropped its end, which took for ever").into()
            );
        }
        server
            .ended(bench.patience)
            .map_err(|what| format!("the client died after byte {cut} of {}: {what}", session.len()))?;
    }
    let down = if bench.claims.reliable { deaths_of_the_server(bench)? } else { 0 };
    let server = if down > 0 { format!(", the server's at {down}") } else { String::new() };
    Ok(format!("the client's at {} places{server}", session.len() + 1))
}

/// Where nobody sees an end: whatever the client before left behind, the next one is served.
fn next_session(bench: &mut Bench<'_>, session: &[u8]) -> Result<String, Halt> {
    for cut in 0..=session.len() {
        let ((read, mut write), _server) = bench.lines()?;
        let part = session[..cut].to_vec();
        let wrote = within(bench.patience, move || {
            let wrote = write.write_all(&part).and_then(|()| write.flush());
            drop((write, read));
            wrote
        });
        match wrote {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(format!("writing {cut} bytes failed: {error}").into()),
            None => {
                return Err(format!(
                    "the client wrote {cut} bytes and gave the line up, which took for ever"
                )
                .into());
            }
        }
        let died = |what| {
            format!("a client died after byte {cut} of {}, and of the next one: {what}", session.len())
        };
        let Session { mut peer, server } = bench.open().map_err(|halt| match halt {
            Halt::Failed(what) => Halt::Failed(died(what)),
            skip @ Halt::Skip(_) => skip,
        })?;
        peer.echo(&format!("after byte {cut}")).map_err(died)?;
        close(peer, server, bench)?;
    }
    Ok(format!("the client's at {} places, and the next one was served each time", session.len() + 1))
}

/// What a client says in a short session.
fn session() -> Vec<u8> {
    let mut session = Vec::from(
        &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\
          \"capabilities\":{},\"clientInfo\":{\"name\":\"kit\",\"version\":\"1\"}}}\n\
          {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"[..],
    );
    session.extend(call(2, "echo", "{\"text\":\"grün\"}".as_bytes()));
    session
}

/// How many; none where the server's end is elsewhere.
fn deaths_of_the_server(bench: &mut Bench<'_>) -> Result<usize, Halt> {
    let answer = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"gr\xc3\xbc\xc3\x9fe\"}]}}\n";
    for cut in 0..=answer.len() {
        let link = bench.link()?;
        let Far::Here(server) = link.far else { return Ok(0) };
        let ((mut read, _held), (server_read, mut server_write)) =
            (link.client.into_lines(), server.into_lines());
        let part = answer[..cut].to_vec();
        let seen = within(bench.patience, move || {
            let _ = server_write.write_all(&part).and_then(|()| server_write.flush());
            drop((server_write, server_read));
            let mut seen = Vec::new();
            // An error is an end too.
            let _ = read.read_to_end(&mut seen);
            seen
        });
        let Some(seen) = seen else {
            return Err(
                format!("the server died after byte {cut} of an answer, and the client saw no end").into()
            );
        };
        let expected: &[u8] = match bench.claims.form {
            Form::Stream => &answer[..cut],
            // Only a whole message is one.
            Form::Messages if cut < answer.len() => &[],
            Form::Messages => answer,
        };
        if seen != expected {
            return Err(format!(
                "the server died after byte {cut} of an answer; the client should have read {}, and read {}",
                shown(expected),
                shown(&seen)
            )
            .into());
        }
    }
    Ok(answer.len() + 1)
}

pub(crate) fn release(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let mut blocked = 0;
    for client_waits in [true, false] {
        let Some((client, server)) = bench.both_ends()? else { return outside::release(bench) };
        let (waits, drops) = if client_waits { (client, server) } else { (server, client) };
        let who = if client_waits { "client" } else { "server" };
        let ((read, write), other): (Halves, Halves) = (waits.into_lines(), drops.into_lines());
        let wrote = Moved::default();
        let (tell, released) = mpsc::channel();
        let (counted, told) = (Arc::clone(&wrote), tell.clone());
        let enough = bench.claims.holds as u64;
        let line = line(bench);
        thread::spawn(move || {
            let mut write = Counted(write, Arc::clone(&counted));
            // If it takes more than it says, another check tells.
            while counted.load(Relaxed) < enough
                && write.write_all(&line).and_then(|()| write.flush()).is_ok()
            {}
            drop(write);
            let _ = told.send("writes");
        });
        thread::spawn(move || {
            let mut read = read;
            // Until the end or an error.
            while read.read(&mut [0; 4096]).is_ok_and(|n| n > 0) {}
            let _ = tell.send("reads");
        });
        still(&wrote, bench.patience);
        blocked += usize::from(wrote.load(Relaxed) < enough);
        if within(bench.patience, move || drop(other)).is_none() {
            return Err(format!("the far end of the {who} was dropped, which took for ever").into());
        }
        let mut waiting = vec!["reads", "writes"];
        while let Some(last) = waiting.first() {
            match released.recv_timeout(bench.patience) {
                Ok(done) => waiting.retain(|one| *one != done),
                Err(_) => {
                    return Err(format!(
                        "the far end is gone, and a {who} that {last} still waits after {:?}",
                        bench.patience
                    )
                    .into());
                }
            }
        }
    }
    Ok(format!("2 readers, {blocked} writers"))
}

/// A line that fits, long enough to fill things.
pub(crate) fn line(bench: &Bench<'_>) -> Vec<u8> {
    let mut line = vec![b'x'; bench.claims.largest.min(16 << 10)];
    line.push(b'\n');
    line
}

/// Ends a session that is over, in order.
pub(crate) fn close(
    mut peer: crate::peer::Peer,
    mut server: Server,
    bench: &Bench<'_>,
) -> Result<(), String> {
    peer.finish();
    server.ended(bench.patience)?;
    // Where both directions end at once, the client may have ended its own reading.
    if bench.claims.half_close { peer.end() } else { peer.over() }
}

//! Messages keep their order, both ways at once.

use crate::{
    bench::{Bench, Halt, Halves, within},
    text::shown,
};
use std::{
    io::{BufRead, BufReader, Write},
    thread,
};

const MESSAGES: u32 = 2000;
/// So many go into one write.
const BATCH: u32 = 5;

pub(crate) fn order(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let Some((client, server)) = bench.both_ends()? else { return by_diary(bench) };
    let ((client_read, client_write), (server_read, server_write)): (Halves, Halves) =
        (client.into_lines(), server.into_lines());
    let reliable = bench.claims.reliable;
    // Writers stay until both directions are read: no direction must end alone.
    let writers = [client_write, server_write].map(|write| thread::spawn(move || send(write)));
    let mut waits = Vec::new();
    for (name, read) in [("client to server", server_read), ("server to client", client_read)] {
        let patience = bench.patience;
        waits.push((name, thread::spawn(move || within(patience, move || receive(read, reliable)))));
    }
    let results: Vec<_> = waits.into_iter().map(|(name, wait)| (name, wait.join().unwrap_or(None))).collect();
    // A transport that hangs keeps them for ever; then they are left to themselves.
    drop(writers.map(|writer| writer.is_finished().then(|| writer.join())));
    for (name, result) in results {
        match result {
            Some(result) => result.map_err(|what| format!("{name}: {what}"))?,
            None if !reliable => {}
            None => {
                return Err(format!("{name}: not all messages had come after {:?}", bench.patience).into());
            }
        }
    }
    Ok(format!("{MESSAGES} messages each way"))
}

/// Where the far end is elsewhere: the server there keeps a diary of what it received and sent.
fn by_diary(bench: &mut Bench<'_>) -> Result<String, Halt> {
    const CALLS: usize = 500;
    if !bench.claims.reliable {
        return Err(Halt::Skip("the far end is elsewhere, and messages may get lost"));
    }
    let mut session = bench.open()?;
    let peer = &mut session.peer;
    let asked: Vec<u64> = (0..CALLS).map(|n| peer.call("echo", &format!("number {n}"))).collect();
    peer.answers(CALLS)?;
    let diary = peer.call("diary", "");
    let diary = peer.answer(diary)?;
    let (received, sent) = diary.split_once(';').unwrap_or_default();
    if received.is_empty() || sent.is_empty() {
        return Err(Halt::Skip("the server at the far end keeps no diary"));
    }
    for (name, before, after) in [
        // The call for the diary is in it, its answer is not. Where nothing ends, so is what was before.
        ("client to server", &asked, last(CALLS + 1, ids(received))),
        ("server to client", &last(CALLS, ids(sent)), peer.came.clone()),
    ] {
        if let Some(at) = (0..CALLS).find(|at| before.get(*at) != after.get(*at)) {
            return Err(format!(
                "{name}: in place {} stood call {:?}, and call {:?} arrived",
                at + 1,
                before.get(at),
                after.get(at)
            )
            .into());
        }
    }
    Ok(format!("{CALLS} messages each way"))
}

fn last(n: usize, mut ids: Vec<u64>) -> Vec<u64> {
    ids.drain(..ids.len().saturating_sub(n));
    ids
}

fn ids(list: &str) -> Vec<u64> {
    list.split(',').filter_map(|id| id.parse().ok()).collect()
}

fn send(mut write: Box<dyn Write + Send>) -> std::io::Result<Box<dyn Write + Send>> {
    for first in (0..MESSAGES).step_by(BATCH as usize) {
        let batch: String = (first..first + BATCH).map(|n| format!("{{\"n\":{n}}}\n")).collect();
        write.write_all(batch.as_bytes())?;
        write.flush()?;
    }
    Ok(write)
}

fn receive(read: impl std::io::Read, reliable: bool) -> Result<(), String> {
    let mut lines = BufReader::new(read).split(b'\n');
    let mut next = 0;
    while next < MESSAGES {
        let line = match lines.next() {
            Some(Ok(line)) if line.is_empty() => continue,
            Some(Ok(line)) => line,
            Some(Err(error)) => return Err(format!("reading failed: {error}")),
            None if reliable => return Err(format!("the end came before message {next}")),
            None => return Ok(()),
        };
        let text = String::from_utf8_lossy(&line);
        let number = text.strip_prefix("{\"n\":").and_then(|rest| rest.strip_suffix('}'));
        match number.and_then(|number| number.parse::<u32>().ok()) {
            Some(n) if n == next || n > next && !reliable => next = n + 1,
            Some(n) if n < next => return Err(format!("message {n} came again, or after {}", next - 1)),
            Some(n) => return Err(format!("message {n} came before {next}")),
            None => return Err(format!("a message came that was never sent: {}", shown(&line))),
        }
    }
    Ok(())
}

//! What may lie on the way: not too little, not too much, and not only messages.

use super::{ends::line, outside};
use crate::{
    bench::{Bench, Halt, Halves},
    motion::{Moved, Pieces, still},
    text::{digest, pattern},
    wrap::{Counted, JUNK, Noisy},
};
use core::sync::atomic::Ordering::Relaxed;
use std::{io::Write, sync::Arc, thread};

pub(crate) fn back_pressure(bench: &mut Bench<'_>) -> Result<String, Halt> {
    const ANSWERS: usize = 128;
    let size = bench.claims.payload(32 << 10);
    let mut session = bench.open()?;
    let peer = &mut session.peer;
    peer.pause();
    let ids: Vec<u64> = (0..ANSWERS).map(|_| peer.call_number("source", size)).collect();
    // Until the server can write no more, or has written everything.
    peer.settle();
    peer.resume();
    let answers = peer.answers(ANSWERS).map_err(|what| {
        format!("a reader stopped, {ANSWERS} results of {size} bytes were written, it went on: {what}")
    })?;
    let whole = digest(&pattern(size, size as u64));
    if let Some(id) = ids.iter().find(|id| answers.get(id).is_none_or(|text| digest(text) != whole)) {
        return Err(format!("a reader stopped and went on: the result of call {id} arrived changed").into());
    }
    peer.echo("it goes on")?;
    Ok(format!("{ANSWERS} results of {size} bytes"))
}

pub(crate) fn memory(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let most = bench.claims.holds as u64;
    let mut held = [0; 2];
    for (held, up) in held.iter_mut().zip([true, false]) {
        let Some((client, server)) = bench.both_ends()? else { return outside::memory(bench) };
        let (writes, silent) = if up { (client, server) } else { (server, client) };
        let ((_read, write), _silent): (Halves, Halves) = (writes.into_lines(), silent.into_lines());
        let wrote = Moved::default();
        let line = line(bench);
        let count = Arc::clone(&wrote);
        thread::spawn(move || {
            let mut write = Counted(write, Arc::clone(&count));
            while count.load(Relaxed) <= most && write.write_all(&line).and_then(|()| write.flush()).is_ok() {
            }
        });
        still(&wrote, bench.patience);
        *held = wrote.load(Relaxed);
        if *held > most {
            return Err(format!(
                "the {} wrote {held} bytes that nobody read, and was never made to wait; {most} are claimed",
                if up { "client" } else { "server" }
            )
            .into());
        }
    }
    Ok(format!("{} and {} bytes lay unread", held[0], held[1]))
}

pub(crate) fn noise(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let mut session = bench.open_with(Pieces::LARGE, |write| Noisy(write, 0))?;
    let peer = &mut session.peer;
    peer.noisy = true;
    let long = vec![b'~'; bench.claims.largest.min(10_000)];
    for (round, junk) in JUNK.iter().copied().chain([&long[..]]).enumerate() {
        let mut noise = junk.to_vec();
        noise.push(b'\n');
        peer.send(noise);
        peer.echo(&format!("after noise {round}"))
            .map_err(|what| format!("noise {} came before it: {what}", crate::text::shown(junk)))?;
    }
    Ok(format!("{} kinds, both ways", JUNK.len() + 1))
}

//! What can be found out about writers when the far end is elsewhere: the server there can be told to read no more.

use super::ends::line;
use crate::{
    bench::{Bench, Halt, Server, within},
    motion::{Moved, still},
    peer::call,
    wrap::Counted,
};
use core::{sync::atomic::Ordering::Relaxed, time::Duration};
use std::{
    io::{BufRead, BufReader, Read, Write},
    sync::{Arc, mpsc},
    thread,
    time::Instant,
};

/// How long the server reads nothing, before it ends.
const DEAF: Duration = Duration::from_secs(2);

/// A client that writes to a server which does not read.
struct Unheard {
    wrote: Moved,
    /// Tells who was released: "writes", then or before that "reads".
    released: mpsc::Receiver<&'static str>,
    /// Until then the server surely does not read.
    until: Instant,
    _server: Server,
}

fn unheard(bench: &mut Bench<'_>) -> Result<Unheard, Halt> {
    let ((read, mut write), server) = bench.lines()?;
    let until = Instant::now() + DEAF;
    let endless = bench.claims.endless;
    let told = within(bench.patience, move || {
        write.write_all(&call(1, "deaf", format!("{{\"number\":{}}}", DEAF.as_millis()).as_bytes()))?;
        write.flush()?;
        let mut read = BufReader::new(read);
        let mut answer = String::new();
        // Where nothing ends, the one before may have left something.
        while read.read_line(&mut answer)? > 0 && endless && !told_of_deafness(&answer) {
            answer.clear();
        }
        Ok::<_, std::io::Error>((read, write, answer))
    });
    let (mut read, write, answer) = match told {
        None => return Err(format!("a first call was not answered within {:?}", bench.patience).into()),
        Some(Err(error)) => return Err(format!("a first call failed: {error}").into()),
        Some(Ok(told)) => told,
    };
    if !answer.contains("\"deaf\"") {
        return Err(Halt::Skip("it needs both ends, or a server at the far end that can stop to read"));
    }
    let wrote = Moved::default();
    let (tell, released) = mpsc::channel();
    let (count, told) = (Arc::clone(&wrote), tell.clone());
    let most = bench.claims.holds as u64;
    let line = line(bench);
    thread::spawn(move || {
        let mut write = Counted(write, Arc::clone(&count));
        while count.load(Relaxed) <= most && write.write_all(&line).and_then(|()| write.flush()).is_ok() {}
        // Kept until somebody looked: dropping it would be an end of its own.
        let _ = told.send("writes");
        thread::sleep(DEAF);
    });
    thread::spawn(move || {
        while read.read(&mut [0; 4096]).is_ok_and(|n| n > 0) {}
        let _ = tell.send("reads");
    });
    Ok(Unheard { wrote, released, until, _server: server })
}

fn told_of_deafness(answer: &str) -> bool {
    answer.contains("\"deaf\"") || answer.contains("\"it cannot\"")
}

pub(crate) fn memory(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let unheard = unheard(bench)?;
    still(&unheard.wrote, unheard.until.saturating_duration_since(Instant::now()));
    let held = unheard.wrote.load(Relaxed);
    let most = bench.claims.holds as u64;
    // Later than that the server may be gone.
    if held > most && Instant::now() < unheard.until {
        return Err(format!(
            "the client wrote {held} bytes that nobody read, and was never made to wait; {most} are claimed"
        )
        .into());
    }
    Ok(format!("{held} bytes lay unread on the way to the server; the way back was not measured"))
}

pub(crate) fn release(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let unheard = unheard(bench)?;
    let mut waiting = vec!["reads", "writes"];
    while let Some(last) = waiting.first() {
        match unheard.released.recv_timeout(bench.patience + DEAF) {
            Ok(done) => waiting.retain(|one| *one != done),
            Err(_) => {
                return Err(format!("the server is gone, and a client that {last} still waits").into());
            }
        }
    }
    Ok("the client's reader and writer".to_owned())
}

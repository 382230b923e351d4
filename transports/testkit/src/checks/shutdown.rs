//! Connections beside each other, and what is left of them.

use super::{ends::close, leaks::Census};
use crate::bench::{Bench, Halt, Session};

pub(crate) fn isolation(bench: &mut Bench<'_>) -> Result<String, Halt> {
    const SESSIONS: usize = 4;
    let mut sessions: Vec<Session> = (0..SESSIONS).map(|_| bench.open()).collect::<Result<_, _>>()?;
    for round in 0..4 {
        let calls: Vec<(u64, String)> = sessions
            .iter_mut()
            .enumerate()
            .map(|(n, session)| {
                let text = format!("connection {n}, call {round}");
                (session.peer.call("echo", &text), text)
            })
            .collect();
        for (session, (id, text)) in sessions.iter_mut().zip(calls) {
            let got =
                session.peer.answer(id).map_err(|what| format!("{SESSIONS} are open, {text}: {what}"))?;
            if got != text {
                return Err(format!("{text} got the answer to {got}").into());
            }
        }
    }
    Ok(format!("{SESSIONS} connections at once"))
}

pub(crate) fn shutdown(bench: &mut Bench<'_>) -> Result<String, Halt> {
    const SESSIONS: usize = 16;
    let reliable = bench.claims.reliable;
    // The first may start what serves all that follow.
    one(bench, reliable)?;
    let before = Census::take();
    for n in 0..SESSIONS {
        one(bench, reliable).map_err(|halt| match halt {
            Halt::Failed(what) => Halt::Failed(format!("connection {}: {what}", n + 1)),
            skip @ Halt::Skip(_) => skip,
        })?;
    }
    let Some(before) = before else {
        return Ok(format!(
            "{SESSIONS} connections; threads and descriptors can't be counted on this system"
        ));
    };
    before.settled(bench.patience).map_err(|what| format!("after {SESSIONS} connections: {what}"))?;
    Ok(format!("{SESSIONS} connections, no thread and no descriptor left"))
}

fn one(bench: &mut Bench<'_>, reliable: bool) -> Result<(), Halt> {
    let Session { mut peer, server } = bench.open()?;
    if reliable {
        peer.echo("the only call")?;
        close(peer, server, bench)?;
    } else {
        // It may get lost; the end may not.
        peer.call("echo", "the only call");
        let mut server = server;
        peer.finish();
        server.ended(bench.patience)?;
    }
    Ok(())
}

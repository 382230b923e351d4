//! Many calls at once.

use crate::{
    bench::{Bench, Halt},
    peer::Peer,
    text::{pattern, shown},
};

const CALLS: usize = 1000;
const SLOW: usize = 8;
const MIXED: usize = 256;

pub(crate) fn pipelining(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let mut session = bench.open()?;
    let sent: Vec<(u64, String)> = (0..CALLS)
        .map(|n| {
            let text = format!("call number {n}");
            (session.peer.call("echo", &text), text)
        })
        .collect();
    let answers = session.peer.answers(CALLS)?;
    for (id, text) in &sent {
        if answers.get(id) != Some(text) {
            return Err(format!("call {id} sent {text:?} and got {:?}", answers.get(id)).into());
        }
    }
    Ok(format!("{CALLS} calls"))
}

pub(crate) fn concurrency(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let mut session = bench.open()?;
    let peer = &mut session.peer;
    let slow: Vec<(u64, String)> = (0..SLOW)
        .map(|n| {
            let text = format!("slow call {n}");
            (peer.call("await", &text), text)
        })
        .collect();
    for n in 0..16 {
        peer.echo(&format!("fast call {n}"))
            .map_err(|what| format!("{SLOW} slow calls are open, and a fast one made after them: {what}"))?;
    }
    // The slow ones end in the reverse of their order.
    for (id, text) in slow.iter().rev() {
        let raise = peer.call("raise", text);
        let answers = peer.answers(2).map_err(|what| format!("{text} was let go, and then: {what}"))?;
        if answers.get(id) != Some(text) || !answers.contains_key(&raise) {
            return Err(format!("{text} was let go, and another one ended").into());
        }
    }
    Ok(format!("{SLOW} slow and 16 fast calls"))
}

pub(crate) fn interleaving(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let claims = bench.claims;
    let mut session = bench.open()?;
    let peer = &mut session.peer;
    // Some are open all the while, so that both directions are never at rest.
    let open = if claims.reliable { 4 } else { 0 };
    for _ in 0..open {
        peer.call("await", "all have come");
    }
    let sent: Vec<(u64, String)> = (0..MIXED)
        .map(|n| {
            let size = if n % 2 == 0 { 3 << 10 } else { 50 + n * 31 };
            let text = pattern(claims.payload(size), n as u64);
            (peer.call("echo", &text), text)
        })
        .collect();
    if !claims.reliable {
        return whole(&mut session.peer, &sent);
    }
    let answers = peer.answers(MIXED)?;
    for (id, text) in &sent {
        match answers.get(id) {
            Some(same) if same == text => {}
            other => {
                let other = other.map(String::as_bytes).unwrap_or_default();
                return Err(
                    format!("call {id} sent {} and got {}", shown(text.as_bytes()), shown(other)).into()
                );
            }
        }
    }
    peer.call("raise", "all have come");
    peer.answers(open + 1)?;
    Ok(format!("{MIXED} calls of 50 to 8,000 bytes at once"))
}

/// Of a channel that loses messages: those that come are whole.
fn whole(peer: &mut Peer, sent: &[(u64, String)]) -> Result<String, Halt> {
    let mut whole = 0;
    while whole < sent.len() {
        let Some((id, text)) = peer.maybe()? else { break };
        if !sent.iter().any(|call| call.0 == id && call.1 == text) {
            return Err(format!("call {id} was answered with something else than it sent").into());
        }
        whole += 1;
    }
    Ok(format!("{whole} of {MIXED} calls came through, all whole"))
}

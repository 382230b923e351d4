//! What is put in comes out, whatever its size and its pieces.

use crate::{
    bench::{Bench, Halt, within},
    claims::Form,
    link::{End, Halves},
    motion::Pieces,
    peer,
    text::{digest, pattern, shown},
};

/// Writes and reads of so many bytes at most.
const PIECES: &[(usize, usize)] =
    &[(1, 1), (1, 4096), (4096, 1), (2, 3), (3, 2), (7, 64), (64, 7), (1000, 1000), (4095, 4097)];
/// Every character of it can be cut.
const TEXT: &str = "ä€𝄞 ÿ";

pub(crate) fn chunkings(bench: &mut Bench<'_>) -> Result<String, Halt> {
    for &(write, read) in PIECES {
        let mut session = bench.open_with(Pieces { write, read }, |write| write)?;
        for round in 0..3 {
            session.peer.echo(TEXT).map_err(|what| {
                format!("with writes of {write} and reads of {read} bytes, call {}: {what}", round + 1)
            })?;
        }
    }
    let mut session = bench.open()?;
    let len = peer::call(100, "echo", format!("{{\"text\":\"{TEXT}\"}}").as_bytes()).len();
    for cut in 1..len {
        let id = session.peer.call_cut("echo", TEXT, cut);
        match session.peer.answer(id) {
            Ok(text) if text == TEXT => {}
            Ok(text) => return Err(format!("cut in two at byte {cut}: {text:?} came back").into()),
            Err(what) => return Err(format!("cut in two at byte {cut}: {what}").into()),
        }
    }
    Ok(format!("{} sizes of pieces, and cut at each of {len} bytes", PIECES.len()))
}

pub(crate) fn payloads_up(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let sizes = sizes(bench);
    let mut session = bench.open()?;
    for &size in &sizes {
        let text = pattern(size, size as u64);
        let id = session.peer.call("sink", &text);
        let told = session.peer.answer(id).map_err(|what| format!("arguments of {size} bytes: {what}"))?;
        if told != digest(&text) {
            return Err(format!(
                "arguments of {size} bytes arrived changed: {} was sent, {told} arrived",
                digest(&text)
            )
            .into());
        }
    }
    Ok(largest(&sizes))
}

pub(crate) fn payloads_down(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let sizes = sizes(bench);
    let mut session = bench.open()?;
    for &size in &sizes {
        let id = session.peer.call_number("source", size);
        let text = session.peer.answer(id).map_err(|what| format!("a result of {size} bytes: {what}"))?;
        let whole = pattern(size, size as u64);
        if text != whole {
            let at = text.bytes().zip(whole.bytes()).position(|(a, b)| a != b);
            let at = at.unwrap_or_else(|| text.len().min(whole.len()));
            return Err(format!(
                "a result of {size} bytes arrived with {} bytes, changed from byte {at} on",
                text.len()
            )
            .into());
        }
    }
    Ok(largest(&sizes))
}

/// From nothing to 16 MiB, around the sizes at which buffers and lengths end, as far as messages may be so long.
fn sizes(bench: &Bench<'_>) -> Vec<usize> {
    let mut sizes = vec![0, 1, 2, 3];
    for power in [6, 7, 8, 10, 12, 13, 14, 15, 16, 17, 20] {
        sizes.extend([(1 << power) - 1, 1 << power, (1 << power) + 1]);
    }
    sizes.push(16 << 20);
    let most = bench.claims.payload(16 << 20);
    sizes.retain(|size| *size < most);
    sizes.push(most);
    sizes
}

fn largest(sizes: &[usize]) -> String {
    format!("{} sizes, 0 to {} bytes", sizes.len(), sizes.last().copied().unwrap_or(0))
}

pub(crate) fn borders(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let (client, server) = bench.pair()?;
    debug_assert_eq!(bench.claims.form, Form::Messages);
    let (End(Halves::Messages(up, at_server)), End(Halves::Messages(down, at_client))) = (server, client)
    else {
        return Err(Halt::Skip("its ends are byte streams"));
    };
    let most = bench.claims.largest.min(64 << 10);
    let mut sizes: Vec<usize> = (1..=520).collect();
    sizes.extend((10..=16).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]));
    sizes.retain(|size| *size < most);
    sizes.push(most);
    let messages: Vec<Vec<u8>> = sizes.iter().map(|size| message(*size)).collect();
    let count = messages.len();
    let copy = messages.clone();
    // Each direction in two threads, so that nothing is in the way of a channel that holds little. Nothing is dropped
    // before the end: no direction must end alone.
    let (mut kept, mut receivers) = (Vec::new(), Vec::new());
    for (name, mut send, mut receive, messages) in
        [("client to server", down, at_server, messages), ("server to client", up, at_client, copy)]
    {
        let expected = messages.clone();
        let patience = bench.patience;
        kept.push(std::thread::spawn(move || {
            let sent = messages.iter().try_for_each(|message| send(message));
            (sent, send)
        }));
        let compare = move || {
            for (number, expected) in expected.iter().enumerate() {
                let got = match receive() {
                    Ok(Some(got)) => got,
                    Ok(None) => return Err(format!("the end came before message {}", number + 1)),
                    Err(error) => return Err(format!("receiving message {} failed: {error}", number + 1)),
                };
                if got != *expected {
                    return Err(format!(
                        "a message of {} bytes came as one of {}: {} was sent, {} came",
                        expected.len(),
                        got.len(),
                        shown(expected),
                        shown(&got)
                    ));
                }
            }
            Ok(receive)
        };
        match within(patience, compare) {
            Some(Ok(receive)) => receivers.push(receive),
            Some(Err(what)) => return Err(format!("{name}: {what}").into()),
            None => return Err(format!("{name}: not all messages had come after {patience:?}").into()),
        }
    }
    drop((kept, receivers));
    Ok(format!("{count} sizes each way, with line feeds inside"))
}

/// White space and all, of exactly this length.
fn message(size: usize) -> Vec<u8> {
    let mut message = pattern(size, size as u64).into_bytes();
    for at in (3..size.saturating_sub(1)).step_by(7) {
        if message[at].is_ascii() && message[at + 1] < 0x80 {
            message[at] = b'\n';
        }
    }
    message
}

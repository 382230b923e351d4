//! Driving a [`Node`] over [`embedded_io`]: a loop, no executor, no interrupt of ours.
use crate::node::{Machine, Node, SerialServer, Turn};
use barewire::{Millis, ServerEvent};
use core::convert::Infallible;
use embedded_io::{Read, ReadReady, Write};

/// Bytes moved at once each way: reading goes on between short writes, so that a small receive FIFO does not overflow.
const CHUNK: usize = 32;

/// Moves what can be moved: reads what is there, and writes a little of what is to be written. Returns how much that was;
/// after 0 there is nothing to do until a byte arrives, or until the moment that [`Turn::Transfer`] named.
///
/// It never waits for input, and for room to write as long as `uart` does.
///
/// # Errors
/// Those of `uart`.
pub fn transfer<M, U>(node: &mut Node<'_, M>, uart: &mut U) -> Result<usize, U::Error>
where
    M: Machine,
    U: Read + ReadReady + Write,
{
    let mut moved = 0;
    let mut chunk = [0; CHUNK];
    let room = node.room().min(CHUNK);
    if let Some(space @ [_, ..]) = chunk.get_mut(..room)
        && uart.read_ready()?
    {
        let n = uart.read(space)?;
        node.receive(space.get(..n).unwrap_or(&[]));
        moved += n;
    }
    let output = node.output();
    if let Some(bytes @ [_, ..]) = output.get(..output.len().min(CHUNK)) {
        let n = uart.write(bytes)?;
        node.sent(n);
        moved += n;
    }
    Ok(moved)
}

/// Serves for ever, for applications that answer everything at once. `idle` is called when there is nothing to do: wait there
/// for an interrupt, until the given moment at most. [`Node`] shows the loop for those that defer calls.
///
/// # Errors
/// Those of `uart`.
pub fn serve<U>(
    node: &mut SerialServer<'_>,
    uart: &mut U,
    mut now: impl FnMut() -> Millis,
    mut idle: impl FnMut(Option<Millis>),
    mut app: impl FnMut(ServerEvent<'_>),
) -> Result<Infallible, U::Error>
where
    U: Read + ReadReady + Write,
{
    loop {
        match node.poll(now()) {
            Turn::Event(event) => app(event),
            Turn::Transfer { until } => {
                if transfer(node, uart)? == 0 && !node.is_busy() {
                    idle(until);
                }
            }
            // The line has no end.
            Turn::Closed => node.reset(),
        }
    }
}

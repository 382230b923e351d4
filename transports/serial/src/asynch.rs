//! Driving a [`Node`] over [`embedded_io_async`], on any executor: reading goes on while a write is under way.
use crate::node::{Machine, Node, SerialServer, Turn};
use barewire::{Millis, ServerEvent};
use core::convert::Infallible;
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use embedded_io_async::{Read, Write};

/// Bytes read at once.
const CHUNK: usize = 64;

/// Waits until bytes were read or written, or until `timer` ends: the moment that [`Turn::Transfer`] named.
///
/// A read or write that does not come first is dropped, so both must be cancel-safe, as those of buffered UARTs are: a future
/// that is dropped has read or written nothing.
///
/// # Errors
/// Those of the two halves.
pub async fn transfer<M, R, W>(
    node: &mut Node<'_, M>,
    rx: &mut R,
    tx: &mut W,
    timer: impl Future<Output = ()>,
) -> Result<(), R::Error>
where
    M: Machine,
    R: Read,
    W: Write<Error = R::Error>,
{
    let mut chunk = [0; CHUNK];
    let room = node.room().min(CHUNK);
    let space = chunk.get_mut(..room).unwrap_or(&mut []);
    let busy = node.is_busy();
    let output = node.output();
    if output.is_empty() && busy {
        return Ok(());
    }
    let moved = {
        let mut read = pin!((!space.is_empty()).then(|| rx.read(space)));
        let mut write = pin!((!output.is_empty()).then(|| tx.write(output)));
        let mut timer = pin!(timer);
        // By hand, since each `async` block brings a panic along, for those who poll it again after its end.
        poll_fn(|cx| {
            if let Some(read) = read.as_mut().as_pin_mut()
                && let Poll::Ready(n) = read.poll(cx)
            {
                return Poll::Ready(n.map(Moved::Read));
            }
            if let Some(write) = write.as_mut().as_pin_mut()
                && let Poll::Ready(n) = write.poll(cx)
            {
                return Poll::Ready(n.map(Moved::Written));
            }
            timer.as_mut().poll(cx).map(|()| Ok(Moved::Nothing))
        })
        .await?
    };
    match moved {
        Moved::Read(n) => {
            node.receive(chunk.get(..n).unwrap_or(&[]));
        }
        Moved::Written(n) => node.sent(n),
        Moved::Nothing => {}
    }
    Ok(())
}

enum Moved {
    Read(usize),
    Written(usize),
    Nothing,
}

/// Serves for ever, for applications that answer everything at once. `sleep` is a timer: a future that ends at the given
/// moment, never for `None`. [`Node`] shows the loop for those that defer calls.
///
/// # Errors
/// Those of the two halves.
pub async fn serve<R, W, S>(
    node: &mut SerialServer<'_>,
    rx: &mut R,
    tx: &mut W,
    mut now: impl FnMut() -> Millis,
    mut sleep: impl FnMut(Option<Millis>) -> S,
    mut app: impl FnMut(ServerEvent<'_>),
) -> Result<Infallible, R::Error>
where
    R: Read,
    W: Write<Error = R::Error>,
    S: Future<Output = ()>,
{
    loop {
        match node.poll(now()) {
            Turn::Event(event) => app(event),
            Turn::Transfer { until } => transfer(node, rx, tx, sleep(until)).await?,
            // The line has no end.
            Turn::Closed => node.reset(),
        }
    }
}

//! Driving a [`Node`] over [`embedded_io_async`], on any executor: reading goes on while a write is under way.
use crate::node::{Machine, Moved, Node, SerialServer, Turn};
use barewire::{Millis, ServerEvent};
use core::convert::Infallible;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use embedded_io_async::{Read, Write};
use pin_project_lite::pin_project;

/// Waits until bytes were read or written, or until `timer` ends: the moment that [`Turn::Transfer`] named.
///
/// A read or write that does not come first is dropped, so both must be cancel-safe, as those of buffered UARTs are: a future
/// that is dropped has read or written nothing.
///
/// # Errors
/// Those of the two halves.
// No `async fn`: each of those brings a panic along, for those who poll it again after its end. This one never ends then.
pub fn transfer<M, R, W>(
    node: &mut Node<'_, M>,
    rx: &mut R,
    tx: &mut W,
    timer: impl Future<Output = ()>,
) -> impl Future<Output = Result<(), R::Error>>
where
    M: Machine,
    R: Read,
    W: Write<Error = R::Error>,
{
    let busy = node.is_busy();
    let (space, output, moved) = node.halves();
    Transfer {
        at_once: output.is_empty() && busy,
        read: (!space.is_empty()).then(|| rx.read(space)),
        write: (!output.is_empty()).then(|| tx.write(output)),
        timer,
        moved,
    }
}

pin_project! {
    /// The first of three.
    struct Transfer<'n, R, W, T> {
        at_once: bool,
        #[pin]
        read: Option<R>,
        #[pin]
        write: Option<W>,
        #[pin]
        timer: T,
        // What the node takes from here at the next call on it.
        moved: &'n mut Moved,
    }
}

impl<R, W, T, E> Future for Transfer<'_, R, W, T>
where
    R: Future<Output = Result<usize, E>>,
    W: Future<Output = Result<usize, E>>,
    T: Future<Output = ()>,
{
    type Output = Result<(), E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), E>> {
        let this = self.project();
        if *this.at_once {
            return Poll::Ready(Ok(()));
        }
        if let Some(read) = this.read.as_pin_mut()
            && let Poll::Ready(n) = read.poll(cx)
        {
            return Poll::Ready(n.map(|n| **this.moved = Moved::Read(n)));
        }
        if let Some(write) = this.write.as_pin_mut()
            && let Poll::Ready(n) = write.poll(cx)
        {
            return Poll::Ready(n.map(|n| **this.moved = Moved::Written(n)));
        }
        this.timer.poll(cx).map(Ok)
    }
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

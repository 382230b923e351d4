//! UARTs without wires: two ends that share two queues, blocking and async.
use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;

#[derive(Default)]
struct Queue {
    bytes: VecDeque<u8>,
    waker: Option<Waker>,
}

/// One direction's end.
#[derive(Clone, Default)]
pub struct Half(Rc<RefCell<Queue>>);

/// One end.
#[derive(Clone)]
pub struct Uart {
    pub rx: Half,
    pub tx: Half,
}

pub fn pair() -> (Uart, Uart) {
    let (a, b) = (Half::default(), Half::default());
    (Uart { rx: a.clone(), tx: b.clone() }, Uart { rx: b, tx: a })
}

impl embedded_io::ErrorType for Half {
    type Error = Infallible;
}
impl embedded_io::ErrorType for Uart {
    type Error = Infallible;
}

impl Half {
    fn take(&self, out: &mut [u8]) -> usize {
        let mut queue = self.0.borrow_mut();
        let n = out.len().min(queue.bytes.len());
        for (to, from) in out.iter_mut().zip(queue.bytes.drain(..n)) {
            *to = from;
        }
        n
    }

    fn give(&self, bytes: &[u8]) -> usize {
        let mut queue = self.0.borrow_mut();
        queue.bytes.extend(bytes);
        if let Some(waker) = queue.waker.take() {
            waker.wake();
        }
        bytes.len()
    }
}

impl embedded_io::Read for Uart {
    fn read(&mut self, out: &mut [u8]) -> Result<usize, Infallible> {
        let n = self.rx.take(out);
        assert!(n > 0, "a driver must not block in read");
        Ok(n)
    }
}

impl embedded_io::ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(!self.rx.0.borrow().bytes.is_empty())
    }
}

impl embedded_io::Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        Ok(self.tx.give(bytes))
    }
    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl embedded_io_async::Read for Half {
    async fn read(&mut self, out: &mut [u8]) -> Result<usize, Infallible> {
        poll_fn(|cx| {
            let n = self.take(out);
            if n > 0 {
                return Poll::Ready(Ok(n));
            }
            self.0.borrow_mut().waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl embedded_io_async::Write for Half {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        Ok(self.give(&bytes[..bytes.len().min(3)]))
    }
    async fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

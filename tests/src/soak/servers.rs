//! The servers at the far ends: threads over pipes and sockets, and an asynchronous one.

use core::future::pending;
use core::time::Duration;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use async_io::{Async, Timer};
use barewire::owned::{Fail, ToolResult};
use barewire::{Limits, Progress};
use barewire_async::IoTimer;

use super::work::{CONFIG, Work};

/// More than any message of the soak.
pub(super) const LIMITS: Limits = Limits { message: 12 << 20, reply: 12 << 20, calls: 64 };
const THREADS: usize = 8;

/// Counts a call that waits to be cancelled.
struct Held<'a>(&'a AtomicUsize);

impl<'a> Held<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Relaxed);
        Self(count)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

fn wrong() -> Fail {
    "these are no orders".into()
}

fn call(call: &barewire_stdio::ToolCall<'_>, held: &AtomicUsize) -> Result<ToolResult, Fail> {
    if call.name() == "held" {
        return Ok(held.load(Relaxed).to_string().into());
    }
    let work = Work::read(call.args_json()).ok_or_else(wrong)?;
    let report = work.report();
    for done in 1..=work.steps {
        call.progress(Progress { done, total: Some(work.steps), message: Some(&report) });
    }
    if work.hold {
        let _held = Held::new(held);
        while !call.wait_cancelled(Duration::from_secs(60)) {}
    } else if work.takes > 0 {
        call.wait_cancelled(Duration::from_millis(work.takes));
    }
    Ok(work.answer().into())
}

/// On standard input and output.
pub(super) fn stdio() -> io::Result<()> {
    let held = AtomicUsize::new(0);
    barewire_stdio::Serve::new(&CONFIG).threads(THREADS).limits(LIMITS).run(|order| call(order, &held))
}

/// Over a socket, in this thread, until the peer ends.
pub(super) fn threads(stream: &TcpStream) -> io::Result<()> {
    let held = AtomicUsize::new(0);
    let serve = barewire_stdio::Serve::new(&CONFIG).threads(THREADS).limits(LIMITS);
    let served = serve.run_over(stream, stream, |order| call(order, &held));
    // Whoever holds a clone of the socket must not keep the peer waiting.
    let _ = stream.shutdown(Shutdown::Both);
    served
}

/// The same by futures.
pub(super) fn futures(stream: TcpStream) -> io::Result<()> {
    let held = Arc::<AtomicUsize>::default();
    let serve = barewire_async::Serve::new(&CONFIG, IoTimer).limits(LIMITS).concurrent(THREADS);
    async_io::block_on(serve.run(Async::new(stream)?, |call| answer(call, Arc::clone(&held))))
}

async fn answer(call: barewire_async::ToolCall, held: Arc<AtomicUsize>) -> Result<ToolResult, Fail> {
    if call.name() == "held" {
        return Ok(held.load(Relaxed).to_string().into());
    }
    let work = Work::read(call.args_json()).ok_or_else(wrong)?;
    let report = work.report();
    for done in 1..=work.steps {
        call.progress(Progress { done, total: Some(work.steps), message: Some(&report) });
    }
    if work.hold {
        let _held = Held::new(&held);
        pending::<()>().await;
    } else if work.takes > 0 {
        Timer::after(Duration::from_millis(work.takes)).await;
    }
    Ok(work.answer().into())
}

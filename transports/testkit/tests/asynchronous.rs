//! The driver of `barewire-async` passes: its server stands behind the connections, with the suite's tools on it.
#![cfg(unix)]

mod common;

use async_io::Async;
use barewire_async::{
    IoTimer, Serve, ToolCall,
    barewire::{
        Limits, Noise,
        owned::{Fail, ToolResult},
    },
};
use barewire_testkit::{CONFIG, Claims, End, Link, Suite, Tools};
use core::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use futures_lite::{AsyncRead, AsyncWrite, future::block_on};
use std::{
    io::{self, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{Arc, Condvar, Mutex, mpsc},
    thread,
};

/// The server's end; it tells the tools what passes.
struct Stream(Async<UnixStream>, Arc<Tools>);

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, space: &mut [u8]) -> Poll<io::Result<usize>> {
        let n = ready!(Pin::new(&mut &self.0).poll_read(cx, space))?;
        if n == 0 {
            self.1.input_ended();
        }
        self.1.received(&space[..n]);
        Poll::Ready(Ok(n))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let n = ready!(Pin::new(&mut &self.0).poll_write(cx, bytes))?;
        self.1.sent(&bytes[..n]);
        Poll::Ready(Ok(n))
    }
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &self.0).poll_flush(cx)
    }
    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &self.0).poll_close(cx)
    }
}

/// Dropped with the handler's future: the call was cancelled, or has ended.
struct Dropped(Arc<(Mutex<bool>, Condvar)>);

impl Drop for Dropped {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

/// The tools block, so each call has a thread.
async fn handler(tools: Arc<Tools>, call: ToolCall) -> Result<ToolResult, Fail> {
    let (tell, told) = async_channel::bounded(1);
    let gone = Arc::new((Mutex::new(false), Condvar::new()));
    let _dropped = Dropped(Arc::clone(&gone));
    thread::spawn(move || {
        let cancelled = |time: Duration| {
            let lock = gone.0.lock().unwrap();
            *gone.1.wait_timeout_while(lock, time, |gone| !*gone).unwrap().0
        };
        let _ = tell.send_blocking(tools.answer(call.name(), call.args_json(), &cancelled));
    });
    match told.recv().await {
        Ok(Some(text)) => Ok(ToolResult::text(text)),
        _ => Err(Fail::Unknown),
    }
}

/// Ends its direction when it is dropped.
struct Half(UnixStream);

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

fn connect() -> io::Result<Link> {
    let (client, server) = UnixStream::pair()?;
    let (tell, ended) = mpsc::channel();
    thread::spawn(move || {
        let tools = Arc::new(Tools::new());
        let mut limits = Limits::default();
        (limits.message, limits.reply) = (17 << 20, 17 << 20);
        let serve = Serve::new(&CONFIG.noise(Noise::Answer), IoTimer).limits(limits).concurrent(12);
        let served = Async::new(server).and_then(|stream| {
            let stream = Stream(stream, Arc::clone(&tools));
            block_on(serve.run(stream, |call| handler(Arc::clone(&tools), call)))
        });
        let _ = tell.send(served);
    });
    let gone = move |patience| match ended.recv_timeout(patience) {
        Ok(_) => Ok(()),
        Err(_) => Err("the asynchronous server still runs".to_owned()),
    };
    Ok(Link::to_server(End::stream(client.try_clone()?, Half(client))).gone(gone))
}

#[test]
fn the_asynchronous_server_passes() {
    let claims = Claims::stream().half_close().noise().largest(1 << 20);
    let report = Suite::new(claims).run(connect);
    assert_eq!(common::told("the asynchronous server", &report), ["borders", "release", "memory"]);
}

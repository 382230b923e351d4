//! Streams that give and take a few bytes at a time and are often not ready, calls that are given up at any moment: nothing is
//! lost, crossed, left over or never woken.

mod common;

use async_executor::LocalExecutor;
use barewire_async::{
    Connect, Fail, NoTimer, Serve, ToolCall, ToolResult,
    barewire::{ClientConfig, Limits},
};
use common::{CONFIG, Text, port};
use core::{
    cell::Cell,
    pin::Pin,
    task::{Context, Poll},
};
use futures_lite::{
    AsyncRead, AsyncWrite,
    future::{block_on, poll_once, yield_now},
};
use std::io;

static CLIENT: ClientConfig<'static> = ClientConfig::new("test", "1");

/// xorshift64*, for the same run from the same seed.
struct Dice(Cell<u64>);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(Cell::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1))
    }

    fn below(&self, n: usize) -> usize {
        let mut x = self.0.get();
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.0.set(x);
        (x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}

struct Choppy<S> {
    inner: S,
    dice: Dice,
}

impl<S> Choppy<S> {
    /// How many bytes this time; `None`: not now.
    fn portion(&self, cx: &Context<'_>, most: usize) -> Option<usize> {
        match self.dice.below(4) {
            0 => {
                cx.waker().wake_by_ref();
                None
            }
            1 => Some(1.min(most)),
            2 => Some(most.min(1 + self.dice.below(7))),
            _ => Some(most.min(1 + self.dice.below(700))),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Choppy<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match self.portion(cx, space.len()) {
            Some(n) => Pin::new(&mut self.inner).poll_read(cx, &mut space[..n]),
            None => Poll::Pending,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Choppy<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.portion(cx, bytes.len()) {
            Some(n) => Pin::new(&mut self.inner).poll_write(cx, &bytes[..n]),
            None => Poll::Pending,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.portion(cx, 1) {
            Some(_) => Pin::new(&mut self.inner).poll_flush(cx),
            None => Poll::Pending,
        }
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.portion(cx, 1) {
            Some(_) => Pin::new(&mut self.inner).poll_close(cx),
            None => Poll::Pending,
        }
    }
}

/// Counts the handlers that live.
struct Alive<'c>(&'c Cell<usize>);

impl<'c> Alive<'c> {
    fn new(count: &'c Cell<usize>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

#[test]
fn torn_streams_and_calls_given_up() {
    for seed in 1..=40 {
        let dice = Dice::new(seed);
        let alive = Cell::new(0);
        let (here, there) = port::pair();
        let here = Choppy { inner: here, dice: Dice::new(seed + 1000) };
        let there = Choppy { inner: there, dice: Dice::new(seed + 2000) };
        let limits = Limits { calls: 1 + dice.below(6), ..Limits::default() };
        let (client, driver) = Connect::new(&CLIENT, NoTimer).limits(limits).over(here);
        let handler = |mut call: ToolCall| {
            let alive = Alive::new(&alive);
            let turns = dice.below(5);
            async move {
                let _alive = alive;
                for _ in 0..turns {
                    yield_now().await;
                }
                Ok::<_, Fail>(ToolResult::text(call.decode::<Text<'_>>()?.0))
            }
        };
        let bound = Serve::new(&CONFIG, NoTimer).concurrent(1 + dice.below(3)).queue(dice.below(3));
        let server = bound.run(there, handler);
        let answered = Cell::new(0);
        let task = async |who: usize| {
            let client = client.clone();
            for i in 0..10 {
                let text = format!("{who}.{i}.{}", "x".repeat(dice.below(3000)));
                let mut call = client.call("echo", format!(r#"{{"text":"{text}"}}"#));
                if dice.below(4) == 0 {
                    // It is given up, somewhere on its way.
                    for _ in 0..dice.below(20) {
                        if let Some(result) = poll_once(&mut call).await {
                            assert_eq!(result.unwrap().text(), text);
                            break;
                        }
                        yield_now().await;
                    }
                    continue;
                }
                assert_eq!(call.await.unwrap().text(), text);
                answered.set(answered.get() + 1);
            }
        };
        // Tasks of their own: each goes on only if somebody wakes it.
        let executor = LocalExecutor::new();
        block_on(executor.run(async {
            let (driver, server) = (executor.spawn(driver), executor.spawn(server));
            let tasks: Vec<_> = (0..8).map(|who| executor.spawn(task(who))).collect();
            for task in tasks {
                task.await;
            }
            client.close().await;
            driver.await.unwrap();
            server.await.unwrap();
        }));
        assert_eq!(alive.get(), 0, "seed {seed}: handlers are left over");
        assert!(answered.get() > 30, "seed {seed}: {} answers", answered.get());
    }
}

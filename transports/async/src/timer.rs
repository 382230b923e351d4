//! Where the time comes from: the caller, or async-io.

use barewire::Millis;
use core::{
    future::{Future, Pending, pending},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use std::time::Instant;

/// A clock and an alarm. Without one nothing has a time limit: see [`NoTimer`].
///
/// For a runtime with a timer of its own a closure does, in [`Sleep`]:
///
/// ```
/// let timer = barewire_async::Sleep::with(tokio::time::sleep);
/// # let _ = timer;
/// ```
pub trait Timer {
    /// Ends when the time is over.
    type Sleep: Future<Output = ()>;

    /// The time since any fixed moment. It must never go back.
    fn now(&self) -> Duration;

    /// Ends after `time`, or later.
    fn sleep(&self, time: Duration) -> Self::Sleep;
}

/// No time at all: limits never pass, and a probe that a server does not answer is waited for without end.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTimer;

impl Timer for NoTimer {
    type Sleep = Pending<()>;

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, _: Duration) -> Pending<()> {
        pending()
    }
}

/// A timer made of a function that sleeps, such as `tokio::time::sleep`. The clock is the standard library's; where that has
/// none, as in a browser, implement [`Timer`] instead.
#[derive(Clone, Copy, Debug)]
pub struct Sleep<F> {
    sleep: F,
    born: Instant,
}

impl<F> Sleep<F> {
    /// Over any such function.
    pub fn with<S: Future>(sleep: F) -> Self
    where
        F: Fn(Duration) -> S,
    {
        Self { sleep, born: Instant::now() }
    }
}

impl<S: Future, F: Fn(Duration) -> S> Timer for Sleep<F> {
    type Sleep = Unit<S>;

    fn now(&self) -> Duration {
        self.born.elapsed()
    }

    fn sleep(&self, time: Duration) -> Unit<S> {
        Unit(Box::pin((self.sleep)(time)))
    }
}

/// Forgets what a future gives.
#[derive(Debug)]
pub struct Unit<S>(Pin<Box<S>>);

impl<S: Future> Future for Unit<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx).map(drop)
    }
}

/// The timer of the crate async-io, which needs no runtime.
#[cfg(feature = "timer")]
#[derive(Clone, Copy, Debug, Default)]
pub struct IoTimer;

#[cfg(feature = "timer")]
impl Timer for IoTimer {
    type Sleep = Unit<async_io::Timer>;

    fn now(&self) -> Duration {
        static BORN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        BORN.get_or_init(Instant::now).elapsed()
    }

    fn sleep(&self, time: Duration) -> Self::Sleep {
        Unit(Box::pin(async_io::Timer::after(time)))
    }
}

/// A machine's deadline, and the sleep until then.
pub(crate) struct Alarm<T: Timer> {
    timer: T,
    set: Option<(Millis, Pin<Box<T::Sleep>>)>,
}

impl<T: Timer> Alarm<T> {
    pub(crate) const fn new(timer: T) -> Self {
        Self { timer, set: None }
    }

    pub(crate) fn now(&self) -> Millis {
        Millis(u64::try_from(self.timer.now().as_millis()).unwrap_or(u64::MAX))
    }

    /// Wakes the task at `until` or before. `true`: that moment has come.
    pub(crate) fn poll(&mut self, until: Option<Millis>, cx: &mut Context<'_>) -> bool {
        let Some(until) = until else {
            self.set = None;
            return false;
        };
        // One that rings too early is kept: deadlines mostly move away, with each call anew.
        if self.set.as_ref().is_none_or(|(at, _)| *at > until) {
            self.arm(until);
        }
        while let Some((at, sleep)) = &mut self.set {
            if sleep.as_mut().poll(cx).is_pending() {
                return false;
            }
            let at = *at;
            self.set = None;
            if at >= until {
                return true;
            }
            self.arm(until);
        }
        false
    }

    fn arm(&mut self, until: Millis) {
        // The clock counts whole milliseconds, and is behind by less than one.
        let left = until.0.saturating_sub(self.now().0).saturating_add(1);
        self.set = Some((until, Box::pin(self.timer.sleep(Duration::from_millis(left)))));
    }
}

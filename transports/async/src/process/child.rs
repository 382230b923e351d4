//! One child: started, watched, stopped, reaped.
//!
//! Death is noticed by waiting for the process, not by the end of its output: a grandchild may hold the pipe open.

use super::sys;
use crate::{
    Duplex, Ended, ExitReport, IoTimer, StartError, Trace,
    client::{
        driver::{Finish, Link},
        state::{Gone, Session, Shared},
    },
};
use async_process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use core::{
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use futures_lite::{AsyncRead, future::or};
use std::{
    io::{self, Write},
    process::ExitStatus,
    sync::Arc,
};

/// After the process is gone, or a half of its pipes: how long to wait for the rest.
const LEFTOVERS: Duration = Duration::from_millis(500);

/// All that is needed to start a child, once or twice.
pub(super) struct Run {
    pub(super) command: Command,
    pub(super) program: String,
    pub(super) pass: bool,
    pub(super) grace: Duration,
    pub(super) may_restart: bool,
    pub(super) shared: Arc<Shared>,
}

impl Run {
    pub(super) fn run<H: FnMut(Trace<'_>)>(mut self, mut hook: H) -> impl Future<Output = ExitReport> {
        // Made here, so that a driver that is dropped before it is polled ends the calls too.
        let mut finish = Finish { shared: Arc::clone(&self.shared), how: Ended::NoChild };
        let run = async move {
            let mut restarted = false;
            loop {
                let end = self.attempt(hook, restarted, &mut finish).await;
                match end {
                    End::Over(report) => {
                        self.shared.with(|state, woken| state.finish(report.clone(), woken));
                        return report;
                    }
                    End::Again(back) => hook = back,
                }
                restarted = true;
                hook(Trace::Restarted);
                self.shared.with(|state, _| state.restart());
            }
        };
        // Whoever drives async-process from inside keeps it from starting a thread. The block drops that driver at once when
        // all is over: held on to without being polled, it would keep the ends of other children from being noticed.
        async { or(async { match async_process::driver().await {} }, run).await }
    }

    async fn attempt<H: FnMut(Trace<'_>)>(
        &mut self,
        mut hook: H,
        restarted: bool,
        finish: &mut Finish,
    ) -> End<H> {
        let mut child = match self.command.spawn() {
            Ok(child) => child,
            Err(error) => {
                let program = self.program.clone();
                let error = StartError::Spawn { program, error: Arc::new(error) };
                self.shared.with(|state, woken| state.fail(error, woken));
                return End::Over(self.report(None, Ended::NoChild));
            }
        };
        finish.how = Ended::Killed;
        let pid = child.id();
        self.shared.with(|state, _| state.pid = Some(pid));
        hook(Trace::Started { pid });
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut group = Group { child, reaped: false, how: Ended::ByItself };
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            // They were asked for.
            return End::Over(self.report(None, Ended::Killed));
        };
        let stream = Duplex::new(stdout, stdin);
        let link = Link::new(Arc::clone(&self.shared), stream, IoTimer, hook, self.grace);
        let mut parts = Parts {
            link,
            stderr: Some(stderr),
            chunk: vec![0; 8192],
            pass: self.pass,
            shared: &self.shared,
            exited: None,
            ended: false,
        };
        let status = self.watch(&mut parts, &mut group).await;
        let quiet = parts.until(&mut group, Some(LEFTOVERS), Parts::is_quiet).await;
        if let Some(status) = status {
            (parts.link.hook())(Trace::Exited(status));
        }
        let again = self.shared.with(|state, woken| {
            let again = self.may_restart && !restarted && !state.closing && status.is_some();
            let again = again && matches!(state.session, Session::Opening);
            if !again {
                state.lose(status.map_or(Gone::Closed, |status| Gone::Exited { status, restarted }), woken);
            }
            again
        });
        // What it left behind in its group goes too, if it holds our pipes or if the group had to be told to end.
        if !quiet && group.how != Ended::Killed {
            sys::signal(&mut group.child, Ended::Terminated);
            parts.until(&mut group, Some(self.grace), Parts::is_quiet).await;
        }
        if !quiet || group.how != Ended::ByItself {
            sys::signal(&mut group.child, Ended::Killed);
        }
        let status = group.child.status().await.ok().or(status);
        group.reaped = true;
        if again {
            return End::Again(parts.link.into_hook());
        }
        End::Over(self.report(status, group.how))
    }

    /// Until the child has ended, by itself or by the ladder: its input closed, SIGTERM to the group, SIGKILL.
    async fn watch<H: FnMut(Trace<'_>)>(
        &self,
        parts: &mut Parts<'_, H>,
        group: &mut Group,
    ) -> Option<ExitStatus> {
        parts.until(group, None, |p| p.ended || p.link.is_closed() || p.link.is_broken()).await;
        // A half has ended: because the child exits? Then its status says more.
        if !parts.ended && !parts.link.is_closed() {
            parts.until(group, Some(LEFTOVERS), |p| p.ended || p.link.is_closed()).await;
        }
        if !parts.ended {
            self.shared.close();
            parts.until(group, Some(self.grace + LEFTOVERS), |p| p.ended || p.link.is_closed()).await;
        }
        for next in [Ended::Terminated, Ended::Killed] {
            if parts.until(group, Some(self.grace), |p| p.ended).await {
                break;
            }
            group.how = next;
            sys::signal(&mut group.child, next);
        }
        parts.until(group, None, |p| p.ended).await;
        parts.exited
    }

    fn report(&self, status: Option<ExitStatus>, how: Ended) -> ExitReport {
        let stderr_tail = self.shared.with(|state, _| state.log.tail());
        ExitReport::new(status, how, stderr_tail)
    }
}

enum End<H> {
    Over(ExitReport),
    Again(H),
}

/// The process and what it starts. Killed and reaped when it is dropped.
struct Group {
    child: Child,
    reaped: bool,
    how: Ended,
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        sys::signal(&mut self.child, Ended::Killed);
        // A killed process is gone at once, unless the system itself is stuck; then async-process reaps it some day.
        for _ in 0..100 {
            if !matches!(self.child.try_status(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// What goes on at the same time.
struct Parts<'r, H> {
    link: Link<Duplex<ChildStdout, ChildStdin>, IoTimer, H>,
    stderr: Option<ChildStderr>,
    chunk: Vec<u8>,
    pass: bool,
    shared: &'r Shared,
    exited: Option<ExitStatus>,
    ended: bool,
}

impl<H: FnMut(Trace<'_>)> Parts<'_, H> {
    /// Lets everything go on until `done`, but not longer than `at_most`. `true`: it is done.
    async fn until(
        &mut self,
        group: &mut Group,
        at_most: Option<Duration>,
        done: impl Fn(&Self) -> bool,
    ) -> bool {
        let mut sleep = at_most.map(async_io::Timer::after);
        let ended = self.ended;
        let mut exit = core::pin::pin!(async {
            if ended {
                core::future::pending::<()>().await;
            }
            sys::exited(&mut group.child).await
        });
        poll_fn(|cx| {
            if !self.ended
                && let Poll::Ready(status) = exit.as_mut().poll(cx)
            {
                (self.ended, self.exited) = (true, status);
            }
            self.link.poll(cx);
            self.drain(cx);
            if done(self) {
                return Poll::Ready(true);
            }
            match &mut sleep {
                Some(sleep) => Pin::new(sleep).poll(cx).map(|_| false),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Nobody holds its pipes any more.
    fn is_quiet(&self) -> bool {
        self.link.is_read() && self.stderr.is_none()
    }

    /// Reads its stderr, whatever the rest does: a full pipe would stop the server.
    fn drain(&mut self, cx: &mut Context<'_>) {
        for _ in 0..crate::BUSY {
            let Some(stderr) = &mut self.stderr else { return };
            match Pin::new(stderr).poll_read(cx, &mut self.chunk) {
                Poll::Pending => return,
                Poll::Ready(Ok(n)) if n > 0 => {
                    let bytes = self.chunk.get(..n).unwrap_or_default();
                    self.shared.with(|state, _| state.log.add(bytes));
                    (self.link.hook())(Trace::Stderr(bytes));
                    if self.pass {
                        // Nobody can be told that stderr is gone.
                        let _ = io::stderr().write_all(bytes);
                    }
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(_) => self.stderr = None,
            }
        }
        cx.waker().wake_by_ref();
    }
}

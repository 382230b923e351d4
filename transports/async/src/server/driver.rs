//! The future that a server is: it reads, runs handlers, and writes, and never waits for one of them alone.

use super::{
    ToolCall, ToolSource,
    bell::{Bell, Line},
    tasks::Tasks,
};
use crate::{BUSY, Timer, is_close, outbox::Outbox, timer::Alarm};
use barewire::{
    Call, CallId, Limits, Millis, Output, Refused, Server, ServerEvent,
    owned::{Fail, OwnedArgs, ToolResult},
};
use core::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};
use futures_lite::{AsyncRead, AsyncWrite};
use std::{io, sync::Arc};

/// Output beyond which reports of progress wait.
const BEHIND: usize = 64 << 10;

pub(super) struct Driver<'c, S, T: Timer, L, H, F> {
    machine: Server<'c>,
    stream: S,
    alarm: Alarm<T>,
    source: L,
    handler: H,
    tasks: Tasks<F>,
    bell: Arc<Bell>,
    /// Calls with reports that had no room yet.
    told: Vec<CallId>,
    outbox: Outbox,
    ended: bool,
    /// When whatever is left to answer must have been sent.
    until: Option<Millis>,
    late: bool,
    drain: Millis,
    /// All is answered, written and flushed.
    closing: bool,
    /// What the reading half said at last, if that was no normal end.
    failed: Option<io::Error>,
}

impl<'c, S, T, L, H, F> Driver<'c, S, T, L, H, F>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: Timer,
    L: ToolSource,
    H: Fn(ToolCall) -> F,
    F: Future<Output = Result<ToolResult, Fail>>,
{
    pub(super) fn new(
        machine: Server<'c>,
        stream: S,
        timer: T,
        source: L,
        handler: H,
        (concurrent, limits, drain): (usize, Limits, Millis),
    ) -> Self {
        Self {
            machine,
            stream,
            alarm: Alarm::new(timer),
            source,
            handler,
            tasks: Tasks::new(concurrent, limits.message.saturating_mul(2)),
            bell: Arc::default(),
            told: Vec::new(),
            outbox: Outbox::default(),
            ended: false,
            until: None,
            late: false,
            drain,
            closing: false,
            failed: None,
        }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        for _ in 0..BUSY {
            if self.closing {
                return self.poll_close(cx);
            }
            let (closed, mut moved) = self.take_in();
            moved |= self.work(cx);
            match self.write(cx) {
                Ok(wrote) => moved |= wrote,
                // The peer reads no more: a normal end, and nobody is left to work for.
                Err(error) if is_close(&error) => return Poll::Ready(Ok(())),
                Err(error) => return Poll::Ready(Err(error)),
            }
            moved |= self.read(cx);
            if self.alarm.poll(self.until, cx) {
                // Handlers hear of it from the machine; a peer that reads no more holds nobody up.
                self.until = None;
                self.late = true;
                moved = true;
            } else if self.late && !moved {
                return self.poll_close(cx);
            }
            if closed && self.outbox.is_done() && self.machine.output().is_empty() {
                self.closing = true;
            } else if !moved {
                return Poll::Pending;
            }
        }
        // There is more to do, but other tasks want their turn.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Drains the machine's events: whether it is closed, and whether anything came.
    fn take_in(&mut self) -> (bool, bool) {
        let now = self.alarm.now();
        let mut moved = false;
        // What calls hold is bounded in bytes too, by leaving the rest of the input alone.
        while self.ended || self.tasks.has_room() {
            match self.machine.poll(now) {
                Output::Event(ServerEvent::Call(Call { name, args, reply, context, .. })) => {
                    let (name, args) = (name.to_owned(), OwnedArgs::from(&args));
                    let (version, wants_progress) = (context.version, context.wants_progress);
                    let meta = context.meta.map(|meta| meta.as_str().to_owned());
                    let id = reply.defer();
                    let line = Line::new(&self.bell, id);
                    let copy = Vec::new();
                    self.tasks.take_in(ToolCall {
                        name,
                        args,
                        version,
                        wants_progress,
                        meta,
                        line,
                        id,
                        copy,
                    });
                }
                Output::Event(ServerEvent::Cancelled(id)) => self.tasks.cancel(id),
                Output::Event(ServerEvent::List(list)) => list.tools(|index| self.source.tool(index)),
                Output::Event(_) => {}
                Output::Send(_) | Output::Wait { .. } | Output::Blocked { .. } => break,
                Output::Closed => return (true, moved),
            }
            moved = true;
        }
        (false, moved)
    }

    /// Lets handlers run, and gives the machine what they say.
    fn work(&mut self, cx: &Context<'_>) -> bool {
        let mut news = self.bell.listen(cx.waker());
        self.tasks.start(&self.handler, &mut news.woken);
        self.told.append(&mut news.told);
        if news.changed {
            self.machine.tools_changed();
        }
        self.tasks.run(&news.woken);
        let Self { machine, tasks, told, .. } = self;
        let mut report = |line: &Line, id: CallId| {
            line.report(|progress| machine.output().len() < BEHIND && machine.progress(id, progress).is_ok())
        };
        told.retain(|id| tasks.line(*id).is_some_and(|line| !report(line, *id)));
        let answered = tasks.answer(|done| {
            // What it told before comes before, unless there is no room for it.
            done.line.report(|progress| machine.progress(done.id, progress).is_ok());
            match machine.resume(done.id) {
                // `Full` was told to the peer, and there is nobody else to tell.
                Ok(reply) => {
                    let _ = done.answer.write(reply);
                    true
                }
                Err(Refused::Gone) => true,
                Err(Refused::Full) => false,
            }
        });
        answered || news.changed || !news.woken.is_empty()
    }

    fn write(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        // Once its buffer is empty the machine may have more to say.
        let took = self.outbox.is_empty() && !self.machine.output().is_empty();
        if took {
            self.machine.take_output(self.outbox.refill());
        }
        Ok(self.outbox.write(&mut self.stream, cx)? || took)
    }

    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        let space = self.machine.space();
        if self.ended || space.is_empty() {
            return false;
        }
        match Pin::new(&mut self.stream).poll_read(cx, space) {
            Poll::Pending => return false,
            Poll::Ready(Ok(n)) if n > 0 => {
                self.machine.filled(n);
                return true;
            }
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => return true,
            Poll::Ready(Ok(_)) => {}
            Poll::Ready(Err(error)) => self.failed = Some(error).filter(|error| !is_close(error)),
        }
        self.ended = true;
        self.until = Some(self.alarm.now().after(self.drain));
        self.machine.end_of_input();
        true
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Nobody is left who could mind how the closing goes.
        Pin::new(&mut self.stream).poll_close(cx).map(|_| self.failed.take().map_or(Ok(()), Err))
    }
}

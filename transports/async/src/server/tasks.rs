//! The calls that were taken in: waiting, running, answered but not yet written.

use super::{ToolCall, bell::Line};
use barewire::{
    CallId,
    owned::{Answer, Fail, ToolResult},
};
use core::{
    future::Future,
    panic::AssertUnwindSafe,
    pin::Pin,
    task::{Context, Poll, Waker},
};
use std::{
    collections::{HashMap, VecDeque},
    panic::catch_unwind,
    sync::Arc,
};

pub(super) struct Tasks<F> {
    waiting: VecDeque<ToolCall>,
    running: HashMap<CallId, Task<F>>,
    /// In the order in which they were done.
    done: VecDeque<Done>,
    concurrent: usize,
    /// Bytes of arguments that calls hold.
    held: usize,
    bound: usize,
}

struct Task<F> {
    future: Pin<Box<F>>,
    line: Arc<Line>,
    waker: Waker,
    held: usize,
}

pub(super) struct Done {
    pub(super) id: CallId,
    pub(super) line: Arc<Line>,
    pub(super) answer: Answer,
}

impl<F: Future<Output = Result<ToolResult, Fail>>> Tasks<F> {
    /// `concurrent` at once; no more are taken in while they hold `bound` bytes of arguments.
    pub(super) fn new(concurrent: usize, bound: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            running: HashMap::new(),
            done: VecDeque::new(),
            concurrent,
            held: 0,
            bound,
        }
    }

    pub(super) fn has_room(&self) -> bool {
        self.held < self.bound
    }

    pub(super) fn take_in(&mut self, call: ToolCall) {
        self.held = self.held.saturating_add(call.args_json().len());
        self.waiting.push_back(call);
    }

    /// Drops all that a call has; its handler stops where it is.
    pub(super) fn cancel(&mut self, id: CallId) {
        if let Some(at) = self.waiting.iter().position(|call| call.id == id) {
            let held = self.waiting.remove(at).map_or(0, |call| call.args_json().len());
            self.held = self.held.saturating_sub(held);
        }
        if let Some(task) = self.running.remove(&id) {
            self.held = self.held.saturating_sub(task.held);
        }
        self.done.retain(|done| done.id != id);
    }

    /// Starts handlers for calls that wait, as far as the bound allows and answers get away. They count as woken.
    pub(super) fn start(&mut self, handler: &impl Fn(ToolCall) -> F, woken: &mut Vec<CallId>) {
        while self.done.is_empty() && self.running.len() < self.concurrent {
            let Some(call) = self.waiting.pop_front() else { return };
            let (id, line, held) = (call.id, Arc::clone(&call.line), call.args_json().len());
            match catch_unwind(AssertUnwindSafe(|| Box::pin(handler(call)))) {
                Ok(future) => {
                    let waker = Waker::from(Arc::clone(&line));
                    woken.push(id);
                    self.running.insert(id, Task { future, line, waker, held });
                }
                Err(_) => self.finish(Done { id, line, answer: Answer::panicked() }, held),
            }
        }
    }

    /// Lets the handlers go on that were woken.
    pub(super) fn run(&mut self, woken: &[CallId]) {
        for id in woken {
            let Some(task) = self.running.get_mut(id) else { continue };
            task.line.attend();
            let mut cx = Context::from_waker(&task.waker);
            // A handler that unwinds is never polled again, and touches nothing of the driver's.
            let answer = match catch_unwind(AssertUnwindSafe(|| task.future.as_mut().poll(&mut cx))) {
                Ok(Poll::Pending) => continue,
                Ok(Poll::Ready(outcome)) => Answer::new(outcome),
                Err(_) => Answer::panicked(),
            };
            if let Some(Task { line, held, .. }) = self.running.remove(id) {
                self.finish(Done { id: *id, line, answer }, held);
            }
        }
    }

    /// Offers answers to `send` until it refuses one. `true`: it took some.
    pub(super) fn answer(&mut self, mut send: impl FnMut(&Done) -> bool) -> bool {
        let before = self.done.len();
        while self.done.front().is_some_and(&mut send) {
            self.done.pop_front();
        }
        self.done.len() < before
    }

    pub(super) fn line(&self, id: CallId) -> Option<&Arc<Line>> {
        self.running.get(&id).map(|task| &task.line)
    }

    fn finish(&mut self, done: Done, held: usize) {
        self.held = self.held.saturating_sub(held);
        self.done.push_back(done);
    }
}

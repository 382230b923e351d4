//! A request under way: what has come of it, and the thread that waits.

use super::{CallError, CallResult, OwnedProgress, ToolInfo};
use crate::{OwnedContent, bell::Bell};
use barewire::{ClientEvent, End};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{collections::VecDeque, sync::Arc};

/// Progress that is kept for a thread which is busy with earlier progress; the oldest is dropped beyond it.
const PROGRESS: usize = 64;

#[derive(Default)]
pub(super) struct Waiting {
    pub(super) result: CallResult,
    pub(super) tools: Vec<ToolInfo>,
    pub(super) json: Option<String>,
    state: Option<String>,
    pub(super) progress: VecDeque<OwnedProgress>,
    pub(super) end: Option<Outcome>,
    pub(super) wake: Arc<Wake>,
}

/// Wakes the thread that waits.
#[derive(Default)]
pub(super) struct Wake {
    pub(super) bell: Bell,
    /// There is something, for a thread that does not sleep yet.
    pub(super) ready: AtomicBool,
}

impl Wake {
    fn wake(&self) {
        self.ready.store(true, Relaxed);
        self.bell.ring();
    }
}

/// How it ended, as far as the machine knows.
pub(super) enum Outcome {
    Done,
    TimedOut,
    Lost,
    Failed(CallError),
}

impl Waiting {
    /// `true`: that was the end.
    pub(super) fn add(&mut self, event: ClientEvent<'_>) -> bool {
        match event {
            ClientEvent::Tool { tool, .. } => self.tools.push(ToolInfo::copy(tool)),
            ClientEvent::Content { content, .. } => {
                self.result.content.extend(OwnedContent::copy(&content));
            }
            ClientEvent::Structured { json, .. } => self.result.structured = Some(json.as_str().into()),
            ClientEvent::Meta { json, .. } => self.result.meta = Some(json.as_str().into()),
            ClientEvent::Json { json, .. } => self.json = Some(json.as_str().to_owned()),
            ClientEvent::Progress { done, total, message, .. } => {
                if self.progress.len() == PROGRESS {
                    self.progress.pop_front();
                }
                let message = message.map(str::to_owned);
                self.progress.push_back(OwnedProgress { done, total, message });
                self.wake.wake();
            }
            ClientEvent::InputRequired { asks, state, .. } => {
                self.json = asks.map(|asks| asks.as_str().to_owned());
                self.state = state.map(|state| state.as_str().to_owned());
            }
            ClientEvent::Ended { end, .. } => {
                let outcome = match end {
                    End::Done { is_error } => {
                        self.result.is_error = is_error;
                        Outcome::Done
                    }
                    End::Error { code, message, data } => Outcome::Failed(CallError::Server {
                        code: code.0,
                        message: message.into(),
                        data: data.map(|data| data.as_str().to_owned()),
                    }),
                    End::TimedOut => Outcome::TimedOut,
                    End::Lost => Outcome::Lost,
                    End::InputRequired => {
                        let asks = self.json.take().unwrap_or_else(|| "{}".into());
                        Outcome::Failed(CallError::InputRequired { asks, state: self.state.take() })
                    }
                    end => Outcome::Failed(CallError::Protocol(end.to_string())),
                };
                self.finish(outcome);
                return true;
            }
            _ => {}
        }
        false
    }

    fn finish(&mut self, outcome: Outcome) {
        if self.end.is_none() {
            self.end = Some(outcome);
        }
        self.wake.wake();
    }
}

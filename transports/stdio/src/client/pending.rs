//! A request under way: what has come of it, and the thread that waits.

use super::CallError;
use crate::bell::Bell;
use barewire::{
    ClientEvent, End,
    owned::{Gathered, OwnedProgress},
};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{collections::VecDeque, sync::Arc};

/// Progress that is kept for a thread which is busy with earlier progress; the oldest is dropped beyond it.
const PROGRESS: usize = 64;

#[derive(Default)]
pub(super) struct Waiting {
    pub(super) gathered: Gathered,
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
        if let Some(progress) = OwnedProgress::copy(&event) {
            if self.progress.len() == PROGRESS {
                self.progress.pop_front();
            }
            self.progress.push_back(progress);
            self.wake.wake();
            return false;
        }
        let ClientEvent::Ended { end, .. } = event else {
            self.gathered.add(event);
            return false;
        };
        let outcome = match end {
            End::Done { .. } => {
                self.gathered.add(event);
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
                let Gathered { json, state, .. } = core::mem::take(&mut self.gathered);
                Outcome::Failed(CallError::InputRequired { asks: json.unwrap_or_else(|| "{}".into()), state })
            }
            end => Outcome::Failed(CallError::Protocol(end.to_string())),
        };
        self.finish(outcome);
        true
    }

    fn finish(&mut self, outcome: Outcome) {
        if self.end.is_none() {
            self.end = Some(outcome);
        }
        self.wake.wake();
    }
}

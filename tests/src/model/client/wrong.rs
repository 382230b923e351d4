//! Machines that make mistakes: each must be found, by the property that it breaks.

use core::hash::Hasher;

use barewire::{CallId, Millis, SendError};

use super::port::{How, Port, Said};
use super::script::Request;
use crate::model::explore::hash;

/// The mistake that a machine makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mistake {
    /// None.
    None,
    /// A request ends twice.
    EndsTwice,
    /// The end of a request is not told.
    HidesEnd,
    /// A part of a result is told of another request.
    Mixes,
    /// A request ends that was given up.
    EndsGivenUp,
    /// The server is not told of what was given up.
    KeepsCancel,
    /// A request is said to be too late that is not.
    Hurries,
    /// Something is told after `Closed`.
    TellsAfterClosed,
    /// It names no moment.
    HidesUntil,
    /// It names a moment when nothing happens.
    LyingUntil,
    /// It tells the same again and again.
    Busy,
    /// It refuses a request without reason.
    Refuses,
}

impl Mistake {
    /// All of them, `None` first.
    pub const ALL: [Self; 12] = [
        Self::None,
        Self::EndsTwice,
        Self::HidesEnd,
        Self::Mixes,
        Self::EndsGivenUp,
        Self::KeepsCancel,
        Self::Hurries,
        Self::TellsAfterClosed,
        Self::HidesUntil,
        Self::LyingUntil,
        Self::Busy,
        Self::Refuses,
    ];
}

/// A machine that makes one mistake.
#[derive(Debug)]
pub struct Wrong<P> {
    inner: P,
    mistake: Mistake,
    again: Option<Said>,
    first: Option<CallId>,
    given_up: bool,
    closed: bool,
}

impl<P: Port> Wrong<P> {
    /// Around a machine that makes none.
    #[must_use]
    pub const fn new(inner: P, mistake: Mistake) -> Self {
        Self { inner, mistake, again: None, first: None, given_up: false, closed: false }
    }
}

impl<P: Port> Port for Wrong<P> {
    fn poll(&mut self, now: Millis) -> Said {
        if let Some(said) = self.again.take() {
            return said;
        }
        let said = self.inner.poll(now);
        match (self.mistake, &said) {
            (Mistake::EndsTwice, Said::Ended(..)) => self.again = Some(said.clone()),
            (Mistake::HidesEnd, Said::Ended(..)) => return Said::Other,
            (Mistake::Mixes, Said::Part(_, text)) => {
                if let Some(first) = self.first {
                    return Said::Part(first, text.clone());
                }
            }
            (Mistake::EndsGivenUp, Said::Wait(_)) if self.given_up => {
                self.given_up = false;
                return self.first.map_or(Said::Other, |call| Said::Ended(call, How::Done));
            }
            (Mistake::Hurries, Said::Wait(Some(_))) => {
                if let Some(call) = self.first {
                    return Said::Ended(call, How::TimedOut);
                }
            }
            (Mistake::TellsAfterClosed, Said::Closed) if self.closed => return Said::Other,
            (_, Said::Closed) => self.closed = true,
            (Mistake::HidesUntil, Said::Wait(_)) => return Said::Wait(None),
            (Mistake::LyingUntil, Said::Wait(Some(until))) => {
                return Said::Wait(Some(Millis(until.0.saturating_sub(1))));
            }
            (Mistake::Busy, Said::Wait(_)) if self.first.is_some() => return Said::Other,
            _ => {}
        }
        said
    }

    fn feed(&mut self, bytes: &[u8]) -> usize {
        self.inner.feed(bytes)
    }

    fn output(&self) -> &[u8] {
        self.inner.output()
    }

    fn sent(&mut self, n: usize) {
        self.inner.sent(n);
    }

    fn end_of_input(&mut self) {
        self.inner.end_of_input();
    }

    fn reset(&mut self) {
        self.inner.reset();
    }

    fn ask(&mut self, request: &Request) -> Result<CallId, SendError> {
        if self.mistake == Mistake::Refuses {
            return Err(SendError::Full);
        }
        let call = self.inner.ask(request)?;
        self.first.get_or_insert(call);
        Ok(call)
    }

    fn cancel(&mut self, call: CallId) {
        self.given_up = true;
        if self.mistake != Mistake::KeepsCancel {
            self.inner.cancel(call);
        }
    }

    fn digest(&self, hasher: &mut dyn Hasher) {
        self.inner.digest(hasher);
        hash(&(self.first, self.given_up, self.closed, format!("{:?}", self.again)), hasher);
    }
}

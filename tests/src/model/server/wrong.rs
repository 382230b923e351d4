//! Machines that make mistakes: each must be found, by the property that it breaks.

use core::hash::Hasher;
use std::rc::Rc;

use barewire::{CallId, Full, Millis};

use super::port::{Did, How, Port, Said};
use super::script::Script;
use crate::model::explore::hash;

/// The mistake that a machine makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mistake {
    /// None: the machinery around a mistake makes none by itself.
    None,
    /// An answer comes twice.
    Twice,
    /// An answer is lost.
    Loses,
    /// A call is answered after its cancellation.
    AnswersCancelled,
    /// A cancellation is not told.
    HidesCancel,
    /// A cancellation is told twice.
    CancelsTwice,
    /// Something is said after `Closed`.
    SaysAfterClosed,
    /// An event comes after `Closed`.
    TellsAfterClosed,
    /// A call is told twice.
    CallsTwice,
    /// It tells the same again and again.
    Busy,
    /// It waits while the application can do nothing.
    Deadlock,
    /// It names a moment when nothing happens.
    LyingUntil,
    /// A call that was answered keeps its slot.
    KeepsSlot,
    /// A line without its end.
    CutsLine,
    /// A line that is no message.
    Garbles,
    /// What was shown changes.
    Rewrites,
    /// It refuses without reason.
    Refuses,
    /// It says that a call is gone that is not.
    Forgets,
}

impl Mistake {
    /// All of them, `None` first.
    pub const ALL: [Self; 18] = [
        Self::None,
        Self::Twice,
        Self::Loses,
        Self::AnswersCancelled,
        Self::HidesCancel,
        Self::CancelsTwice,
        Self::SaysAfterClosed,
        Self::TellsAfterClosed,
        Self::CallsTwice,
        Self::Busy,
        Self::Deadlock,
        Self::LyingUntil,
        Self::KeepsSlot,
        Self::CutsLine,
        Self::Garbles,
        Self::Rewrites,
        Self::Refuses,
        Self::Forgets,
    ];
}

/// A machine that makes one mistake, the first time it can.
#[derive(Debug)]
pub struct Wrong<P> {
    inner: P,
    script: Rc<Script>,
    mistake: Mistake,
    /// The mistake was made.
    made: bool,
    line: Vec<u8>,
    out: Vec<u8>,
    /// The call told last, with its tag.
    last: Option<(CallId, String)>,
    /// What will be told again.
    again: Option<Said>,
}

impl<P: Port> Wrong<P> {
    /// Around a machine that makes none.
    #[must_use]
    pub fn new(inner: P, script: Rc<Script>, mistake: Mistake) -> Self {
        Self {
            inner,
            script,
            mistake,
            made: false,
            line: Vec::new(),
            out: Vec::new(),
            last: None,
            again: None,
        }
    }

    /// Is this the mistake to be made now?
    fn now(&mut self, mistake: Mistake) -> bool {
        let now = self.mistake == mistake && !self.made;
        self.made |= now;
        now
    }

    /// Takes what the inner machine wants to send, line by line.
    fn pull(&mut self) {
        let new = self.inner.output().to_vec();
        self.inner.sent(new.len());
        for byte in new {
            self.line.push(byte);
            if byte != b'\n' {
                continue;
            }
            let line = core::mem::take(&mut self.line);
            let is_call = line.windows(9).any(|w| w == b"\"content\"");
            if is_call && self.now(Mistake::Loses) {
                continue;
            }
            self.out.extend_from_slice(&line);
            if is_call && self.now(Mistake::Twice) {
                self.out.extend_from_slice(&line);
            }
            if is_call && self.now(Mistake::CutsLine) {
                self.out.pop();
            }
            if is_call && self.now(Mistake::Garbles) {
                self.out.truncate(self.out.len() - 2);
                self.out.push(b'\n');
            }
        }
    }

    fn answer_to(&self, call: CallId) -> Option<String> {
        let (_, tag) = self.last.as_ref().filter(|(last, _)| *last == call)?;
        let request = self.script.requests.iter().find(|r| r.tag == *tag)?;
        let (id, modern) = (request.id, self.script.revision == super::MODERN);
        let kind = if modern { "\"resultType\":\"complete\"," } else { "" };
        Some(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{{kind}\"content\":[{{\"type\":\"text\",\"text\":\"{tag}\"}}]}}}}\n"
        ))
    }
}

impl<P: Port> Port for Wrong<P> {
    fn poll(&mut self, now: Millis) -> Said {
        if let Some(said) = self.again.take() {
            return said;
        }
        loop {
            let said = self.inner.poll(now);
            self.pull();
            match said {
                Said::Send => continue,
                Said::Wait(_) | Said::Blocked(_) | Said::Closed if !self.out.is_empty() => return Said::Send,
                Said::Called(call, ref tag, _) => {
                    self.last = Some((call, tag.clone()));
                    if self.now(Mistake::CallsTwice) {
                        self.again = Some(said.clone());
                    }
                }
                Said::Cancelled(_) if self.now(Mistake::HidesCancel) => continue,
                Said::Cancelled(call) => {
                    if self.now(Mistake::CancelsTwice) {
                        self.again = Some(said.clone());
                    }
                    if self.mistake == Mistake::AnswersCancelled {
                        let answer = self.answer_to(call).unwrap_or_default();
                        self.out.extend_from_slice(answer.as_bytes());
                    }
                }
                Said::Wait(_) if self.mistake == Mistake::Busy && self.last.is_some() => return Said::Other,
                Said::Wait(_) if self.mistake == Mistake::Deadlock && self.last.is_some() => {
                    return Said::Blocked(None);
                }
                Said::Blocked(_) if self.mistake == Mistake::LyingUntil => {
                    return Said::Blocked(Some(Millis(now.0 + 1)));
                }
                Said::Closed if self.mistake == Mistake::SaysAfterClosed && self.made => {
                    self.out.extend_from_slice(b"{}\n");
                }
                Said::Closed if self.mistake == Mistake::TellsAfterClosed && self.made => return Said::Other,
                Said::Closed => {
                    self.made |= matches!(self.mistake, Mistake::SaysAfterClosed | Mistake::TellsAfterClosed);
                }
                _ => {}
            }
            return said;
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> usize {
        self.inner.feed(bytes)
    }

    fn output(&self) -> &[u8] {
        &self.out
    }

    fn sent(&mut self, n: usize) {
        self.out.drain(..n);
        if !self.out.is_empty() && self.now(Mistake::Rewrites) {
            self.out[0] ^= 1;
        }
    }

    fn end_of_input(&mut self) {
        self.inner.end_of_input();
    }

    fn reset(&mut self) {
        self.inner.reset();
        self.out.clear();
        self.line.clear();
    }

    fn tools_changed(&mut self) {
        self.inner.tools_changed();
    }

    fn resume(&mut self, call: CallId, tag: &str, how: How) -> Did {
        if self.mistake == Mistake::Refuses {
            return Did::Full;
        }
        if self.mistake == Mistake::Forgets {
            return Did::Gone;
        }
        if self.mistake == Mistake::KeepsSlot && how == How::Whole {
            self.last.get_or_insert((call, tag.to_owned()));
            let answer = self.answer_to(call).unwrap_or_default();
            self.out.extend_from_slice(answer.as_bytes());
            return Did::Answered;
        }
        let did = self.inner.resume(call, tag, how);
        self.pull();
        did
    }

    fn progress(&mut self, call: CallId, done: u64) -> Result<(), Full> {
        self.inner.progress(call, done)
    }

    fn digest(&self, hasher: &mut dyn Hasher) {
        self.inner.digest(hasher);
        hash(&(self.made, &self.line, &self.out, &self.last, format!("{:?}", self.again)), hasher);
    }
}

//! What is under way on the wire, and lending replies.
use super::jobs::{Around, Job, To, What};
use crate::mcp::LEGACY;

/// The state of the way out: what is lent, half written, or being said by the machine.
// Fixed, since the smallest processors reach what is near the start by one instruction; this order was measured.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Line {
    pub(super) job: Option<Job>,
    /// The dynamic list is in the application's hands.
    pub(super) lent_list: bool,
    /// The application is to be told when what it paused has left.
    pub(super) more: bool,
    /// The call whose reply is in the application's hands.
    pub(super) lent: Option<u16>,
    /// The call whose result is half on the wire.
    pub(super) streaming: Option<u16>,
    pub(super) batch: Option<Batch>,
    /// How many bytes of the job (of a list: of its part) are written.
    pub(super) at: usize,
}

/// A batch that is being served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Where the next element starts, from the start of the line.
    pub(super) next: usize,
    /// The array of answers is open.
    pub(super) wrote: bool,
}

impl Line {
    pub(super) fn start(&mut self, to: To, what: What) {
        self.job = Some(Job { to, what });
        self.at = 0;
    }

    /// An answer is written.
    pub(super) fn answered(&mut self) {
        self.lent = None;
        if let Some(batch) = &mut self.batch {
            batch.wrote = true;
        }
    }

    /// What stands around the next answer.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) const fn around(&self) -> Around {
        match self.batch {
            _ if !LEGACY => Around::Line,
            None => Around::Line,
            Some(Batch { wrote: false, .. }) => Around::First,
            Some(Batch { wrote: true, .. }) => Around::Next,
        }
    }
}

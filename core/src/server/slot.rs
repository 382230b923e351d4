//! What a server remembers of one call.
use crate::machine::mem::Small;
use crate::machine::slots::{Side, Slot, State};
use crate::mcp::Version;

/// How far the result of a call is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// Nothing yet.
    Start,
    /// The head, maybe members; the content array is not open.
    Members,
    /// The content array is open and has no block.
    Empty,
    /// It has blocks, all closed.
    Blocks,
    /// A text block is open.
    Text,
    /// A binary block is open; how many brackets close it.
    Blob(u8),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotServer {
    pub(crate) version: Version,
    pub(crate) stage: Stage,
    /// Bytes written of the step from one stage to the next (streaming alone).
    pub(crate) step: usize,
    pub(crate) is_error: bool,
    /// The result's `_meta` is written.
    pub(crate) has_meta: bool,
    /// The last progress told.
    pub(crate) progress: Option<u64>,
    /// One or two bytes that wait for the third of a base64 group.
    pub(crate) carry: [u8; 2],
    pub(crate) carried: u8,
}

impl SlotServer {
    pub(crate) const fn new(version: Version) -> Self {
        Self {
            version,
            stage: Stage::Start,
            step: 0,
            is_error: false,
            has_meta: false,
            progress: None,
            carry: [0; 2],
            carried: 0,
        }
    }

    /// A head that is half out goes on where it stopped.
    pub(crate) fn head_written(&self) -> usize {
        if self.stage == Stage::Start { self.step } else { 0 }
    }

    /// Forgets what was written, not what was told.
    pub(crate) const fn rewind(&mut self) {
        let progress = self.progress;
        *self = Self::new(self.version);
        self.progress = progress;
    }
}

/// The slot of a call whose reply is lent, taken apart.
pub(super) struct Open<'m> {
    pub(super) id: &'m mut Small<40>,
    pub(super) token: &'m mut Small<32>,
    pub(super) state: &'m mut State,
    pub(super) own: &'m mut SlotServer,
}

impl<'m> Open<'m> {
    pub(super) fn of(slot: &'m mut Slot) -> Option<Self> {
        match slot {
            Slot { id, token, state, side: Side::Server(own), .. } => Some(Self { id, token, state, own }),
            _ => None,
        }
    }

    /// The call has ended.
    pub(super) fn free(&mut self) {
        self.id.clear();
        self.token.clear();
        *self.state = State::Free;
    }
}

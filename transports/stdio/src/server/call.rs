//! One call as the tool sees it.

use crate::bell::Bell;
use barewire::{Args, BadArgs, BadCall, CallId, FromArgs, Progress, Tools, Version};
use core::time::Duration;
use std::sync::{Arc, Mutex};

/// How often the arguments of one call can be decoded.
const DECODES: usize = 8;

/// A tools/call: its name, its arguments, and ways to hear of a cancel and to tell progress.
pub struct ToolCall<'a> {
    job: &'a Job,
    copies: &'a mut [Vec<u8>],
    line: &'a (dyn Line + 'a),
}

impl<'a> ToolCall<'a> {
    /// The tool's name.
    pub fn name(&self) -> &'a str {
        &self.job.name
    }

    /// The arguments as they came: always an object, `{}` if the peer sent none.
    pub fn args_json(&self) -> &'a str {
        &self.job.args
    }

    /// Decodes the arguments. `&str` fields borrow from the call, escapes undone.
    ///
    /// Each decode works on a copy of its own; after the eighth it fails.
    pub fn decode<T: FromArgs<'a>>(&mut self) -> Result<T, BadArgs> {
        self.copy()?.decode()
    }

    /// Which of the tools is called, its arguments decoded, under the rule of [`decode`](Self::decode): for a `match` that can't
    /// forget one. `?` makes what is wrong the answer.
    pub fn tool<T: Tools<'a>>(&mut self) -> Result<T, BadCall> {
        T::read(self.name(), self.copy()?)
    }

    /// Decodes the arguments into a serde type, under the rule of [`decode`](Self::decode).
    #[cfg(feature = "serde")]
    pub fn deserialize<T: serde_core::Deserialize<'a>>(&mut self) -> Result<T, BadArgs> {
        self.copy()?.deserialize()
    }

    /// Whether the peer cancelled it, or hung up. Its result will not be sent then.
    pub fn is_cancelled(&self) -> bool {
        self.job.cancelled.wait(Duration::ZERO)
    }

    /// Sleeps for `at_most`, or until the call is cancelled: then it returns `true` at once.
    pub fn wait_cancelled(&self, at_most: Duration) -> bool {
        self.job.cancelled.wait(at_most)
    }

    /// Tells how far it is. Dropped unless the peer asked for it, or while the peer does not read.
    pub fn progress(&self, progress: Progress<'_>) {
        self.line.progress(self.job.id, progress);
    }

    /// The peer's protocol revision.
    pub fn version(&self) -> Version {
        self.job.version
    }

    /// Whether the peer asked for progress.
    pub fn wants_progress(&self) -> bool {
        self.job.wants_progress
    }

    /// The request's `_meta`, as JSON text.
    pub fn meta_json(&self) -> Option<&'a str> {
        self.job.meta.as_deref()
    }

    /// The decoder unescapes in place, so each decode has a copy; slices of a vector of copies can be
    /// lent for `'a` one by one, which one growing vector could not.
    fn copy(&mut self) -> Result<Args<'a>, BadArgs> {
        const TOO_OFTEN: BadArgs = BadArgs::new("arguments", "decoded at most eight times by the tool");
        let copies = core::mem::take(&mut self.copies);
        let (copy, rest) = copies.split_first_mut().ok_or(TOO_OFTEN)?;
        self.copies = rest;
        copy.extend_from_slice(self.job.args.as_bytes());
        Args::from_json(copy).ok_or(BadArgs::new("arguments", "an object"))
    }
}

/// A call that waits for a thread, or runs.
pub(super) struct Job {
    pub(super) id: CallId,
    pub(super) name: String,
    pub(super) args: String,
    pub(super) version: Version,
    pub(super) wants_progress: bool,
    pub(super) meta: Option<String>,
    pub(super) cancelled: Arc<Flag>,
}

impl Job {
    pub(super) fn run<R>(&self, line: &dyn Line, tool: impl FnOnce(&mut ToolCall<'_>) -> R) -> R {
        let mut copies: [Vec<u8>; DECODES] = Default::default();
        tool(&mut ToolCall { job: self, copies: &mut copies, line })
    }
}

/// What a running tool can reach of the connection.
pub(super) trait Line {
    fn progress(&self, call: CallId, progress: Progress<'_>);
}

/// Goes up once and can be waited for.
#[derive(Default)]
pub(super) struct Flag {
    up: Mutex<bool>,
    raised: Bell,
}

impl Flag {
    pub(super) fn raise(&self) {
        *crate::lock(&self.up) = true;
        self.raised.ring();
    }

    fn wait(&self, at_most: Duration) -> bool {
        *self.raised.wait_until(&self.up, at_most, |up| *up)
    }
}

//! One call as the tool sees it.

use crate::bell::Bell;
use barewire::{
    Args, BadArgs, BadCall, Call, CallId, FromArgs, Progress, Tools, Version, json::Raw, owned::OwnedArgs,
};
use core::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use std::sync::Mutex;

/// How often the arguments of one call can be decoded.
const DECODES: usize = 8;
/// What a buffer may keep from one call to the next.
const KEEP: usize = 64 << 10;

/// A tools/call: its name, its arguments, and ways to hear of a cancel and to tell progress.
pub struct ToolCall<'a> {
    job: &'a Job,
    copies: &'a mut [Vec<u8>],
    cancelled: &'a Flag,
    line: &'a (dyn Line + 'a),
}

impl<'a> ToolCall<'a> {
    /// The tool's name.
    pub fn name(&self) -> &'a str {
        &self.job.name
    }

    /// The arguments as they came: always an object, `{}` if the peer sent none.
    pub fn args_json(&self) -> &'a str {
        self.job.args.json().as_str()
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
        self.cancelled.is_up()
    }

    /// Sleeps for `at_most`, or until the call is cancelled: then it returns `true` at once.
    pub fn wait_cancelled(&self, at_most: Duration) -> bool {
        self.cancelled.wait(at_most)
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
        self.job.has_meta.then(|| text(&self.job.meta))
    }

    /// The decoder unescapes in place, so each decode has a copy; slices of a vector of copies can be
    /// lent for `'a` one by one, which one growing vector could not.
    fn copy(&mut self) -> Result<Args<'a>, BadArgs> {
        const TOO_OFTEN: BadArgs = BadArgs::new("arguments", "decoded at most eight times by the tool");
        let copies = core::mem::take(&mut self.copies);
        let (copy, rest) = copies.split_first_mut().ok_or(TOO_OFTEN)?;
        self.copies = rest;
        Ok(self.job.args.lend(copy))
    }
}

/// JSON that the machine has checked.
fn text(json: &[u8]) -> &str {
    core::str::from_utf8(json).unwrap_or_default()
}

/// Memory of a worker for decoding, kept from call to call.
pub(super) type Copies = [Vec<u8>; DECODES];

/// A call that waits for a thread, or runs. Its memory serves one call after the other.
pub(super) struct Job {
    pub(super) id: CallId,
    pub(super) name: String,
    pub(super) args: OwnedArgs,
    pub(super) version: Version,
    pub(super) wants_progress: bool,
    pub(super) has_meta: bool,
    /// JSON is looked at as text only where a tool asks for that.
    pub(super) meta: Vec<u8>,
}

impl Job {
    /// A copy of what is lent, in the memory of `old` if there is one. Puts the call off.
    pub(super) fn take(old: Option<Self>, call: Call<'_>) -> Self {
        let Call { name, args, reply, context, .. } = call;
        let meta = context.meta.map(Raw::as_bytes);
        let (version, wants_progress, has_meta) = (context.version, context.wants_progress, meta.is_some());
        let id = reply.id();
        let mut job = match old {
            Some(old) => Self { id, version, wants_progress, has_meta, ..old },
            None => Self {
                id,
                name: String::new(),
                args: OwnedArgs::default(),
                version,
                wants_progress,
                has_meta,
                meta: Vec::new(),
            },
        };
        job.name.clear();
        job.name.push_str(name);
        job.args.set(&args);
        refill(&mut job.meta, meta.unwrap_or_default());
        reply.defer();
        job
    }

    pub(super) fn run<R>(
        &self,
        line: &dyn Line,
        copies: &mut Copies,
        cancelled: &Flag,
        tool: impl FnOnce(&mut ToolCall<'_>) -> R,
    ) -> R {
        let result = tool(&mut ToolCall { job: self, copies, cancelled, line });
        for copy in copies.iter_mut().filter(|copy| copy.capacity() > KEEP) {
            *copy = Vec::new();
        }
        result
    }
}

fn refill(buffer: &mut Vec<u8>, with: &[u8]) {
    if buffer.capacity() > KEEP.max(with.len()) {
        *buffer = Vec::new();
    }
    buffer.clear();
    buffer.extend_from_slice(with);
}

/// What a running tool can reach of the connection.
pub(super) trait Line {
    fn progress(&self, call: CallId, progress: Progress<'_>);
}

/// Goes up when the call that a worker runs is cancelled, and can be waited for.
#[derive(Default)]
pub(super) struct Flag {
    up: AtomicBool,
    /// Held while it changes: see [`Bell`].
    gate: Mutex<()>,
    raised: Bell,
}

impl Flag {
    pub(super) fn is_up(&self) -> bool {
        self.up.load(Ordering::Acquire)
    }

    pub(super) fn raise(&self) {
        let gate = crate::lock(&self.gate);
        self.up.store(true, Ordering::Release);
        drop(gate);
        self.raised.ring();
    }

    /// For the next call; nobody waits for it then.
    pub(super) fn lower(&self) {
        if self.is_up() {
            self.up.store(false, Ordering::Release);
        }
    }

    fn wait(&self, at_most: Duration) -> bool {
        drop(self.raised.wait_until(&self.gate, at_most, |()| self.is_up()));
        self.is_up()
    }
}

//! One call as the tool sees it.

use crate::bell::Bell;
use barewire::{Args, BadArgs, BadCall, Call, CallId, FromArgs, Progress, Tools, Version, json::Raw};
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

/// How often the arguments of one call can be decoded.
const DECODES: usize = 8;
/// What a buffer may keep from one call to the next.
const KEEP: usize = 64 << 10;

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
        text(&self.job.args)
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
        self.job.has_meta.then(|| text(&self.job.meta))
    }

    /// The decoder unescapes in place, so each decode has a copy; slices of a vector of copies can be
    /// lent for `'a` one by one, which one growing vector could not.
    fn copy(&mut self) -> Result<Args<'a>, BadArgs> {
        const TOO_OFTEN: BadArgs = BadArgs::new("arguments", "decoded at most eight times by the tool");
        let copies = core::mem::take(&mut self.copies);
        let (copy, rest) = copies.split_first_mut().ok_or(TOO_OFTEN)?;
        self.copies = rest;
        copy.clear();
        copy.extend_from_slice(&self.job.args);
        Args::from_json(copy).ok_or(BadArgs::new("arguments", "an object"))
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
    /// JSON is looked at as text only where a tool asks for that.
    pub(super) args: Vec<u8>,
    pub(super) version: Version,
    pub(super) wants_progress: bool,
    pub(super) has_meta: bool,
    pub(super) meta: Vec<u8>,
    pub(super) cancelled: Arc<Flag>,
}

impl Job {
    /// A copy of what is lent, in the memory of `old` if there is one. Puts the call off.
    pub(super) fn take(old: Option<Self>, call: Call<'_>) -> Self {
        let Call { name, args, reply, context, .. } = call;
        let (args, meta) = (args.json().as_bytes(), context.meta.map(Raw::as_bytes));
        let (version, wants_progress, has_meta) = (context.version, context.wants_progress, meta.is_some());
        let id = reply.id();
        let mut job = match old {
            Some(old) => Self { id, version, wants_progress, has_meta, ..old },
            None => Self {
                id,
                name: String::new(),
                args: Vec::new(),
                version,
                wants_progress,
                has_meta,
                meta: Vec::new(),
                cancelled: Arc::default(),
            },
        };
        job.name.clear();
        job.name.push_str(name);
        refill(&mut job.args, args);
        refill(&mut job.meta, meta.unwrap_or_default());
        // One that somebody else still holds, or that is up, is of no more use.
        if Arc::get_mut(&mut job.cancelled).is_none_or(Flag::is_up) {
            job.cancelled = Arc::default();
        }
        reply.defer();
        job
    }

    pub(super) fn run<R>(
        &self,
        line: &dyn Line,
        copies: &mut Copies,
        tool: impl FnOnce(&mut ToolCall<'_>) -> R,
    ) -> R {
        let result = tool(&mut ToolCall { job: self, copies, line });
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

/// Goes up once and can be waited for.
#[derive(Default)]
pub(super) struct Flag {
    up: Mutex<bool>,
    raised: Bell,
}

impl Flag {
    fn is_up(&mut self) -> bool {
        *self.up.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn raise(&self) {
        *crate::lock(&self.up) = true;
        self.raised.ring();
    }

    fn wait(&self, at_most: Duration) -> bool {
        *self.raised.wait_until(&self.up, at_most, |up| *up)
    }
}

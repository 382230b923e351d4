//! One call as the handler sees it.

use super::bell::Line;
use barewire::{BadArgs, BadCall, CallId, FromArgs, Progress, Tools, Version, owned::OwnedArgs};
use core::fmt;
use std::sync::Arc;

/// A tools/call: its name, its arguments, and ways to tell how far it is. The handler owns it.
///
/// When the peer cancels the call, or hangs up, the handler's future is dropped.
pub struct ToolCall {
    pub(super) name: String,
    pub(super) args: OwnedArgs,
    pub(super) version: Version,
    pub(super) wants_progress: bool,
    pub(super) meta: Option<String>,
    pub(super) line: Arc<Line>,
    pub(super) id: CallId,
    pub(super) copy: Vec<u8>,
}

impl ToolCall {
    /// The tool's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as they came: always an object, `{}` if the peer sent none.
    #[must_use]
    pub fn args_json(&self) -> &str {
        self.args.json().as_str()
    }

    /// Decodes the arguments. `&str` fields borrow from the call, escapes undone; while they do, what is to be
    /// reported goes through a [`reporter`](Self::reporter) made before.
    ///
    /// # Errors
    /// [`BadArgs`] names the argument that is wrong; `?` makes it the answer.
    pub fn decode<'a, T: FromArgs<'a>>(&'a mut self) -> Result<T, BadArgs> {
        self.args.lend(&mut self.copy).decode()
    }

    /// Which of the tools is called, its arguments decoded, under the rules of [`decode`](Self::decode): for a `match` that can't
    /// forget one.
    ///
    /// # Errors
    /// [`BadCall`] says what is wrong; `?` makes it the answer.
    pub fn tool<'a, T: Tools<'a>>(&'a mut self) -> Result<T, BadCall> {
        T::read(&self.name, self.args.lend(&mut self.copy))
    }

    /// Decodes the arguments into a serde type, under the rules of [`decode`](Self::decode).
    ///
    /// # Errors
    /// [`BadArgs`] if they do not fit the type.
    #[cfg(feature = "serde")]
    pub fn deserialize<'a, T: serde_core::Deserialize<'a>>(&'a mut self) -> Result<T, BadArgs> {
        self.args.lend(&mut self.copy).deserialize()
    }

    /// Tells how far it is: see [`Reporter::progress`].
    pub fn progress(&self, progress: Progress<'_>) {
        if self.wants_progress {
            self.line.tell(progress);
        }
    }

    /// Says that the list of tools is another now: see [`Reporter::tools_changed`].
    pub fn tools_changed(&self) {
        self.line.changed();
    }

    /// Reports for this call from elsewhere, for example from another task that works on it.
    #[must_use]
    pub fn reporter(&self) -> Reporter {
        Reporter { line: Arc::clone(&self.line), wants_progress: self.wants_progress }
    }

    /// The peer's protocol revision.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether the peer asked for progress.
    #[must_use]
    pub fn wants_progress(&self) -> bool {
        self.wants_progress
    }

    /// The request's `_meta`, as JSON text.
    #[must_use]
    pub fn meta_json(&self) -> Option<&str> {
        self.meta.as_deref()
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("name", &self.name)
            .field("args", &self.args_json())
            .finish_non_exhaustive()
    }
}

/// Reports for one call, from any task or thread. What comes after the call has ended is dropped.
#[derive(Clone)]
pub struct Reporter {
    line: Arc<Line>,
    wants_progress: bool,
}

impl Reporter {
    /// Tells how far the call is. Never waits: it is dropped unless the peer asked for it, and of reports that wait
    /// because the peer does not read, only the last few are kept.
    pub fn progress(&self, progress: Progress<'_>) {
        if self.wants_progress {
            self.line.tell(progress);
        }
    }

    /// Says that the list of tools is another now. The peer is told if
    /// [`ServerConfig::list_changed`](barewire::ServerConfig::list_changed) announced it.
    pub fn tools_changed(&self) {
        self.line.changed();
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter").field("wants_progress", &self.wants_progress).finish_non_exhaustive()
    }
}

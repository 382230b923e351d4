//! All tools of a server as one type.
use super::{Args, BadArgs, Call, Reply};
use crate::mcp::Tool;
use core::fmt;

/// Implemented by an enum with a variant for each tool, so that a `match` over it is exhaustive: a tool without an arm does
/// not compile. With the feature `derive`, `#[derive(Tools)]` writes it, the table and the schemas.
pub trait Tools<'m>: Sized {
    /// What peers see; give it to [`ServerConfig::tools`](crate::ServerConfig::tools).
    const TOOLS: &'static [Tool<'static>];

    /// The call of the tool that is named so.
    ///
    /// # Errors
    /// [`BadCall`] if there is no such tool, or if its arguments are wrong.
    fn read(name: &str, args: Args<'m>) -> Result<Self, BadCall>;

    /// The call, and the reply that it waits for. `None`: it was wrong, and that has been answered, as
    /// [`Reply::refuse`] does it.
    fn decode(call: Call<'m>) -> Option<(Self, Reply<'m>)> {
        let Call { name, args, reply, .. } = call;
        match Self::read(name, args) {
            Ok(tool) => Some((tool, reply)),
            Err(bad) => {
                reply.refuse(bad);
                None
            }
        }
    }
}

/// A call that can't be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadCall {
    /// No tool has this name.
    Unknown,
    /// The tool does not take these arguments.
    Args(BadArgs),
}

impl From<BadArgs> for BadCall {
    fn from(bad: BadArgs) -> Self {
        Self::Args(bad)
    }
}

impl fmt::Display for BadCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("no tool has this name"),
            Self::Args(bad) => bad.fmt(f),
        }
    }
}
impl core::error::Error for BadCall {}

impl Reply<'_> {
    /// Answers a call that can't be run: an unknown tool is -32602, for arguments see [`bad_args`](Self::bad_args).
    pub fn refuse(self, bad: BadCall) {
        match bad {
            BadCall::Unknown => self.unknown(),
            BadCall::Args(bad) => self.bad_args(bad),
        }
    }
}

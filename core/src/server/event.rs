//! What a server's application is told.
use super::{Args, List, Reply};
use crate::json::Raw;
use crate::machine::CallId;
use crate::mcp::{Abilities, Level, Version};
use crate::rpc::Fault;

/// What the application is told. Whatever is lent ends at the next call on the machine, which settles it.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerEvent<'m> {
    /// A tool is called: a known one of a table, any of a dynamic source, from a complete and valid message. Fires once
    /// for each call, with room for its reply.
    Call(Call<'m>),
    /// There is room to go on with a paused result. Fires once after each [`pause`](Reply::pause) that wrote something,
    /// when that has left; does not fire after a `pause` that wrote nothing ([`resume`](crate::Server::resume) works at
    /// any time). If it is not answered the result ends as an error.
    More(Reply<'m>),
    /// Stop working on it: the client cancelled, started a new session, or the drain time is over. Does not fire for a
    /// call that was answered already, nor for one whose result is half on the wire.
    Cancelled(CallId),
    /// A dynamic source is listed. Fires again until the closure has said `None`, whatever the size of the buffer.
    List(List<'m>),
    /// A handshake is being answered. Does not fire for stateless peers (2026-07-28), which have none.
    Opened {
        /// `clientInfo.name`, or nothing. For people alone.
        client: &'m str,
        /// What was agreed.
        version: Version,
    },
    /// The peer erred; it has been answered, or soon is, where the protocol allows an answer.
    Fault {
        /// How.
        fault: Fault,
        /// The line, or what of it is at hand.
        line: &'m [u8],
    },
    /// A notification that the machine has no use for.
    Notified {
        /// Its method.
        method: &'m str,
        /// As it came.
        params: Option<Raw<'m>>,
    },
}

/// A call: arguments in the receive buffer, reply in the transmit buffer, usable together. Take it apart by its fields.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call<'m> {
    /// The tool.
    pub name: &'m str,
    /// An object, empty if the peer sent none.
    pub args: Args<'m>,
    /// Answers it, now or later.
    pub reply: Reply<'m>,
    /// What the request said about its sender.
    pub context: Context<'m>,
}

/// What a request said about its sender. Neither era nor session need be asked for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Context<'m> {
    /// The revision that is spoken.
    pub version: Version,
    /// What the client can be asked.
    pub can: Abilities,
    /// The log level that a stateless request asked for.
    pub log: Option<Level>,
    /// Is there a progress token?
    pub wants_progress: bool,
    /// The request's `_meta`, an object.
    pub meta: Option<Raw<'m>>,
}

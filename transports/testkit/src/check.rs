//! The checks: what each is called, why it is there, and what to do if it fails.

use crate::{
    Claims,
    bench::{Bench, Halt},
    checks::{calls, carry, ends, handshake, limits, load, order, shutdown},
    claims::{Form, LEAST},
};

/// One property that a transport must have.
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// What it is called, for [`Suite::only`](crate::Suite::only) and [`Suite::without`](crate::Suite::without).
    pub name: &'static str,
    /// Why a transport must pass it.
    pub reason: &'static str,
    /// What is wrong with most transports that do not.
    pub fix: &'static str,
    needs: &'static [Need],
    pub(crate) run: Run,
}

pub(crate) type Run = fn(&mut Bench<'_>) -> Result<String, Halt>;

/// What a check cannot do without.
#[derive(Debug)]
enum Need {
    Stream,
    Messages,
    Reliable,
    /// What arrives is whole.
    Whole,
    Ordered,
    HalfClose,
    /// The far end sees that this one has gone.
    Ends,
    Noise,
    Many,
    Room,
}

impl Check {
    /// Why it does not apply, if it does not.
    pub(crate) fn skip(&self, claims: &Claims) -> Option<&'static str> {
        self.needs.iter().find_map(|need| {
            let (met, otherwise) = match need {
                Need::Stream => (claims.form == Form::Stream, "messages are not cut into pieces"),
                Need::Messages => (claims.form == Form::Messages, "a byte stream has no borders to keep"),
                Need::Reliable => {
                    (claims.reliable, "what gets lost is no fault of a transport that claims no reliability")
                }
                Need::Whole => (
                    claims.reliable || claims.form == Form::Messages,
                    "a stream that loses bytes tears messages",
                ),
                Need::Ordered => (claims.ordered, "no order is claimed"),
                Need::HalfClose => (claims.half_close, "it is not claimed that one direction can end alone"),
                Need::Ends => (!claims.endless, "it has no end that the far end could see"),
                Need::Noise => (claims.noise, "it is not claimed that noise does no harm"),
                Need::Many => (!claims.single, "there is one connection at a time"),
                Need::Room => (
                    claims.largest >= LEAST,
                    "its own messages take up to 1,024 bytes, and the longest allowed is shorter",
                ),
            };
            (!met).then_some(otherwise)
        })
    }
}

/// All checks, in the order in which they run.
pub fn checks() -> &'static [Check] {
    CHECKS
}

static CHECKS: &[Check] = &[
    Check {
        name: "handshake-legacy",
        reason: "Most clients and servers in the field open their session with `initialize`.",
        fix: "If nothing came at all: does `flush` send everything, does a write wake the reader at the far end, and are \
              the two ends connected crosswise? If only some revisions fail, something looks into the messages: carry \
              them as they are.",
        needs: &[Need::Room],
        run: handshake::legacy,
    },
    Check {
        name: "handshake-modern",
        reason: "Since 2026-07-28 there is no handshake: `server/discover` is the first request, or none is.",
        fix: "Carry every message as it is. If `initialize` works and this does not, something in the way lets only the \
              methods pass that it knows, or cannot take a first message of 350 bytes.",
        needs: &[Need::Room],
        run: handshake::modern,
    },
    Check {
        name: "chunkings",
        reason: "A write is not a message: drivers cut and join messages as their buffers happen to be.",
        fix: "Treat the bytes as a stream: add and remove nothing at the borders of a write, expect no message to come in \
              one read, and do not decode UTF-8 piece by piece, since a character may be cut.",
        needs: &[Need::Stream, Need::Reliable, Need::Room],
        run: carry::chunkings,
    },
    Check {
        name: "borders",
        reason: "A channel of messages must hand out the messages that were put in: one for one.",
        fix: "Keep the length with each message: fragments must be put together again, neighbours must not be, and a line \
              feed inside a message is white space, not an end.",
        needs: &[Need::Messages, Need::Reliable, Need::Ordered],
        run: carry::borders,
    },
    Check {
        name: "payloads-up",
        reason: "Arguments are as long as the user's file, from nothing to 16 MiB.",
        fix: "Look for a buffer of fixed size on the way from client to server, for a length that is kept in too few bits, \
              and for a short write whose rest is not written. If the channel has a limit, claim it: `Claims::largest`.",
        needs: &[Need::Reliable, Need::Room],
        run: carry::payloads_up,
    },
    Check {
        name: "payloads-down",
        reason: "Results are as long as the server's image, from nothing to 16 MiB.",
        fix: "Look for a buffer of fixed size on the way from server to client, for a length that is kept in too few bits, \
              and for a short write whose rest is not written. If the channel has a limit, claim it: `Claims::largest`.",
        needs: &[Need::Reliable, Need::Room],
        run: carry::payloads_down,
    },
    Check {
        name: "order",
        reason: "A cancel must not overtake its call, nor progress its result: messages arrive in the order they were \
                 sent, each once.",
        fix: "Number the messages and deliver them by number; drop those that were delivered. Use one queue and one \
              thread for each direction. If the channel cannot keep the order, say so: `Claims::unordered`.",
        needs: &[Need::Ordered],
        run: order::order,
    },
    Check {
        name: "pipelining",
        reason: "A client may have 1,000 calls on the way before it reads the first answer.",
        fix: "A full queue must make the writer wait. Never drop what was accepted, and send nothing twice unless the \
              far end tells the copy from the original.",
        needs: &[Need::Reliable, Need::Room],
        run: load::pipelining,
    },
    Check {
        name: "concurrency",
        reason: "A fast call must not wait for a slow one that was made before it.",
        fix: "Do not pair requests with answers: no lock from a request to its answer, no answers in the order of the \
              requests. Both directions run for themselves, and MCP's ids say what belongs together.",
        needs: &[Need::Reliable, Need::Room],
        run: load::concurrency,
    },
    Check {
        name: "interleaving",
        reason: "A message that is torn by another destroys both, and with streams the ones behind them.",
        fix: "Write each message under one lock, from its first byte to its last, retries and fragments included; what the \
              transport says itself (pings, acknowledgements) waits until a message is over.",
        needs: &[Need::Whole, Need::Room],
        run: load::interleaving,
    },
    Check {
        name: "cancellation",
        reason: "A user's cancel reaches the server while the call runs.",
        fix: "Carry notifications too: they have no id and get no answer, and they must not wait for one. Do not keep a \
              message back until another follows.",
        needs: &[Need::Reliable, Need::Room],
        run: calls::cancellation,
    },
    Check {
        name: "deadlines",
        reason: "A call whose answer does not come ends at its deadline, and the connection goes on.",
        fix: "Silence is no fault: read without a timeout of the transport's own (or swallow it and read on), and do not \
              close a connection, or answer for the server, because an answer takes long.",
        needs: &[Need::Room],
        run: calls::deadlines,
    },
    Check {
        name: "half-close",
        reason: "A client that closes its output still gets the answers to what it asked; `cat calls | server` works so.",
        fix: "Dropping the writing half must end only that direction (with sockets `shutdown(Write)`, not `close`), after \
              everything written was delivered. If the channel cannot do that, do not claim it: `Claims::half_close`.",
        needs: &[Need::Ends, Need::HalfClose, Need::Reliable, Need::Room],
        run: ends::half_close,
    },
    Check {
        name: "abrupt-close",
        reason: "A peer can die at every byte. The other side must see the end and nothing made up.",
        fix: "An end of the input in the middle of a message is an end: hand out what there is, or drop it, and then report \
              the end (0 bytes, `None`) or an error. Do not wait for the rest, and do not complete it.",
        needs: &[Need::Room],
        run: ends::abrupt_close,
    },
    Check {
        name: "release",
        reason: "Who waits for a peer that has gone waits for ever: threads pile up, programs do not end.",
        fix: "When an end is dropped, wake whoever waits at the other: readers see the end, writers an error (such as \
              `BrokenPipe`), also while their queue is full.",
        needs: &[Need::Ends],
        run: ends::release,
    },
    Check {
        name: "back-pressure",
        reason: "A reader that stops for a while must find everything when it goes on.",
        fix: "When the far end takes no more, make the writer wait; do not drop, overwrite or give up. A timeout for writes \
              belongs to the application.",
        needs: &[Need::Reliable, Need::Room],
        run: limits::back_pressure,
    },
    Check {
        name: "memory",
        reason: "A reader that never comes must not fill the memory of the machine.",
        fix: "Bound every queue on the way (a bounded channel instead of an unbounded one), and let the writer wait when it \
              is full. What may lie on the way is `Claims::holds`.",
        needs: &[Need::Reliable],
        run: limits::memory,
    },
    Check {
        name: "noise",
        reason: "A line that carries boot text, echoes and half messages must still carry the messages between.",
        fix: "Pass unknown bytes on, or drop them up to the next border of a message; never fail because of them. Do not \
              demand UTF-8, and switch off what gives control bytes a meaning (raw mode on a tty, no XON/XOFF).",
        needs: &[Need::Noise, Need::Reliable, Need::Room],
        run: limits::noise,
    },
    Check {
        name: "isolation",
        reason: "Two connections at the same time must not hear each other.",
        fix: "Keep all state in the connection: look for statics, for a shared buffer, and for a table that is keyed by \
              something that two connections can have in common.",
        needs: &[Need::Many, Need::Reliable, Need::Room],
        run: shutdown::isolation,
    },
    Check {
        name: "shutdown",
        reason: "A program that connects a thousand times must not run out of threads and descriptors.",
        fix: "When both halves of an end are dropped, end the threads that serve it and close its descriptors; the far end \
              must see that, end, and be cleaned up as well.",
        needs: &[Need::Room],
        run: shutdown::shutdown,
    },
];

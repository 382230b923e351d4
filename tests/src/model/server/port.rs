//! The machine and its application behind owned values, so that a wrong one can take its place.

use std::hash::Hasher;

use barewire::{
    Args, Call, CallId, Code, Fault, Full, Millis, Output, Progress, Refused, Reply, Server, ServerEvent,
};

use crate::model::explore::hash;

/// What a poll said, after the application did what it always does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// A call came, with its tag.
    Called(CallId, String, Did),
    /// The rest of a result was asked for.
    More(CallId, Did),
    /// A call was given up.
    Cancelled(CallId),
    /// A handshake is being answered.
    Opened,
    /// The peer erred.
    Fault(Fault),
    /// Anything else.
    Other,
    /// Output waits, and nothing else can be done.
    Send,
    /// Reading is wanted.
    Wait(Option<Millis>),
    /// The application is to act.
    Blocked(Option<Millis>),
    /// It is over.
    Closed,
}

/// What the application did with a reply.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Did {
    /// Answered it.
    Answered,
    /// Kept it for later.
    Kept,
    /// Gave a part of it.
    Paused,
    /// There is no room now.
    Full,
    /// There is no such call any more.
    Gone,
}

/// A server with its application.
pub trait Port {
    /// Polls, and lets the application act.
    fn poll(&mut self, now: Millis) -> Said;
    /// Gives it input; says how much was taken.
    fn feed(&mut self, bytes: &[u8]) -> usize;
    /// What may be sent.
    fn output(&self) -> &[u8];
    /// So many bytes were sent.
    fn sent(&mut self, n: usize);
    /// There is no more input.
    fn end_of_input(&mut self);
    /// The line is new.
    fn reset(&mut self);
    /// The list of tools is another.
    fn tools_changed(&mut self);
    /// The application goes on with a call that it kept.
    fn resume(&mut self, call: CallId, tag: &str, how: How) -> Did;
    /// The application tells progress of a call that it kept.
    ///
    /// # Errors
    /// If there is no room now.
    fn progress(&mut self, call: CallId, done: u64) -> Result<(), Full>;
    /// All of its state.
    fn digest(&self, hasher: &mut dyn Hasher);
}

/// How the application goes on with a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum How {
    /// Answers it whole.
    Whole,
    /// In pieces, as far as there is room.
    Pieces,
    /// Drops the reply.
    Drop,
}

/// The text that is streamed: the tag so many times.
pub(super) const TIMES: usize = 24;

/// The machine itself.
#[derive(Debug)]
pub struct Real<'b> {
    server: Server<'b>,
    /// How far results in pieces are.
    streams: Vec<(CallId, String, usize)>,
}

impl<'b> Real<'b> {
    /// Around a machine.
    #[must_use]
    pub const fn new(server: Server<'b>) -> Self {
        Self { server, streams: Vec::new() }
    }
}

impl Port for Real<'_> {
    fn poll(&mut self, now: Millis) -> Said {
        let streams = &mut self.streams;
        match self.server.poll(now) {
            Output::Send(_) => Said::Send,
            Output::Wait { until } => Said::Wait(until),
            Output::Blocked { until } => Said::Blocked(until),
            Output::Closed => Said::Closed,
            Output::Event(event) => match event {
                ServerEvent::Call(call) => called(call, streams),
                ServerEvent::More(reply) => {
                    let call = reply.id();
                    Said::More(call, go_on(reply, streams))
                }
                ServerEvent::Cancelled(call) => {
                    streams.retain(|stream| stream.0 != call);
                    Said::Cancelled(call)
                }
                ServerEvent::Opened { .. } => Said::Opened,
                ServerEvent::Fault { fault, .. } => Said::Fault(fault),
                _ => Said::Other,
            },
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> usize {
        self.server.feed(bytes)
    }

    fn output(&self) -> &[u8] {
        self.server.output()
    }

    fn sent(&mut self, n: usize) {
        self.server.sent(n);
    }

    fn end_of_input(&mut self) {
        self.server.end_of_input();
    }

    fn reset(&mut self) {
        self.server.reset();
    }

    fn tools_changed(&mut self) {
        self.server.tools_changed();
    }

    fn resume(&mut self, call: CallId, tag: &str, how: How) -> Did {
        let reply = match self.server.resume(call) {
            Ok(reply) => reply,
            Err(Refused::Full) => return Did::Full,
            Err(Refused::Gone) => return Did::Gone,
        };
        match how {
            How::Whole => finished(reply.text(tag).finish()),
            How::Drop => {
                drop(reply.text("never said"));
                Did::Answered
            }
            How::Pieces => {
                if !self.streams.iter().any(|stream| stream.0 == call) {
                    self.streams.push((call, tag.repeat(TIMES), 0));
                }
                go_on(reply, &mut self.streams)
            }
        }
    }

    fn progress(&mut self, call: CallId, done: u64) -> Result<(), Full> {
        self.server.progress(call, Progress { done, total: None, message: None })
    }

    fn digest(&self, hasher: &mut dyn Hasher) {
        hasher.write(format!("{:#?}", self.server).as_bytes());
        hash(&self.streams, hasher);
    }
}

fn finished(result: Result<(), Full>) -> Did {
    // A reply that did not fit was answered by the machine.
    let _ = result;
    Did::Answered
}

fn called(call: Call<'_>, streams: &mut Vec<(CallId, String, usize)>) -> Said {
    let Call { name, args, mut reply, .. } = call;
    let (id, tag) = (reply.id(), tag(&args));
    let did = match name {
        "now" => finished(reply.text(&tag).finish()),
        "fail" => {
            reply.fail(Code(7), &tag);
            Did::Answered
        }
        "mute" => {
            drop(reply.text("never said"));
            Did::Answered
        }
        "stream" => {
            streams.push((id, tag.repeat(TIMES), 0));
            go_on(reply, streams)
        }
        "slow" => {
            let at = reply.write_text(&tag);
            streams.push((id, tag.repeat(TIMES), at));
            reply.pause();
            Did::Paused
        }
        "progress" => {
            let _ = reply.progress(Progress { done: 1, total: None, message: None });
            reply.defer();
            Did::Kept
        }
        _ => {
            reply.defer();
            Did::Kept
        }
    };
    Said::Called(id, tag, did)
}

fn tag(args: &Args<'_>) -> String {
    let text = args.json().get("t").and_then(|t| t.as_string());
    text.and_then(|t| t.plain().map(str::to_owned)).unwrap_or_default()
}

fn go_on(mut reply: Reply<'_>, streams: &mut Vec<(CallId, String, usize)>) -> Did {
    let Some(at) = streams.iter().position(|stream| stream.0 == reply.id()) else {
        let _ = reply.finish();
        return Did::Answered;
    };
    let (_, text, done) = &mut streams[at];
    *done += reply.write_text(&text[*done..]);
    if *done == text.len() {
        streams.remove(at);
        return finished(reply.finish());
    }
    reply.pause();
    Did::Paused
}

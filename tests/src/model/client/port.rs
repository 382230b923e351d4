//! The machine behind owned values, so that a wrong one can take its place.

use core::hash::Hasher;

use barewire::{CallId, Client, ClientEvent, Content, End, Fault, Millis, Output, SendError};

use super::script::{Kind, Request};

/// What a poll said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// The session is open.
    Opened,
    /// There will be none.
    NotOpened(String),
    /// A part of a result, with what tells it from others.
    Part(CallId, String),
    /// A request is over.
    Ended(CallId, How),
    /// The server erred.
    Fault(Fault),
    /// Anything else.
    Other,
    /// Output waits, and nothing else can be done.
    Send,
    /// Reading is wanted.
    Wait(Option<Millis>),
    /// Clients are never blocked.
    Blocked,
    /// It is over.
    Closed,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum How {
    /// With a result.
    Done,
    /// With an error of the server.
    Error,
    /// With something that is neither.
    Invalid,
    /// Too late.
    TimedOut,
    /// With the connection.
    Lost,
}

/// A client.
pub trait Port {
    /// Polls.
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
    /// The application asks.
    ///
    /// # Errors
    /// If it can't.
    fn ask(&mut self, request: &Request) -> Result<CallId, SendError>;
    /// The application gives a request up.
    fn cancel(&mut self, call: CallId);
    /// All of its state.
    fn digest(&self, hasher: &mut dyn Hasher);
}

impl Port for Client<'_> {
    fn poll(&mut self, now: Millis) -> Said {
        match Client::poll(self, now) {
            Output::Send(_) => Said::Send,
            Output::Wait { until } => Said::Wait(until),
            Output::Blocked { .. } => Said::Blocked,
            Output::Closed => Said::Closed,
            Output::Event(event) => match event {
                ClientEvent::Opened { .. } => Said::Opened,
                ClientEvent::NotOpened(end) => Said::NotOpened(end.to_string()),
                ClientEvent::Content { of, content: Content::Text(text), .. } => {
                    Said::Part(of, text.to_owned())
                }
                ClientEvent::Tool { of, tool, .. } => Said::Part(of, tool.decode().name.to_owned()),
                ClientEvent::Json { of, json, .. } => {
                    let text = json.get("t").and_then(|t| t.as_string()).and_then(|t| t.plain());
                    Said::Part(of, text.unwrap_or_default().to_owned())
                }
                ClientEvent::Ended { of, end, .. } => Said::Ended(of, how(&end)),
                ClientEvent::Fault { fault, .. } => Said::Fault(fault),
                _ => Said::Other,
            },
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> usize {
        Client::feed(self, bytes)
    }

    fn output(&self) -> &[u8] {
        Client::output(self)
    }

    fn sent(&mut self, n: usize) {
        Client::sent(self, n);
    }

    fn end_of_input(&mut self) {
        Client::end_of_input(self);
    }

    fn reset(&mut self) {
        Client::reset(self);
    }

    fn ask(&mut self, request: &Request) -> Result<CallId, SendError> {
        let tag = &request.tag;
        let asked = match request.kind {
            Kind::Call => self.call_tool("t")?.args(|args| {
                args.str("t", tag);
            }),
            Kind::List => self.list_tools(None)?,
            Kind::Other => self.request("other/method")?,
        };
        match request.limit {
            Some(limit) => asked.limit(limit, None).send(),
            None => asked.send(),
        }
    }

    fn cancel(&mut self, call: CallId) {
        Client::cancel(self, call);
    }

    fn digest(&self, hasher: &mut dyn Hasher) {
        hasher.write(format!("{self:#?}").as_bytes());
    }
}

const fn how(end: &End<'_>) -> How {
    match end {
        End::Error { .. } => How::Error,
        End::TimedOut => How::TimedOut,
        End::Lost => How::Lost,
        End::Done { .. } => How::Done,
        _ => How::Invalid,
    }
}

//! What the mutex of a connection guards: the machine, and what has come of it.

use super::{CallError, StartError, pending::Waiting};
use crate::child::Child;
use barewire::{CallId, Client as Machine, ClientEvent, End, Fault, Millis, Output, owned::ServerInfo};
use std::{collections::HashMap, process::ExitStatus, sync::MutexGuard};

/// How much of a line that is not MCP is kept for the error message.
const SHOWN: usize = 200;

pub(super) struct State {
    pub(super) machine: Machine<'static>,
    pub(super) waiting: HashMap<CallId, Waiting>,
    pub(super) session: Session,
    pub(super) gone: Option<Gone>,
    /// This side is done.
    pub(super) closing: bool,
    /// The writer holds bytes that are not written yet.
    pub(super) writing: bool,
    /// The peer reads no more: output is dropped.
    pub(super) mute: bool,
    /// The first line that was not MCP.
    pub(super) junk: Option<String>,
    /// A line looked like a header of another framing.
    pub(super) content_length: bool,
}

/// How far the handshake is.
pub(super) enum Session {
    Opening,
    Open(Box<ServerInfo>),
    Failed(StartError),
}

/// Why there is no connection any more.
#[derive(Clone, Copy)]
pub(super) enum Gone {
    Exited(ExitStatus),
    Closed,
}

pub(super) type Guard<'g> = MutexGuard<'g, State>;

/// What one step of the machine came to.
pub(super) enum Polled {
    Event,
    Opened,
    Ended,
    Send,
    Quiet,
}

impl State {
    pub(super) fn new(machine: Machine<'static>) -> Self {
        Self {
            machine,
            waiting: HashMap::new(),
            session: Session::Opening,
            gone: None,
            closing: false,
            writing: false,
            mute: false,
            junk: None,
            content_length: false,
        }
    }

    /// One step of the machine.
    pub(super) fn poll(&mut self, now: Millis, junk: &mut Vec<(Vec<u8>, Fault)>) -> Polled {
        let event = match self.machine.poll(now) {
            Output::Event(event) => event,
            Output::Send(_) => return Polled::Send,
            Output::Wait { .. } | Output::Blocked { .. } | Output::Closed => return Polled::Quiet,
        };
        match event {
            ClientEvent::Opened { .. } => {
                if let Some(info) = ServerInfo::copy(&event) {
                    self.session = Session::Open(Box::new(info));
                }
                return Polled::Opened;
            }
            ClientEvent::NotOpened(end) => {
                if let Some(error) = not_opened(end) {
                    self.session = Session::Failed(error);
                }
                return Polled::Opened;
            }
            ClientEvent::Fault { fault, line, .. } => {
                let shown = line.get(..line.len().min(SHOWN)).unwrap_or_default();
                self.content_length |=
                    shown.get(..15).is_some_and(|head| head.eq_ignore_ascii_case(b"Content-Length:"));
                if fault != Fault::UnknownAnswer && self.junk.is_none() {
                    self.junk = Some(String::from_utf8_lossy(shown).trim_end().to_owned());
                }
                junk.push((line.to_vec(), fault));
            }
            event => return of_call(&mut self.waiting, event),
        }
        Polled::Event
    }

    /// What a request that cannot be sent any more ends with.
    pub(super) fn gone_error(&self, child: Option<&Child>) -> CallError {
        match self.gone {
            Some(Gone::Exited(status)) if !self.closing => {
                CallError::Exited { status, stderr_tail: child.map(Child::stderr_tail).unwrap_or_default() }
            }
            _ => CallError::Closed,
        }
    }
}

/// An event that belongs to a request.
fn of_call(waiting: &mut HashMap<CallId, Waiting>, event: ClientEvent<'_>) -> Polled {
    let of = match &event {
        ClientEvent::Tool { of, .. }
        | ClientEvent::Content { of, .. }
        | ClientEvent::Structured { of, .. }
        | ClientEvent::Meta { of, .. }
        | ClientEvent::Json { of, .. }
        | ClientEvent::Progress { of, .. }
        | ClientEvent::InputRequired { of, .. }
        | ClientEvent::Ended { of, .. } => *of,
        _ => return Polled::Event,
    };
    match waiting.get_mut(&of).map(|waiting| waiting.add(event)) {
        Some(true) => Polled::Ended,
        _ => Polled::Event,
    }
}

/// `None`: the connection was lost, of which more is known elsewhere.
fn not_opened(end: End<'_>) -> Option<StartError> {
    Some(match end {
        End::Lost => return None,
        End::Error { code, message, .. } => StartError::Refused { code: code.0, message: message.into() },
        end => StartError::Protocol(end.to_string()),
    })
}

//! What comes next, and how it is handed to the application.
use super::decode::{content, str_at, text};
use super::machine::Client;
use super::result::Opening;
use super::{ClientEvent, End, Listed, ToolDef, Why};
use crate::json::{Raw, SMALL, decode};
use crate::machine::mem::Span;
use crate::machine::{CallId, Output};
use crate::mcp::{Content, Level};
use crate::rpc::{Code, Fault};

/// What comes next, without borrowing anything. Spans count from the start of the receive buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Again,
    Send,
    Idle,
    Closed,
    Opened(Opening),
    NotOpened(Ending),
    Tool {
        of: CallId,
        at: Span,
    },
    Content {
        of: CallId,
        at: Span,
    },
    /// A block of text, where its string stands.
    Text {
        of: CallId,
        at: Span,
    },
    Structured {
        of: CallId,
        at: Span,
    },
    Meta {
        of: CallId,
        at: Span,
    },
    Json {
        of: CallId,
        at: Span,
    },
    Page {
        of: CallId,
        next: Span,
    },
    InputRequired {
        of: CallId,
        asks: Option<Span>,
        state: Option<Span>,
    },
    Ended {
        of: CallId,
        end: Ending,
    },
    Progress {
        of: CallId,
        done: f64,
        total: Option<f64>,
        message: Option<Span>,
    },
    Log {
        level: Option<Level>,
        name: Span,
        logger: Option<Span>,
        data: Span,
    },
    Changed(Listed),
    Updated(Span),
    Fault(Fault, Span),
    Notified {
        method: Span,
        params: Option<Span>,
    },
}

/// How something ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    Done { is_error: bool },
    Error { code: Code, message: Option<Span>, data: Option<Span> },
    TimedOut,
    Lost,
    InputRequired,
    Invalid(Why),
}

impl Ending {
    #[cfg_attr(target_os = "none", inline(never))]
    fn end(self, bytes: &mut [u8]) -> End<'_> {
        match self {
            Self::Done { is_error } => End::Done { is_error },
            Self::Error { code, message, data } => {
                let message = message.map(|m| text(bytes, m)).unwrap_or_default();
                let bytes = &*bytes;
                End::Error {
                    code,
                    message: str_at(bytes, message),
                    data: data.map(|d| Raw::trusted(d.of(bytes))),
                }
            }
            Self::TimedOut => End::TimedOut,
            Self::Lost => End::Lost,
            Self::InputRequired => End::InputRequired,
            Self::Invalid(why) => End::Invalid(why),
        }
    }
}

impl Client<'_> {
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn lend(&mut self, step: Step) -> Output<'_, ClientEvent<'_>> {
        match step {
            Step::Again | Step::Send => return Output::Send(self.tx.output()),
            Step::Closed => return Output::Closed,
            Step::Idle if !self.tx.output().is_empty() => return Output::Send(self.tx.output()),
            Step::Idle => return Output::Wait { until: self.deadline() },
            _ => {}
        }
        let bytes = self.rx.bytes_mut();
        Output::Event(match step {
            Step::Tool { of, at } => ClientEvent::Tool { of, tool: ToolDef::new(at.of_mut(bytes)) },
            Step::Content { of, at } => ClientEvent::Content { of, content: content(at.of_mut(bytes)) },
            Step::Text { of, at } if !SMALL => {
                let [_, body @ .., _] = at.of_mut(bytes) else { return Output::Wait { until: None } };
                ClientEvent::Content { of, content: Content::Text(decode(body)) }
            }
            Step::Structured { of, at } => ClientEvent::Structured { of, json: raw(bytes, at) },
            Step::Meta { of, at } => ClientEvent::Meta { of, json: raw(bytes, at) },
            Step::Json { of, at } => ClientEvent::Json { of, json: raw(bytes, at) },
            Step::Page { of, next } => ClientEvent::Page { of, next: raw(bytes, next) },
            Step::InputRequired { of, asks, state } => ClientEvent::InputRequired {
                of,
                asks: asks.map(|at| raw(bytes, at)),
                state: state.map(|at| raw(bytes, at)),
            },
            Step::Ended { of, end } => ClientEvent::Ended { of, end: end.end(bytes) },
            Step::NotOpened(end) => ClientEvent::NotOpened(end.end(bytes)),
            Step::Opened(opening) => opened(bytes, opening),
            Step::Progress { of, done, total, message } => {
                let message = message.map(|m| text(bytes, m));
                ClientEvent::Progress { of, done, total, message: message.map(|m| str_at(bytes, m)) }
            }
            Step::Log { level, name, logger, data } => {
                let (name, logger) = (text(bytes, name), logger.map(|l| text(bytes, l)));
                let bytes = &*bytes;
                let logger = logger.map(|l| str_at(bytes, l));
                ClientEvent::Log { level, level_text: str_at(bytes, name), logger, data: raw(bytes, data) }
            }
            Step::Changed(what) => ClientEvent::Changed { what },
            Step::Updated(uri) => {
                let uri = text(bytes, uri);
                ClientEvent::Updated { uri: str_at(bytes, uri) }
            }
            Step::Notified { method, params } => {
                let method = text(bytes, method);
                let bytes = &*bytes;
                let params = params.map(|p| raw(bytes, p)).filter(|p| !p.is_null());
                ClientEvent::Notified { method: str_at(bytes, method), params }
            }
            Step::Fault(fault, at) => ClientEvent::Fault { fault, line: at.of(bytes) },
            Step::Again | Step::Send | Step::Closed | Step::Idle | Step::Text { .. } => {
                return Output::Wait { until: None };
            }
        })
    }
}

fn raw(bytes: &[u8], at: Span) -> Raw<'_> {
    Raw::trusted(at.of(bytes))
}

#[cfg_attr(target_os = "none", inline(never))]
fn opened(bytes: &mut [u8], opening: Opening) -> ClientEvent<'_> {
    let texts = [opening.name, opening.server_version, opening.instructions];
    let texts = texts.map(|at| at.map(|at| text(bytes, at)));
    let bytes = &*bytes;
    let [server, server_version, instructions] = texts.map(|at| at.map(|at| str_at(bytes, at)));
    ClientEvent::Opened {
        server: server.unwrap_or(""),
        server_version: server_version.unwrap_or(""),
        version: opening.version,
        instructions,
        capabilities: opening.capabilities.map(|at| raw(bytes, at)),
    }
}

//! The session as an onlooker sees it: era, version, what was agreed, who waits for what.

use std::collections::{HashMap, HashSet};

use barewire::json::Raw;

use super::envelope::{Envelope, id_key, text};
use super::lint::finding;
use super::model::{Answers, Summary, Unanswered};
use super::texts::{T, Table, say};
use crate::capture::{Micros, Stream};

/// The handshake's stage, in the legacy era.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Stage {
    /// Nothing was said.
    #[default]
    Fresh,
    /// `initialize` was sent.
    Asked,
    /// It was answered.
    Agreed,
    /// `notifications/initialized` was sent.
    Open,
    /// It was refused.
    Refused,
}

/// A request that waits for its answer.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    /// The packet.
    pub(crate) number: usize,
    pub(crate) at: Option<Micros>,
    /// Who asked: [`Stream::C2s`] or [`Stream::S2c`].
    pub(crate) asker: Stream,
    /// The id as sent.
    pub(crate) id: String,
    pub(crate) method: String,
    /// `get_alerts(state: "TX")`.
    pub(crate) call: Option<String>,
    /// The tool that is called.
    pub(crate) tool: Option<String>,
    /// Whether it carries the modern era's `_meta`.
    pub(crate) modern: bool,
    /// The version that `initialize` asks for.
    pub(crate) version: Option<String>,
    /// Whether it was cancelled.
    pub(crate) cancelled: bool,
    /// A later request of the same side that was answered before this one.
    pub(crate) meanwhile: Option<usize>,
}

/// The schemas of a tool, as JSON.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Schemas {
    pub(crate) input: String,
    pub(crate) output: Option<String>,
}

/// What is known so far.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) stage: Stage,
    /// Whether any request carried the modern era's `_meta`.
    pub(crate) modern: bool,
    /// The version agreed on, or that of the last modern request.
    pub(crate) version: Option<String>,
    /// Names of capabilities that the server offered.
    pub(crate) server_caps: Vec<String>,
    /// Tools that were listed.
    pub(crate) tools: HashMap<String, Schemas>,
    /// Whether the capture has the session's beginning.
    pub(crate) from_start: bool,
    /// Whether it is known to begin in the middle.
    pub(crate) late: bool,
    /// Whether any message of the client was seen.
    pub(crate) client_spoke: bool,
    /// In the order asked; by key of asker and id.
    open: Vec<(String, Open)>,
    used: HashSet<String>,
    answered_ids: HashSet<String>,
    seen: HashSet<String>,
    requests: usize,
    answered: usize,
}

/// What an answer belongs to.
#[derive(Debug)]
pub(crate) enum Match {
    /// This request.
    Request(Box<Open>),
    /// A request that was answered already.
    Again,
    /// A request of this id but another JSON type.
    OtherType(String),
    /// Nothing that was seen.
    Nothing,
}

impl Session {
    /// Whether a message of this kind is the first one.
    pub(crate) fn first(&mut self, kind: String) -> bool {
        self.seen.insert(kind)
    }

    /// Notes the client's first message: it shows whether the capture has the beginning.
    pub(crate) fn client_begins(&mut self, envelope: &Envelope<'_>) -> bool {
        let first = !self.client_spoke;
        self.client_spoke = true;
        if first && !self.from_start {
            let method = envelope.method_name().unwrap_or_default();
            let opens = matches!(method.as_str(), "initialize" | "server/discover" | "ping");
            self.late = !opens && envelope.meta("protocolVersion").is_none();
        }
        first
    }

    /// Whether a request's id was used before in a way that its era forbids.
    pub(crate) fn is_reused(&self, asker: Stream, id: Raw<'_>, modern: bool) -> bool {
        let key = key(asker, id);
        if modern { self.open.iter().any(|(known, _)| *known == key) } else { self.used.contains(&key) }
    }

    /// A request was sent.
    pub(crate) fn ask(&mut self, open: Open, id: Raw<'_>) {
        let key = key(open.asker, id);
        self.used.insert(key.clone());
        self.answered_ids.remove(&key);
        self.requests += 1;
        self.open.push((key, open));
    }

    /// An answer was sent by the other side than `asker`.
    pub(crate) fn answer(&mut self, asker: Stream, id: Raw<'_>) -> Match {
        let wanted = key(asker, id);
        if let Some(at) = self.open.iter().position(|(known, _)| *known == wanted) {
            let (known, open) = self.open.remove(at);
            self.answered_ids.insert(known);
            self.answered += usize::from(!open.cancelled);
            for (_, earlier) in &mut self.open {
                if earlier.asker == asker && earlier.number < open.number {
                    earlier.meanwhile = Some(open.number);
                }
            }
            return Match::Request(Box::new(open));
        }
        if self.answered_ids.contains(&wanted) {
            return Match::Again;
        }
        let bare = |text: &str| text.trim_matches('"').to_owned();
        let other =
            self.open.iter().find(|(_, open)| open.asker == asker && bare(&open.id) == bare(id.as_str()));
        other.map_or(Match::Nothing, |(_, open)| Match::OtherType(open.id.clone()))
    }

    /// A request was cancelled; says which packet it was.
    pub(crate) fn cancel(&mut self, asker: Stream, id: Raw<'_>) -> Option<&Open> {
        let wanted = key(asker, id);
        let (_, open) = self.open.iter_mut().find(|(known, _)| *known == wanted)?;
        open.cancelled = true;
        Some(open)
    }

    /// Requests whose answers are still owed.
    pub(crate) fn open_requests(&self) -> impl Iterator<Item = &Open> {
        self.open.iter().map(|(_, open)| open).filter(|open| !open.cancelled)
    }

    /// Packets whose answers are awaited.
    pub(crate) fn waiting(&self) -> Vec<usize> {
        self.open_requests().map(|open| open.number).collect()
    }

    /// Whether a result's time can be judged against the modern era's rules.
    pub(crate) fn is_revision(&self, version: &str) -> bool {
        self.version.as_deref() == Some(version)
    }

    /// What the handshake has reached, in words.
    pub(crate) fn state(&self, table: Table) -> String {
        let version = self.version.as_deref().unwrap_or("?");
        match self.stage {
            Stage::Asked => say(table, T::StateAsked, &[]),
            Stage::Agreed => say(table, T::StateAgreed, &[&version]),
            Stage::Open => say(table, T::StateOpen, &[&version]),
            Stage::Refused => say(table, T::StateRefused, &[]),
            Stage::Fresh if self.modern => {
                let probing =
                    self.open_requests().any(|open| open.method == "server/discover") && self.answered == 0;
                if probing { say(table, T::StateProbe, &[]) } else { say(table, T::StateModern, &[&version]) }
            }
            Stage::Fresh => String::new(),
        }
    }

    /// Moves on after a result to `initialize`.
    pub(crate) fn agree(&mut self, result: Raw<'_>) {
        self.stage = Stage::Agreed;
        self.version = result.get("protocolVersion").and_then(text);
        self.offer(result);
    }

    /// Notes the capabilities in a result of `initialize` or `server/discover`.
    pub(crate) fn offer(&mut self, result: Raw<'_>) {
        if let Some(capabilities) = result.get("capabilities") {
            self.server_caps = capabilities.members().map(|(key, _)| key.to_string()).collect();
        }
    }

    /// Notes the tools in a result of `tools/list`.
    pub(crate) fn list(&mut self, result: Raw<'_>) {
        for tool in result.get("tools").into_iter().flat_map(Raw::elements) {
            if let Some(name) = tool.get("name").and_then(text) {
                let schema =
                    |key| tool.get(key).filter(|s: &Raw<'_>| !s.is_null()).map(|s| s.as_str().to_owned());
                let schemas = Schemas {
                    input: schema("inputSchema").unwrap_or_else(|| "{}".into()),
                    output: schema("outputSchema"),
                };
                self.tools.insert(name, schemas);
            }
        }
    }

    /// Fills in what the session knows of the summary.
    pub(crate) fn sum_up(&self, summary: &mut Summary, end: Option<Micros>, over: bool) {
        summary.requests = self.requests;
        summary.answered = self.answered;
        summary.late = self.late;
        summary.unanswered = self
            .open_requests()
            // A subscription has no answer while it is open.
            .filter(|open| open.method != "subscriptions/listen")
            .map(|open| Unanswered {
                number: open.number,
                name: match &open.call {
                    Some(call) => format!("{} {call}", open.method),
                    None => open.method.clone(),
                },
                id: open.id.clone(),
                by_client: open.asker == Stream::C2s,
                open: end.zip(open.at).map(|(end, at)| end.saturating_sub(at)),
                meanwhile: open.meanwhile,
                finding: over
                    .then(|| finding(205, "", format!("#{} was never answered nor cancelled", open.number))),
            })
            .collect();
    }
}

impl Open {
    /// How the answer refers to it.
    pub(crate) fn answers(&self, at: Option<Micros>) -> Answers {
        Answers { number: self.number, after: at.zip(self.at).map(|(now, then)| now.saturating_sub(then)) }
    }
}

fn key(asker: Stream, id: Raw<'_>) -> String {
    format!("{}{}", asker.name(), id_key(id))
}

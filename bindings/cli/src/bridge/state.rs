//! What the relay knows, and how connections come and go.

use std::collections::VecDeque;

use barewire::json::Raw;

use super::errors::{Reason, failed};
use super::hold::{Held, Hold};
use super::ids::Ids;
use super::memory::{Ask, Memory};
use super::relay::{Medium, Note, Terms};
use crate::text;

/// How long the host's last requests may take once it has ended its input.
const LAST: u64 = 5_000;
/// After how long a handshake is sent again on a line that loses things, at first and as far as that doubles.
const AGAIN: u64 = 3_000;
const AGAIN_MOST: u64 = 15_000;
/// Cancelled ids that are remembered, so that their late answers are no surprise.
const RECENT: usize = 64;

/// A request of the host.
pub(super) struct Open {
    /// The far end has it; otherwise it is held.
    pub(super) sent: bool,
    pub(super) since: u64,
    pub(super) ask: Ask,
}

/// A request of the relay's own.
pub(super) enum Own {
    /// A handshake; the result must be what it was.
    Initialize,
    /// To see that a modern server is there, and whether it offers checked lines.
    Discover,
    /// State of the session, put back; what it is.
    Restore(&'static str),
}

/// How it is with the far end.
pub(super) enum Phase {
    /// There is no connection.
    Away,
    /// The session is being made again.
    Shaking,
    /// Lines pass.
    Ready,
    /// Nothing can be asked, and why: a word for programs and a sentence. Until the next connection.
    Refusing(&'static str, String),
    /// The same for ever.
    Gone(&'static str, String),
}

pub(super) struct State {
    pub(super) terms: Terms,
    pub(super) now: u64,
    pub(super) phase: Phase,
    pub(super) open: Ids<Open>,
    /// Requests of the far end to the host, in this connection.
    pub(super) questions: Ids<()>,
    pub(super) hold: Hold,
    /// The id of the newest `initialize` of the host, which may be open.
    pub(super) opening: Option<Box<[u8]>>,
    /// The far end of this connection was not told of the session that is remembered.
    pub(super) unopened: bool,
    pub(super) memory: Memory,
    /// Requests of our own, in this connection.
    pub(super) own: Vec<(String, Own)>,
    own_number: u64,
    /// When a handshake without an answer is sent again, and how long after that once more.
    pub(super) again: Option<(u64, u64)>,
    pub(super) recent: VecDeque<Box<[u8]>>,
    trouble: Option<String>,
    connections: u64,
    ended: Option<u64>,
    /// The connection is over: what is still read of it may have been cut off.
    pub(super) ending: bool,
    pub(super) answered: bool,
    pub(super) ever_answered: bool,
    pub(super) offered: bool,
    pub(super) to_host: Vec<u8>,
    pub(super) to_far: Vec<u8>,
    pub(super) notes: Vec<Note>,
}

impl State {
    pub(super) fn new(terms: Terms) -> Self {
        Self {
            terms,
            now: 0,
            phase: Phase::Away,
            open: Ids::new(),
            questions: Ids::new(),
            hold: Hold::default(),
            opening: None,
            unopened: true,
            memory: Memory::default(),
            own: Vec::new(),
            own_number: 0,
            again: None,
            recent: VecDeque::new(),
            trouble: None,
            connections: 0,
            ended: None,
            ending: false,
            answered: false,
            ever_answered: false,
            offered: false,
            to_host: Vec::new(),
            to_far: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn far_up(&mut self) {
        self.connections += 1;
        let name = &self.terms.name;
        match self.connections {
            1 if self.trouble.is_none() => {}
            1 => self.tell(format!("connected to {name}")),
            _ => self.tell(format!("connected to {name} again")),
        }
        (self.ending, self.answered, self.trouble, self.again) = (false, false, None, None);
        if matches!(self.phase, Phase::Gone(..)) {
            return;
        }
        self.phase = Phase::Shaking;
        self.unopened = true;
        let found = self.memory.discover.is_some() && self.terms.medium == Medium::Serial;
        // The host may be about to open a session of its own.
        if self.opening().is_none() && (self.memory.legacy.is_some() || found) {
            self.reopen();
        } else {
            self.ready();
        }
    }

    /// Opens the session that is remembered.
    pub(super) fn reopen(&mut self) {
        self.phase = Phase::Shaking;
        // Where nothing gets lost, whoever is silent for so long is asked again in case it was not ready yet.
        self.shake(if self.terms.medium == Medium::Serial { AGAIN } else { self.terms.patience.max(AGAIN) });
    }

    /// The `initialize` of the host that is open.
    pub(super) fn opening(&mut self) -> Option<&mut Ask> {
        let id = Raw::from_bytes(self.opening.as_deref()?).ok()?;
        let ask = &mut self.open.get_mut(id)?.ask;
        matches!(ask, Ask::Initialize { .. }).then_some(ask)
    }

    pub(super) fn far_down(&mut self, reason: &Reason) {
        if !self.is_done() {
            self.tell(reason.to_string());
        }
        self.to_far.clear();
        self.own.clear();
        self.again = None;
        if !matches!(self.phase, Phase::Gone(..)) {
            self.phase = Phase::Away;
        }
        let legacy = self.memory.legacy.is_some();
        for (id, ()) in self.questions.take(|()| true) {
            // A modern server asks nothing, and must not cancel anything but listens.
            if legacy && let Ok(id) = Raw::from_bytes(&id) {
                self.cancel(id, &reason.to_string());
            }
        }
        let why = if self.ended.is_some() {
            "the host ended before this request was answered: it may have been carried out or not".into()
        } else {
            format!(
                "{reason} while this request was under way: it may have been carried out or not; the bridge reconnects by itself, \
                 so send it again only if doing it twice does no harm"
            )
        };
        let mut again = Vec::new();
        for (id, mut open) in self.open.take(|open| open.sent) {
            let Ok(raw) = Raw::from_bytes(&id) else { continue };
            let until = open.since.saturating_add(self.terms.patience);
            match open.ask.handshake().map(<[u8]>::to_vec) {
                Some(line) if self.survives(&open.ask) && until > self.now => {
                    open.ask.repeat();
                    self.open.insert(raw, Open { sent: false, ..open });
                    again.push(Held { line, ids: vec![id], until });
                }
                _ => self.to_host.extend(failed(raw, reason.word(), &why)),
            }
        }
        while let Some(held) = again.pop() {
            self.hold.push_front(held);
        }
    }

    /// Whether a handshake is sent to the next connection: it carries nothing out. A device may have restarted because its
    /// port was opened; a command gets a second chance. (One that dies of `server/discover` is told to the host, which
    /// then tries `initialize`.)
    fn survives(&self, ask: &Ask) -> bool {
        self.ended.is_none()
            && match self.terms.medium {
                Medium::Serial => true,
                Medium::Command => !self.ever_answered && matches!(ask, Ask::Initialize { .. }),
                Medium::Stream => false,
            }
    }

    pub(super) fn trouble(&mut self, why: String) {
        if self.trouble.as_ref() != Some(&why) {
            self.tell(format!("{why}; trying on"));
            self.trouble = Some(why);
        }
    }

    pub(super) fn give_up(&mut self, reason: &'static str, why: &str) {
        self.hold.take_all();
        self.to_far.clear();
        for (id, _) in self.open.take(|_| true) {
            if let Ok(id) = Raw::from_bytes(&id) {
                self.to_host.extend(failed(id, reason, why));
            }
        }
        self.phase = Phase::Gone(reason, why.into());
    }

    /// Sends the handshake of the session at hand, as the host did.
    fn shake(&mut self, pause: u64) {
        let (method, params, own) = match (&self.memory.legacy, &self.memory.discover) {
            (Some(legacy), _) => ("initialize", legacy.params.clone(), Own::Initialize),
            (None, Some(params)) => ("server/discover", params.clone(), Own::Discover),
            (None, None) => return,
        };
        if self.own.len() >= RECENT {
            self.own.remove(0);
        }
        self.ask(method, &params, own);
        self.again = Some((self.now.saturating_add(pause), next_pause(pause)));
    }

    /// The handshake had an answer of no use: it is tried once more, after a moment.
    pub(super) fn shake_later(&mut self, why: String) {
        if !matches!(self.phase, Phase::Shaking) {
            return;
        }
        self.trouble(why);
        if let Some((at, _)) = &mut self.again {
            *at = (*at).min(self.now.saturating_add(AGAIN));
        }
    }

    /// A handshake of the host's was sent: on a line that loses things it is sent again until it is answered, for as long as
    /// the patience lasts; elsewhere people are told once that it takes long.
    pub(super) fn watch(&mut self) {
        if self.again.is_none() {
            let pause = if self.terms.medium == Medium::Serial { AGAIN } else { self.terms.patience };
            self.again = Some((self.now.saturating_add(pause), next_pause(pause)));
        }
    }

    /// A request of our own.
    pub(super) fn ask(&mut self, method: &str, params: &[u8], own: Own) {
        let id = loop {
            self.own_number += 1;
            let id = format!("barewire-bridge-{}", self.own_number);
            let quoted = format!("\"{id}\"");
            if Raw::new(&quoted).is_some_and(|raw| self.open.get(raw).is_none()) {
                break id;
            }
        };
        self.to_far.extend(text::object(|o| {
            o.str("jsonrpc", "2.0").str("id", &id).str("method", method);
            o.raw("params", Raw::from_bytes(params).unwrap_or(Raw::EMPTY_OBJECT));
        }));
        self.to_far.push(b'\n');
        self.own.push((id, own));
    }

    /// Lines pass from now on, those that were held first.
    pub(super) fn ready(&mut self) {
        self.phase = Phase::Ready;
        self.again = None;
        for held in self.hold.take_all() {
            self.send(&held.line);
            for id in &held.ids {
                let open = Raw::from_bytes(id).ok().and_then(|id| self.open.get_mut(id));
                let handshake = open.is_some_and(|open| {
                    open.sent = true;
                    open.ask.handshake().is_some()
                });
                if handshake {
                    self.watch();
                }
            }
        }
    }

    /// Nothing can be asked until the next connection.
    pub(super) fn refuse_all(&mut self, reason: &'static str, why: String) {
        self.tell(why.clone());
        self.again = None;
        self.hold.take_all();
        for (id, _) in self.open.take(|open| !open.sent) {
            if let Ok(id) = Raw::from_bytes(&id) {
                self.to_host.extend(failed(id, reason, &why));
            }
        }
        self.phase = Phase::Refusing(reason, why);
    }

    pub(super) fn tick(&mut self, now: u64) {
        self.now = self.now.max(now);
        let expired = self.hold.take_expired(self.now);
        if !expired.is_empty() {
            let why = self.unreachable();
            for id in expired.iter().flat_map(|held| &held.ids) {
                let Ok(id) = Raw::from_bytes(id) else { continue };
                if self.open.remove(id).is_some() {
                    self.to_host.extend(failed(id, "unreachable", &why));
                }
            }
        }
        let Some((_, pause)) = self.again.filter(|(at, _)| *at <= self.now) else { return };
        if matches!(self.phase, Phase::Shaking) {
            if self.to_far.is_empty() {
                self.shake(pause);
            } else {
                // It does not even read.
                self.again = Some((self.now.saturating_add(pause), next_pause(pause)));
            }
            return;
        }
        self.again = None;
        let asked = self.open.take(|open| open.sent && open.ask.handshake().is_some());
        for (id, mut open) in asked {
            if self.now >= open.since.saturating_add(self.terms.patience) {
                let name = &self.terms.name;
                let seconds = self.terms.patience.div_ceil(1000);
                let why = format!("{name} is connected, but nothing there has answered for {seconds} s");
                if self.terms.medium == Medium::Serial {
                    let why = format!("{why}: is the device running, and are its speed and --checked right?");
                    if let Ok(id) = Raw::from_bytes(&id) {
                        self.to_host.extend(failed(id, "unreachable", &why));
                    }
                    self.tell(why);
                    continue;
                }
                self.tell(format!("{why}: is it an MCP server? the host goes on waiting"));
                if let Ok(id) = Raw::from_bytes(&id) {
                    self.open.insert(id, open);
                }
                continue;
            }
            open.ask.repeat();
            if let Some(line) = open.ask.handshake() {
                self.to_far.extend_from_slice(line);
                self.to_far.push(b'\n');
                let most = open.since.saturating_add(self.terms.patience);
                self.again = Some((self.now.saturating_add(pause).min(most), next_pause(pause)));
            }
            if let Ok(id) = Raw::from_bytes(&id) {
                self.open.insert(id, open);
            }
        }
    }

    /// What a request is told that waited in vain.
    fn unreachable(&self) -> String {
        let seconds = self.terms.patience.div_ceil(1000);
        let name = &self.terms.name;
        match (&self.phase, &self.trouble) {
            (Phase::Shaking, Some(trouble)) => {
                format!("{trouble}, for {seconds} s; the bridge tries on: the request was not sent")
            }
            (Phase::Shaking, None) => format!(
                "{name} is connected, but did not answer the handshake for {seconds} s; is it running? the request was not sent"
            ),
            (_, Some(trouble)) => {
                format!("{trouble}; tried for {seconds} s, and the bridge tries on: the request was not sent")
            }
            _ => {
                format!("{name} is away, for {seconds} s now; the bridge tries on: the request was not sent")
            }
        }
    }

    pub(super) fn deadline(&self) -> Option<u64> {
        let again = self.again.map(|(at, _)| at);
        let ended = self.ended.filter(|_| !self.is_done());
        [self.hold.deadline(), again, ended].into_iter().flatten().min()
    }

    pub(super) fn host_ended(&mut self) {
        self.ended = Some(self.now.saturating_add(LAST));
    }

    pub(super) fn is_done(&self) -> bool {
        let waits = || self.open.any(|open| !matches!(open.ask, Ask::Listen)) || !self.to_far.is_empty();
        self.ended.is_some_and(|until| self.now >= until || !waits())
    }

    /// A line for the far end, as it came.
    pub(super) fn send(&mut self, line: &[u8]) {
        self.to_far.extend_from_slice(line);
        self.to_far.push(b'\n');
    }

    /// A line for the host, as it came.
    pub(super) fn pass(&mut self, line: &[u8]) {
        self.to_host.extend_from_slice(line);
        self.to_host.push(b'\n');
    }

    /// Takes back a question that the far end asked the host.
    fn cancel(&mut self, id: Raw<'_>, reason: &str) {
        self.to_host.extend(text::object(|o| {
            o.str("jsonrpc", "2.0").str("method", "notifications/cancelled");
            o.object("params", |p| {
                p.raw("requestId", id).str("reason", reason);
            });
        }));
        self.to_host.push(b'\n');
    }

    pub(super) fn tell(&mut self, what: impl Into<String>) {
        self.notes.push(Note::Told(what.into()));
    }

    /// The host does not wait for this one any more.
    pub(super) fn forget(&mut self, id: Raw<'_>) {
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        if id.as_bytes().len() <= 1024 {
            self.recent.push_back(id.as_bytes().into());
        }
    }
}

/// The pause after this one.
fn next_pause(pause: u64) -> u64 {
    pause.saturating_mul(2).min(AGAIN_MOST.max(pause))
}

//! What becomes of the host's lines.

use barewire::Fault;
use barewire::frame::Frame;
use barewire::json::Raw;

use super::LIMIT;
use super::errors::{failed, nameless, no_message, refused, too_long};
use super::hold::Held;
use super::memory::Ask;
use super::sort::{Sort, sort};
use super::state::{Open, Phase, State};
use crate::packets::view::one_line;
use crate::text::grouped;

/// How many requests may be open, and how long their ids may be together.
const OPEN: usize = 16_384;
const OPEN_BYTES: usize = 4 << 20;

impl State {
    pub(super) fn host_frame(&mut self, frame: Frame<'_>) {
        match frame {
            Frame::Line(line) => self.host_line(line),
            Frame::TooLong { dropped, id, is_response } => {
                self.tell(format!(
                    "the host wrote a message of {} bytes; the limit is {}",
                    grouped(dropped),
                    grouped(LIMIT)
                ));
                match (is_response, id) {
                    // Without an id it may be a batch, of which somebody waits for every answer.
                    (false, id) => {
                        let id = id.unwrap_or(Raw::NULL);
                        self.to_host.extend(too_long(id, "the message", dropped));
                    }
                    // Somebody waits for it, so it becomes an error.
                    (true, Some(id)) if self.questions.remove(id).is_some() => {
                        self.to_far.extend(too_long(id, "the answer", dropped));
                    }
                    _ => {}
                }
            }
            Frame::More => {}
        }
    }

    fn host_line(&mut self, line: &[u8]) {
        match sort(line) {
            Sort::Request { id, method, params } => self.request(line, id, Ask::of(line, method, params)),
            Sort::Notification { method, params } => self.notification(line, method, params),
            Sort::Answer { id, .. } => {
                // An answer to a question of a connection that is over goes nowhere.
                if self.questions.remove(id).is_some() {
                    self.send(line);
                }
            }
            // Nobody is known to wait for an answer to these: what to make of them is the server's business.
            Sort::Junk { fault, id: None } if self.refuse_batch(line, fault) => {}
            Sort::Stray | Sort::Junk { id: None, .. } if matches!(self.phase, Phase::Ready) => {
                self.send(line);
            }
            Sort::Nameless => self.to_host.extend(nameless()),
            Sort::Stray => {}
            Sort::Batch(batch) => self.batch(line, batch),
            Sort::Junk { fault, id: Some(id) } => self.to_host.extend(no_message(id, fault)),
            Sort::Junk { fault, id: None } => {
                self.tell(format!("the host wrote what is no message ({fault}): {}", one_line(line)));
            }
        }
    }

    fn request(&mut self, line: &[u8], id: Raw<'_>, ask: Ask) {
        if self.open.get(id).is_some() {
            let why = "the id is that of a request which is still open";
            self.to_host.extend(refused(id, "id_in_use", why));
            return;
        }
        if !self.open.has_room([id], OPEN, OPEN_BYTES) {
            self.to_host.extend(failed(id, "busy", "too many requests are open"));
            return;
        }
        if matches!(ask, Ask::Initialize { .. }) && !matches!(self.phase, Phase::Gone(..)) {
            self.begin(id);
        }
        match &self.phase {
            Phase::Ready => {
                let handshake = ask.handshake().is_some();
                self.open.insert(id, Open { sent: true, since: self.now, ask });
                self.send(line);
                if handshake {
                    self.watch();
                }
            }
            Phase::Away | Phase::Shaking => {
                if self.hold.has_room(line) {
                    self.open.insert(id, Open { sent: false, since: self.now, ask });
                    self.keep(line, vec![id.as_bytes().into()]);
                } else {
                    self.to_host.extend(failed(id, "unreachable", &self.full()));
                }
            }
            Phase::Refusing(reason, why) | Phase::Gone(reason, why) => {
                self.to_host.extend(failed(id, reason, why));
            }
        }
    }

    /// The host opens a session of its own. The one before is remembered until that one is there.
    fn begin(&mut self, id: Raw<'_>) {
        self.opening = Some(id.as_bytes().into());
        if matches!(self.phase, Phase::Shaking | Phase::Refusing(..)) {
            self.ready();
        }
    }

    /// The host says that its session has begun. True: the `initialize` of that session is still open.
    fn initialized(&mut self) -> bool {
        if let Some(Ask::Initialize { initialized, again, .. }) = self.opening() {
            (*initialized, *again) = (true, false);
            return true;
        }
        self.memory.initialized = true;
        false
    }

    fn notification(&mut self, line: &[u8], method: Raw<'_>, params: Option<Raw<'_>>) {
        let away = matches!(self.phase, Phase::Away | Phase::Shaking);
        if method.is("notifications/initialized") {
            let opening = self.initialized();
            // It is a part of the handshake that comes.
            if away && !opening && self.memory.legacy.is_some() {
                return;
            }
        }
        if method.is("notifications/cancelled")
            && let Some(id) = params.and_then(|params| params.get("requestId"))
        {
            let held = self.hold.remove(id);
            if self.open.remove(id).is_some() {
                self.forget(id);
            }
            // Nobody has heard of it, or does any more.
            if held || away {
                return;
            }
        }
        match self.phase {
            Phase::Ready => self.send(line),
            // Of a question that went with the connection.
            _ if method.is("notifications/progress") => {}
            Phase::Away | Phase::Shaking if self.hold.has_room(line) => self.keep(line, Vec::new()),
            Phase::Away | Phase::Shaking => {
                self.tell("too much is waiting: a notification of the host was dropped");
            }
            Phase::Refusing(..) | Phase::Gone(..) => {}
        }
    }

    /// Several messages in one line (2025-03-26). They go together or not at all.
    fn batch(&mut self, line: &[u8], batch: Raw<'_>) {
        let requests = || {
            batch.elements().filter_map(|element| match sort(element.as_bytes()) {
                Sort::Request { id, method, params } => {
                    Some((id, Ask::of(element.as_bytes(), method, params)))
                }
                _ => None,
            })
        };
        let refused = match &self.phase {
            Phase::Refusing(reason, why) | Phase::Gone(reason, why) => Some((*reason, why.clone())),
            Phase::Away | Phase::Shaking if !self.hold.has_room(line) => Some(("unreachable", self.full())),
            _ if requests().any(|(id, _)| self.open.get(id).is_some()) => {
                Some(("id_in_use", "the batch has an id of a request which is still open".into()))
            }
            _ if !self.open.has_room(requests().map(|(id, _)| id), OPEN, OPEN_BYTES) => {
                Some(("busy", "too many requests are open".into()))
            }
            _ => None,
        };
        if let Some((reason, why)) = refused {
            for (id, _) in requests().filter(|(id, _)| self.open.get(*id).is_none()) {
                self.to_host.extend(failed(id, reason, &why));
            }
            return;
        }
        let sent = matches!(self.phase, Phase::Ready);
        let mut ids = Vec::new();
        for (id, ask) in requests() {
            if self.open.insert(id, Open { sent, since: self.now, ask }) {
                ids.push(id.as_bytes().into());
            }
        }
        for element in batch.elements() {
            match sort(element.as_bytes()) {
                Sort::Answer { id, .. } => drop(self.questions.remove(id)),
                Sort::Notification { method, .. } if method.is("notifications/initialized") => {
                    self.initialized();
                }
                _ => {}
            }
        }
        if sent {
            self.send(line);
        } else {
            self.keep(line, ids);
        }
    }

    /// A batch with something in it that is no message: whoever asks in it is told. False if nobody does.
    fn refuse_batch(&mut self, line: &[u8], fault: Fault) -> bool {
        let Ok(batch) = Raw::from_bytes(line) else { return false };
        let mut found = false;
        for element in batch.elements() {
            match sort(element.as_bytes()) {
                Sort::Request { id, .. } | Sort::Junk { id: Some(id), .. } => {
                    found = true;
                    if self.open.get(id).is_none() {
                        self.to_host.extend(no_message(id, fault));
                    }
                }
                Sort::Nameless => {
                    found = true;
                    self.to_host.extend(nameless());
                }
                _ => {}
            }
        }
        found
    }

    fn keep(&mut self, line: &[u8], ids: Vec<Box<[u8]>>) {
        let until = self.now.saturating_add(self.terms.patience);
        self.hold.push(Held { line: line.to_vec(), ids, until });
    }

    fn full(&self) -> String {
        format!(
            "{} is away, and too much is waiting for it already: the request was not sent",
            self.terms.name
        )
    }
}

//! What the link does with lines, and what it writes.
use super::*;

impl Link<'_> {
    /// Bytes for the wire that are the link's own: frames, and in plain mode what opens a session. Empty: nothing, or the
    /// stream itself if [`is_plain`](Self::is_plain).
    pub fn output(&mut self) -> &[u8] {
        if self.control.rest().is_empty() && self.tx.part().is_empty() {
            self.compose();
            if !(self.control.rest().is_empty() && self.tx.part().is_empty()) {
                self.alive = self.now.after(ALIVE);
            }
        }
        if self.control.rest().is_empty() { self.tx.part() } else { self.control.rest() }
    }

    /// `n` bytes of `output` have left.
    pub fn sent(&mut self, n: usize) {
        if self.control.rest().is_empty() {
            self.between = self.tx.sent(n, self.now);
        } else {
            self.control.at += n;
            self.between = self.control.rest().is_empty();
        }
    }

    /// Decides what is written next.
    fn compose(&mut self) {
        let plain = self.state != State::Checked;
        if plain && !self.between && !self.broken {
            return;
        }
        if self.state == State::Switching {
            self.state = State::Checked;
        }
        let ack = self.rx.expect;
        let none = Offset::default();
        let frame = |kind, generation, ack| Head { kind, role: self.role, generation, offset: none, ack };
        if core::mem::take(&mut self.due.hello) {
            self.control(frame(Kind::Hello, 0, none), &[]);
        } else if core::mem::take(&mut self.due.reset) {
            self.control(frame(Kind::Reset, 0, none), &[]);
        } else if core::mem::take(&mut self.due.open) {
            let fresh = matches!(self.state, State::Opening { fresh: true, .. });
            let (longest, window) = (self.rx.frame(), self.window);
            let opening = Opening { fresh, nonce: self.seed & 0x3_FFFF, frame: longest, window };
            self.control(frame(Kind::Open, 0, none), &opening.write());
        } else if self.state == State::Checked {
            if core::mem::take(&mut self.rx.ask_due) {
                self.rx.ack_due = false;
                self.stats.asked = self.stats.asked.wrapping_add(1);
                let generation = self.rx.generation;
                self.control(frame(Kind::Resend, generation, ack), &[]);
            } else if self.may_speak() && !self.broken && self.tx.compose(self.role, ack, &mut self.stats) {
                self.rx.ack_due = false;
            } else if core::mem::take(&mut self.rx.ack_due) {
                self.control(frame(Kind::Ack, 0, ack), &[]);
            } else if self.broken {
                self.control = Control::NONE;
                self.end_broken();
            }
        } else if self.broken {
            self.control = Control::NONE;
            self.end_broken();
        }
    }

    /// Does it make sense to repeat what nobody acknowledges?
    fn may_speak(&self) -> bool {
        self.role == Role::Client || self.tx.silence < SILENCE
    }

    fn end_broken(&mut self) {
        if core::mem::take(&mut self.broken) {
            self.control.put(b"\n");
        }
    }

    fn control(&mut self, head: Head, payload: &[u8]) {
        self.control = Control::NONE;
        self.end_broken();
        let head = head.write();
        let mut digest = CRC.digest();
        digest.update(head.get(1..).unwrap_or(&[]));
        digest.update(payload);
        let crc = sum(digest.finalize());
        for part in [&head[..], payload, &crc, b"\n"] {
            self.control.put(part);
        }
    }

    /// Takes bytes up to the end of one line.
    pub(super) fn receive_checked(&mut self, bytes: &[u8], heard: &mut dyn FnMut(Heard<'_>)) -> usize {
        let found = bytes.iter().position(|b| *b == b'\n');
        let part = bytes.get(..found.unwrap_or(bytes.len())).unwrap_or(&[]);
        let held = part.len().min(self.rx.room());
        let fits = self.rx.append(part);
        if self.role == Role::Server && (found.is_some() || !fits) && is_handshake(self.rx.line()) {
            // A client that knows nothing of the session.
            self.end_session();
            heard(Heard::NewClient);
            self.rx.drop_ready();
            self.rx.release_line();
            self.line = Line::Json;
            // The line feed, and what did not fit, are read again as a plain line.
            return held;
        }
        if found.is_some() {
            self.checked_line(heard);
        }
        part.len() + usize::from(found.is_some())
    }

    fn checked_line(&mut self, heard: &mut dyn FnMut(Heard<'_>)) {
        let line = self.rx.line();
        let blank = line.is_empty();
        match wire::find(line) {
            Some((head, at)) => self.frame(head, at, heard),
            None if !blank => {
                heard(Heard::Noise(line));
                self.stats.damaged = self.stats.damaged.wrapping_add(1);
                self.rx.ask();
            }
            None => {}
        }
        if self.rx.end_line() {
            self.rx.ask();
        }
    }

    /// Takes bytes of one line, or of a part of it.
    pub(super) fn receive_plain(&mut self, bytes: &[u8], heard: &mut dyn FnMut(Heard<'_>)) -> usize {
        let Some(first) = bytes.first() else { return 0 };
        if self.line == Line::Start {
            self.line = match first {
                b'\n' | b'\r' | b' ' | b'\t' => return 1,
                b'{' => Line::Json,
                &START if self.offers() => Line::Frame,
                b'[' => Line::Junk { bracket: true },
                _ => Line::Junk { bracket: false },
            };
        }
        let room = self.rx.room().saturating_sub(2);
        let bytes = bytes.get(..room.min(bytes.len())).unwrap_or(&[]);
        match self.line {
            Line::Start => 0,
            Line::Json => self.json(bytes, heard),
            Line::Frame => self.held(bytes, heard),
            Line::Junk { bracket } => self.junk(bytes, bracket, heard),
        }
    }

    fn json(&mut self, bytes: &[u8], heard: &mut dyn FnMut(Heard<'_>)) -> usize {
        let found = bytes.iter().position(|b| *b == b'\n');
        let part = bytes.get(..found.unwrap_or(bytes.len())).unwrap_or(&[]);
        self.rx.put(part);
        let client = self.role == Role::Client;
        if client {
            self.echo.read(part);
        }
        if found.is_some() {
            if client && self.echo.is_echo() {
                // It is with the machine already; this makes it no message.
                self.rx.put(b"\0");
                heard(Heard::Echo);
            }
            self.rx.put(b"\n");
            (self.line, self.early) = (Line::Start, false);
        }
        part.len() + usize::from(found.is_some())
    }

    fn junk(&mut self, bytes: &[u8], bracket: bool, heard: &mut dyn FnMut(Heard<'_>)) -> usize {
        let (offers, early) = (self.offers(), self.early);
        for (at, byte) in bytes.iter().enumerate() {
            let here = bytes.get(..at).unwrap_or(&[]);
            match byte {
                b'\n' => {
                    self.rx.put(here);
                    self.rx.put(b"\n");
                    self.line = Line::Start;
                    return at + 1;
                }
                b'{' if bracket && here.iter().all(|b| b"[ \t\r".contains(b)) => {
                    self.rx.put(here);
                    self.line = Line::Json;
                    return at + self.json(bytes.get(at..).unwrap_or(&[]), heard);
                }
                b'{' if early => {
                    self.rx.put(here);
                    self.rx.put(b"\n");
                    self.line = Line::Json;
                    return at + self.json(bytes.get(at..).unwrap_or(&[]), heard);
                }
                &START if offers => {
                    self.rx.put(here);
                    self.rx.put(b"\n");
                    self.line = Line::Frame;
                    return at + self.held(bytes.get(at..).unwrap_or(&[]), heard);
                }
                _ => {}
            }
        }
        self.rx.put(bytes);
        let bracket = bracket && bytes.iter().all(|b| b"[ \t\r".contains(b));
        self.line = Line::Junk { bracket };
        bytes.len()
    }

    /// A line that may be a frame.
    fn held(&mut self, bytes: &[u8], heard: &mut dyn FnMut(Heard<'_>)) -> usize {
        let found = bytes.iter().position(|b| *b == b'\n');
        let part = bytes.get(..found.unwrap_or(bytes.len())).unwrap_or(&[]);
        self.rx.append(part);
        if found.is_some() {
            self.line = Line::Start;
            match wire::find(self.rx.line()) {
                Some((head, at)) => self.frame(head, at, heard),
                None => {
                    self.rx.release_line();
                    self.rx.put(b"\n");
                }
            }
            self.rx.end_line();
        } else if self.rx.room() <= 2 {
            // Longer than any frame that matters here.
            self.rx.release_line();
            self.line = Line::Junk { bracket: false };
        }
        part.len() + usize::from(found.is_some())
    }

    /// A frame without fault. Its payload is at `at` of the line.
    fn frame(&mut self, head: Head, at: core::ops::Range<usize>, heard: &mut dyn FnMut(Heard<'_>)) {
        if head.role == self.role {
            return heard(Heard::Echo);
        }
        self.tx.silence = 0;
        match (head.kind, self.role, self.state) {
            (Kind::Open, _, _) => {
                let payload = self.rx.line().get(at).unwrap_or(&[]);
                if let Some(opening) = Opening::read(payload) {
                    self.opening(opening, heard);
                }
            }
            (Kind::Reset, Role::Client, State::Checked) | (Kind::Hello, Role::Client, _) => {
                self.restarted(heard);
            }
            (Kind::Reset | Kind::Hello, _, _) => {}
            (kind, _, State::Checked) => {
                self.tx.acked(head.ack, self.now);
                match kind {
                    Kind::Resend => self.tx.asked(head.generation),
                    Kind::Piece | Kind::End => self.rx.accept(head, at),
                    _ => {}
                }
            }
            (_, Role::Server, State::Plain) => self.due.reset = true,
            _ => {}
        }
    }

    fn opening(&mut self, opening: Opening, heard: &mut dyn FnMut(Heard<'_>)) {
        match (self.role, self.state) {
            (Role::Server, _) if self.offers() => {
                self.due.open = true;
                let again = self.seed == opening.nonce && !self.rx.any;
                if again && matches!(self.state, State::Checked | State::Switching) {
                    return;
                }
                self.seed = opening.nonce;
                if opening.fresh || self.state == State::Checked {
                    self.end_session();
                    self.due.open = true;
                    heard(Heard::NewClient);
                    self.rx.forget();
                }
                self.state = State::Switching;
                self.start(opening);
                heard(Heard::Checked);
            }
            (Role::Client, State::Opening { .. }) if opening.nonce == self.seed & 0x3_FFFF => {
                self.state = State::Checked;
                self.due.open = false;
                self.start(opening);
                heard(Heard::Checked);
            }
            _ => {}
        }
    }

    fn start(&mut self, opening: Opening) {
        self.rx.end_line();
        self.rx.restart();
        self.tx.restart(opening.frame, opening.window);
        // Ends what the machine holds of a line that does not go on.
        self.rx.put(b"\n");
        self.stats.sessions = self.stats.sessions.wrapping_add(1);
    }

    /// The server has just started, or knows nothing of the session.
    fn restarted(&mut self, heard: &mut dyn FnMut(Heard<'_>)) {
        if let State::Opening { fresh: true, again, pause, .. } = &mut self.state {
            // Nothing was lost, and it listens now.
            (*again, *pause) = (None, RETRY);
            return;
        }
        self.end_session();
        self.rx.end_line();
        self.rx.forget();
        self.early = true;
        heard(Heard::Restarted);
    }

    /// Ends the session, if there is one. What is half written is cut off.
    pub(super) fn end_session(&mut self) {
        self.broken |= !self.between;
        self.state = self.home();
        self.tx.restart(1, 1);
        self.rx.restart();
        self.due = Due::default();
        self.opens = false;
        self.control = Control::NONE;
        self.echo.reset();
        // Another session than the one before, if there is one.
        self.seed = self.seed.wrapping_add(u32::from(self.role == Role::Client));
    }
}

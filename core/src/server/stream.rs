//! Results in pieces: for what is larger than the transmit buffer.
use super::Reply;
use super::reply::say;
use super::slot::Stage;
use crate::json::{Sink as _, escaped_len, write_str_part};
use crate::machine::CallId;
use crate::machine::slots::State;
use crate::machine::tx::Out;
use crate::mcp::{Version, write};

impl Reply<'_> {
    /// Keeps what is written and lets it be sent; no other message can pass until [`finish`](Self::finish), since the protocol has
    /// no chunks. Pause only what is at hand, [`defer`](Self::defer) what has to be waited for. Go on at
    /// [`ServerEvent::More`](crate::ServerEvent::More), or at any time with [`Server::resume`](crate::Server::resume).
    pub fn pause(mut self) -> CallId {
        let id = self.id;
        if self.out.is_full() {
            // What was given before had no room, so there is nothing to go on with.
            let _ = self.finish();
            return id;
        }
        if !self.is_streaming() && self.own_stage() == Stage::Start && self.slot.own.step == 0 {
            // Nothing is on the wire, so that other messages may pass.
            return self.put_off();
        }
        let wrote = self.out.end() != self.out.ready();
        *self.slot.state = State::Streaming;
        self.out.commit();
        self.line.lent = None;
        self.line.streaming = Some(id.slot);
        self.line.more = wrote;
        id
    }

    /// Adds to a text block (opening one if need be) as much as fits. Returns how many bytes of `part` were taken, whole
    /// characters only. With any part left over: [`pause`](Self::pause), and go on from there.
    ///
    /// ```
    /// # use barewire::Reply;
    /// /// Sends `text` from `at` on; returns how far it came.
    /// fn piece(mut reply: Reply<'_>, text: &str, at: usize) -> usize {
    ///     let taken = reply.write_text(text.get(at..).unwrap_or(""));
    ///     let at = at + taken;
    ///     if at == text.len() { let _ = reply.finish(); } else { reply.pause(); }
    ///     at
    /// }
    /// ```
    pub fn write_text(&mut self, part: &str) -> usize {
        if !self.open_stream() {
            return 0;
        }
        if self.own_stage() != Stage::Text {
            let opened = self.step(Stage::Text, |out| out.put(b"{\"type\":\"text\",\"text\":\""));
            if !opened {
                return 0;
            }
        }
        let mut taken = 0usize;
        let mut chunk = usize::MAX;
        while let Some(rest) = part.get(taken..).filter(|rest| !rest.is_empty()) {
            let room = self.out.room();
            chunk = chunk.min(room).min(rest.len());
            while !rest.is_char_boundary(chunk) {
                chunk = chunk.wrapping_sub(1);
            }
            let Some(piece) = rest.get(..chunk).filter(|p| !p.is_empty()) else { break };
            if escaped_len(piece) <= room {
                write_str_part(&mut self.out, piece);
                taken = taken.wrapping_add(piece.len());
            } else {
                // Escapes make it longer: try less, down to one character.
                chunk /= 2;
            }
        }
        taken
    }

    /// The same for a binary block of media type `mime` (give the same one each time): an image, a sound or an embedded resource. Base64
    /// is written. Returns how many bytes were taken. Opening the block takes 60 bytes and the media type at once.
    pub fn write_blob(&mut self, mime: &str, bytes: &[u8]) -> usize {
        if !self.open_stream() {
            return 0;
        }
        if !matches!(self.own_stage(), Stage::Blob(_)) {
            let audio = mime.starts_with("audio/") && self.slot.own.version.since(Version::V2025_03_26);
            let plain = audio || mime.starts_with("image/");
            let kind = if audio { "audio" } else { "image" };
            let opened = self.step(Stage::Blob(if plain { 1 } else { 2 }), |out| {
                if plain {
                    write::all(out, &["{\"type\":\"", kind, "\",\"mimeType\":\""])
                        && write_str_part(out, mime)
                        && out.put(b"\",\"data\":\"")
                } else {
                    out.put(b"{\"type\":\"resource\",\"resource\":{\"uri\":\"attachment:0\",\"mimeType\":\"")
                        && write_str_part(out, mime)
                        && out.put(b"\",\"blob\":\"")
                }
            });
            if !opened {
                return 0;
            }
        }
        let mut taken = 0usize;
        for byte in bytes {
            let own = &mut *self.slot.own;
            match own.carry.get_mut(usize::from(own.carried)) {
                Some(place) => {
                    *place = *byte;
                    own.carried = own.carried.wrapping_add(1);
                }
                None => {
                    let [first, second] = own.carry;
                    if self.out.room() < 4 || !self.out.put(&write::quad(&[first, second, *byte])) {
                        break;
                    }
                    self.slot.own.carried = 0;
                }
            }
            taken = taken.wrapping_add(1);
        }
        taken
    }

    fn own_stage(&self) -> Stage {
        self.slot.own.stage
    }

    /// The head, as far as it fits; true when it is out and the content array is open.
    fn open_stream(&mut self) -> bool {
        if self.out.is_full() {
            return false;
        }
        self.pieces = true;
        match self.own_stage() {
            Stage::Start => {
                let (skip, version) = (self.slot.own.step, self.slot.own.version);
                let say = say(self.config, self.line);
                let begun = self.out.begin(skip);
                say.stream_head(&mut self.out, Some(self.slot.id.get()), version);
                let (done, written) = self.out.end_piece(begun);
                self.slot.own.step = skip.wrapping_add(written);
                if done {
                    self.slot.own.stage = Stage::Empty;
                }
                done
            }
            Stage::Members => self.step(Stage::Empty, |out| out.put(b"\"content\":[")),
            _ => true,
        }
    }

    /// One step from stage to stage, whole or not at all.
    fn step(&mut self, to: Stage, write: impl FnOnce(&mut Out<'_>) -> bool) -> bool {
        let before = self.out.end();
        let own = *self.slot.own;
        let say = say(self.config, self.line);
        let comma = matches!(own.stage, Stage::Blocks | Stage::Text | Stage::Blob(_));
        let done =
            say.close_block(&mut self.out, &own) && (!comma || self.out.put(b",")) && write(&mut self.out);
        if done {
            self.slot.own.stage = to;
            self.slot.own.carried = 0;
        } else {
            self.out.roll_back(before);
        }
        done
    }
}

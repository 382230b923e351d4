//! What a plain line is, as far as it can be told while it passes.
use super::wire::CRC;

/// The line that is being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Line {
    #[default]
    Start,
    /// It may be a message.
    Json,
    /// Boot text, logs, anything. `bracket`: nothing but an opening bracket yet, so it may be a batch.
    Junk { bracket: bool },
    /// It may be a frame of the checked mode, and is held until its end.
    Frame,
}

/// How many own lines are remembered. An echo comes back within the line's own time, before more are written.
const KEPT: usize = 8;

/// Finds out whether the line echoes, and which lines are echoes.
///
/// The first line that a client writes is a request that no server would write; when it comes back the line echoes, and from
/// then on each line that was written is expected once.
#[derive(Default)]
pub(super) struct Echo {
    wrote: Digest,
    read: Digest,
    /// The first line.
    first: Option<(u32, u16)>,
    kept: [Option<(u32, u16)>; KEPT],
    at: usize,
    on: bool,
}

/// Checksum and length of a line so far.
#[derive(Clone, Copy, Default)]
struct Digest {
    crc: u32,
    len: u16,
}

impl Digest {
    fn update(&mut self, bytes: &[u8]) {
        // The register before its last complement is the one to go on with.
        let mut digest = CRC.digest_with_initial(self.crc.reverse_bits());
        if self.len == 0 {
            digest = CRC.digest();
        }
        digest.update(bytes);
        self.crc = digest.finalize() ^ u32::MAX;
        self.len = self.len.saturating_add(u16::try_from(bytes.len()).unwrap_or(u16::MAX));
    }

    /// `None` for a blank line.
    fn take(&mut self) -> Option<(u32, u16)> {
        let done = core::mem::take(self);
        (done.len > 0).then_some((done.crc, done.len))
    }
}

impl Echo {
    /// The line is new, or the peer was started again.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// These plain bytes were written.
    pub(super) fn wrote(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            let text = part.strip_suffix(b"\n");
            self.wrote.update(text.unwrap_or(part));
            if let Some(line) = text.and_then(|_| self.wrote.take()) {
                self.first.get_or_insert(line);
                if let Some(place) = self.kept.get_mut(self.at % KEPT) {
                    *place = Some(line);
                }
                self.at = self.at.wrapping_add(1);
            }
        }
    }

    /// A part of a line that is read, without its line feed.
    pub(super) fn read(&mut self, part: &[u8]) {
        // A tty may write CR LF for LF.
        self.read.update(part.strip_suffix(b"\r").unwrap_or(part));
    }

    /// The line that was read is over. Is it an echo?
    pub(super) fn is_echo(&mut self) -> bool {
        let Some(line) = self.read.take() else { return false };
        self.on |= self.first == Some(line);
        if !self.on {
            return false;
        }
        let found = self.kept.iter_mut().find(|kept| **kept == Some(line));
        found.map(|kept| *kept = None).is_some()
    }
}

/// Does a plain line start a handshake? Decided by its first bytes alone, so that a long one need not be kept.
pub(super) fn is_handshake(line: &[u8]) -> bool {
    let has = |text: &[u8]| (0..line.len()).any(|at| line.get(at..).is_some_and(|l| l.starts_with(text)));
    line.trim_ascii_start().first() == Some(&b'{') && (has(b"\"initialize\"") || has(b"\"server/discover\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoes_are_told_from_answers() {
        let mut echo = Echo::default();
        let read = |echo: &mut Echo, line: &str| {
            for part in line.as_bytes().chunks(3) {
                echo.read(part);
            }
            echo.is_echo()
        };
        echo.wrote(b"{\"id\":1,\"me");
        echo.wrote(b"thod\":\"initialize\"}\n{\"id\":7,\"result\":{}}\n");
        // The line has not shown that it echoes: this may be the peer's own.
        assert!(!read(&mut echo, "{\"id\":7,\"result\":{}}"));
        assert!(read(&mut echo, "{\"id\":1,\"method\":\"initialize\"}\r"));
        assert!(read(&mut echo, "{\"id\":7,\"result\":{}}"));
        assert!(!read(&mut echo, "{\"id\":7,\"result\":{}}"), "each comes back once");
    }
}

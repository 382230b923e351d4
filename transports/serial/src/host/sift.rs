//! Keeps what a device prints apart from what it says.
use std::vec::Vec;

/// The most of one printed line that is kept.
const MOST: usize = 1024;

/// The plain lines of a device, as they arrive in pieces.
#[derive(Default)]
pub(super) struct Sift {
    kind: Kind,
    held: Vec<u8>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Kind {
    #[default]
    Start,
    /// An opening bracket: a batch, if a brace follows.
    Bracket,
    Message,
    Print,
}

impl Sift {
    /// Lines that may be messages go to `message`, in pieces; others to `print`, whole.
    pub(super) fn pass(
        &mut self,
        bytes: &[u8],
        message: &mut dyn FnMut(&[u8]),
        print: &mut dyn FnMut(&[u8]),
    ) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            match self.kind {
                Kind::Start => {
                    self.kind = match first {
                        b'{' => Kind::Message,
                        b'[' => Kind::Bracket,
                        b'\n' | b'\r' | b' ' | b'\t' => {
                            rest = rest.get(1..).unwrap_or(&[]);
                            continue;
                        }
                        _ => Kind::Print,
                    };
                    if self.kind == Kind::Bracket {
                        self.held.push(b'[');
                        rest = rest.get(1..).unwrap_or(&[]);
                    }
                }
                Kind::Bracket => match first {
                    b' ' | b'\t' => rest = rest.get(1..).unwrap_or(&[]),
                    b'{' | b']' => {
                        self.kind = Kind::Message;
                        message(&core::mem::take(&mut self.held));
                    }
                    _ => self.kind = Kind::Print,
                },
                Kind::Message | Kind::Print => {
                    let end = rest.iter().position(|b| *b == b'\n');
                    let (part, after) = rest.split_at(end.map_or(rest.len(), |at| at + 1));
                    rest = after;
                    if self.kind == Kind::Message {
                        message(part);
                    } else {
                        let text = part.strip_suffix(b"\n").unwrap_or(part);
                        let room = MOST.saturating_sub(self.held.len());
                        self.held.extend_from_slice(text.get(..text.len().min(room)).unwrap_or(&[]));
                    }
                    if end.is_some() {
                        if self.kind == Kind::Print {
                            print(self.held.trim_ascii_end());
                            self.held.clear();
                        }
                        self.kind = Kind::Start;
                    }
                }
            }
        }
    }

    /// The session is over.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn tells_prints_from_messages_however_they_are_cut() {
        let input = b"ets Jun\r\n{\"id\":1}\n\n[ {\"id\":2}]\n[1.2] up\n  \nI (3) x {\"a\":1}\n{\"id\":3}\n";
        for size in 1..input.len() {
            let (mut messages, mut prints) = (Vec::new(), Vec::new());
            let mut sift = Sift::default();
            for part in input.chunks(size) {
                sift.pass(part, &mut |m| messages.extend_from_slice(m), &mut |p| {
                    prints.push(String::from_utf8_lossy(p).into_owned());
                });
            }
            assert_eq!(messages, b"{\"id\":1}\n[{\"id\":2}]\n{\"id\":3}\n");
            assert_eq!(prints, ["ets Jun", "[1.2] up", "I (3) x {\"a\":1}"]);
        }
    }
}

//! Message channels as streams of lines.

use crate::link::{Receiver, Sender};
use std::io::{self, Read, Write};

/// Sends each line as one message.
pub(crate) struct Outbox {
    send: Sender,
    line: Vec<u8>,
}

impl Outbox {
    pub(crate) fn new(send: Sender) -> Self {
        Self { send, line: Vec::new() }
    }
}

impl Write for Outbox {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.line.extend_from_slice(bytes);
            return Ok(bytes.len());
        };
        if self.line.is_empty() {
            (self.send)(&bytes[..end])?;
        } else {
            self.line.extend_from_slice(&bytes[..end]);
            (self.send)(&self.line)?;
            self.line = Vec::new();
        }
        Ok(end + 1)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hands out each message as one line.
pub(crate) struct Inbox {
    receive: Receiver,
    line: Vec<u8>,
    at: usize,
}

impl Inbox {
    pub(crate) fn new(receive: Receiver) -> Self {
        Self { receive, line: Vec::new(), at: 0 }
    }
}

impl Read for Inbox {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() {
            let Some(mut message) = (self.receive)()? else { return Ok(0) };
            for byte in &mut message {
                if matches!(*byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
            message.push(b'\n');
            (self.line, self.at) = (message, 0);
        }
        let n = space.len().min(self.line.len() - self.at);
        space[..n].copy_from_slice(&self.line[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

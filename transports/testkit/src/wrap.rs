//! Halves that do a little more, or a little less.

use crate::motion::Moved;
use core::sync::atomic::Ordering::Relaxed;
use std::io::{self, Read, Write};

/// Reads and writes at most so many bytes at once.
pub(crate) struct Cut<T>(pub(crate) T, pub(crate) usize);

impl<T: Read> Read for Cut<T> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let n = space.len().min(self.1);
        self.0.read(&mut space[..n])
    }
}

impl<T: Write> Write for Cut<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.0.write(&bytes[..bytes.len().min(self.1)])?;
        if n < bytes.len() {
            self.0.flush()?;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Counts what is written.
pub(crate) struct Counted<W>(pub(crate) W, pub(crate) Moved);

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.0.write(bytes)?;
        self.1.fetch_add(n as u64, Relaxed);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes a line of junk before each piece.
pub(crate) struct Noisy<W>(pub(crate) W, pub(crate) usize);

impl<W: Write> Write for Noisy<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(JUNK[self.1 % JUNK.len()])?;
        self.0.write_all(b"\n")?;
        self.0.write_all(bytes)?;
        self.1 += 1;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// What comes over lines between messages: boot text, lost halves, line noise, other protocols.
pub(crate) const JUNK: &[&[u8]] = &[
    b"ets Jun  8 2016 00:22:57 rst:0x1 (POWERON_RESET),boot:0x13",
    b"\xff\xfe\x80\xc3\x28\xa0\xa1",
    b"\x00\x01\x03\x04\x11\x13\x1a\x1b[31m\x7f",
    b"{\"jsonrpc\":\"2.0\",\"id\":",
    b"Content-Length: 20\r",
    b"\"id\":7}}",
    b"42",
    b"",
];

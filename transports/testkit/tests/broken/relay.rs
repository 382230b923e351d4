//! A writing half that sees whole lines.

use barewire_testkit::PipeWriter;
use std::io::{self, Write};

/// Gives each line to a function; what is no whole line is passed on at the end. After a failure it takes nothing more, and ends
/// when it is dropped: whoever writes hears of the failure first.
pub(crate) struct Lines<F> {
    to: PipeWriter,
    failed: bool,
    line: Vec<u8>,
    each: F,
}

impl<F: FnMut(&[u8], &mut PipeWriter) -> io::Result<()>> Lines<F> {
    pub(crate) fn new(to: PipeWriter, each: F) -> Self {
        Self { to, failed: false, line: Vec::new(), each }
    }
}

impl<F: FnMut(&[u8], &mut PipeWriter) -> io::Result<()>> Write for Lines<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                if self.failed {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                let line = core::mem::take(&mut self.line);
                if let Err(error) = (self.each)(&line, &mut self.to) {
                    self.failed = true;
                    return Err(error);
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<F> Drop for Lines<F> {
    fn drop(&mut self) {
        if !self.failed {
            let _ = self.to.write_all(&self.line);
        }
    }
}

pub(crate) fn has(line: &[u8], text: &str) -> bool {
    line.windows(text.len()).any(|window| window == text.as_bytes())
}

//! A writing half that sees whole lines.

use barewire_testkit::PipeWriter;
use std::io::{self, Write};

/// Gives each line to a function; what is no whole line is passed on at the end.
pub(crate) struct Lines<F> {
    to: Option<PipeWriter>,
    line: Vec<u8>,
    each: F,
}

impl<F: FnMut(&[u8], &mut PipeWriter) -> io::Result<()>> Lines<F> {
    pub(crate) fn new(to: PipeWriter, each: F) -> Self {
        Self { to: Some(to), line: Vec::new(), each }
    }
}

impl<F: FnMut(&[u8], &mut PipeWriter) -> io::Result<()>> Write for Lines<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let Some(to) = &mut self.to else { return Err(io::ErrorKind::BrokenPipe.into()) };
                let line = core::mem::take(&mut self.line);
                if let Err(error) = (self.each)(&line, to) {
                    self.to = None;
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
        if let Some(to) = &mut self.to {
            let _ = to.write_all(&self.line);
        }
    }
}

pub(crate) fn has(line: &[u8], text: &str) -> bool {
    line.windows(text.len()).any(|window| window == text.as_bytes())
}

//! A port's bytes as they are, for programs that only listen in.
use super::engine::is_temporary;
use super::{OpenError, Port, open};
use serial2::SerialPort;
use std::{io, sync::Arc};

/// Reads what the device says, byte for byte: waits until something comes, and ends when the port is gone.
pub struct RawReader(Arc<SerialPort>);

/// Tells the device something, byte for byte: waits while the line is behind.
pub struct RawWriter(Arc<SerialPort>);

impl Port {
    /// Opens the port without a session, a link or any recovery: its two halves carry what is on the wire. The port is closed
    /// when both are dropped.
    ///
    /// # Errors
    /// [`OpenError`], which says what to do.
    pub fn raw(&self) -> Result<(RawReader, RawWriter), OpenError> {
        let serial = Arc::new(open::open(self)?);
        Ok((RawReader(Arc::clone(&serial)), RawWriter(serial)))
    }
}

/// Tries again for as long as the port's own short time limit is all that went wrong.
fn patiently(mut attempt: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match attempt() {
            Err(error) if is_temporary(&error) => {}
            done => return done,
        }
    }
}

impl io::Read for RawReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        patiently(|| self.0.read(out))
    }
}

impl io::Write for RawWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        patiently(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl core::fmt::Debug for RawReader {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("RawReader")
    }
}

impl core::fmt::Debug for RawWriter {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("RawWriter")
    }
}

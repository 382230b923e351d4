//! Halves with a fault of their own.

use super::rest;
use barewire_testkit::{PipeReader, PipeWriter};
use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::{
    io::{self, Read, Write},
    mem,
    sync::{Arc, Mutex, Weak},
};

pub(super) struct EndsLines(pub(super) PipeWriter);
impl Write for EndsLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(bytes)?;
        self.0.write_all(b"\n")?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) struct Swaps(pub(super) PipeWriter);
impl Write for Swaps {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        if lines.len() > 1 && bytes.ends_with(b"\n") {
            lines.swap(0, 1);
        }
        self.0.write_all(&lines.concat())?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) struct WaitsForLines(pub(super) PipeReader, pub(super) bool);
impl Read for WaitsForLines {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(space)?;
        if n == 0 && self.1 {
            rest();
        }
        self.1 = space[..n].last().is_some_and(|byte| *byte != b'\n');
        Ok(n)
    }
}

pub(super) struct Forgotten(pub(super) Option<PipeReader>);
impl Read for Forgotten {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.0.as_mut().unwrap().read(space)
    }
}
impl Drop for Forgotten {
    fn drop(&mut self) {
        mem::forget(self.0.take());
    }
}

pub(super) struct Counts(pub(super) PipeReader, pub(super) Arc<AtomicUsize>);
impl Read for Counts {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(space)?;
        let _ = self.1.fetch_update(SeqCst, SeqCst, |inside| Some(inside.saturating_sub(n)));
        Ok(n)
    }
}

pub(super) type Slot = Arc<Mutex<Option<PipeWriter>>>;

fn write_to(slot: &Mutex<Option<PipeWriter>>, bytes: &[u8]) -> io::Result<usize> {
    slot.lock().unwrap().as_mut().map_or(Err(io::ErrorKind::BrokenPipe.into()), |to| to.write(bytes))
}

pub(super) struct Closing(pub(super) PipeWriter, pub(super) Slot);
impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
impl Drop for Closing {
    fn drop(&mut self) {
        self.1.lock().unwrap().take();
    }
}

pub(super) struct Shared(pub(super) Slot);
impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_to(&self.0, bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
impl Drop for Shared {
    fn drop(&mut self) {
        self.0.lock().unwrap().take();
    }
}

pub(super) struct Newest(pub(super) Slot, pub(super) Arc<Mutex<Weak<Mutex<Option<PipeWriter>>>>>);
impl Write for Newest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let newest = self.1.lock().unwrap().upgrade();
        write_to(newest.as_ref().unwrap_or(&self.0), bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
impl Drop for Newest {
    fn drop(&mut self) {
        self.0.lock().unwrap().take();
    }
}

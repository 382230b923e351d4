//! Pipes that can be left: one whose other end stays open for ever must not hold up a thread.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// Waits until nobody holds the other end of a pipe or socket any more; false where that can't be seen.
pub(super) fn wait_hang_up(from: impl AsFd) -> bool {
    // A socket that is only half closed says nothing more either.
    #[cfg(target_os = "linux")]
    let left = PollFlags::RDHUP;
    #[cfg(not(target_os = "linux"))]
    let left = PollFlags::empty();
    let mut waits = [PollFd::new(&from, left)];
    while let Err(Errno::INTR) = poll(&mut waits, None) {}
    let seen = waits[0].revents();
    !seen.is_empty() && !seen.contains(PollFlags::NVAL)
}

/// Pipes are in use as long as this lives.
pub(super) struct Using(#[expect(dead_code, reason = "dropping it is what it does")] PipeWriter);

/// What tells a [`Pipe`] that it is left.
#[derive(Clone)]
pub(super) struct Leave(Arc<PipeReader>);

pub(super) fn using() -> io::Result<(Using, Leave)> {
    let (leave, using) = io::pipe()?;
    Ok((Using(using), Leave(Arc::new(leave))))
}

/// One end of a child's pipe, until it is left: then there is no more to read, and nothing can be written.
pub(super) struct Pipe<P> {
    pipe: P,
    leave: Leave,
}

impl<P: AsFd> Pipe<P> {
    /// Our end no longer blocks; the child's is another one.
    pub(super) fn new(pipe: P, leave: &Leave) -> io::Result<Self> {
        let flags = fcntl_getfl(&pipe)?;
        fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
        Ok(Self { pipe, leave: leave.clone() })
    }

    /// Waits until something can be done; false once it is left.
    fn wait(&self, what: PollFlags) -> io::Result<bool> {
        let leave: BorrowedFd<'_> = self.leave.0.as_fd();
        let mut waits = [PollFd::new(&self.pipe, what), PollFd::from_borrowed_fd(leave, PollFlags::IN)];
        match poll(&mut waits, None) {
            Ok(_) => Ok(waits[1].revents().is_empty()),
            Err(Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}

impl<P: AsFd + Read> Read for Pipe<P> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.wait(PollFlags::IN)? {
            match self.pipe.read(out) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
        Ok(0)
    }
}

impl<P: AsFd + Write> Write for Pipe<P> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        while self.wait(PollFlags::OUT)? {
            match self.pipe.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_pipe_that_is_left_holds_up_nobody() {
        let (using, leave) = using().unwrap();
        let ((silent, _held), (_unread, full)) = (io::pipe().unwrap(), io::pipe().unwrap());
        let mut reader = Pipe::new(silent, &leave).unwrap();
        let mut writer = Pipe::new(full, &leave).unwrap();
        let reads = thread::spawn(move || reader.read(&mut [0; 16]).unwrap());
        let writes = thread::spawn(move || writer.write_all(&vec![0; 16 << 20]).unwrap_err().kind());
        drop(using);
        assert_eq!(reads.join().unwrap(), 0);
        assert_eq!(writes.join().unwrap(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn bytes_pass_and_ends_are_seen() {
        let (_using, leave) = using().unwrap();
        let (from, to) = io::pipe().unwrap();
        let (mut from, mut to) = (Pipe::new(from, &leave).unwrap(), Pipe::new(to, &leave).unwrap());
        let all: Vec<u8> = (0..300_000u32).map(|n| n as u8).collect();
        let said = all.clone();
        let writes = thread::spawn(move || to.write_all(&said).unwrap());
        let mut read = Vec::new();
        from.read_to_end(&mut read).unwrap();
        assert!(read == all);
        writes.join().unwrap();
    }

    #[test]
    fn a_host_that_leaves_is_seen_with_its_words_unread() {
        let (mut from, mut to) = io::pipe().unwrap();
        to.write_all(b"last").unwrap();
        drop(to);
        assert!(wait_hang_up(&from));
        let mut last = String::new();
        from.read_to_string(&mut last).unwrap();
        assert_eq!(last, "last");
    }
}

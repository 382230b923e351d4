//! A cable between a board and a serial port of the computer (a pty), which may be a bad one.
use barewire_testkit::Faults;
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;

/// The computer's end.
pub struct Cable {
    path: PathBuf,
    board: UnixStream,
    /// Held, so that the pty does not hang up between two openings.
    _port: File,
}

impl Cable {
    /// Connects the board to a new port.
    pub fn new(board: UnixStream, faults: Faults) -> Self {
        let pty = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&pty).unwrap();
        unlockpt(&pty).unwrap();
        let path: PathBuf = ptsname(&pty, Vec::new()).unwrap().into_string().unwrap().into();
        let port = rustix::fs::open(&path, OFlags::RDWR | OFlags::NOCTTY, rustix::fs::Mode::empty()).unwrap();
        let mut modes = rustix::termios::tcgetattr(&port).unwrap();
        modes.make_raw();
        rustix::termios::tcsetattr(&port, rustix::termios::OptionalActions::Now, &modes).unwrap();

        board.set_read_timeout(None).unwrap();
        let pty = File::from(pty);
        let (from_board, from_pty) = (board.try_clone().unwrap(), pty.try_clone().unwrap());
        let to_board = faults.other().writer(board.try_clone().unwrap());
        thread::spawn(move || carry(from_board, faults.writer(pty)));
        thread::spawn(move || carry(from_pty, to_board));
        Self { path, board, _port: File::from(port) }
    }

    /// The name of the port.
    pub fn port(&self) -> &PathBuf {
        &self.path
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        let _ = self.board.shutdown(Shutdown::Both);
    }
}

fn carry(mut from: impl Read, mut to: impl Write) {
    let mut bytes = [0; 4096];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..n]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

//! Serial lines pass: the host's ports at one end of a pty, a device that never ends at the other; plain lines, checked
//! ones, and checked ones that lose, change and double bytes.
#![cfg(unix)]

mod board;
#[path = "../common/mod.rs"]
mod common;

use barewire_serial::{
    Checked,
    host::{OpenError, Port, Session, Trace, Wire, Writer},
};
use barewire_testkit::{Claims, End, Faults, Link, Suite};
use board::Board;
use common::told;
use core::time::Duration;
use std::{
    io::{self, Write},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Instant,
};

/// What has left the host by now.
type Left = Arc<(Mutex<usize>, Condvar)>;

/// Gives the line up when it is dropped.
struct Half {
    writer: Writer,
    session: Session,
    wire: Option<Wire>,
    /// On plain lines: how much was written, and what has left.
    plain: Option<(usize, Left)>,
}

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.writer.write(bytes)?;
        if let Some((written, _)) = &mut self.plain {
            *written += n;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        // So that a client that dies does so at the byte that it was told to.
        if let Some((written, left)) = &self.plain {
            let lock = left.0.lock().unwrap();
            let timeout = Duration::from_secs(5);
            drop(
                left.1.wait_timeout_while(lock, timeout, |left| *left < *written && !self.session_is_over()),
            );
        }
        self.session.close();
        self.wire = None;
    }
}

impl Half {
    fn session_is_over(&self) -> bool {
        self.session.lost().is_some()
    }
}

/// Another session with the same board.
fn connect(board: &Board, checked: Checked) -> io::Result<Link> {
    let left = Left::default();
    let count = Arc::clone(&left);
    let port = Port::new(&board.path).baud(921_600).checked(checked).trace(move |what| {
        if let Trace::Sent(bytes) = what {
            *count.0.lock().unwrap() += bytes.len();
            count.1.notify_all();
        }
    });
    let until = Instant::now() + Duration::from_secs(20);
    let wire = loop {
        match port.open() {
            Ok(wire) => break wire,
            // The session before is just being given up.
            Err(OpenError::Busy { .. }) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(io::Error::other(error)),
        }
    };
    let (reader, writer, session) = wire.session();
    // A line feed of the port's own leaves first.
    let plain = (checked == Checked::Never).then_some((1, left));
    Ok(Link::to_server(End::stream(reader, Half { writer, session, wire: Some(wire), plain })))
}

/// What a line does not do.
const NOT: [&str; 4] = ["borders", "half-close", "release", "isolation"];

/// One test alone: the suite looks at the threads and descriptors of the whole process.
#[test]
fn serial_lines_pass() {
    let claims = Claims::stream().single().endless().noise().largest(1 << 20).holds(1 << 20);
    for (name, checked) in [("serial plain", Checked::Never), ("serial checked", Checked::Always)] {
        let board = Board::start(Faults::new(0));
        let report = Suite::new(claims).run(|| connect(&board, checked));
        assert_eq!(told(name, &report), NOT);
    }

    let damage = Faults::new(77).drop(1e-3 / 3.0).corrupt(1e-3 / 3.0).duplicate(1e-3 / 3.0);
    let board = Board::start(damage);
    let claims = claims.largest(64 << 10);
    let report = Suite::new(claims).run(|| connect(&board, Checked::Always));
    assert_eq!(told("serial checked, 1 byte in 1,000 damaged", &report), NOT);
    let stats = *board.stats.lock().unwrap();
    println!("the board: {stats:?}");
    assert!(stats.resent > 0 && stats.damaged > 0, "{stats:?}");
}

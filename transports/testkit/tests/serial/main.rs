//! Serial lines pass: the host's ports at one end of a pty, a device that never ends at the other; plain lines, checked
//! ones, and checked ones that lose, change and double bytes.
#![cfg(unix)]

mod board;
#[path = "../common/mod.rs"]
mod common;

use barewire_serial::{
    Checked,
    host::{Port, Session, Trace, Wire, Writer},
};
use barewire_testkit::{Claims, End, Faults, Link, Suite};
use board::Board;
use common::told;
use core::time::Duration;
use std::{
    io::{self, Write},
    sync::{Arc, Condvar, Mutex},
};

/// What has left the host by now.
type Left = Arc<(Mutex<usize>, Condvar)>;

/// A port that is open, for the session that has it.
struct Open {
    session: Session,
    _wire: Wire,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.session.close();
    }
}

/// The one port of the line. A client that still has it when the next one comes loses it.
type Place = Arc<Mutex<Option<Open>>>;

/// Gives the line up when it is dropped.
struct Half {
    writer: Writer,
    session: Session,
    place: Place,
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
            let waits = |left: &mut usize| *left < *written && self.session.lost().is_none();
            drop(left.1.wait_timeout_while(lock, timeout, waits));
        }
        // Another client may have the line by now, or get it this moment.
        let mut open = self.place.lock().unwrap();
        if self.session.lost().is_none() {
            *open = None;
        }
    }
}

/// Another session with the same board.
fn connect(board: &Board, place: &Place, checked: Checked) -> io::Result<Link> {
    let mut open = place.lock().unwrap();
    *open = None;
    let left = Left::default();
    let count = Arc::clone(&left);
    let port = Port::new(&board.path).baud(921_600).checked(checked).trace(move |what| {
        if let Trace::Sent(bytes) = what {
            *count.0.lock().unwrap() += bytes.len();
            count.1.notify_all();
        }
    });
    let wire = port.open().map_err(io::Error::other)?;
    let (reader, writer, session) = wire.session();
    *open = Some(Open { session: session.clone(), _wire: wire });
    // A line feed of the port's own leaves first.
    let plain = (checked == Checked::Never).then_some((1, left));
    let place = Arc::clone(place);
    Ok(Link::to_server(End::stream(reader, Half { writer, session, place, plain })))
}

/// What a line does not do.
const NOT: [&str; 4] = ["borders", "half-close", "release", "isolation"];

/// One test alone: the suite looks at the threads and descriptors of the whole process.
#[test]
fn serial_lines_pass() {
    let claims = Claims::stream().single().endless().noise().largest(1 << 20).holds(1 << 20);
    for (name, checked) in [("serial plain", Checked::Never), ("serial checked", Checked::Always)] {
        let board = Board::start(Faults::new(0));
        let place = Place::default();
        let report = Suite::new(claims).run(|| connect(&board, &place, checked));
        assert_eq!(told(name, &report), NOT);
    }

    let damage = Faults::new(77).drop(1e-3 / 3.0).corrupt(1e-3 / 3.0).duplicate(1e-3 / 3.0);
    let board = Board::start(damage);
    let (claims, place) = (claims.largest(8 << 10), Place::default());
    let report = Suite::new(claims).run(|| connect(&board, &place, Checked::Always));
    assert_eq!(told("serial checked, 1 byte in 1,000 damaged", &report), NOT);
    let stats = *board.stats.lock().unwrap();
    println!("the board: {stats:?}");
    assert!(stats.resent > 0 && stats.damaged > 0, "{stats:?}");
}

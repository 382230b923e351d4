//! A server behind a socket or a serial port: one stream each way, and no status.

use core::time::Duration;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use barewire_serial::host::Port;

use super::pump::{Stop, pump};
use crate::capture::queue::Log;
use crate::capture::{Event, Stream, What};
use crate::failure::{Failure, code};
use crate::far::Far;
use crate::far::socket::Socket;
use crate::sys::{self, Signals};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// Once the host has ended its input: a line without an end is left after so long a silence.
const SILENCE: Duration = Duration::from_secs(2);

/// The two halves of a connection.
pub(super) struct Halves {
    read: Box<dyn Read + Send>,
    write: Box<dyn Write + Send>,
    /// Whether its end can be passed on.
    ends: bool,
}

impl Halves {
    pub(super) fn open(far: &Far) -> Result<Self, Failure> {
        if let Far::Serial { path, baud } = far {
            let opened = Port::new(path).baud(*baud).raw();
            let (read, write) =
                opened.map_err(|error| Failure::new(code::CONNECT, "open", error.to_string()))?;
            return Ok(Self { read: Box::new(read), write: Box::new(write), ends: false });
        }
        let (read, write) = Socket::connect(far, CONNECT)?.halves();
        Ok(Self { read: Box::new(read), write: Box::new(write), ends: true })
    }
}

enum Told {
    /// The host's input is over.
    HostEnded,
    /// The server sent something, and the host has it.
    Moved,
    /// The server's end, or ours towards the host, is over.
    Ended(Stop),
    Signal(i32),
}

/// Passes everything on until the connection ends, and says with which code to exit.
pub(super) fn run(halves: Halves, mut signals: Signals, log: &Log) -> i32 {
    let Halves { mut read, mut write, ends } = halves;
    let (tell, told) = mpsc::channel();
    let tell = Arc::new(tell);
    let (signal_log, by_signal) = (log.clone(), Arc::clone(&tell));
    thread::spawn(move || {
        while let Some((signal, name)) = signals.wait() {
            signal_log.put(What::Event(Event::Signal(name.into())));
            signal_log.hurry();
            let _ = by_signal.send(Told::Signal(signal));
        }
    });
    let (host_log, by_host) = (log.clone(), Arc::clone(&tell));
    thread::spawn(move || {
        let mut from = sys::stdin();
        if pump(&mut *from, &mut *write, Stream::C2s, &host_log, |_| ()) == Stop::Writer {
            sys::close_stdin();
        }
        // Where the connection has halves, its end is passed on.
        drop(write);
        let _ = by_host.send(Told::HostEnded);
    });
    let server_log = log.clone();
    thread::spawn(move || {
        let mut to = sys::stdout();
        let moved = |begins: bool| {
            if !begins {
                let _ = tell.send(Told::Moved);
            }
        };
        let stop = pump(&mut *read, &mut *to, Stream::S2c, &server_log, moved);
        if stop != Stop::Writer {
            sys::close_stdout();
        }
        let _ = tell.send(Told::Ended(stop));
    });

    let mut patience = None;
    loop {
        let next = match patience {
            Some(patience) => told.recv_timeout(patience),
            None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match next {
            Ok(Told::HostEnded) if !ends => patience = Some(SILENCE),
            Ok(Told::HostEnded | Told::Moved) => {}
            Ok(Told::Ended(Stop::Broken)) => return code::CONNECT,
            Ok(Told::Ended(_)) | Err(_) => return 0,
            Ok(Told::Signal(signal)) => return 128 + signal,
        }
    }
}

//! The host's side over real ptys, with devices that run at a baud rate, restart, and go away.
#![cfg(all(unix, feature = "host"))]
#![allow(clippy::unwrap_used)]
mod common;
use barewire::{ClientConfig, Era, Version};
use barewire_serial::Checked;
use barewire_serial::host::{Failure, Lost, OpenError, Port, Trace};
use common::pty::{self, Device, Make, Pty, until};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

static CONFIG: ClientConfig<'static> = ClientConfig::new("host", "1");

fn port(pty: &Pty) -> Port {
    Port::new(&pty.path).baud(921_600)
}

/// Three calls that the device never answers, and what they fail with.
fn three_calls<T>(
    device: &barewire_serial::host::Device,
    during: impl FnOnce() -> T,
) -> (Vec<(Failure, Instant)>, T) {
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| (device.call("never", "{}").unwrap_err(), Instant::now())))
            .collect();
        let then = during();
        (calls.into_iter().map(|call| call.join().unwrap()).collect(), then)
    })
}

#[test]
fn calls_from_many_threads_in_every_mode_and_era() {
    let modes = [(Checked::Never, false), (Checked::Offer, true), (Checked::Always, true)];
    for (era, (checked, becomes)) in
        [Era::Auto, Era::Legacy].into_iter().zip([0, 1]).flat_map(|(era, _)| modes.map(|m| (era, m)))
    {
        let pty = Pty::new();
        let _device = Device::start(&pty, Make::default());
        let device = port(&pty).checked(checked).connect(&CONFIG.era(era)).unwrap();
        let server = device.server().unwrap();
        assert_eq!(server.name, "board");
        assert_eq!(server.protocol.is_modern(), era == Era::Auto, "{checked:?}");
        assert_eq!(device.list_tools().unwrap().len(), pty::TOOLS.len());
        std::thread::scope(|scope| {
            for t in 0..4 {
                let device = device.clone();
                scope.spawn(move || {
                    for i in 0..20 {
                        let args = format!("{{\"n\":\"{t}~{i}\"}}");
                        assert_eq!(device.call("echo", &args).unwrap().text(), args);
                    }
                });
            }
        });
        assert_eq!(device.call("log", "{}").unwrap().text(), pty::text(pty::LOG));
        assert_eq!(device.is_checked(), becomes);
    }
}

#[test]
fn calls_in_flight_fail_with_restarted_and_the_next_one_succeeds() {
    for checked in [Checked::Never, Checked::Offer, Checked::Always] {
        for hello in [true, false] {
            if checked == Checked::Never && !hello {
                continue; // see `boot_text_tells_of_a_restart`
            }
            let pty = Pty::new();
            let make = Make { hello, ..Make::default() };
            let mut first = Device::start(&pty, make);
            let device = port(&pty).checked(if checked == Checked::Never { Checked::Offer } else { checked });
            let device = device.connect(&CONFIG).unwrap();
            let (failures, (killed, _second)) = three_calls(&device, || {
                let waiting = Arc::clone(&first.waiting);
                until("three calls run", || waiting.load(Relaxed) == 3);
                first.kill();
                (Instant::now(), Device::start(&pty, make))
            });
            for (failure, at) in failures {
                assert!(matches!(failure, Failure::Lost(Lost::Restarted)), "{failure}");
                assert!(failure.to_string().contains("restarted"));
                println!("{checked:?}, hello {hello}: after {:?}", at - killed);
                assert!(at - killed < Duration::from_secs(1));
            }
            assert_eq!(device.call("echo", "{\"a\":1}").unwrap().text(), "{\"a\":1}");
        }
    }
}

/// A device of other people's making, that says nothing of this protocol when it starts.
#[test]
fn boot_text_tells_of_a_restart() {
    let pty = Pty::new();
    let make =
        Make { checked: Checked::Never, boot: "rst:0x1 (POWERON)\r\nI (31) boot: v5\r\n", ..Make::default() };
    let printed = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&printed);
    let mut first = Device::start(&pty, make);
    let device = port(&pty).trace(move |what| {
        if let Trace::Printed(line) = what {
            *seen.lock().unwrap() += &String::from_utf8_lossy(line);
        }
    });
    let device = device.connect(&CONFIG).unwrap();
    assert!(!device.is_checked());
    let (failures, (killed, _second)) = three_calls(&device, || {
        let waiting = Arc::clone(&first.waiting);
        until("three calls run", || waiting.load(Relaxed) == 3);
        first.kill();
        (Instant::now(), Device::start(&pty, make))
    });
    for (failure, at) in failures {
        assert!(matches!(failure, Failure::Lost(Lost::Restarted)), "{failure}");
        assert!(at - killed < Duration::from_secs(1));
    }
    assert_eq!(device.call("echo", "{}").unwrap().text(), "{}");
    assert!(printed.lock().unwrap().contains("boot: v5"));
}

#[test]
fn a_port_that_goes_away_and_comes_back() {
    let pty = Pty::new();
    let mut first = Device::start(&pty, Make::default());
    // The name stays, what is behind it changes, as with udev's links.
    let link = std::env::temp_dir().join(format!("barewire-serial-{}", std::process::id()));
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(&pty.path, &link).unwrap();
    let device = Port::new(&link).baud(921_600).connect(&CONFIG).unwrap();
    let (failures, ()) = three_calls(&device, || {
        let waiting = Arc::clone(&first.waiting);
        until("three calls run", || waiting.load(Relaxed) == 3);
        first.kill();
        std::fs::remove_file(&link).unwrap();
        drop(pty);
    });
    for (failure, _) in failures {
        assert!(matches!(failure, Failure::Lost(Lost::Unplugged)), "{failure}");
    }
    let again = std::thread::spawn(move || device.call("echo", "{\"b\":2}").map(|result| result.text()));
    let pty = Pty::new();
    let _second = Device::start(&pty, Make::default());
    std::os::unix::fs::symlink(&pty.path, &link).unwrap();
    assert_eq!(again.join().unwrap().unwrap(), "{\"b\":2}");
    std::fs::remove_file(&link).unwrap();
}

#[test]
fn a_bad_line_delivers_everything_once() {
    for (one_in, checked, calls) in [(1000, Checked::Offer, 60), (100, Checked::Always, 20)] {
        let pty = Pty::new();
        let _device = Device::start(&pty, Make { faults: (3, one_in), ..Make::default() });
        let device = port(&pty).checked(checked).patience(Duration::from_secs(60)).connect(&CONFIG).unwrap();
        for i in 0..calls {
            let args = format!("{{\"n\":{i},\"pad\":\"{}\"}}", "x".repeat(i * 7));
            assert_eq!(device.call("echo", &args).unwrap().text(), args);
        }
        assert_eq!(device.call("kilobyte", "{}").unwrap().text(), pty::text(1000));
        assert!(device.is_checked());
        println!("1 in {one_in}: {:?}, device {:?}", device.stats(), _device.stats.lock().unwrap());
    }
}

/// Answers every `server/discover` with the next of these, the last one again and again; says how many it gave.
fn scripted(pty: &Pty, answers: &'static [&'static str]) -> impl FnOnce() -> usize + use<> {
    let (master, stop) = (Arc::clone(&pty.master), Arc::new(AtomicBool::new(false)));
    let flag = Arc::clone(&stop);
    let thread = std::thread::spawn(move || {
        let (mut heard, mut given) = (Vec::new(), 0);
        while !flag.load(Relaxed) {
            let mut chunk = [0; 1024];
            let Ok(n @ 1..) = rustix::io::read(&*master, &mut chunk) else {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            heard.extend_from_slice(&chunk[..n]);
            while let Some(end) = heard.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = heard.drain(..=end).collect();
                let text = String::from_utf8_lossy(&line);
                if text.contains("server/discover") {
                    let id = text.split_once("\"id\":").unwrap().1.split(',').next().unwrap();
                    let version = answers[given.min(answers.len() - 1)];
                    given += 1;
                    let answer = format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"resultType\":\"complete\",\"supportedVersions\":[\"{version}\"],\
                         \"capabilities\":{{}},\"ttlMs\":0,\"cacheScope\":\"private\"}}}}\n"
                    );
                    assert_eq!(rustix::io::write(&*master, answer.as_bytes()), Ok(answer.len()));
                }
            }
        }
        given
    });
    move || {
        stop.store(true, Relaxed);
        thread.join().unwrap()
    }
}

#[test]
fn a_handshake_that_was_damaged_is_tried_again() {
    let pty = Pty::new();
    let stop = scripted(&pty, &["2026-07-2x", "2026-07-28"]);
    let device = port(&pty).connect(&CONFIG).unwrap();
    assert_eq!(device.server().unwrap().protocol, Version::V2026_07_28);
    assert_eq!(stop(), 2);

    // What is said twice is meant.
    let pty = Pty::new();
    let stop = scripted(&pty, &["2099-01-01"]);
    let error = port(&pty).connect(&CONFIG).unwrap_err();
    assert!(matches!(error, OpenError::Refused { .. }), "{error}");
    assert_eq!(stop(), 2);
}

/// The device still works for a host that has gone: the one that comes next has nothing to do with that.
#[test]
fn a_host_that_starts_again_gets_its_own_answers() {
    for checked in [Checked::Never, Checked::Offer, Checked::Always] {
        let pty = Pty::new();
        let offers = if checked == Checked::Never { Checked::Never } else { Checked::Offer };
        let board = Device::start(&pty, Make { checked: offers, ..Make::default() });
        let device = port(&pty).checked(checked).connect(&CONFIG).unwrap();
        let (failures, ()) = three_calls(&device, || {
            until("three calls run", || board.waiting.load(Relaxed) == 3);
            device.close();
        });
        assert!(failures.iter().all(|(failure, _)| matches!(failure, Failure::Lost(Lost::Closed))));
        let device = port(&pty).checked(checked).connect(&CONFIG).unwrap();
        for n in 0..6 {
            let args = format!("{{\"n\":{n}}}");
            assert_eq!(device.call("echo", &args).unwrap().text(), args, "{checked:?}");
        }
    }
}

/// A client may go in the middle of an answer: what it leaves unread must not stand in the way of the next one.
#[test]
fn a_reader_that_is_dropped_holds_nobody_up() {
    let pty = Pty::new();
    let wire = port(&pty).checked(Checked::Never).open().unwrap();
    let first = wire.session();
    let say = |lines: usize| {
        let (master, mut rest) = (Arc::clone(&pty.master), "{\"a\":1}\n".repeat(lines).into_bytes());
        std::thread::spawn(move || {
            while !rest.is_empty() {
                match rustix::io::write(&*master, &rest) {
                    Ok(n) => drop(rest.drain(..n)),
                    Err(_) => std::thread::sleep(Duration::from_millis(1)),
                }
            }
        })
    };
    // More than is kept for a reader, and less than what fits on the way to it.
    say(10_000).join().unwrap();
    drop(first);
    let (mut reader, _writer, session) = wire.session();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = [0; 8];
        let _ = tell.send(std::io::Read::read_exact(&mut reader, &mut line).map(|()| line));
    });
    let written = say(1);
    let line = told.recv_timeout(Duration::from_secs(10)).expect("the next session hears something").unwrap();
    assert_eq!((&line, session.lost()), (b"{\"a\":1}\n", None));
    written.join().unwrap();
}

#[test]
fn errors_say_what_to_do() {
    let error = Port::new("/dev/ttyNOSUCH7").connect(&CONFIG).unwrap_err();
    assert!(matches!(error, OpenError::NoSuchPort { .. }), "{error}");
    assert!(error.to_string().contains("plugged in"), "{error}");

    let pty = Pty::new();
    let _device = Device::start(&pty, Make::default());
    let device = port(&pty).connect(&CONFIG).unwrap();
    let error = port(&pty).connect(&CONFIG).unwrap_err();
    assert!(matches!(error, OpenError::Busy { .. }), "{error}");
    assert!(error.to_string().contains("another program"), "{error}");
    // Closed, it is free again.
    device.close();
    port(&pty).connect(&CONFIG).unwrap();

    let error = Port::new("/dev/null").connect(&CONFIG).unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error}");

    let pty = Pty::new();
    let silent = port(&pty).patience(Duration::from_millis(300)).connect(&CONFIG).unwrap_err();
    assert!(silent.to_string().contains("921600 baud"), "{silent}");
}

#[test]
fn boot_text_before_the_first_answer_does_no_harm() {
    let pty = Pty::new();
    let _device =
        Device::start(&pty, Make { boot: "booting... ", checked: Checked::Never, ..Make::default() });
    let device = port(&pty).connect(&CONFIG).unwrap();
    assert_eq!(device.server().unwrap().protocol, Version::V2026_07_28);
    assert_eq!(device.call("echo", "{}").unwrap().text(), "{}");
}

/// Streams between the port and the link: what they lose, the link makes up for.
#[test]
fn what_is_put_in_between_sees_every_byte() {
    struct Loses<T>(T, usize);
    impl<T: std::io::Read> std::io::Read for Loses<T> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let mut n = self.0.read(out)?;
            self.1 += n;
            if self.1 >= 500 && n > 1 {
                (self.1, n) = (0, n - 1);
            }
            Ok(n)
        }
    }
    let pty = Pty::new();
    let _device = Device::start(&pty, Make::default());
    let port = port(&pty).checked(Checked::Always);
    let device = port.wrap(|(read, write)| (Box::new(Loses(read, 0)), write)).connect(&CONFIG).unwrap();
    assert_eq!(device.call("log", "{}").unwrap().text(), pty::text(pty::LOG));
    assert!(device.stats().damaged > 0, "{:?}", device.stats());
}

//! The fault injector: what it does, and that it does the same again.

use barewire_testkit::{Clock, Fault, Faults, RealClock, SimClock, pipe};
use core::time::Duration;
use std::{
    io::{self, Read, Write},
    time::Instant,
};

fn text() -> Vec<u8> {
    (0..20_000_u32).flat_map(|n| n.to_be_bytes()).collect()
}

fn written(faults: Faults, piece: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = faults.writer_with(&mut out, SimClock::default());
    for part in text().chunks(piece) {
        writer.write_all(part).unwrap();
    }
    out
}

fn read(faults: Faults, piece: usize) -> Vec<u8> {
    let (text, mut out, mut space) = (text(), Vec::new(), vec![0; piece]);
    let mut reader = faults.reader_with(&text[..], SimClock::default());
    loop {
        match reader.read(&mut space).unwrap() {
            0 => return out,
            n => out.extend_from_slice(&space[..n]),
        }
    }
}

#[test]
fn the_same_seed_does_the_same_however_bytes_are_cut() {
    let faults: Faults =
        "seed=7,drop=1/100,corrupt=0.01,duplicate=1/200,delay=1/50:3ms,split=9,stall=500:1s".parse().unwrap();
    let first = written(faults, 80_000);
    for piece in [1, 7, 4096] {
        assert!(written(faults, piece) == first, "written by {piece}");
        assert!(read(faults, piece) == first, "read by {piece}");
    }
    assert!(written(faults.seed(8), 80_000) != first);
    // Cuts and waits change no byte.
    let harmless: Faults = "seed=7,delay=1/50:3ms,split=9,stall=500:1s".parse().unwrap();
    assert!(written(harmless, 1000) == text());
}

#[test]
fn what_happens_is_counted() {
    let mut injector = Faults::new(3).drop(0.1).duplicate(0.05).corrupt(0.02).injector();
    let (input, mut out) = (text(), Vec::new());
    assert_eq!(injector.step(&input, &mut out), (input.len(), Fault::None));
    let counts = injector.counts();
    let expected = input.len() as u64 - counts.dropped + counts.duplicated;
    assert_eq!(out.len() as u64, expected);
    // Far from what these rates can give by chance.
    assert!((7_000..9_000).contains(&counts.dropped), "{counts:?}");
    assert!((3_000..4_200).contains(&counts.duplicated), "{counts:?}");
    assert!((1_300..1_900).contains(&counts.corrupted), "{counts:?}");
}

#[test]
fn pieces_have_all_lengths_up_to_the_longest() {
    struct Lengths(Vec<usize>);
    impl Write for Lengths {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut lengths = Lengths(Vec::new());
    Faults::new(1).split(5).writer(&mut lengths).write_all(&text()).unwrap();
    for length in 1..=5 {
        assert!(lengths.0.contains(&length), "{length}");
    }
    assert!(lengths.0.iter().all(|length| *length <= 5));
}

#[test]
fn waits_take_simulated_time() {
    let clock = SimClock::default();
    let started = Instant::now();
    let faults = Faults::new(1).stall(10, Duration::from_secs(3600)).delay(1.0, Duration::from_secs(1));
    faults.writer_with(io::sink(), clock.clone()).write_all(&[0; 100]).unwrap();
    assert_eq!(clock.elapsed(), Duration::from_secs(3600 + 99));
    assert!(started.elapsed() < Duration::from_secs(60));
    RealClock.sleep(Duration::from_millis(1));
    assert!(started.elapsed() >= Duration::from_millis(1));
}

#[test]
fn a_reset_breaks_both_sides_at_its_byte() {
    let (mut far, near) = pipe(1 << 16);
    let mut near = Faults::new(0).reset(1000).writer(near);
    let error = near.write_all(&[1; 5000]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(near.write(b"x").unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    // The half was dropped, so the far end sees the end though `near` lives.
    let mut seen = Vec::new();
    far.read_to_end(&mut seen).unwrap();
    assert_eq!(seen.len(), 1000);

    let text = text();
    let mut reader = Faults::new(0).reset(1000).reader(&text[..]);
    let mut seen = Vec::new();
    assert_eq!(reader.read_to_end(&mut seen).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(seen, text[..1000]);
}

#[test]
fn specs_read_back_and_say_what_is_wrong() {
    for spec in ["", "seed=1", "drop=1/1000, corrupt=0.25", "delay=0.5:20ms,split=7,stall=4k:2s,reset=1M"] {
        let faults: Faults = spec.parse().unwrap();
        assert_eq!(faults.to_string().parse::<Faults>().unwrap(), faults, "{spec}");
    }
    let built = Faults::new(0).stall(4096, Duration::from_secs(2)).reset(1 << 20);
    assert_eq!("stall=4k:2s,reset=1M".parse::<Faults>().unwrap(), built);
    for (spec, part) in [
        ("loss=1", "loss=1"),
        ("drop", "drop"),
        ("drop=2", "\"2\""),
        ("drop=1/0", "\"1/0\""),
        ("drop=-1", "\"-1\""),
        ("drop=nan", "\"nan\""),
        ("delay=0.1", "\"0.1\""),
        ("delay=0.1:5", "\"5\""),
        ("stall=x:1s", "\"x\""),
        ("reset=99999999999999M", "99999999999999M"),
    ] {
        let error = spec.parse::<Faults>().unwrap_err().to_string();
        assert!(error.contains(part), "{spec}: {error}");
    }
}

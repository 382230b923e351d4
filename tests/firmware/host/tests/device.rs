//! Boards behind a serial port of the computer, reached as programs do, over good cables and bad ones.
use barewire::{ClientConfig, Era};
use barewire_serial::Checked;
use barewire_serial::host::{Device, Failure, Lost, Port};
use barewire_testkit::Faults;
use firmware_host::{Board, Cable, Image, log};
use std::time::Duration;

fn connect(cable: &Cable, checked: Checked) -> Device {
    let port = Port::new(cable.port()).patience(Duration::from_secs(60)).checked(checked);
    port.connect(&ClientConfig::new("host", "1.0.0").era(Era::Legacy)).unwrap()
}

/// The switch to checked lines follows the handshake; what is called until then is plain.
fn until_checked(device: &Device) {
    for _ in 0..1000 {
        if device.is_checked() {
            return;
        }
        device.call("uptime", "{}").unwrap();
    }
    panic!("the lines did not become checked");
}

#[test]
fn good_cable() {
    for image in [Image::M4, Image::Riscv] {
        let board = Board::silent(image);
        let cable = Cable::new(board.socket(), Faults::new(0));
        let device = connect(&cable, Checked::Offer);
        assert_eq!(device.server().unwrap().name, "board");
        assert_eq!(device.list_tools().unwrap().len(), 6);
        until_checked(&device);
        assert_eq!(device.call("read_log", "{}").unwrap().text(), log());
        assert_eq!(device.call("calibrate", "{}").unwrap().text(), "calibrated");
    }
}

/// One byte in 500 is lost each way, and one in 1,000 damaged, from the handshake on: every call is answered, byte for byte.
#[test]
fn bad_cable() {
    for image in [Image::M4, Image::Riscv] {
        let board = Board::silent(image);
        let faults = Faults::new(7).drop(1.0 / 500.0).corrupt(1.0 / 1000.0);
        let cable = Cable::new(board.socket(), faults);
        let device = connect(&cable, Checked::Always);
        for n in 0..100 {
            let text = format!("call {n}, \\\"quoted\\\"");
            let answer = device.call("echo", &format!(r#"{{"text":"{text}"}}"#)).unwrap();
            assert_eq!(answer.text(), format!("call {n}, \"quoted\""), "{image:?}");
        }
        assert_eq!(device.call("read_log", "{}").unwrap().text(), log(), "{image:?}");
        let stats = device.stats();
        assert!(stats.damaged > 0, "{image:?}: the cable was good: {stats:?}");
    }
}

/// The reset pin during a call: it ends at once, and the next one finds a new session.
#[test]
fn restart_under_a_session() {
    for image in [Image::M4, Image::Riscv] {
        let mut board = Board::silent(image);
        let cable = Cable::new(board.socket(), Faults::new(0));
        let device = connect(&cable, Checked::Offer);
        until_checked(&device);
        let caller = device.clone();
        let call = std::thread::spawn(move || caller.call("read_log", "{}"));
        board.reset();
        match call.join().unwrap() {
            Err(Failure::Lost(Lost::Restarted)) => {}
            // The reset came before or after it.
            Ok(answer) => assert_eq!(answer.text(), log()),
            other => panic!("{image:?}: {other:?}"),
        }
        assert_eq!(device.call("echo", r#"{"text":"again"}"#).unwrap().text(), "again", "{image:?}");
    }
}

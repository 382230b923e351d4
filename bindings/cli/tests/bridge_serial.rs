//! `barewire bridge` over ptys, with devices that run at a baud rate, print, restart and go away.
#![cfg(unix)]

mod common;
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of barewire-serial")]
#[path = "../../../transports/serial/tests/common/pty.rs"]
mod pty;
#[allow(dead_code, unreachable_pub, reason = "the same")]
#[path = "../../../transports/serial/tests/common/sim.rs"]
mod sim;

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use barewire_serial::Checked;
use common::bridge::{Host, INITIALIZE, INITIALIZED};
use common::scratch;
use pty::{Device, Make, Pty, until};

fn target(path: &Path) -> String {
    format!("serial:{}@921600", path.display())
}

fn named(id: &str, name: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{{"n":{id}}}}}}}"#
    )
}

fn open(host: &mut Host) {
    host.say(INITIALIZE);
    let hello = host.line();
    assert!(hello.contains(r#""serverInfo":{"name":"board""#), "{hello}");
    host.say(INITIALIZED);
}

fn echoes(host: &mut Host, id: &str) {
    host.say(&named(id, "echo"));
    let line = host.line();
    assert!(
        line.contains(&format!("\"id\":{id},\"result\"")) && line.contains(&format!("\\\"n\\\":{id}")),
        "{line}"
    );
}

#[test]
fn calls_in_flight_fail_with_restarted_and_the_next_one_succeeds() {
    for (flags, hello) in [(&[][..], true), (&[][..], false), (&["--checked"][..], true)] {
        let pty = Pty::new();
        let make = Make { hello, boot: "I (31) boot: ready\r\n", ..Make::default() };
        let mut first = Device::start(&pty, make);
        let target = target(&pty.path);
        let mut host = Host::start(&[flags, &[&target]].concat());
        open(&mut host);
        echoes(&mut host, "1");
        until("lines are checked", || first.stats.lock().unwrap().sessions > 0);
        for id in ["2", "3", "\"four\""] {
            host.say(&named(id, "never").replace("\"n\":\"four\"", "\"n\":4"));
        }
        until("three calls run", || first.waiting.load(Relaxed) == 3);
        first.kill();
        let killed = Instant::now();
        let second = Device::start(&pty, make);
        for id in ["2", "3", "\"four\""] {
            assert_eq!(host.error(), (id.into(), "restarted".into()));
        }
        let took = killed.elapsed();
        println!("{flags:?}, hello {hello}: after {took:?}");
        assert!(took < Duration::from_secs(5), "{took:?}");
        echoes(&mut host, "5");
        host.told("the device restarted");
        host.told("I (31) boot: ready");
        until("lines are checked again", || second.stats.lock().unwrap().sessions > 0);
        host.end();
    }
}

#[test]
fn a_port_that_is_not_there_yet_goes_away_and_comes_back() {
    let link = scratch("bridge-port");
    let _ = std::fs::remove_file(&link);
    let mut host = Host::start(&[&target(&link)]);
    host.told("there is no port");
    let pty = Pty::new();
    let mut device = Device::start(&pty, Make::default());
    std::os::unix::fs::symlink(&pty.path, &link).unwrap();
    open(&mut host);
    host.say(&named("1", "never"));
    until("it runs", || device.waiting.load(Relaxed) == 1);
    device.kill();
    std::fs::remove_file(&link).unwrap();
    drop((pty, device));
    assert_eq!(host.error(), ("1".into(), "unplugged".into()));
    host.say(&named("2", "echo"));
    let pty = Pty::new();
    let _device = Device::start(&pty, Make::default());
    std::os::unix::fs::symlink(&pty.path, &link).unwrap();
    assert!(host.line().contains("\"id\":2,\"result\""));
    host.end();
    std::fs::remove_file(&link).unwrap();
}

#[test]
fn a_bad_line_delivers_everything_once() {
    let pty = Pty::new();
    let device = Device::start(&pty, Make::default());
    let faults = "seed=3,drop=1/1000,corrupt=1/1000,duplicate=1/1000,split=50";
    let mut host = Host::start(&["--checked", "--faults", faults, &target(&pty.path)]);
    open(&mut host);
    for id in 1..=60 {
        echoes(&mut host, &id.to_string());
    }
    host.say(&named("61", "log"));
    assert!(host.line().contains(&pty::text(pty::LOG)));
    let stats = *device.stats.lock().unwrap();
    println!("{stats:?}");
    assert!(stats.damaged > 0, "{stats:?}");
    host.end();
}

/// A device of other people's making: plain lines only, and boot text that tells of a restart.
#[test]
fn a_plain_device_is_known_by_its_boot_text() {
    let pty = Pty::new();
    let make = Make { checked: Checked::Never, boot: "rst:0x1 (POWERON)\r\n", ..Make::default() };
    let mut first = Device::start(&pty, make);
    let mut host = Host::start(&[&target(&pty.path)]);
    open(&mut host);
    host.say(&named("1", "never"));
    until("it runs", || first.waiting.load(Relaxed) == 1);
    first.kill();
    let _second = Device::start(&pty, make);
    assert_eq!(host.error(), ("1".into(), "restarted".into()));
    echoes(&mut host, "2");
    host.told("│ rst:0x1 (POWERON)");
    host.end();
}

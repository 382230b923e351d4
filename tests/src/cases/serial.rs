//! The same cases over a serial line: a real tty, our device at its end as a process, or our host at its beginning.
//!
//! What differs from pipes: noise is not answered, and a line has no end, so that nothing is judged by an exit.

use core::time::Duration;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use barewire::{ClientConfig, Era as ClientEra};
use barewire_serial::host::Port;
use rustix::fs::{Mode, OFlags, fcntl_setfl, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use serde_json::Value;

use super::case::{Assert, Case, Step};
use super::client::{Played, ScriptFile};
use super::judge::Outcome;
use super::modern::modern;
use super::server::{INITIALIZE, INITIALIZED};
use super::{Era, Programs};
use crate::schema::{Checker, Direction};

/// How long anything may take that the case does not bound itself.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether the case has a meaning on a line: what it says of transports, parsers and small devices, and of ports.
pub(super) fn applies(case: &Case) -> bool {
    let ends = case.eof || case.close_reader;
    let says_so = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains("serial"));
    match case.side.as_str() {
        "transport" | "parser" => !ends,
        "server" => !ends && (case.noted("rx").is_some() || case.noted("tx").is_some()),
        "client" => says_so(&case.trigger) || says_so(&case.expect),
        _ => false,
    }
}

/// Runs a case in one era.
pub(super) fn run(case: &Case, era: Era, programs: &Programs) -> Result<(), String> {
    let line = Line::new().map_err(|wrong| format!("no pty: {wrong}"))?;
    if case.side == "client" { host(case, era, programs, &line) } else { device(case, era, programs, &line) }
}

/// A pty in raw mode. Both ends are kept, so that it is never gone.
struct Line {
    master: OwnedFd,
    path: PathBuf,
}

impl Line {
    fn new() -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let path = ptsname(&master, Vec::new())?.into_string().map_err(io::Error::other)?.into();
        Ok(Self { master, path })
    }

    /// The other end, raw, so that the tty adds nothing of its own.
    fn far(&self) -> io::Result<OwnedFd> {
        let far = open(&self.path, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())?;
        let mut modes = tcgetattr(&far)?;
        modes.make_raw();
        tcsetattr(&far, OptionalActions::Now, &modes)?;
        Ok(far)
    }
}

/// A process that is ended with what holds it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn device(case: &Case, era: Era, programs: &Programs, line: &Line) -> Result<(), String> {
    let mut steps = case.steps()?;
    let shakes = case.handshake && era == Era::Legacy;
    if era == Era::Modern && case.era != "modern" {
        steps = modern(&steps);
    }
    let mut assert = case.assert()?.ok_or("a case for a line needs an assert")?;
    // What answers noise on pipes is silence here.
    let before = assert.errors.len();
    assert.errors.retain(|error| !error.id.is_null());
    let silent = before - assert.errors.len();
    assert.reply_count = assert.reply_count.map(|count| count.saturating_sub(silent));
    let size = |what| case.noted(what).unwrap_or(4096).to_string();
    let far = line.far().map_err(|wrong| format!("no pty: {wrong}"))?;
    let near = far.try_clone().map_err(|wrong| wrong.to_string())?;
    let mut command = Command::new(&programs.fixture);
    command.args(["--line", "1", "--rx", &size("rx"), "--tx", &size("tx")]).envs(&case.env);
    let child = command.stdin(Stdio::from(near)).stdout(Stdio::from(far)).stderr(Stdio::null()).spawn();
    let mut child = Running(child.map_err(|wrong| format!("no fixture-server: {wrong}"))?);
    fcntl_setfl(&line.master, OFlags::NONBLOCK).map_err(|wrong| wrong.to_string())?;

    let mut checker = Checker::new("2025-11-25");
    checker.either_null(!shakes);
    if shakes {
        let mut answer = Vec::new();
        say(line, format!("{INITIALIZE}\n").as_bytes(), &mut answer, &mut checker)?;
        hear_until(line, &mut answer, PATIENCE, |heard| heard.ends_with(b"\n"))?;
        checker.lines(Direction::ToClient, &answer)?;
        say(line, format!("{INITIALIZED}\n").as_bytes(), &mut Vec::new(), &mut checker)?;
    }
    let (mut output, mut last) = (Vec::new(), Instant::now());
    for step in &steps {
        match step {
            Step::Write(bytes) => say(line, bytes, &mut output, &mut checker)?,
            Step::Wait(ms) => std::thread::sleep(Duration::from_millis(*ms)),
            other => return Err(format!("{other:?} is for a client's peer")),
        }
        last = Instant::now();
    }
    let complete = |heard: &[u8]| Outcome { output: heard.to_vec(), ..Outcome::default() }.complete(&assert);
    hear_until(line, &mut output, PATIENCE, complete)?;
    if let Ok(Some(status)) = child.0.try_wait() {
        return Err(format!("the device ended: {status}"));
    }
    judge(&assert, output, last.elapsed(), &mut checker)
}

fn judge(assert: &Assert, output: Vec<u8>, took: Duration, checker: &mut Checker) -> Result<(), String> {
    checker.note_rest(Direction::ToServer);
    let lines = checker.lines(Direction::ToClient, &output);
    lines.map_err(|wrong| format!("the device wrote what it must not: {wrong}"))?;
    let outcome = Outcome { output, took, exit: assert.exit, ..Outcome::default() };
    outcome.judge(assert)?;
    match outcome.messages().iter().find(|message| message["id"] == Value::Null) {
        Some(message) => Err(format!("noise was answered: {message}")),
        None => Ok(()),
    }
}

/// Writes all of it, and hears meanwhile.
fn say(line: &Line, bytes: &[u8], heard: &mut Vec<u8>, checker: &mut Checker) -> Result<(), String> {
    checker.note_part(Direction::ToServer, bytes);
    let (mut rest, begin) = (bytes, Instant::now());
    while !rest.is_empty() {
        match rustix::io::write(&line.master, rest) {
            Ok(n) => rest = &rest[n..],
            Err(_) if begin.elapsed() > PATIENCE => return Err("the device takes no more".into()),
            Err(_) if hear(line, heard) => {}
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    Ok(())
}

fn hear(line: &Line, heard: &mut Vec<u8>) -> bool {
    let mut chunk = [0; 4096];
    let n = rustix::io::read(&line.master, &mut chunk).unwrap_or(0);
    heard.extend_from_slice(&chunk[..n]);
    n > 0
}

fn hear_until(
    line: &Line,
    heard: &mut Vec<u8>,
    most: Duration,
    done: impl Fn(&[u8]) -> bool,
) -> Result<(), String> {
    let begin = Instant::now();
    while !done(heard) {
        if begin.elapsed() > most {
            return Err(format!("not all that must come came; heard {:?}", String::from_utf8_lossy(heard)));
        }
        if !hear(line, heard) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}

/// Our host at the port, a process that plays the device: started again where the case says so.
fn host(case: &Case, era: Era, programs: &Programs, line: &Line) -> Result<(), String> {
    let played = Played::read(case, era)?;
    let script = ScriptFile::write(case, &played)?;
    // Kept open, so that the line is there before our host comes and after it has gone.
    let kept = line.far().map_err(|wrong| format!("no pty: {wrong}"))?;
    let over = AtomicBool::new(false);
    let connected = std::thread::scope(|scope| {
        let plays = scope.spawn(|| play(programs, &script, line, &over));
        let config = ClientConfig::new("cases", "1.0.0").era(ClientEra::Auto);
        let device = Port::new(&line.path).patience(PATIENCE).connect(&config);
        let connected = device.map_err(|wrong| format!("it does not connect: {wrong}")).and_then(|device| {
            let server = device.server().ok_or("there is no session")?;
            // The session lives.
            device.list_tools().map_err(|wrong| format!("afterwards: {wrong}"))?;
            Ok(server.protocol.as_str().to_owned())
        });
        over.store(true, Relaxed);
        let played = plays.join().map_err(|_| "the device's player died".to_owned())?;
        played.and(Ok(connected))
    })?;
    drop(kept);
    played.judge_connect(case, &connected)
}

/// Runs the peer until our host is done; one that exits is started again, as a device is by its watchdog.
fn play(programs: &Programs, script: &ScriptFile, line: &Line, over: &AtomicBool) -> Result<(), String> {
    let told = |wrong: io::Error| format!("no peer: {wrong}");
    while !over.load(Relaxed) {
        let end = || line.master.try_clone().map(Stdio::from).map_err(told);
        let mut command = Command::new(&programs.own);
        command.arg("--peer").arg(script.path()).stdin(end()?).stdout(end()?).stderr(Stdio::null());
        let mut peer = Running(command.spawn().map_err(told)?);
        while !over.load(Relaxed) && peer.0.try_wait().map_err(told)?.is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    Ok(())
}

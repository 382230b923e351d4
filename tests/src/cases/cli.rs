//! Cases for the command line: the real binary, run through a shell as a person would.
//!
//! `cli` is what is typed after `barewire`, several of it with `;` or a pipe between; the server is added. `child` is
//! a server of the case's own. What is right follows from the words: which tool, which flag, what the arguments are.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::env;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{self, Child, Command, Output, Stdio};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use super::case::{Case, Step};
use super::judge::{Outcome, holds};
use super::modern::modern;
use super::server::{INITIALIZE, INITIALIZED};
use super::trigger::inapplicable;
use super::{Era, Programs, Verdict};

/// How long a command may take that the case does not bound.
const PATIENCE: Duration = Duration::from_secs(30);

const TOOLS: [&str; 13] = [
    "echo",
    "noargs",
    "slow",
    "hang",
    "bytes",
    "rawbytes",
    "printf_noise",
    "fail",
    "progress",
    "progress_bad",
    "touch_tools",
    "typed",
    "echo_json",
];

/// Options of `call` and `list`.
const FLAGS: [&str; 11] = [
    "--args",
    "--save",
    "--era",
    "--protocol-version",
    "--timeout",
    "--verbose",
    "--color",
    "--trace",
    "--json",
    "--raw",
    "--full",
];

/// The eras in which a case has a meaning: a tap has none of its own.
pub(super) fn eras(case: &Case) -> Vec<Era> {
    match case.era.as_str() {
        "legacy" => vec![Era::Legacy],
        "modern" => vec![Era::Modern],
        _ if case.cli.is_none() && case.child.is_none() => vec![Era::Legacy],
        _ => vec![Era::Legacy, Era::Modern],
    }
}

/// Runs a case in one era.
pub(super) fn run(case: &Case, era: Era, programs: &Programs) -> Result<Verdict, String> {
    if let Some(reason) = inapplicable(case) {
        return Ok(Verdict::Inapplicable(reason));
    }
    if !cfg!(unix) {
        return Ok(Verdict::Inapplicable("needs a shell"));
    }
    let assert = case.assert()?.unwrap_or_default();
    if assert.tap_identical_bytes {
        tap(case, programs)?;
    } else if let Some(line) = &case.cli {
        commands(case, line, era, programs)?;
    } else if let Some(child) = &case.child {
        if child.contains("python3") && which("python3").is_none() {
            return Ok(Verdict::Inapplicable("needs python3"));
        }
        if case.trigger.as_deref().is_some_and(|trigger| trigger.contains("bridge")) {
            bridge(case, child, era, programs)?;
        } else {
            connect(case, child, era, programs)?;
        }
    } else {
        return Ok(Verdict::Inapplicable("is not for machines"));
    }
    Ok(Verdict::Passed)
}

/// One typed command and what follows it in the line.
#[derive(Debug, PartialEq)]
struct Typed {
    /// After `barewire`.
    words: String,
    /// From a pipe on.
    rest: String,
}

/// Each command of a line in turn, with the fixture server behind it.
fn commands(case: &Case, line: &str, era: Era, programs: &Programs) -> Result<(), String> {
    let mut codes = Vec::new();
    let begin = Instant::now();
    for typed in split(line) {
        let started = scratch("started");
        let server = quote(&programs.fixture);
        // The server leaves a mark when it starts, so that "nothing was sent" can be seen.
        let shell = format!(
            "{} {} {} -- sh -c 'echo >{}; exec \"$0\"' {server} {}",
            quote(&programs.barewire),
            typed.words,
            flags(era),
            started.display(),
            typed.rest,
        );
        let output = shell_run(case, &shell)?;
        let talked = started.exists();
        let _ = fs::remove_file(&started);
        judge_command(case, &typed, &output, talked).map_err(|wrong| {
            let errors = String::from_utf8_lossy(&output.stderr).chars().take(300).collect::<String>();
            format!(
                "barewire {}: {wrong} (status {:?}, stderr {errors:?})",
                typed.words,
                output.status.code()
            )
        })?;
        codes.push(output.status.code());
        judge_bytes(case, &output)?;
    }
    codes.retain(|code| *code != Some(0));
    let different = codes.iter().enumerate().all(|(at, code)| !codes[..at].contains(code));
    let within = case.assert()?.and_then(|assert| assert.within_ms);
    match within.filter(|most| begin.elapsed().as_millis() > u128::from(*most)) {
        Some(most) => Err(format!("more than {most} ms")),
        None if !different => Err(format!("different failures have the same status: {codes:?}")),
        None => Ok(()),
    }
}

/// What its words make right.
fn judge_command(case: &Case, typed: &Typed, output: &Output, talked: bool) -> Result<(), String> {
    let words = words(&typed.words);
    let command = words.first().map_or("", String::as_str);
    let tool = words.get(1).map_or("", String::as_str);
    let code = output.status.code();
    let unknown_flag = words.iter().any(|word| word.starts_with("--") && !FLAGS.contains(&word.as_str()));
    let at = words.iter().position(|word| word == "--args");
    let given = at.and_then(|at| words.get(at + 1));
    let object = given.map(|text| serde_json::from_str::<Value>(text).ok().filter(Value::is_object));
    let wanted = match object {
        _ if unknown_flag || !["call", "list"].contains(&command) => 2,
        Some(None) => 2,
        _ if command == "list" => 0,
        _ if ["slow", "hang"].contains(&tool) && typed.words.contains("--timeout") => 4,
        _ if !TOOLS.contains(&tool) => 5,
        _ if tool == "fail" => 1,
        _ => 0,
    };
    // What the case asserts itself is judged with its bytes.
    let own = case.assert()?.and_then(|assert| assert.exit).is_some();
    if typed.rest.is_empty() && !own && code != Some(wanted) {
        return Err(format!("not the status {wanted}"));
    }
    if wanted != 0 && typed.rest.is_empty() && output.stderr.is_empty() {
        return Err("a failure without a word on stderr".into());
    }
    if wanted == 2 && talked {
        return Err("a usage error, but the server was started".into());
    }
    if wanted == 2 && !output.stdout.is_empty() {
        return Err("a usage error on stdout".into());
    }
    if wanted != 0 {
        return Ok(());
    }
    let out = String::from_utf8_lossy(&output.stdout);
    if typed.rest.contains("wc -c") {
        let size = words.iter().find_map(|word| word.strip_prefix("n=")?.parse::<usize>().ok());
        let size = size.ok_or("the runner does not know how much must come")?;
        let counted = out.trim().parse::<usize>().map_err(|_| format!("wc said {out:?}"))?;
        return if counted >= size { Ok(()) } else { Err(format!("{counted} bytes of {size} came")) };
    }
    match (tool, object.flatten()) {
        ("echo", Some(object)) => {
            let text = object["text"].as_str().unwrap_or_default();
            if out.trim_end() == text { Ok(()) } else { Err(format!("printed {out:?}, not {text:?}")) }
        }
        ("echo_json", Some(object)) => {
            let told = serde_json::Deserializer::from_str(&out).into_iter::<Value>();
            let mut told = told.map_while(Result::ok);
            if told.any(|value| value == object) {
                Ok(())
            } else {
                Err(format!("printed {out:?}, not {object}"))
            }
        }
        _ => Ok(()),
    }
}

/// `barewire list` at a server that the case brings.
fn connect(case: &Case, child: &str, era: Era, programs: &Programs) -> Result<(), String> {
    let trigger = case.trigger.as_deref().unwrap_or_default();
    let assert = case.assert()?.unwrap_or_default();
    let seconds = trigger.split_once("timeout ").and_then(|(_, rest)| rest.split_whitespace().next());
    let timeout = seconds.map_or_else(String::new, |seconds| format!("--timeout {seconds}"));
    let shell = format!("{} list {} {timeout} -- {child}", quote(&programs.barewire), flags(era));
    let begin = Instant::now();
    let output = shell_run(case, &shell)?;
    let took = begin.elapsed();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code();
    if assert.within_ms.is_some_and(|most| took.as_millis() > u128::from(most)) {
        return Err(format!("took {} ms", took.as_millis()));
    }
    let missing = which(child.split_whitespace().next().unwrap_or_default()).is_none();
    // A server that is given a time and never speaks runs into it; one that isn't there cannot be started.
    let wanted: &[i32] = match (missing, seconds.is_some()) {
        (true, _) => &[3],
        (_, true) => &[3, 4],
        _ if assert.client_error == Some(true) => &[3, 4, 5],
        _ => &[0],
    };
    if !wanted.iter().any(|status| code == Some(*status)) {
        return Err(format!("status {code:?}, not {wanted:?}: {}", errors.trim()));
    }
    if assert.client_error.is_some_and(|failed| failed == (code == Some(0))) {
        return Err(format!("status {code:?}"));
    }
    if missing && !errors.contains(child) {
        return Err(format!("the message does not name the command: {}", errors.trim()));
    }
    judge_bytes(case, &output)
}

/// A bridge to a server that goes: what the host asked is answered, and at the host's end it ends.
fn bridge(case: &Case, child: &str, era: Era, programs: &Programs) -> Result<(), String> {
    let mut steps = case.steps()?;
    if era == Era::Modern {
        steps = modern(&steps);
    }
    let mut input = Vec::new();
    if case.handshake && era == Era::Legacy {
        input.extend(format!("{INITIALIZE}\n{INITIALIZED}\n").into_bytes());
    }
    for step in steps {
        if let Step::Write(bytes) = step {
            input.extend(bytes);
        }
    }
    let assert = case.assert()?.unwrap_or_default();
    let line = format!("exec {} bridge -- {child}", quote(&programs.barewire));
    let mut command = Command::new("sh");
    command.args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|wrong| wrong.to_string())?;
    let mut stdin = child.stdin.take().ok_or("no stdin")?;
    let mut stdout = child.stdout.take().ok_or("no stdout")?;
    let begin = Instant::now();
    // It may have ended by itself before it has read everything.
    let _ = stdin.write_all(&input);
    let mut outcome = Outcome::default();
    let mut chunk = [0; 4096];
    while !outcome.complete(&assert) {
        match stdout.read(&mut chunk) {
            Ok(n @ 1..) => outcome.output.extend_from_slice(&chunk[..n]),
            _ => break,
        }
    }
    outcome.took = begin.elapsed();
    drop(stdin);
    let rest = stdout.read_to_end(&mut outcome.output);
    let status = wait(&mut child, PATIENCE)?;
    outcome.judge(&assert)?;
    match (rest, status) {
        // 3: it was gone for good.
        (Ok(_), Some(0 | 3)) => Ok(()),
        (_, status) => Err(format!("status {status:?}")),
    }
}

/// What a tap is fed must come out at the other end, both ways, byte by byte.
fn tap(case: &Case, programs: &Programs) -> Result<(), String> {
    let steps = case.steps()?;
    let bytes: Vec<u8> = steps
        .iter()
        .filter_map(|step| if let Step::Write(b) = step { Some(b) } else { None })
        .flatten()
        .copied()
        .collect();
    let log = scratch("tap");
    let mut command = Command::new(&programs.barewire);
    command.arg("tap").arg("--log").arg(&log).arg("--").arg(&programs.own).arg("--copy");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.as_mut().map_err(|wrong| wrong.to_string())?;
    let mut stdin = child.stdin.take().ok_or("no stdin")?;
    let sent = bytes.clone();
    let writer = thread::spawn(move || stdin.write_all(&sent));
    let mut out = Vec::new();
    let read = child.stdout.take().map(|mut stdout| stdout.read_to_end(&mut out));
    let _ = writer.join();
    let status = wait(child, PATIENCE)?;
    let logged = fs::read(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    if !matches!(read, Some(Ok(_))) || out != bytes {
        return Err(format!("{} bytes went in, other {} came out", bytes.len(), out.len()));
    }
    if status != Some(0) {
        return Err(format!("status {status:?}"));
    }
    if logged.is_empty() { Err("nothing was logged".into()) } else { Ok(()) }
}

fn judge_bytes(case: &Case, output: &Output) -> Result<(), String> {
    let assert = case.assert()?.unwrap_or_default();
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    if String::from_utf8_lossy(&all).contains("panicked at") {
        return Err("it panicked".into());
    }
    if let Some(text) = assert.contains.0.iter().chain(&assert.raw_contains.0).find(|text| !holds(&all, text))
    {
        return Err(format!("the output does not hold {text:?}"));
    }
    match assert.exit.filter(|status| output.status.code() != Some(*status)) {
        Some(status) => Err(format!("status {:?}, not {status}", output.status.code())),
        None => Ok(()),
    }
}

const fn flags(era: Era) -> &'static str {
    match era {
        Era::Legacy => "--era legacy",
        Era::Modern => "--era modern",
    }
}

fn shell_run(case: &Case, line: &str) -> Result<Output, String> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).envs(&case.env).stdin(Stdio::null());
    // Where a case's own server is written in terms of one in Python, it lies here.
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/cases"));
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|wrong| wrong.to_string())?;
    let drain = |pipe: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            bytes
        })
    };
    let stdout = drain(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = drain(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    wait(&mut child, PATIENCE)?;
    let status = child.wait().map_err(|wrong| wrong.to_string())?;
    Ok(Output {
        status,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    })
}

fn wait(child: &mut Child, most: Duration) -> Result<Option<i32>, String> {
    let limit = Instant::now() + most;
    loop {
        match child.try_wait().map_err(|wrong| wrong.to_string())? {
            Some(status) => return Ok(status.code()),
            None if Instant::now() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it runs longer than {} s", most.as_secs()));
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// A name for a file that no other run has.
fn scratch(what: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("barewire-case-{}-{what}-{count}", process::id()))
}

fn which(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn quote(path: &std::path::Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// The commands of a line: `;` divides them, the first `|` begins the rest of one; quotes protect.
fn split(line: &str) -> Vec<Typed> {
    let mut all = vec![Typed { words: String::new(), rest: String::new() }];
    let mut quoted = None;
    for letter in line.chars() {
        quoted = match (quoted, letter) {
            (None, '\'' | '"') => Some(letter),
            (Some(open), _) if open == letter => None,
            (open, _) => open,
        };
        let depth =
            all.last().map_or(0, |typed| typed.rest.matches('(').count() - typed.rest.matches(')').count());
        let Some(last) = all.last_mut() else { break };
        match letter {
            ';' if quoted.is_none() && depth == 0 => {
                all.push(Typed { words: String::new(), rest: String::new() });
            }
            _ if !last.rest.is_empty() || letter == '|' && quoted.is_none() => last.rest.push(letter),
            _ => last.words.push(letter),
        }
    }
    all.retain(|typed| !typed.words.trim().is_empty());
    all.iter_mut().for_each(|typed| typed.words = typed.words.trim().to_owned());
    all
}

/// The words of a command as a shell divides them.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quoted, mut any) = (Vec::new(), String::new(), None, false);
    for letter in line.chars() {
        match (quoted, letter) {
            (None, '\'' | '"') => (quoted, any) = (Some(letter), true),
            (Some(open), _) if open == letter => quoted = None,
            (None, ' ') => {
                if any {
                    all.push(core::mem::take(&mut word));
                }
                any = false;
            }
            _ => {
                word.push(letter);
                any = true;
            }
        }
    }
    all.extend(any.then_some(word));
    all
}

#[cfg(test)]
mod tests {
    use super::{split, words};

    #[test]
    fn lines_are_divided_as_a_shell_does() {
        let parts: Vec<(String, String)> =
            split("call bytes n=2 | (sleep 1; wc -c) ; call echo --args '{\"a\":\"b;|\"}'")
                .into_iter()
                .map(|typed| (typed.words, typed.rest.trim().to_owned()))
                .collect();
        assert_eq!(parts[0], ("call bytes n=2".into(), "| (sleep 1; wc -c)".into()));
        assert_eq!(parts[1], ("call echo --args '{\"a\":\"b;|\"}'".into(), String::new()));
        assert_eq!(words(&parts[1].0), ["call", "echo", "--args", "{\"a\":\"b;|\"}"]);
    }
}

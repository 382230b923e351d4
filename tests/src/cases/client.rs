//! Cases for our client: the real one of barewire-stdio, and a child process that plays its server.
//!
//! What is right follows from what the peer says: a well-formed result must arrive whole, an error as an error, half a
//! response at once as a broken protocol, silence as a timeout with a cancel; noise is passed over and told; ids are
//! never used twice; and afterwards the session lives.

use core::time::Duration;
use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use barewire::{ClientConfig, Limits, Millis};
use barewire_stdio::{CallError, CallResult, Client, Command, Options, StartError, Stderr, ToolInfo, Trace};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::case::{Assert, Case, Step};
use super::judge::holds;
use super::peer::Script;
use super::trigger::{Action, actions, inapplicable};
use super::{Era, Programs, Verdict};
use crate::schema::{Checker, Direction};

/// What a call may take that is not meant to time out: a failure, where it is reached.
const PATIENCE: Duration = Duration::from_secs(10);

/// The eras in which a case has a meaning: without a handshake its own lines are of one.
pub(super) fn eras(case: &Case) -> Vec<Era> {
    match case.era.as_str() {
        "legacy" => vec![Era::Legacy],
        "modern" => vec![Era::Modern],
        _ if case.handshake && case.era_note.as_deref() != Some("legacy") => vec![Era::Legacy, Era::Modern],
        _ => vec![Era::Legacy],
    }
}

/// Runs a case in one era.
pub(super) fn run(case: &Case, era: Era, programs: &Programs) -> Result<Verdict, String> {
    if let Some(reason) = inapplicable(case) {
        return Ok(Verdict::Inapplicable(reason));
    }
    let played = Played::read(case, era)?;
    let assert = case.assert()?.unwrap_or_default();
    let script = ScriptFile::write(case, &played)?;
    let record = Arc::new(Mutex::new(Vec::new()));
    let begin = Instant::now();
    let session = played.start(case, programs, &script, &record);
    let connected = match &session {
        Ok(client) => Ok(client.server().protocol.as_str().to_owned()),
        Err(wrong) => Err(wrong.to_string()),
    };
    let done = session.as_ref().map_or_else(|_| Vec::new(), |client| played.act(client, &record));
    played.wait_for_cancels(&record);
    let took = begin.elapsed();
    let seen = record.lock().map_err(|_| "a trace died")?.clone();
    // The verdict is on what was seen until here; that the session lives costs one more request.
    played.judge_connect(case, &connected)?;
    judge_all(&played, &done)?;
    judge_bytes(case, &played, &seen, &assert)?;
    let failed = connected.is_err() || done.iter().any(|(_, result, _)| result.is_err());
    if assert.client_error.is_some_and(|wanted| wanted != failed) {
        return Err(format!("an error: {failed}"));
    }
    if assert.within_ms.is_some_and(|most| took.as_millis() > u128::from(most)) {
        return Err(format!("took {} ms", took.as_millis()));
    }
    let gone = played.gone();
    if let Ok(client) = session.clone()
        && !gone
    {
        // Answers that the script still holds come first: a client that gave up early has not heard them all.
        let mut tries = (0..=played.answers().len()).map(|_| client.list_tools());
        let last = tries.find(Result::is_ok).unwrap_or_else(|| client.list_tools());
        last.map_err(|wrong| format!("afterwards the session is dead: {wrong}"))?;
        let report = client.close();
        if report.status.is_none_or(|status| !status.success()) {
            return Err(format!("the peer ended with {:?}: {}", report.status, report.stderr_tail));
        }
    }
    Ok(Verdict::Passed)
}

/// What went over the wire, in its order.
#[derive(Clone, Debug)]
enum Event {
    Sent(Vec<u8>),
    Received(Vec<u8>),
    Junk(Vec<u8>),
    Restarted,
}

/// What came of one action.
type Done = (Action, Result<Got, CallError>, Duration);

enum Got {
    Tools(Vec<ToolInfo>),
    Result(Box<CallResult>),
    Other,
}

/// The case as it is played.
pub(super) struct Played {
    steps: Vec<Step>,
    actions: Vec<Action>,
    auto: bool,
    era: Era,
}

impl Played {
    pub(super) fn read(case: &Case, era: Era) -> Result<Self, String> {
        let trigger = case.trigger.as_deref().ok_or("a client case without trigger")?;
        Ok(Self { steps: case.steps()?, actions: actions(trigger)?, auto: trigger.contains("auto)"), era })
    }

    fn start(
        &self,
        case: &Case,
        programs: &Programs,
        script: &ScriptFile,
        record: &Arc<Mutex<Vec<Event>>>,
    ) -> Result<Client, StartError> {
        let era = match self.era {
            _ if self.auto => barewire::Era::Auto,
            Era::Legacy => barewire::Era::Legacy,
            Era::Modern => barewire::Era::Modern,
        };
        // A short patience for the probe: only the case that is silent waits for it.
        let silent = self.steps.iter().any(|step| matches!(step, Step::WaitTimeout));
        let config = ClientConfig::new("cases", "1.0.0").probe(Millis(if silent { 300 } else { 10_000 }));
        let record = Arc::clone(record);
        let mut command = Command::new(&programs.own)
            .args(["--peer".as_ref(), script.0.as_os_str()])
            .stderr(Stderr::Keep(4096))
            .era(era)
            .timeout(PATIENCE)
            .start_timeout(PATIENCE * 2)
            .trace(move |trace| {
                let event = match trace {
                    Trace::Sent(bytes) => Event::Sent(bytes.to_vec()),
                    Trace::Received(bytes) => Event::Received(bytes.to_vec()),
                    Trace::Junk { line, .. } => Event::Junk(line.to_vec()),
                    Trace::Restarted => Event::Restarted,
                    _ => return,
                };
                if let Ok(mut record) = record.lock() {
                    record.push(event);
                }
            });
        for (name, value) in &case.env {
            command = command.env(name, value);
        }
        if let Some(message) = case.noted("frame limit") {
            command = command.limits(Limits { message, ..Limits::default() });
        }
        command.start(&config)
    }

    fn act(&self, client: &Client, record: &Arc<Mutex<Vec<Event>>>) -> Vec<Done> {
        let act = |action: &Action| {
            let begin = Instant::now();
            let result = match action {
                Action::Connect => Ok(Got::Other),
                Action::List => client.list_tools().map(Got::Tools),
                Action::Ping if self.era == Era::Modern => client.list_tools().map(|_| Got::Other),
                Action::Ping => client.request("ping", None).map(|_| Got::Other),
                Action::Call { name, brief } => {
                    let limit = brief.map_or(PATIENCE, Duration::from_millis);
                    let mut heard = |_| {};
                    let mut options = Options::new().timeout(limit).max_timeout(PATIENCE);
                    if name == "progress" {
                        options = options.on_progress(&mut heard);
                    }
                    client
                        .call_with(name, arguments(name), options)
                        .map(|result| Got::Result(Box::new(result)))
                }
                Action::Meta(object) => {
                    let params = format!(r#"{{"name":"echo","arguments":{{"text":"hi"}},"_meta":{object}}}"#);
                    client.request("tools/call", Some(&params)).map(|_| Got::Other)
                }
                Action::Refresh => {
                    self.wait_for_all(record);
                    client.list_tools().map(|_| Got::Other)
                }
            };
            (action.clone(), result, begin.elapsed())
        };
        self.actions.iter().map(act).collect()
    }

    /// A cancel may be written a moment after its call has ended.
    fn wait_for_cancels(&self, record: &Arc<Mutex<Vec<Event>>>) {
        let brief = self
            .actions
            .iter()
            .filter(|action| matches!(action, Action::Call { brief: Some(_), .. }))
            .count();
        let limit = Instant::now() + PATIENCE;
        let cancels = |events: &[Event]| {
            let sent = events
                .iter()
                .filter_map(|event| if let Event::Sent(b) = event { Some(&b[..]) } else { None });
            String::from_utf8_lossy(&sent.collect::<Vec<_>>().concat())
                .matches("notifications/cancelled")
                .count()
        };
        while record.lock().is_ok_and(|events| cancels(&events) < brief) && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Until everything that the peer says by itself has arrived.
    fn wait_for_all(&self, record: &Arc<Mutex<Vec<Event>>>) {
        let writes = self.steps.iter().filter(|step| matches!(step, Step::Write(_))).count();
        let limit = Instant::now() + PATIENCE;
        let lines = |events: &[Event]| {
            let received =
                events.iter().filter_map(|e| if let Event::Received(b) = e { Some(b) } else { None });
            received.flatten().filter(|byte| **byte == b'\n').count()
        };
        while record.lock().is_ok_and(|events| lines(&events) <= writes) && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether the peer exits for good.
    fn gone(&self) -> bool {
        let last = |wanted: fn(&Step) -> bool| self.steps.iter().rposition(wanted);
        let exit = last(|step| matches!(step, Step::Exit(_)));
        exit.is_some() && exit > last(|step| matches!(step, Step::Respawned))
    }

    /// The peer's answers to our newest request, in their order.
    fn answers(&self) -> Vec<Answer> {
        let writes =
            self.steps.iter().filter_map(|step| if let Step::Write(b) = step { Some(b) } else { None });
        let text: Vec<String> = writes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
        let lines = text.iter().flat_map(|text| text.lines()).filter(|line| line.contains("@ID"));
        lines.map(|line| Answer::read(&line.replace("@IDSTR@", "\"0\"").replace("@ID@", "0"))).collect()
    }

    pub(super) fn judge_connect(
        &self,
        case: &Case,
        connected: &Result<String, String>,
    ) -> Result<(), String> {
        if case.handshake {
            return connected.as_ref().map(drop).map_err(|wrong| format!("it does not connect: {wrong}"));
        }
        let answers = self.answers();
        // What opens the session: the answer to either handshake. A peer without one must not be connected with.
        let opens = answers.iter().find_map(|answer| match &answer.result["supportedVersions"] {
            Value::Array(all) => all.iter().find(|version| **version == "2026-07-28")?.as_str(),
            _ => answer.result["protocolVersion"].as_str(),
        });
        let version = opens.unwrap_or_default();
        let known = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"].contains(&version);
        match connected {
            Ok(agreed) if known && agreed == version => Ok(()),
            Err(_) if !known => Ok(()),
            Ok(agreed) => Err(format!("connected with {agreed}, the peer said {version:?}")),
            Err(wrong) => Err(format!("it does not connect: {wrong}")),
        }
    }
}

/// One answer of the peer, and what it is worth.
#[derive(Clone, Debug, Default)]
struct Answer {
    result: Value,
    error: Value,
    /// The tools as they stand in it, and `structuredContent`.
    tools: Vec<String>,
    structured: Option<String>,
    whole: bool,
}

impl Answer {
    fn read(line: &str) -> Self {
        #[derive(Deserialize)]
        struct Envelope<'a> {
            #[serde(borrow)]
            result: Option<&'a RawValue>,
            error: Option<Value>,
        }
        #[derive(Default, Deserialize)]
        struct Parts<'a> {
            #[serde(borrow, default)]
            tools: Vec<&'a RawValue>,
            #[serde(borrow, default, rename = "structuredContent")]
            structured: Option<&'a RawValue>,
        }
        let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(line) else { return Self::default() };
        let raw = envelope.result.map_or("null", RawValue::get);
        let parts: Parts<'_> = serde_json::from_str(raw).unwrap_or_default();
        let error = envelope.error.unwrap_or_default();
        Self {
            whole: raw.starts_with('{') != error.is_object(),
            // 1e400 and its like no float holds; only the raw parts are compared then.
            result: serde_json::from_str(raw).unwrap_or_default(),
            error,
            tools: parts.tools.iter().map(|tool| tool.get().to_owned()).collect(),
            structured: parts.structured.map(|raw| raw.get().to_owned()),
        }
    }
}

fn arguments(tool: &str) -> &'static str {
    match tool {
        "echo" => r#"{"text":"hi"}"#,
        "slow" => r#"{"ms":60000}"#,
        "progress" => r#"{"steps":3}"#,
        _ => "{}",
    }
}

/// Each action against the answer that was for it.
fn judge_all(played: &Played, done: &[Done]) -> Result<(), String> {
    let mut answers = played.answers().into_iter();
    for (action, result, took) in done {
        let fine = match action {
            Action::Connect | Action::Ping | Action::Meta(_) | Action::Refresh => {
                result.as_ref().map(drop).map_err(told)
            }
            Action::Call { brief: Some(_), .. } => match result {
                Err(CallError::TimedOut { .. }) => Ok(()),
                Err(other) => Err(format!("no timeout but: {other}")),
                Ok(_) => Err("no timeout but a result".into()),
            },
            Action::Call { .. } | Action::List if played.gone() && answers.len() == 0 => match result {
                Err(CallError::Exited { .. } | CallError::Closed) => Ok(()),
                Err(other) => Err(told(other)),
                Ok(_) => Err("a success, but the peer is gone".into()),
            },
            Action::Call { .. } => judge_call(answers.next(), result, *took),
            Action::List => judge_list(&mut answers, result, *took),
        };
        fine.map_err(|wrong| format!("{action:?}: {wrong}"))?;
    }
    Ok(())
}

/// Whether an error is the right outcome: none, or why it must be one.
fn must_fail(answer: &Answer) -> Option<&'static str> {
    match answer.result["resultType"].as_str() {
        _ if !answer.whole => Some("neither result nor error"),
        Some("complete") | None if !answer.error.is_object() => None,
        None | Some("complete") => Some("an error"),
        Some("input_required") => Some("input is required"),
        Some(_) => Some("an unknown resultType"),
    }
}

fn judge_call(answer: Option<Answer>, result: &Result<Got, CallError>, took: Duration) -> Result<(), String> {
    let Some(answer) = answer else { return result.as_ref().map(drop).map_err(told) };
    let got = match (must_fail(&answer), result) {
        (Some(why), result) => return judge_failure(why, &answer, result, took),
        (None, Ok(Got::Result(got))) => got,
        (None, Ok(_)) => return Err("no result of a call".into()),
        (None, Err(wrong)) => return Err(told(wrong)),
    };
    let blocks = answer.result["content"].as_array().cloned().unwrap_or_default();
    // Where the numbers are beyond a float the blocks cannot be read here; what is structured is compared raw.
    if !answer.result.is_null() && got.content.len() != blocks.len() {
        return Err(format!("{} blocks, not {}", got.content.len(), blocks.len()));
    }
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    if !answer.result.is_null() && got.text() != texts.join("\n") {
        return Err("another text".into());
    }
    if got.structured != answer.structured {
        return Err(format!("structuredContent is {:?}, not {:?}", got.structured, answer.structured));
    }
    if got.is_error != (answer.result["isError"] == true) {
        return Err("isError is wrong".into());
    }
    Ok(())
}

fn judge_list(
    answers: &mut impl Iterator<Item = Answer>,
    result: &Result<Got, CallError>,
    took: Duration,
) -> Result<(), String> {
    let (mut tools, mut cursors, mut repeats) = (Vec::new(), HashSet::new(), false);
    let mut any = false;
    for answer in answers.by_ref() {
        any = true;
        if let Some(why) = must_fail(&answer) {
            return judge_failure(why, &answer, result, took);
        }
        tools.extend(answer.tools);
        match answer.result["nextCursor"].as_str() {
            None => break,
            Some(cursor) => repeats |= !cursors.insert(cursor.to_owned()),
        }
        if repeats {
            break;
        }
    }
    match result {
        Err(wrong) if repeats && wrong.to_string().contains("cursor") => Ok(()),
        Err(wrong) => Err(told(wrong)),
        Ok(Got::Tools(got)) if !any && got.is_empty() => Ok(()),
        Ok(Got::Tools(got)) if got.iter().map(|tool| &tool.json).eq(&tools) => Ok(()),
        Ok(Got::Tools(got)) => {
            Err(format!("{:?}, not {tools:?}", got.iter().map(|t| &t.json).collect::<Vec<_>>()))
        }
        Ok(_) => Err("no list".into()),
    }
}

fn judge_failure(
    why: &str,
    answer: &Answer,
    result: &Result<Got, CallError>,
    took: Duration,
) -> Result<(), String> {
    match result {
        Ok(_) => Err(format!("a success, but {why}")),
        Err(CallError::TimedOut { .. }) => Err(format!("a timeout, but {why}")),
        Err(_) if took >= PATIENCE => Err("it came as late as a timeout".into()),
        Err(CallError::Server { code, .. }) if answer.error["code"] == *code => Ok(()),
        Err(wrong) if answer.error.is_object() && answer.whole => {
            Err(format!("not the peer's error: {wrong}"))
        }
        Err(wrong) if wrong.to_string().is_empty() => Err("an error without a word".into()),
        Err(_) => Ok(()),
    }
}

fn told(wrong: &CallError) -> String {
    format!("failed: {wrong}")
}

/// What our client wrote, and what it told of the peer's noise.
fn judge_bytes(case: &Case, played: &Played, seen: &[Event], assert: &Assert) -> Result<(), String> {
    let fresh = || Checker::new(if played.era == Era::Modern { "2026-07-28" } else { "2025-11-25" });
    let mut checker = fresh();
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for event in seen {
        match event {
            // One event may hold a part of a line: the whole of it is judged with its last byte.
            Event::Sent(bytes) => {
                let whole = sent.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                sent.extend_from_slice(bytes);
                let end = sent.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                if end > whole {
                    let lines = &sent[whole..end];
                    checker
                        .lines(Direction::ToServer, lines)
                        .map_err(|wrong| format!("we wrote: {wrong}"))?;
                }
            }
            Event::Received(bytes) => {
                received.extend_from_slice(bytes);
                checker.note_part(Direction::ToClient, bytes);
            }
            // A new process knows nothing of what the old one was asked.
            Event::Restarted => checker = fresh(),
            Event::Junk(_) => {}
        }
    }
    let messages: Vec<Value> =
        sent.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let requests: Vec<&Value> =
        messages.iter().filter(|m| m["method"].is_string() && m.get("id").is_some()).collect();
    let restarted = seen.iter().any(|event| matches!(event, Event::Restarted));
    let ids: HashSet<String> = requests.iter().map(|request| request["id"].to_string()).collect();
    if ids.len() != requests.len() && !restarted {
        return Err("an id was used twice".into());
    }
    let respawns = played.steps.iter().any(|step| matches!(step, Step::Respawned));
    if respawns != restarted {
        return Err(format!("a restart: {restarted}"));
    }
    let counted = requests.iter().filter(|request| {
        !case.handshake || request["method"] != "initialize" && request["method"] != "server/discover"
    });
    let count = counted.count();
    if assert.max_requests.is_some_and(|most| count > most) {
        return Err(format!("{count} requests"));
    }
    if let Some(text) =
        assert.never_sent.0.iter().chain(&assert.not_contains.0).find(|text| holds(&sent, text))
    {
        return Err(format!("we wrote {text:?}"));
    }
    if let Some(text) =
        assert.contains.0.iter().chain(&assert.raw_contains.0).find(|text| !holds(&sent, text))
    {
        return Err(format!("we did not write {text:?}"));
    }
    judge_cancels(played, &messages)?;
    judge_meta(played, &messages)?;
    judge_junk(&received, seen)
}

/// A request that timed out is cancelled by its id, the handshake never.
fn judge_cancels(played: &Played, messages: &[Value]) -> Result<(), String> {
    let brief =
        played.actions.iter().filter(|action| matches!(action, Action::Call { brief: Some(_), .. })).count();
    let cancelled: Vec<&Value> = messages
        .iter()
        .filter(|message| message["method"] == "notifications/cancelled")
        .map(|message| &message["params"]["requestId"])
        .collect();
    let is_call = |id: &&&Value| messages.iter().any(|m| m["method"] == "tools/call" && m["id"] == ***id);
    let calls = cancelled.iter().filter(is_call).count();
    let handshake = |id: &&Value| messages.iter().any(|m| m["method"] == "initialize" && m["id"] == **id);
    if calls < brief {
        return Err(format!("{brief} calls timed out, {calls} were cancelled"));
    }
    if cancelled.iter().any(handshake) {
        return Err("initialize was cancelled".into());
    }
    Ok(())
}

/// The user's `_meta` and the protocol's stand together.
fn judge_meta(played: &Played, messages: &[Value]) -> Result<(), String> {
    for action in &played.actions {
        let Action::Meta(object) = action else { continue };
        let user: Value = serde_json::from_str(object).map_err(|wrong| wrong.to_string())?;
        let call =
            messages.iter().find(|message| message["method"] == "tools/call").ok_or("no call was written")?;
        let meta = &call["params"]["_meta"];
        if user.as_object().into_iter().flatten().any(|(key, value)| meta[key] != *value) {
            return Err(format!("the user's _meta is lost: {meta}"));
        }
        if played.era == Era::Modern && meta["io.modelcontextprotocol/protocolVersion"] != "2026-07-28" {
            return Err(format!("the protocol's _meta is lost: {meta}"));
        }
    }
    Ok(())
}

/// Lines that are no messages are told, by their text.
fn judge_junk(received: &[u8], seen: &[Event]) -> Result<(), String> {
    let noise = |line: &&[u8]| {
        !line.trim_ascii().is_empty()
            && serde_json::from_slice::<&RawValue>(line).is_err()
            && line.len() < 1000
    };
    let told: Vec<&[u8]> = seen
        .iter()
        .filter_map(|event| if let Event::Junk(line) = event { Some(&line[..]) } else { None })
        .collect();
    let Some(first) = received.split(|byte| *byte == b'\n').find(noise) else { return Ok(()) };
    let first = first.trim_ascii();
    if told.iter().any(|line| !line.is_empty() && first.starts_with(line.trim_ascii())) {
        return Ok(());
    }
    Err(format!("the noise {:?} was not told", String::from_utf8_lossy(first)))
}

/// The peer's script on the disk, removed at the end.
pub(super) struct ScriptFile(PathBuf);

impl ScriptFile {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn write(case: &Case, played: &Played) -> Result<Self, String> {
        let handshake = match (case.handshake, played.era) {
            (false, _) => None,
            (true, Era::Legacy) => Some("initialize".to_owned()),
            (true, Era::Modern) => Some("server/discover".to_owned()),
        };
        let script = Script { handshake, steps: played.steps.clone() };
        let name: String = case.id.chars().filter(char::is_ascii_alphanumeric).collect();
        let file =
            env::temp_dir().join(format!("barewire-case-{}-{name}-{:?}.json", process::id(), played.era));
        let text = serde_json::to_vec(&script).map_err(|wrong| wrong.to_string())?;
        fs::write(&file, text).map_err(|wrong| format!("{}: {wrong}", file.display()))?;
        Ok(Self(file))
    }
}

impl Drop for ScriptFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        let _ = fs::remove_file(self.0.with_extension("state"));
    }
}

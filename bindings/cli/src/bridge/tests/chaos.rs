//! Anything in any order: whoever asks is answered once, and by nobody else than who was asked.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::Value;

use crate::bridge::errors::Reason;
use crate::bridge::relay::{Medium, Relay, Terms};

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;

#[derive(Clone, Debug)]
enum Act {
    /// The host asks something, with an id of this kind.
    Ask(u8),
    /// It opens a session.
    Open,
    Initialized,
    Batch(u8),
    /// It takes back one of its requests.
    Cancel(u8),
    /// The far end answers one of those that it has: which, and whether with a result.
    Answer(u8, bool),
    /// It answers one of them with what is not JSON.
    Spoil(u8),
    /// It answers what it was not asked, or not in this connection.
    Stale(u8),
    AskBack,
    Print,
    Half,
    Up,
    Down,
    Wait(u16),
    Refuse,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => any::<u8>().prop_map(Act::Ask),
        1 => Just(Act::Open),
        1 => Just(Act::Initialized),
        1 => any::<u8>().prop_map(Act::Batch),
        1 => any::<u8>().prop_map(Act::Cancel),
        8 => (any::<u8>(), any::<bool>()).prop_map(|(n, good)| Act::Answer(n, good)),
        2 => any::<u8>().prop_map(Act::Spoil),
        2 => any::<u8>().prop_map(Act::Stale),
        1 => Just(Act::AskBack),
        1 => Just(Act::Print),
        1 => Just(Act::Half),
        4 => Just(Act::Up),
        3 => Just(Act::Down),
        1 => (0..20_000u16).prop_map(Act::Wait),
        1 => Just(Act::Refuse),
    ]
}

struct World {
    relay: Relay,
    now: u64,
    chunk: usize,
    connected: bool,
    connection: u64,
    /// Ids that the far end was given in this connection and has not answered.
    given: Vec<String>,
    /// Half a line was said by this connection.
    half: bool,
    /// Ids that were used before; and how often each was asked, taken back, answered.
    asked: HashMap<String, (u32, bool, u32)>,
    next: u32,
    /// What each answer of a far end said, by its id: the connection.
    marks: HashMap<String, u64>,
}

impl World {
    fn host(&mut self, line: &str) {
        for part in format!("{line}\n").as_bytes().chunks(self.chunk) {
            self.relay.host(part, self.now);
        }
    }

    fn far(&mut self, line: &str) {
        for part in format!("{line}\n").as_bytes().chunks(self.chunk) {
            self.relay.far(part, self.now);
        }
        self.half = false;
    }

    /// A new id: a number, a string that looks like one, or one that looks like the bridge's own.
    fn id(&mut self, kind: u8) -> String {
        self.next += 1;
        let id = match kind % 4 {
            0 => self.next.to_string(),
            1 => format!("\"{}\"", self.next),
            2 => format!("\"barewire-bridge-{}\"", self.next),
            _ => format!("{}.0", self.next),
        };
        self.asked.insert(canonical(&serde_json::from_str(&id).unwrap()), (1, false, 0));
        id
    }

    fn request(&mut self, kind: u8) -> String {
        let id = self.id(kind);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#)
    }

    fn act(&mut self, act: &Act) {
        match *act {
            Act::Ask(kind) => {
                let line = self.request(kind);
                self.host(&line);
            }
            Act::Open => {
                let id = self.id(1);
                self.host(&INITIALIZE.replacen("\"init\"", &id, 1));
            }
            Act::Initialized => self.host(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
            Act::Batch(kind) => {
                let all: Vec<String> = (0..3).map(|n| self.request(kind.wrapping_add(n))).collect();
                self.host(&format!("[{}]", all.join(",")));
            }
            Act::Cancel(n) if self.next > 0 => {
                let mut ids: Vec<&String> = self.asked.keys().collect();
                ids.sort();
                let id = ids[usize::from(n) % ids.len()].clone();
                self.asked.get_mut(&id).unwrap().1 = true;
                let line = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
                );
                self.host(&line);
            }
            Act::Answer(n, good) if self.connected && !self.given.is_empty() => {
                let id = self.given.swap_remove(usize::from(n) % self.given.len());
                let mark = self.connection;
                self.marks.insert(canonical(&serde_json::from_str(&id).unwrap()), mark);
                let outcome = if good {
                    format!(
                        r#""result":{{"mark":{mark},"protocolVersion":"2025-11-25","capabilities":{{}}}}"#
                    )
                } else {
                    format!(r#""error":{{"code":1,"message":"no","data":{{"mark":{mark}}}}}"#)
                };
                self.far(&format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#));
            }
            Act::Spoil(n) if self.connected && !self.given.is_empty() => {
                // It may answer once more, which counts where the line is at fault.
                let id = &self.given[usize::from(n) % self.given.len()];
                self.far(&format!(r#"{{"jsonrpc":"2.0","result":{{"mark":NaN}},"id":{id}}}"#));
            }
            Act::Stale(n) if self.connected => {
                let mut ids: Vec<String> = self.asked.keys().cloned().collect();
                ids.retain(|id| {
                    !self.given.iter().any(|own| canonical(&serde_json::from_str(own).unwrap()) == *id)
                });
                ids.sort();
                if !ids.is_empty() {
                    let id = &ids[usize::from(n) % ids.len()];
                    self.far(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"mark":0}}}}"#));
                }
            }
            Act::AskBack if self.connected => self.far(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#),
            Act::Print if self.connected => self.far("[boot] ok"),
            Act::Half if self.connected => {
                self.relay.far(br#"{"jsonrpc":"2.0","id":1,"result":{"#, self.now);
                self.half = true;
            }
            Act::Up if !self.connected => {
                (self.connected, self.connection) = (true, self.connection + 1);
                self.given.clear();
                self.relay.far_up(self.now);
            }
            Act::Down if self.connected => {
                (self.connected, self.half) = (false, false);
                self.given.clear();
                self.relay.far_down(&Reason::Restarted, self.now);
            }
            Act::Wait(time) => {
                self.now += u64::from(time);
                self.relay.tick(self.now);
            }
            Act::Refuse => self.host(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#),
            _ => {}
        }
    }

    /// Looks at what came out.
    fn look(&mut self) {
        let for_far = self.relay.take_for_far();
        assert!(self.connected || for_far.is_empty(), "said to nobody");
        for line in for_far.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let value: Value = serde_json::from_slice(line).unwrap();
            let all = if let Value::Array(all) = value { all } else { vec![value] };
            for message in all.iter().filter(|message| message["method"].is_string()) {
                match &message["id"] {
                    Value::Null => {
                        let gone = &message["params"]["requestId"];
                        let gone = (!gone.is_null()).then(|| canonical(gone));
                        self.given.retain(|id| Some(canonical(&serde_json::from_str(id).unwrap())) != gone);
                    }
                    id => self.given.push(id.to_string()),
                }
            }
        }
        for line in self.relay.take_for_host().split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let value: Value = serde_json::from_slice(line).expect("whole lines of JSON");
            let all = if let Value::Array(all) = value { all } else { vec![value] };
            // An error without id answers `Act::Refuse`, which has none.
            let answers =
                all.iter().filter(|message| message["method"].is_null() && !message["id"].is_null());
            for message in answers {
                let id = canonical(&message["id"]);
                let Some((_, _, answers)) = self.asked.get_mut(&id) else { panic!("never asked: {message}") };
                *answers += 1;
                assert_eq!(*answers, 1, "answered again: {message}");
                let mark = if message["result"].is_object() {
                    &message["result"]["mark"]
                } else {
                    &message["error"]["data"]["mark"]
                };
                // An error of the bridge's own has none.
                if let Some(mark) = mark.as_u64() {
                    assert_eq!(self.marks.get(&id), Some(&mark), "by an end that was not asked: {message}");
                    assert_eq!(mark, self.connection, "by a connection that is over: {message}");
                }
            }
        }
        self.relay.take_notes();
    }
}

/// Numbers by their value, so that 5 is 5.0.
fn canonical(id: &Value) -> String {
    id.as_f64().map_or_else(|| id.to_string(), |number| format!("{number}"))
}

proptest! {
    #[test]
    fn every_request_is_answered_once_and_by_whom_it_was_asked(
        acts in prop::collection::vec(act(), 0..80),
        chunk in prop_oneof![Just(1usize), Just(5), Just(1_000)],
        medium in prop_oneof![Just(Medium::Serial), Just(Medium::Stream), Just(Medium::Command)],
    ) {
        let terms = Terms { name: "far".into(), medium, patience: 15_000 };
        let mut world = World {
            relay: Relay::new(terms),
            now: 0,
            chunk,
            connected: false,
            connection: 0,
            given: Vec::new(),
            half: false,
            asked: HashMap::new(),
            next: 0,
            marks: HashMap::new(),
        };
        for act in &acts {
            if world.half {
                // A line that was begun is ended first, unless its connection is.
                if !matches!(act, Act::Down | Act::Wait(_) | Act::Ask(_)) {
                    world.far("}}");
                }
            }
            world.act(act);
            world.look();
        }
        // In the end whoever still waits is told.
        if world.connected {
            world.act(&Act::Down);
        }
        world.relay.host_ended(world.now);
        world.look();
        world.act(&Act::Wait(60_000));
        world.relay.give_up("closed", "over");
        world.look();
        for (id, (_, cancelled, answers)) in &world.asked {
            prop_assert!(*answers == 1 || (*cancelled && *answers == 0), "{id}: {answers} answers");
        }
    }
}

//! A stage for the relay: what is said to it, and what must come of it.

use crate::bridge::errors::Reason;
use crate::bridge::relay::{Medium, Note, Relay, Terms};

/// A relay whose input comes in pieces.
pub(super) struct Stage {
    pub(super) relay: Relay,
    now: u64,
    chunk: usize,
    notes: Vec<Note>,
}

/// Plays a script with whole writes, in small pieces, and byte by byte.
pub(super) fn play(medium: Medium, script: impl Fn(&mut Stage)) {
    for chunk in [usize::MAX, 7, 1] {
        let mut stage = Stage::new(medium, chunk);
        script(&mut stage);
        stage.is_quiet();
    }
}

impl Stage {
    pub(super) fn new(medium: Medium, chunk: usize) -> Self {
        let terms = Terms { name: "far".into(), medium, patience: 15_000 };
        Self { relay: Relay::new(terms), now: 0, chunk, notes: Vec::new() }
    }

    pub(super) fn up(&mut self) -> &mut Self {
        self.relay.far_up(self.now);
        self
    }

    pub(super) fn down(&mut self, reason: Reason) -> &mut Self {
        self.relay.far_down(&reason, self.now);
        self
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, millis: u64) -> &mut Self {
        self.now += millis;
        self.relay.tick(self.now);
        self
    }

    pub(super) fn host(&mut self, line: &str) -> &mut Self {
        self.host_bytes(format!("{line}\n").as_bytes())
    }

    pub(super) fn host_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        for part in bytes.chunks(self.chunk) {
            self.relay.host(part, self.now);
        }
        self
    }

    pub(super) fn host_ends(&mut self) -> &mut Self {
        self.relay.host_ended(self.now);
        self
    }

    pub(super) fn far(&mut self, line: &str) -> &mut Self {
        self.far_bytes(format!("{line}\n").as_bytes())
    }

    pub(super) fn far_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        for part in bytes.chunks(self.chunk) {
            self.relay.far(part, self.now);
        }
        self
    }

    /// Exactly these lines wait for the host.
    #[track_caller]
    pub(super) fn host_reads(&mut self, lines: &[&str]) -> &mut Self {
        let taken = String::from_utf8(self.relay.take_for_host()).unwrap();
        assert_eq!(taken.lines().collect::<Vec<_>>(), lines, "for the host");
        self
    }

    /// Exactly these lines wait for the far end.
    #[track_caller]
    pub(super) fn far_reads(&mut self, lines: &[&str]) -> &mut Self {
        let taken = String::from_utf8(self.relay.take_for_far()).unwrap();
        assert_eq!(taken.lines().collect::<Vec<_>>(), lines, "for the far end");
        self
    }

    /// Errors with these ids, and this word in their data, wait for the host.
    #[track_caller]
    pub(super) fn host_reads_errors(&mut self, ids: &[&str], reason: &str) -> &mut Self {
        let taken = String::from_utf8(self.relay.take_for_host()).unwrap();
        let found: Vec<String> = taken
            .lines()
            .map(|line| {
                let error: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!(error["error"]["data"]["reason"], reason, "{line}");
                assert!(error["error"]["code"].is_i64() && error["error"]["message"].is_string(), "{line}");
                error["id"].to_string()
            })
            .collect();
        assert_eq!(found, ids);
        self
    }

    /// One of the notes, which may be heard in any order, holds this text.
    #[track_caller]
    pub(super) fn told(&mut self, text: &str) -> &mut Self {
        self.notes.extend(self.relay.take_notes());
        let found =
            self.notes.iter().position(|note| matches!(note, Note::Told(told) if told.contains(text)));
        let Some(at) = found else { panic!("{text:?} was not told: {:?}", self.notes) };
        self.notes.remove(at);
        self
    }

    /// The next line of the console.
    #[track_caller]
    pub(super) fn printed(&mut self, text: &str) -> &mut Self {
        self.notes.extend(self.relay.take_notes());
        let found = self.notes.iter().position(|note| matches!(note, Note::Console(_)));
        let Some(at) = found else { panic!("nothing on the console: {:?}", self.notes) };
        assert_eq!(self.notes.remove(at), Note::Console(text.into()));
        self
    }

    /// Nothing is left to be read by anybody.
    #[track_caller]
    pub(super) fn is_quiet(&mut self) -> &mut Self {
        self.host_reads(&[]).far_reads(&[]);
        self.notes.extend(self.relay.take_notes());
        assert_eq!(self.notes, [], "told");
        self
    }
}

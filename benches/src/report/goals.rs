//! What the core must reach: so many times as fast as each of these, in one run.

use crate::Group;
use crate::ours::{BASE, IN_PLACE};

/// A goal.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// The work.
    pub group: Group,
    /// On what.
    pub corpus: &'static str,
    /// Whom: the rows whose names begin so, the fastest of them.
    pub against: &'static [&'static str],
    /// Which of our rows.
    pub ours: &'static str,
    /// How many times as fast at least.
    pub least: f64,
}

const fn goal(group: Group, corpus: &'static str, against: &'static [&'static str], least: f64) -> Goal {
    Goal { group, corpus, against, ours: BASE, least }
}

/// Those that read UTF-8, the whole grammar and a depth: the fastest of them is what counts on large messages.
const CHECKING: &[&str] = &["serde_json RawValue", "sonic-rs LazyValue", "flexon", "simd-json"];
const SONIC: &[&str] = &["sonic-rs"];
const RMCP: &[&str] = &["rmcp"];
const SERDE: &[&str] = &["serde_json"];

/// All of them.
pub const GOALS: &[Goal] = &[
    goal(Group::Framing, "call", &["tokio_util"], 3.0),
    goal(Group::Framing, "call", RMCP, 3.0),
    goal(Group::Framing, "call", &["std read_until"], 1.4),
    goal(Group::Framing, "text51k", &["tokio_util"], 2.5),
    goal(Group::Framing, "text51k", RMCP, 10.0),
    goal(Group::Read, "call", SERDE, 2.0),
    goal(Group::Read, "call", &["jiter"], 2.0),
    goal(Group::Read, "call", SONIC, 2.0),
    goal(Group::Read, "call", &["flexon"], 1.0),
    goal(Group::Read, "call", RMCP, 28.0),
    goal(Group::Read, "call_2026", SERDE, 1.7),
    goal(Group::Read, "call_2026", RMCP, 23.0),
    goal(Group::Read, "list50", SONIC, 1.25),
    goal(Group::Read, "list50", &["flexon"], 1.25),
    goal(Group::Read, "list50", RMCP, 22.0),
    goal(Group::Read, "text51k", CHECKING, 1.0),
    goal(Group::Read, "img1m", CHECKING, 1.0),
    goal(Group::Read, "zh51k", CHECKING, 1.0),
    goal(Group::Read, "call_spaced", SERDE, 1.0),
    goal(Group::Read, "2026_spaced", SERDE, 1.0),
    goal(Group::Read, "list50_spaced", SERDE, 1.0),
    goal(Group::Read, "zh51k_spaced", SERDE, 1.0),
    goal(Group::Typed, "list50", SONIC, 1.4),
    goal(Group::Typed, "list50", RMCP, 15.0),
    Goal { ours: IN_PLACE, ..goal(Group::Typed, "text51k", &["flexon"], 1.15) },
    Goal { ours: IN_PLACE, ..goal(Group::Typed, "text51k", RMCP, 3.5) },
    goal(Group::Write, "call", &["serde_json to_writer"], 3.4),
    goal(Group::Write, "call", RMCP, 10.0),
    goal(Group::Write, "result", &["serde_json to_writer"], 5.0),
    goal(Group::Write, "notification", &["serde_json to_writer"], 3.3),
    goal(Group::Write, "text51k", SONIC, 1.0),
    goal(Group::Write, "text51k", &["serde_json to_writer"], 3.3),
    goal(Group::RoundTrip, "small", RMCP, 20.0),
    goal(Group::RoundTrip, "small_2026", RMCP, 20.0),
];

//! Model checking in the small: every interleaving of a bounded script, held against a naive model.
//!
//! A *world* is a machine, its application and its peer, with a script of what may happen. [`explore`](explore()) tries every order of
//! what may happen, and a model that knows nothing of the machine's code (lists of who asked what and who was answered)
//! judges each step. Two histories that lead to the same state have the same future, so each state is explored once; how
//! many histories that covers is counted.
//!
//! The machines can't be copied, so a state is reached again by playing the acts that lead to it. Their `{:#?}` tells all
//! of their state, which is what makes two states equal.

pub mod client;
pub mod explore;
pub mod server;

pub use explore::{Broken, Count, Property, World, explore};

use std::collections::HashMap;
use std::sync::Mutex;

use crate::schema::{Checker, Direction};

/// Judges each line once: the schema checker is slow, and the same lines come again and again.
#[derive(Debug, Default)]
pub struct Lines {
    known: Mutex<HashMap<Vec<u8>, Result<(), String>>>,
}

impl Lines {
    /// Is `line` one that `direction` allows, where the other side said all of `asked` and this side said `before`?
    ///
    /// # Errors
    /// What the checker says.
    pub fn judge(
        &self,
        revision: &str,
        direction: Direction,
        asked: &[&[u8]],
        before: &[&[u8]],
        line: &[u8],
    ) -> Result<(), String> {
        let mut known = self.known.lock().map_err(|e| e.to_string())?;
        if let Some(verdict) = known.get(line) {
            return verdict.clone();
        }
        let other = match direction {
            Direction::ToServer => Direction::ToClient,
            Direction::ToClient => Direction::ToServer,
        };
        let judge = |asked: &[&[u8]]| {
            let mut checker = Checker::new(revision);
            checker.either_null(true);
            before.iter().for_each(|line| checker.note(direction, line));
            asked.iter().for_each(|line| checker.note(other, line));
            checker.line(direction, line)
        };
        // Where ids come twice the checker can't know whose answer it is: then any will do.
        let verdict = judge(asked).or_else(|e| asked.iter().find_map(|one| judge(&[one]).ok()).ok_or(e));
        known.insert(line.to_vec(), verdict.clone());
        verdict
    }
}

//! Trying every order of what may happen.

use core::fmt;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

/// What must hold, whatever the order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Property {
    /// A request is answered, or ends, at most once; an answer belongs to a request.
    Once,
    /// Nothing of a request is said after its cancellation.
    Cancelled,
    /// What was answered comes out, what was cancelled is told, what came in is told.
    Answered,
    /// Nothing is said or told after `Closed`.
    Closed,
    /// Polls come to rest, stay there, and are stuck only when the application can act.
    Progress,
    /// A call that is over gives its slot back.
    Slots,
    /// `until` is the moment when something happens, and nothing happens before.
    Until,
    /// Output is whole lines, each a valid message.
    Lines,
    /// Output that was shown stays.
    Shown,
    /// A call is told once, complete, and only if its id is not in flight.
    Told,
    /// A refusal (`Full`, `Gone`) has a reason.
    Refused,
}

/// A property that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// Which.
    pub property: Property,
    /// What was seen.
    pub what: String,
    /// The acts that lead there.
    pub acts: Vec<String>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}; after", self.property, self.what)?;
        self.acts.iter().try_for_each(|act| write!(f, "\n  {act}"))
    }
}

/// The verdict on one act.
pub type Verdict = Result<(), Broken>;

/// A property is broken.
///
/// # Errors
/// Always.
pub fn broken(property: Property, what: impl Into<String>) -> Verdict {
    Err(Broken { property, what: what.into(), acts: Vec::new() })
}

/// A machine with its surroundings, at its beginning when it is made.
pub trait World {
    /// One thing that may happen.
    type Act: Copy + fmt::Debug;

    /// What may happen now. The same state must give the same acts.
    fn acts(&self) -> Vec<Self::Act>;

    /// Lets it happen, and judges it.
    ///
    /// # Errors
    /// The property that broke.
    fn act(&mut self, act: Self::Act) -> Verdict;

    /// Nothing more may happen: is all as it should be?
    ///
    /// # Errors
    /// The property that broke.
    fn end(&mut self) -> Verdict;

    /// All of the state, as far as it bears on the future.
    fn digest(&self, hasher: &mut dyn Hasher);
}

/// What was explored.
#[derive(Clone, Copy, Default, Debug)]
pub struct Count {
    /// Different states.
    pub states: usize,
    /// Acts tried.
    pub acts: usize,
    /// Different orders that lead from the beginning to an end.
    pub orders: f64,
    /// States where nothing more may happen.
    pub ends: usize,
}

impl Count {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            states: self.states + other.states,
            acts: self.acts + other.acts,
            orders: self.orders + other.orders,
            ends: self.ends + other.ends,
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, acts, orders, ends } = self;
        write!(f, "{orders:.3e} interleavings in {states} states, {acts} acts, {ends} ends")
    }
}

/// 128 bits, so that two different states never meet by chance.
#[derive(Default)]
struct Mix(u128);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        (self.0 >> 64) as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            let mixed = self.0 ^ u128::from(u64::from_le_bytes(word)) ^ (part.len() as u128) << 64;
            self.0 = mixed.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).rotate_right(57);
        }
    }
}

fn key<A: Copy + fmt::Debug>(world: &dyn World<Act = A>) -> u128 {
    let mut mix = Mix::default();
    world.digest(&mut mix);
    mix.0
}

/// Hashes `value` into a hasher that is not known by its type.
pub(super) fn hash(value: &impl Hash, mut hasher: &mut dyn Hasher) {
    value.hash(&mut hasher);
}

/// Tries every order. `play` makes a new world and hands it over; it is the same each time.
///
/// # Errors
/// The first property that broke, with the acts that lead there.
pub fn explore<A: Copy + fmt::Debug>(
    mut play: impl FnMut(&mut dyn FnMut(&mut dyn World<Act = A>) -> Verdict) -> Verdict,
) -> Result<Count, Broken> {
    let mut known: HashMap<u128, usize> = HashMap::new();
    let mut next: Vec<Vec<usize>> = Vec::new();
    // How each state was reached first.
    let mut from: Vec<Option<(usize, A)>> = Vec::new();
    let mut ended: Vec<usize> = Vec::new();
    let mut count = Count::default();
    // Paths that are still to be tried; the first world goes as deep as it can before the others are made.
    let mut todo: Vec<(Option<usize>, Vec<A>)> = vec![(None, Vec::new())];
    while let Some((mut parent, mut path)) = todo.pop() {
        let shown = |path: &[A]| path.iter().map(|act| format!("{act:?}")).collect();
        let one = &mut |world: &mut dyn World<Act = A>| {
            let mut done = 0;
            while let Some(act) = path.get(done) {
                world.act(*act).map_err(|e| Broken { acts: shown(&path[..=done]), ..e })?;
                done += 1;
            }
            loop {
                count.acts += usize::from(parent.is_some());
                let fresh = next.len();
                let node = *known.entry(key(world)).or_insert(fresh);
                if let Some(parent) = parent.filter(|parent| *parent != node) {
                    next[parent].push(node);
                }
                if node < fresh {
                    return Ok(());
                }
                next.push(Vec::new());
                from.push(parent.zip(path.last().copied()));
                parent = Some(node);
                let acts = world.acts();
                let Some((first, rest)) = acts.split_first() else {
                    ended.push(node);
                    return world.end().map_err(|e| Broken { acts: shown(&path), ..e });
                };
                for act in rest {
                    let mut other = path.clone();
                    other.push(*act);
                    todo.push((Some(node), other));
                }
                path.push(*first);
                world.act(*first).map_err(|e| Broken { acts: shown(&path), ..e })?;
            }
        };
        play(one)?;
    }
    let trail = |mut node: usize| {
        let mut acts = Vec::new();
        while let Some((before, act)) = from[node] {
            acts.push(format!("{act:?}"));
            node = before;
        }
        acts.reverse();
        acts
    };
    let stuck = (0..next.len()).find(|node| next[*node].is_empty() && ended.binary_search(node).is_err());
    if let Some(node) = stuck {
        let what = "no act changes anything: it is stuck".into();
        return Err(Broken { property: Property::Progress, what, acts: trail(node) });
    }
    (count.states, count.ends) = (next.len(), ended.len());
    count.orders = orders(&next).map_err(|node| Broken {
        property: Property::Progress,
        what: "a state comes again: this can go on for ever".into(),
        acts: trail(node),
    })?;
    Ok(count)
}

/// How many ways lead from the first node to nodes without successors.
///
/// # Errors
/// A node from which some way leads back to it: a machine that can be busy for ever without anything coming in.
fn orders(next: &[Vec<usize>]) -> Result<f64, usize> {
    const UNDER_WAY: f64 = -1.0;
    let mut ways: Vec<Option<f64>> = vec![None; next.len()];
    let mut stack = vec![0];
    while let Some(&node) = stack.last() {
        if ways[node].is_some_and(|ways| ways >= 0.0) {
            stack.pop();
            continue;
        }
        ways[node] = Some(UNDER_WAY);
        let mut open =
            next[node].iter().filter(|child| !ways[**child].is_some_and(|ways| ways >= 0.0)).peekable();
        if open.peek().is_some() {
            for child in open {
                if ways[*child].is_some() {
                    return Err(*child);
                }
                stack.push(*child);
            }
            continue;
        }
        let sum: f64 = next[node].iter().filter_map(|child| ways[*child]).sum();
        ways[node] = Some(if next[node].is_empty() { 1.0 } else { sum });
        stack.pop();
    }
    Ok(ways.first().copied().flatten().unwrap_or(0.0))
}

//! Every order of what can happen to a server: requests, cancellations, answers in any order, room, the ends of input.

mod ledger;
mod port;
mod script;
mod wrong;

pub use port::{Did, How, Port, Real, Said};
pub use script::{Ask, Cuts, MODERN, Request, Script};
pub use wrong::{Mistake, Wrong};

use core::hash::Hasher;
use std::rc::Rc;

use barewire::{Buffers, Millis, Noise, Server, ServerConfig, Slot, Tool};

use super::explore::{Property, Verdict, World, broken, explore, hash};
use super::{Broken, Count, Lines};
use ledger::{Ledger, State};

const ANY: &str = r#"{"type":"object"}"#;
static TOOLS: &[Tool<'static>] = &[
    Tool::new("now", "Answers.", ANY),
    Tool::new("later", "Later.", ANY),
    Tool::new("forgotten", "Never.", ANY),
    Tool::new("later-stream", "Later, in pieces.", ANY),
    Tool::new("stream", "In pieces.", ANY),
    Tool::new("slow", "In slow pieces.", ANY),
    Tool::new("mute", "Never.", ANY),
    Tool::new("fail", "Fails.", ANY),
    Tool::new("progress", "Tells.", ANY),
];

/// How long deferred calls may be answered after the end of input.
const DRAIN: Millis = Millis(1000);

/// How many polls may follow one act. The longest script takes a tenth.
const PATIENCE: usize = 200;

/// One thing that may happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// One poll (where other acts may come between polls).
    Poll,
    /// The next piece of input.
    Feed,
    /// So many bytes are sent.
    Sent(usize),
    /// The application goes on with the call of that request.
    Resume(usize),
    /// The application tells progress of that request.
    Progress(usize),
    /// There is no more input.
    End,
    /// The line is new.
    Reset,
    /// The tools change.
    Changed,
    /// The clock moves to the moment that the machine named.
    Tick,
}

/// Where the machine rests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Rest {
    /// It was not polled to its rest.
    None,
    Send,
    Wait,
    Blocked,
    Closed,
}

/// A server, its application, its peer, and the model that watches them.
struct Surroundings<'s, 'b> {
    script: &'s Script,
    port: Box<dyn Port + 'b>,
    ledger: Ledger<'s>,
    now: Millis,
    rest: Rest,
    until: Option<Millis>,
    /// When the time after the end of input is over.
    drained: Option<Millis>,
    changes: bool,
    told: u64,
}

/// Explores a script.
///
/// # Errors
/// The property that broke, and the acts that lead there.
pub fn check(script: &Script) -> Result<Count, Broken> {
    check_with(script, |server| Box::new(Real::new(server)))
}

/// Explores a script with a machine that makes a mistake.
///
/// # Errors
/// The property that broke: there should be one.
pub fn check_wrong(script: &Script, mistake: Mistake) -> Result<Count, Broken> {
    let kept = Rc::new(script.clone());
    check_with(script, |server| Box::new(Wrong::new(Real::new(server), Rc::clone(&kept), mistake)))
}

fn check_with(
    script: &Script,
    around: impl for<'b> Fn(Server<'b>) -> Box<dyn Port + 'b>,
) -> Result<Count, Broken> {
    let lines = Lines::default();
    let mut config = ServerConfig::new("model", "1").tools(TOOLS).drain(DRAIN).list_changed();
    if script.busy {
        config = config.refuse_when_full();
    }
    if script.answers_noise {
        config = config.noise(Noise::Answer);
    }
    explore(|with| {
        let (mut rx, mut tx) = (vec![0; script.rx], vec![0; script.tx]);
        let mut slots: Vec<Slot> = (0..script.slots).map(|_| Slot::FREE).collect();
        let server = Server::new(&config, Buffers::new(&mut rx, &mut tx, &mut slots));
        let mut world = Surroundings {
            script,
            port: around(server),
            ledger: Ledger::new(script, &lines),
            now: Millis(0),
            rest: Rest::None,
            until: None,
            drained: None,
            changes: script.changes,
            told: 1,
        };
        world.settle()?;
        with(&mut world)
    })
}

impl World for Surroundings<'_, '_> {
    type Act = Act;

    fn acts(&self) -> Vec<Act> {
        let (script, ledger) = (self.script, &self.ledger);
        let mut acts = Vec::new();
        if self.rest == Rest::None {
            acts.push(Act::Poll);
        }
        let waiting = self.port.output().len();
        let mut sizes: Vec<usize> =
            script.drains.iter().map(|n| *n.min(&waiting)).filter(|n| *n > 0).collect();
        sizes.dedup();
        acts.extend(sizes.into_iter().map(Act::Sent));
        if !ledger.ended && !script.piece(ledger.fed).is_empty() {
            acts.push(Act::Feed);
        }
        for (at, entry) in ledger.entries.iter().enumerate() {
            if let State::Held(_) | State::Paused(_) = entry.state {
                acts.push(Act::Resume(at));
                if script.requests[at].ask == Ask::Progress && self.told < 3 {
                    acts.push(Act::Progress(at));
                }
            }
        }
        if script.ends && !ledger.ended {
            acts.push(Act::End);
        }
        if script.resets && ledger.resets == 0 {
            acts.push(Act::Reset);
        }
        if self.changes {
            acts.push(Act::Changed);
        }
        if self.until.is_some() {
            acts.push(Act::Tick);
        }
        acts
    }

    fn act(&mut self, act: Act) -> Verdict {
        // What is refused changes nothing.
        let mut refused = false;
        match act {
            Act::Poll => return self.poll(),
            Act::Feed => {
                let piece = self.script.piece(self.ledger.fed);
                let taken = self.port.feed(piece);
                if taken == 0 && self.rest == Rest::Wait {
                    return broken(Property::Progress, "it waits for input and takes none");
                }
                self.ledger.fed += taken;
                refused = taken == 0;
            }
            Act::Sent(n) => {
                self.port.sent(n);
                self.ledger.shown.drain(..n);
            }
            Act::Resume(at) => refused = matches!(self.resume(at)?, Did::Full | Did::Gone),
            Act::Progress(at) => {
                if let State::Held(call) = self.ledger.entries[at].state {
                    refused = self.port.progress(call, self.told + 1).is_err();
                    self.told += u64::from(!refused);
                }
            }
            Act::End => {
                self.port.end_of_input();
                self.ledger.ended = true;
            }
            Act::Reset => {
                self.port.reset();
                self.ledger.reset();
                self.drained = None;
            }
            Act::Changed => {
                self.port.tools_changed();
                self.changes = false;
                self.ledger.changed();
            }
            Act::Tick => return self.tick(),
        }
        if refused {
            return self.ledger.look(self.port.output());
        }
        self.rest = Rest::None;
        self.until = None;
        self.ledger.look(self.port.output())?;
        self.settle()
    }

    fn end(&mut self) -> Verdict {
        let wanted = if self.ledger.ended { Rest::Closed } else { Rest::Wait };
        if self.rest != wanted {
            return broken(Property::Progress, format!("all is done, and it rests at {:?}", self.rest));
        }
        self.ledger.settled()?;
        // A long time does nothing.
        self.now = self.now.after(Millis(1_000_000));
        self.poll()?;
        if self.rest != wanted {
            return broken(
                Property::Until,
                format!("time alone moves it from {wanted:?} to {:?}", self.rest),
            );
        }
        if wanted == Rest::Wait { self.slots_are_free() } else { Ok(()) }
    }

    fn digest(&self, hasher: &mut dyn Hasher) {
        self.port.digest(hasher);
        hash(&(&self.ledger, self.rest, self.until, self.drained, self.changes, self.told), hasher);
    }
}

impl Surroundings<'_, '_> {
    /// Polls until it rests, unless others may come between.
    fn settle(&mut self) -> Verdict {
        if self.script.between {
            return Ok(());
        }
        for _ in 0..PATIENCE {
            self.poll()?;
            if self.rest != Rest::None {
                return Ok(());
            }
        }
        broken(Property::Progress, format!("{PATIENCE} polls without rest"))
    }

    fn poll(&mut self) -> Verdict {
        if self.ledger.ended && self.drained.is_none() {
            self.drained = Some(self.now.after(DRAIN));
        }
        let said = self.port.poll(self.now);
        self.hear(&said)?;
        self.ledger.look(self.port.output())?;
        (self.rest, self.until) = match said {
            Said::Send => (Rest::Send, None),
            Said::Wait(until) => (Rest::Wait, until),
            Said::Blocked(until) => (Rest::Blocked, until),
            Said::Closed => (Rest::Closed, None),
            _ => (Rest::None, None),
        };
        if self.rest != Rest::None {
            self.judge_rest()?;
        }
        Ok(())
    }

    fn hear(&mut self, said: &Said) -> Verdict {
        if self.ledger.closed && *said != Said::Closed {
            return broken(Property::Closed, format!("{said:?} after Closed"));
        }
        match said {
            Said::Called(call, tag, did) => self.ledger.called(*call, tag, *did),
            Said::More(call, did) => match self.ledger.of(*call) {
                Some(at) => self.ledger.did(at, *call, *did),
                None => broken(Property::Told, "More of a result that is not under way"),
            },
            Said::Cancelled(call) => {
                self.ledger.cancelled(*call)?;
                match self.port.resume(*call, "", How::Drop) {
                    Did::Gone => Ok(()),
                    _ => broken(Property::Cancelled, "a cancelled call can still be answered"),
                }
            }
            Said::Fault(fault) => self.ledger.fault(*fault),
            _ => Ok(()),
        }
    }

    /// What the place of rest claims.
    fn judge_rest(&mut self) -> Verdict {
        let output = self.port.output().len();
        if (self.rest == Rest::Send) != (output > 0) {
            return broken(Property::Progress, format!("{:?} with {output} bytes to send", self.rest));
        }
        let until = if self.rest == Rest::Blocked { self.drained } else { None };
        if self.until != until {
            return broken(Property::Until, format!("it names {:?} instead of {until:?}", self.until));
        }
        match self.rest {
            Rest::Wait => self.ledger.settled()?,
            Rest::Blocked => self.judge_blocked()?,
            Rest::Closed if !self.ledger.ended => {
                return broken(Property::Closed, "Closed before the input ended");
            }
            Rest::Closed => {
                self.ledger.settled()?;
                let held = self.ledger.entries.iter().any(|e| matches!(e.state, State::Held(_)));
                if held {
                    return broken(Property::Closed, "Closed while a call is open");
                }
                self.ledger.closed = true;
            }
            Rest::Send | Rest::None => {}
        }
        // Nothing more happens by itself.
        let before = self.until;
        let early = before.map_or(self.now, |until| Millis(until.0.saturating_sub(1).max(self.now.0)));
        let said = self.port.poll(early);
        let same = match said {
            Said::Send => self.rest == Rest::Send,
            Said::Wait(until) => self.rest == Rest::Wait && until == before,
            Said::Blocked(until) => self.rest == Rest::Blocked && until == before,
            Said::Closed => self.rest == Rest::Closed,
            _ => false,
        };
        if !same {
            let closed = self.rest == Rest::Closed;
            let property = if closed { Property::Closed } else { Property::Progress };
            return broken(property, format!("at rest ({:?}) it says {said:?}", self.rest));
        }
        self.ledger.look(self.port.output())
    }

    /// Blocked: the application must be able to act.
    fn judge_blocked(&self) -> Verdict {
        let held = self.ledger.entries.iter().filter(|e| matches!(e.state, State::Held(_))).count();
        let paused = self.ledger.entries.iter().any(|e| matches!(e.state, State::Paused(_)));
        let waits = self.ledger.waits_for_a_slot();
        if !paused && waits && held < self.script.slots {
            return broken(Property::Slots, "a call waits, though a slot is free");
        }
        if !paused && (held == 0 || !waits && !self.ledger.ended) {
            return broken(Property::Progress, "Blocked, and the application has nothing to do");
        }
        let given = self.ledger.entries.iter().any(|e| e.state == State::Given && e.answers == 0);
        if given {
            return broken(Property::Answered, "Blocked, all is sent, and an answer did not come out");
        }
        Ok(())
    }

    fn resume(&mut self, at: usize) -> Result<Did, Broken> {
        let request = &self.script.requests[at];
        let (State::Held(call) | State::Paused(call)) = self.ledger.entries[at].state else {
            return Ok(Did::Gone);
        };
        let how = match request.ask {
            Ask::Forgotten => How::Drop,
            Ask::LaterStream | Ask::Stream | Ask::Slow => How::Pieces,
            _ => How::Whole,
        };
        let did = self.port.resume(call, &request.tag, how);
        match did {
            Did::Gone if !self.ledger.may_be_gone(at) => {
                broken(Property::Refused, format!("{} is gone, and nobody ended it", request.tag))?;
            }
            Did::Full if self.rest != Rest::None => {
                let other = self
                    .ledger
                    .entries
                    .iter()
                    .enumerate()
                    .any(|(i, e)| i != at && matches!(e.state, State::Paused(_)));
                if self.port.output().is_empty() && !other {
                    broken(Property::Refused, "there is no room, though nothing is in the way")?;
                }
            }
            _ => {}
        }
        self.ledger.did(at, call, did)?;
        Ok(did)
    }

    /// The moment has come: something must happen.
    fn tick(&mut self) -> Verdict {
        let (rest, until) = (self.rest, self.until);
        self.now = until.unwrap_or(self.now);
        self.ledger.late = self.ledger.ended;
        let before = self.port.output().len();
        self.poll()?;
        if (self.rest, self.until) == (rest, until) && self.port.output().len() == before {
            return broken(Property::Until, format!("nothing happens at {until:?}"));
        }
        if self.rest == Rest::None { self.settle() } else { Ok(()) }
    }

    /// As many calls as there are slots can be open again.
    fn slots_are_free(&mut self) -> Verdict {
        if self.script.revision != MODERN && self.ledger.resets > 0 {
            return Ok(());
        }
        let slots = self.script.slots;
        for round in 0..slots {
            let probe = self.script.probe(round);
            if self.port.feed(&probe) != probe.len() {
                return broken(Property::Progress, "it waits for input and takes none");
            }
            let mut told = false;
            for _ in 0..PATIENCE {
                match self.port.poll(self.now) {
                    Said::Called(_, _, Did::Kept) => told = true,
                    Said::Wait(_) => break,
                    _ => {}
                }
            }
            if !told {
                return broken(Property::Slots, format!("of {slots} slots only {round} are free at the end"));
            }
        }
        Ok(())
    }
}

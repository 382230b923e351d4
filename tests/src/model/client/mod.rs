//! Every order of what can happen to a client: requests, answers in any order and late, cancellations, clocks, room, the
//! ends of input.

mod ledger;
mod peer;
mod port;
mod script;
mod wrong;

pub use port::{How, Port, Said};
pub use script::{Answer, Kind, Request, Script};
pub use wrong::{Mistake, Wrong};

use core::hash::Hasher;

use barewire::{Buffers, Client, ClientConfig, Millis, SendError, Slot};

use super::explore::{Property, Verdict, World, broken, explore, hash};
use super::{Broken, Count, Lines};
use ledger::{Ledger, State};

/// How many polls may follow one act.
const PATIENCE: usize = 100;

/// One thing that may happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// One poll (where other acts may come between polls).
    Poll,
    /// So many bytes are sent.
    Sent(usize),
    /// The application asks.
    Ask(usize),
    /// The application gives that request up.
    Cancel(usize),
    /// The server answers its n-th question.
    Answer(usize),
    /// The server says something by itself.
    Extra(usize),
    /// The next piece of what the server said comes in.
    Feed,
    /// There is no more input.
    End,
    /// The line is new.
    Reset,
    /// The clock moves to just before the moment that the machine named.
    Early,
    /// The clock moves to that moment.
    Tick,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Rest {
    None,
    Send,
    Wait,
    Closed,
}

struct Surroundings<'s, 'b> {
    script: &'s Script,
    port: Box<dyn Port + 'b>,
    ledger: Ledger<'s>,
    now: Millis,
    rest: Rest,
    until: Option<Millis>,
    /// What the server said and the client has not taken.
    flying: Vec<u8>,
    extras: Vec<bool>,
    ticks: u8,
    resets: u8,
}

/// Explores a script.
///
/// # Errors
/// The property that broke, and the acts that lead there.
pub fn check(script: &Script) -> Result<Count, Broken> {
    check_with(script, |client| Box::new(client))
}

/// Explores a script with a machine that makes a mistake.
///
/// # Errors
/// The property that broke: there should be one.
pub fn check_wrong(script: &Script, mistake: Mistake) -> Result<Count, Broken> {
    check_with(script, |client| Box::new(Wrong::new(client, mistake)))
}

fn check_with(
    script: &Script,
    around: impl for<'b> Fn(Client<'b>) -> Box<dyn Port + 'b>,
) -> Result<Count, Broken> {
    let lines = Lines::default();
    let config = ClientConfig::new("model", "1").era(script.era).start(None).probe(Millis(100));
    explore(|with| {
        let (mut rx, mut tx) = (vec![0; script.rx], vec![0; script.tx]);
        let mut slots: Vec<Slot> = (0..script.slots).map(|_| Slot::FREE).collect();
        let client = Client::new(&config, Buffers::new(&mut rx, &mut tx, &mut slots));
        let mut world = Surroundings {
            script,
            port: around(client),
            ledger: Ledger::new(script, &lines),
            now: Millis(0),
            rest: Rest::None,
            until: None,
            flying: Vec::new(),
            extras: vec![true; script.extras.len()],
            ticks: script.ticks,
            resets: 0,
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
        if !ledger.ended && !self.flying.is_empty() {
            acts.push(Act::Feed);
        }
        for (at, (request, entry)) in script.requests.iter().zip(&ledger.entries).enumerate() {
            match entry.state {
                State::Unsent if ledger.open && !ledger.ended => acts.push(Act::Ask(at)),
                State::Sent(_) | State::Ended(_) if request.cancels && !entry.given_up => {
                    acts.push(Act::Cancel(at));
                }
                _ => {}
            }
        }
        if self.flying.is_empty() && !ledger.ended {
            for (at, question) in ledger.peer.questions.iter().enumerate() {
                let again = question.of.is_some_and(|of| script.requests[of].again);
                let never = question.of.is_some_and(|of| script.requests[of].answer == Answer::Never);
                if !never && question.answers < 1 + u8::from(again) {
                    acts.push(Act::Answer(at));
                }
            }
            let extras = self.extras.iter().enumerate().filter(|(_, left)| **left && ledger.open);
            acts.extend(extras.map(|(at, _)| Act::Extra(at)));
        }
        if script.ends && !ledger.ended {
            acts.push(Act::End);
        }
        if script.resets && self.resets == 0 {
            acts.push(Act::Reset);
        }
        if let (Some(until), true) = (self.until, self.ticks > 0) {
            acts.push(Act::Tick);
            if until.0 > self.now.0 + 1 {
                acts.push(Act::Early);
            }
        }
        acts
    }

    fn act(&mut self, act: Act) -> Verdict {
        let mut refused = false;
        match act {
            Act::Poll => return self.poll(),
            Act::Sent(n) => {
                self.port.sent(n);
                self.ledger.sent(n)?;
            }
            Act::Ask(at) => refused = !self.ask(at)?,
            Act::Cancel(at) => {
                if let Some(call) = self.ledger.give_up(at) {
                    self.port.cancel(call);
                }
            }
            Act::Answer(at) => {
                self.flying = self.ledger.peer.answer(self.script, at).unwrap_or_default().into_bytes();
                self.ledger.peer.questions[at].answers += 1;
                self.ledger.answering = Some(at);
                return Ok(());
            }
            Act::Extra(at) => {
                self.extras[at] = false;
                self.flying = format!("{}\n", self.script.extras[at]).into_bytes();
                return Ok(());
            }
            Act::Feed => refused = !self.feed()?,
            Act::End => {
                self.port.end_of_input();
                self.ledger.end();
            }
            Act::Reset => {
                self.port.reset();
                self.resets += 1;
                self.flying.clear();
                self.ledger.reset();
            }
            Act::Early => return self.early(),
            Act::Tick => return self.tick(),
        }
        if refused {
            return self.ledger.look(self.port.output());
        }
        (self.rest, self.until) = (Rest::None, None);
        self.ledger.look(self.port.output())?;
        self.settle()
    }

    fn end(&mut self) -> Verdict {
        let wanted = if self.ledger.closed { Rest::Closed } else { Rest::Wait };
        if self.rest != wanted {
            return broken(Property::Progress, format!("all is done, and it rests at {:?}", self.rest));
        }
        if self.ledger.ended && !self.ledger.closed {
            return broken(Property::Closed, "the input has ended, and it is not closed");
        }
        if self.until.is_none() {
            self.now = self.now.after(Millis(1_000_000));
            self.poll()?;
            if self.rest != wanted {
                return broken(Property::Until, "time alone moves it, and it said that none would");
            }
        }
        if self.ledger.open && !self.ledger.closed { self.slots_are_free() } else { Ok(()) }
    }

    fn digest(&self, hasher: &mut dyn Hasher) {
        self.port.digest(hasher);
        hash(&(&self.ledger, self.rest, self.until, self.now), hasher);
        hash(&(&self.flying, &self.extras, self.ticks, self.resets), hasher);
    }
}

impl Surroundings<'_, '_> {
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
        self.ledger.polled(self.now);
        let said = self.port.poll(self.now);
        self.ledger.hear(&said, self.now, self.port.output())?;
        self.ledger.look(self.port.output())?;
        (self.rest, self.until) = match said {
            Said::Send => (Rest::Send, None),
            Said::Wait(until) => (Rest::Wait, until),
            Said::Closed => (Rest::Closed, None),
            Said::Blocked => return broken(Property::Progress, "a client is never blocked"),
            _ => (Rest::None, None),
        };
        if self.rest == Rest::None {
            return Ok(());
        }
        let output = self.port.output().len();
        if (self.rest == Rest::Send) != (output > 0) {
            let property = if self.rest == Rest::Closed { Property::Closed } else { Property::Progress };
            return broken(property, format!("{:?} with {output} bytes to send", self.rest));
        }
        match self.rest {
            Rest::Wait => self.ledger.settled(self.until)?,
            Rest::Closed => self.ledger.over()?,
            _ => {}
        }
        let again = self.port.poll(self.now);
        if again != said {
            let closed = self.rest == Rest::Closed;
            let property = if closed { Property::Closed } else { Property::Progress };
            return broken(property, format!("at rest ({:?}) it says {again:?}", self.rest));
        }
        self.ledger.look(self.port.output())
    }

    fn ask(&mut self, at: usize) -> Result<bool, Broken> {
        let before = self.port.output().len();
        match self.port.ask(&self.script.requests[at]) {
            Ok(call) => {
                self.ledger.asked(at, call)?;
                Ok(true)
            }
            Err(why) => {
                let open = self.ledger.in_flight();
                let reason = match why {
                    SendError::TooManyCalls => open >= self.script.slots,
                    SendError::Full => before > 0,
                    SendError::NotOpen => !self.ledger.open || self.ledger.ended,
                    _ => false,
                };
                if !reason {
                    broken(Property::Refused, format!("{why:?} without reason"))?;
                }
                Ok(false)
            }
        }
    }

    fn feed(&mut self) -> Result<bool, Broken> {
        let middle = self.flying.len() / 2;
        let is_whole = self.flying.last() == Some(&b'\n') && !self.ledger.half;
        let n = if self.script.cuts && is_whole { middle } else { self.flying.len() };
        let taken = self.port.feed(&self.flying[..n]);
        if taken == 0 && self.rest == Rest::Wait {
            broken(Property::Progress, "it waits for input and takes none")?;
        }
        self.flying.drain(..taken);
        self.ledger.half = !self.flying.is_empty() && (self.ledger.half || taken > 0);
        if self.flying.is_empty() {
            self.ledger.arrived(self.script);
        }
        Ok(taken > 0)
    }

    /// Just before the moment nothing happens.
    fn early(&mut self) -> Verdict {
        let (rest, until) = (self.rest, self.until);
        self.ticks -= 1;
        self.now = until.map_or(self.now, |until| Millis(until.0 - 1));
        self.poll()?;
        if (self.rest, self.until) != (rest, until) {
            return broken(Property::Until, format!("something happens before {until:?}"));
        }
        Ok(())
    }

    /// The moment has come: something must happen.
    fn tick(&mut self) -> Verdict {
        let (rest, until) = (self.rest, self.until);
        self.ticks -= 1;
        self.now = until.unwrap_or(self.now);
        let before = self.port.output().len();
        self.poll()?;
        if (self.rest, self.until) == (rest, until) && self.port.output().len() == before {
            return broken(Property::Until, format!("nothing happens at {until:?}"));
        }
        if self.rest == Rest::None { self.settle() } else { Ok(()) }
    }

    /// Slots that no request holds can be used.
    fn slots_are_free(&mut self) -> Verdict {
        let request = Request {
            kind: Kind::Call,
            answer: Answer::Never,
            limit: None,
            cancels: false,
            again: false,
            tag: "<probe>".into(),
        };
        let free = self.script.slots - self.ledger.in_flight();
        for round in 0..free {
            if let Err(e) = self.port.ask(&request) {
                return broken(
                    Property::Slots,
                    format!("of {free} slots only {round} are free at the end: {e}"),
                );
            }
            while let n @ 1.. = self.port.output().len() {
                self.port.sent(n);
            }
            let _ = self.port.poll(self.now);
        }
        Ok(())
    }
}

//! One client: what it calls, and whether the answers are right.

use core::fmt;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;

use super::far::{Limit, Why};
use super::work::{Random, Work, text};
use super::{Post, Run};

/// What came of the calls.
#[derive(Clone, Default, Debug)]
pub(super) struct Totals {
    answered: u64,
    /// Of texts, both ways.
    bytes: u64,
    deadlines: u64,
    cancels: u64,
    reports: u64,
    pub(super) lost: u64,
}

impl Totals {
    pub(super) fn add(&mut self, other: &Self) {
        self.answered += other.answered;
        self.bytes += other.bytes;
        self.deadlines += other.deadlines;
        self.cancels += other.cancels;
        self.reports += other.reports;
        self.lost += other.lost;
    }

    pub(super) fn given_up(&self) -> u64 {
        self.deadlines + self.cancels
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { answered, bytes, deadlines, cancels, reports, lost } = self;
        let calls = answered + deadlines + cancels + lost;
        let mega = *bytes as f64 / f64::from(1 << 20);
        write!(
            f,
            "{calls} calls: {answered} answered, {deadlines} past their deadline, {cancels} cancelled, {lost} lost by \
             restarts; {mega:.1} MiB, {reports} reports of progress"
        )
    }
}

/// Calls until the run is over; an error says what was not right.
pub(super) fn call_at_random(run: &Run, post: &Post, client: u64, totals: &mut Totals) -> Result<(), String> {
    let mut random = Random(run.seed.wrapping_mul(1000).wrapping_add(client));
    // Losses up to this start of the far end are accounted for.
    let mut missed = 0;
    for number in 0.. {
        if run.stop.load(Relaxed) {
            break;
        }
        let nonce = client << 40 | number;
        let (work, limit) = order(&mut random, nonce, post.name);
        let mut reports =
            Reports { last: 0.0, count: 0, wrong: None, expected: work.report(), most: work.steps };
        let mut hear = |done: f64, message: Option<&str>| reports.hear(done, message);
        let hear =
            if work.steps > 0 { Some(&mut hear as &mut (dyn FnMut(f64, Option<&str>) + Send)) } else { None };
        let caller = post.now().1;
        let result = caller.call("work", &work.json(), limit, hear);
        let said = |what: String| {
            let Work { nonce, up, down, steps, takes, hold } = &work;
            let up = up.len();
            format!(
                "call {number} (nonce {nonce}, {up} bytes up, {down} down, {steps} steps, {takes} ms, hold {hold}, {limit:?}): {what}"
            )
        };
        if let Some(wrong) = reports.wrong {
            return Err(said(wrong));
        }
        totals.reports += reports.count;
        match result {
            Ok(answer) if work.hold => {
                return Err(said(format!("it was to wait and was answered: {}", shown(&answer))));
            }
            Ok(answer) if answer == work.answer() => {
                totals.answered += 1;
                totals.bytes += (work.up.len() + answer.len()) as u64;
            }
            Ok(answer) => return Err(said(format!("the wrong answer: {}", shown(&answer)))),
            Err(Why::TimedOut) if limit != Limit::Never => totals.deadlines += 1,
            Err(Why::Cancelled) if limit != Limit::Never => totals.cancels += 1,
            Err(Why::Lost(why)) => {
                // Each start of the far end explains one lost call of a client, no more. So does each new session of a link: where
                // bytes are lost, the one after a start may have to be opened twice.
                let starts = post.now().0 + caller.sessions();
                if starts == missed {
                    return Err(said(format!("lost without a restart: {why}")));
                }
                missed = starts;
                totals.lost += 1;
            }
            Err(Why::TimedOut) => return Err(said("no answer came".into())),
            Err(other) => return Err(said(format!("{other:?}"))),
        }
    }
    Ok(())
}

/// What to call for, and how long to wait for it.
fn order(random: &mut Random, nonce: u64, name: &str) -> (Work, Limit) {
    let serial = name == "serial";
    let size = |random: &mut Random| {
        // All orders of magnitude are as likely, on a slow line not quite.
        let most = if serial && random.below(16) > 0 { 12 } else { 18 };
        let power = random.below(most + 1);
        let size = random.below(1 << power) as usize;
        if name == "pipes" && random.below(200) == 0 { 4 << 20 } else { size }
    };
    let (up, down) = (size(random), size(random));
    let up = text(up, random.next());
    let mut work = Work { nonce, up, down, steps: 0, takes: 0, hold: false };
    let brief = Duration::from_millis(random.below(40));
    let mut limit = Limit::Never;
    match random.below(16) {
        0 => {
            // It waits for ever, and nobody for it.
            work.hold = true;
            limit = Limit::Deadline(brief);
        }
        1 => {
            work.hold = true;
            limit = Limit::Cancel(brief);
        }
        // Perhaps it is given up, perhaps it is answered just then.
        2 => limit = Limit::Deadline(brief / 8),
        3 => limit = Limit::Cancel(brief / 8),
        4 => work.steps = 1 + random.below(8),
        5..8 => work.takes = random.below(6),
        _ => {}
    }
    (work, limit)
}

/// Progress must rise, and be of this call.
struct Reports {
    last: f64,
    count: u64,
    wrong: Option<String>,
    expected: String,
    most: u64,
}

impl Reports {
    fn hear(&mut self, done: f64, message: Option<&str>) {
        self.count += 1;
        if message != Some(&*self.expected) || done <= self.last || done > self.most as f64 {
            self.wrong = Some(format!(
                "progress after {} of {} that is wrong: {done}, {message:?}",
                self.last, self.most
            ));
        }
        self.last = done;
    }
}

fn shown(text: &str) -> String {
    let head: String = text.chars().take(80).collect();
    format!("{head:?} of {} bytes", text.len())
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicBool, AtomicU64};
    use std::sync::{Arc, Condvar, Mutex};

    use super::super::far::{Caller, Far, Hear};
    use super::*;

    /// A far end that answers rightly, but for one call.
    #[derive(Clone)]
    struct Liar {
        how: &'static str,
        calls: Arc<AtomicU64>,
    }

    impl Caller for Liar {
        fn call(&self, _: &str, args: &str, limit: Limit, hear: Option<Hear<'_>>) -> Result<String, Why> {
            let work = Work::read(args).unwrap();
            let lies = self.calls.fetch_add(1, Relaxed) == 4;
            let told =
                if lies && self.how == "crossed progress" { "7 goes on".into() } else { work.report() };
            if let Some(hear) = hear {
                hear(1.0, Some(&told));
            }
            match self.how {
                "crossed" if lies => Ok(Work { nonce: work.nonce + 1, ..work }.answer()),
                "cut" if lies => Ok(work.answer().split_off(1)),
                "changed" if lies => Ok(Work { up: work.up + "!", ..work }.answer()),
                "lost" if lies => Err(Why::Lost("closed".into())),
                "silent" if lies && limit == Limit::Never => Err(Why::TimedOut),
                "wrong" if lies => Err(Why::Wrong("-32603".into())),
                "stubborn" if work.hold => Ok(work.answer()),
                _ if work.hold => Err(Why::TimedOut),
                _ => Ok(work.answer()),
            }
        }
    }

    impl Far for Liar {
        fn name(&self) -> &'static str {
            "liar"
        }
        fn caller(&self) -> Arc<dyn Caller> {
            Arc::new(self.clone())
        }
        fn restart(&mut self) -> Result<(), String> {
            Ok(())
        }
        fn close(self: Box<Self>) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn every_kind_of_wrong_answer_is_found() {
        for (how, said) in [
            ("crossed", "the wrong answer"),
            ("cut", "the wrong answer"),
            ("changed", "the wrong answer"),
            ("lost", "lost without a restart"),
            ("silent", "no answer came"),
            ("wrong", "-32603"),
            ("stubborn", "it was to wait and was answered"),
            ("crossed progress", "progress after"),
        ] {
            // Not every call can go wrong in every way: the fifth of some seed can.
            let found = (0..200).find_map(|seed| {
                let run = Run {
                    seed,
                    stop: AtomicBool::new(false),
                    wrong: Mutex::new(None),
                    changed: Condvar::new(),
                };
                let liar = Liar { how, calls: Arc::default() };
                let post = Post::new(Box::new(liar.clone()), Arc::default());
                std::thread::scope(|scope| {
                    let called = scope.spawn(|| call_at_random(&run, &post, 0, &mut Totals::default()));
                    while liar.calls.load(Relaxed) < 8 && !called.is_finished() {
                        std::thread::yield_now();
                    }
                    run.stop.store(true, Relaxed);
                    called.join().unwrap().err()
                })
            });
            let found = found.unwrap_or_else(|| panic!("{how} is not found"));
            assert!(found.contains(said), "{how}: {found}");
        }
    }
}

//! Two links and the line between them, in simulated time: nothing here waits or reads a clock.
use barewire::Millis;
use barewire_serial::{Heard, Link};
use std::collections::VecDeque;

/// A small generator, so that a seed tells everything.
#[derive(Clone)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// What happens to bytes on their way: one in `one_in` is lost, damaged or doubled.
#[derive(Clone)]
pub struct Faults {
    pub rng: Rng,
    pub one_in: u64,
    pub hits: u64,
    pub total: u64,
}

impl Faults {
    pub fn new(seed: u64, one_in: u64) -> Self {
        Self { rng: Rng::new(seed), one_in, hits: 0, total: 0 }
    }

    pub fn none() -> Self {
        Self::new(1, 0)
    }

    pub fn pass(&mut self, byte: u8, out: &mut VecDeque<u8>) {
        self.total += 1;
        if self.one_in == 0 || self.rng.below(self.one_in) != 0 {
            return out.push_back(byte);
        }
        self.hits += 1;
        match self.rng.below(5) {
            0 | 1 => {}
            2 => out.push_back(byte ^ (1 << self.rng.below(8))),
            3 => out.push_back(self.rng.below(256) as u8),
            _ => out.extend([byte, byte]),
        }
    }
}

/// One end: a link, what its machine still has to say, and what it was told.
pub struct End<'b> {
    pub link: Link<'b>,
    pub say: VecDeque<u8>,
    pub told: Vec<u8>,
    pub restarted: u32,
    pub new_clients: u32,
    pub checked: u32,
    pub noise: Vec<String>,
    /// The machine takes nothing.
    pub stuck: bool,
}

impl<'b> End<'b> {
    pub fn new(link: Link<'b>) -> Self {
        Self {
            link,
            say: VecDeque::new(),
            told: Vec::new(),
            restarted: 0,
            new_clients: 0,
            checked: 0,
            noise: Vec::new(),
            stuck: false,
        }
    }

    pub fn say(&mut self, text: &str) {
        self.say.extend(text.as_bytes());
    }

    /// What came, without blank lines and what the link marked as its echo.
    pub fn lines(&self) -> Vec<String> {
        let ended = self.told.iter().rposition(|b| *b == b'\n').unwrap_or(0);
        let lines = self.told[..ended].split(|b| *b == b'\n');
        let lines = lines.filter(|l| !l.is_empty() && l.last() != Some(&0));
        lines.map(|l| String::from_utf8_lossy(l).into_owned()).collect()
    }

    pub fn pump(&mut self) {
        while !self.stuck && !self.link.ready().is_empty() {
            let n = self.link.ready().len().min(7);
            self.told.extend_from_slice(&self.link.ready()[..n]);
            self.link.taken(n);
        }
        if self.link.is_checked() {
            let n = self.link.push(self.say.make_contiguous());
            self.say.drain(..n);
        }
    }

    pub fn read(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let Self { link, restarted, new_clients, checked, noise, .. } = self;
            let n = link.receive(rest, &mut |heard| match heard {
                Heard::Restarted => *restarted += 1,
                Heard::NewClient => *new_clients += 1,
                Heard::Checked => *checked += 1,
                Heard::Noise(line) => noise.push(String::from_utf8_lossy(line).into_owned()),
                _ => {}
            });
            rest = &rest[n..];
            self.pump();
            assert!(n > 0 || self.stuck, "a link must go on");
            if n == 0 {
                return;
            }
        }
    }

    /// Writes at most `budget` bytes.
    pub fn write(&mut self, budget: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while out.len() < budget {
            self.pump();
            let n = self.link.output().len().min(budget - out.len());
            if n > 0 {
                out.extend_from_slice(&self.link.output()[..n]);
                self.link.sent(n);
                continue;
            }
            if !self.link.is_plain() || self.say.is_empty() {
                break;
            }
            // A few bytes at a time, so that switching in the middle is seen.
            let n = self.say.len().min(budget - out.len()).min(5);
            let bytes: Vec<u8> = self.say.drain(..n).collect();
            self.link.wrote(&bytes);
            out.extend_from_slice(&bytes);
        }
        out
    }
}

/// Both ends, and bytes on their way.
pub struct Sim<'b> {
    pub client: End<'b>,
    pub server: End<'b>,
    pub to_server: Faults,
    pub to_client: Faults,
    /// Bytes per millisecond, times 1000.
    pub rate: u64,
    /// Milliseconds that bytes take.
    pub latency: u64,
    pub now: u64,
    pub echo: bool,
    flying: VecDeque<(u64, bool, Vec<u8>)>,
    left: [u64; 2],
}

impl<'b> Sim<'b> {
    pub fn new(client: Link<'b>, server: Link<'b>, baud: u64) -> Self {
        Self {
            client: End::new(client),
            server: End::new(server),
            to_server: Faults::none(),
            to_client: Faults::none(),
            rate: baud / 10,
            latency: 1,
            now: 0,
            echo: false,
            flying: VecDeque::new(),
            left: [0; 2],
        }
    }

    pub fn faults(mut self, seed: u64, one_in: u64) -> Self {
        self.to_server = Faults::new(seed, one_in);
        self.to_client = Faults::new(seed.wrapping_add(99), one_in);
        self
    }

    /// One millisecond.
    pub fn step(&mut self) {
        self.now += 1;
        for end in [&mut self.client, &mut self.server] {
            end.link.tick(Millis(self.now));
        }
        while self.flying.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, to_server, bytes)) = self.flying.pop_front() else { break };
            if to_server { self.server.read(&bytes) } else { self.client.read(&bytes) }
        }
        for (to_server, left) in [true, false].into_iter().zip(0..) {
            self.left[left] = (self.left[left] + self.rate).min(self.rate * 4);
            let budget = (self.left[left] / 1000) as usize;
            let end = if to_server { &mut self.client } else { &mut self.server };
            let out = end.write(budget);
            self.left[left] -= out.len() as u64 * 1000;
            let faults = if to_server { &mut self.to_server } else { &mut self.to_client };
            let mut arrives = VecDeque::new();
            for byte in &out {
                faults.pass(*byte, &mut arrives);
            }
            let at = self.now + self.latency;
            self.flying.push_back((at, to_server, arrives.into()));
            if self.echo {
                self.flying.push_back((at, !to_server, out));
            }
        }
    }

    /// Runs until `done`; the simulated milliseconds that it took.
    pub fn run(&mut self, limit: u64, mut done: impl FnMut(&Self) -> bool) -> Option<u64> {
        let start = self.now;
        while !done(self) {
            if self.now - start >= limit {
                return None;
            }
            self.step();
        }
        Some(self.now - start)
    }

    /// Cuts the line for a moment: what is on its way is lost.
    pub fn lose_all(&mut self) {
        self.flying.clear();
    }
}

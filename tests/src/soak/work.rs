//! What is called: one tool that does a little of everything, and whose answer cannot be taken for that of another call.

use barewire::json::Raw;
use barewire::{Millis, ServerConfig, Tool, check_tools};

pub(super) static TOOLS: &[Tool<'static>] = &[
    Tool::new("work", "Tells what it was given, and gives what is asked for.", r#"{"type":"object"}"#),
    Tool::new("held", "How many calls wait to be cancelled.", r#"{"type":"object"}"#),
];
const _: () = check_tools(TOOLS);

pub(super) static CONFIG: ServerConfig<'static> =
    ServerConfig::new("soak", "1.0.0").tools(TOOLS).drain(Millis(200));

/// One order for the tool.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// No other call has it.
    pub(super) nonce: u64,
    /// The text that goes with it.
    pub(super) up: String,
    /// How many bytes come back.
    pub(super) down: usize,
    /// Reports of progress.
    pub(super) steps: u64,
    /// Milliseconds that it takes.
    pub(super) takes: u64,
    /// It never ends by itself.
    pub(super) hold: bool,
}

impl Work {
    /// As arguments.
    pub(super) fn json(&self) -> String {
        let Self { nonce, up, down, steps, takes, hold } = self;
        let up = serde_json::Value::from(&**up);
        format!(
            r#"{{"nonce":{nonce},"up":{up},"down":{down},"steps":{steps},"takes":{takes},"hold":{hold}}}"#
        )
    }

    /// Of arguments as they arrived.
    pub(super) fn read(args_json: &str) -> Option<Self> {
        let args = Raw::new(args_json)?;
        let number = |key| args.get(key).and_then(Raw::as_u64);
        Some(Self {
            nonce: number("nonce")?,
            up: args.get("up").and_then(Raw::as_string)?.chars().collect(),
            down: usize::try_from(number("down")?).ok()?,
            steps: number("steps")?,
            takes: number("takes")?,
            hold: args.get("hold").and_then(Raw::as_bool)?,
        })
    }

    /// The right answer to it.
    pub(super) fn answer(&self) -> String {
        let given = hash(self.up.as_bytes());
        format!("{} {} {given:016x} {}", self.nonce, self.up.len(), text(self.down, self.nonce))
    }

    /// What its reports of progress say.
    pub(super) fn report(&self) -> String {
        format!("{} goes on", self.nonce)
    }
}

/// `len` bytes of text: with characters that JSON escapes, and some that are longer than a byte.
pub(super) fn text(len: usize, seed: u64) -> String {
    const PLAIN: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz~\"\\\n{}[]:, '";
    let mut random = Random(seed ^ 0x50a6);
    let mut text = String::with_capacity(len);
    while text.len() < len {
        let mut bits = random.next();
        if bits >> 60 == 0 && text.len() + 2 <= len {
            text.push('ü');
        }
        for _ in 0..9.min(len - text.len()) {
            text.push(char::from(PLAIN[(bits & 63) as usize]));
            bits >>= 6;
        }
    }
    text
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// splitmix64: the same seed gives the same numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_pass_through_json_and_answers_differ() {
        let mut last = String::new();
        for len in [0, 1, 2, 3, 100, 1000] {
            let work =
                Work { nonce: len as u64, up: text(len, 7), down: len, steps: 1, takes: 0, hold: false };
            assert_eq!(work.up.len(), len);
            let again = Work::read(&work.json()).unwrap();
            assert_eq!((again.up.as_str(), again.answer()), (work.up.as_str(), work.answer()));
            assert_ne!(last, work.answer());
            last = work.answer();
        }
        let mut one = Work { nonce: 1, up: text(50, 1), down: 9, steps: 0, takes: 0, hold: true };
        let right = one.answer();
        one.up.pop();
        one.up.push('?');
        assert_ne!(one.answer(), right);
    }
}

//! Golden transcripts: what a server is sent and what it says, readable, for each revision of the protocol.
//!
//! A file describes one behaviour; `transcripts/matrix.txt` says for which revisions it runs. Lines:
//!
//! ```text
//! # a comment; the first one is the title
//! = config few               settings: config, rx, tx, slots (see `fixture`)
//! > {"jsonrpc":"2.0", ...}   the peer sends this line, LF added
//! >~ {"half                  the same without the LF
//! < {"jsonrpc":"2.0", ...}   the server says this line
//! ~ cancelled #1             the application is told this (all events are checked once a file names one)
//! ! answer #1 some text      the application does this
//! * hello                    the lines of parts/hello.txt
//! [legacy] > ...             only in these revisions: legacy, modern, 2025-06-18, 2025-06-18.., ..2025-03-26
//! ```
//!
//! In the text, `«...»` is a macro (see `script`), and `…` in an expected line is the rest of a string whose wording
//! is nobody's business.
//!
//! Whatever the chunks in which a transcript is fed and the sizes in which its output is written, output and events
//! are the same, byte for byte.

mod fixture;
mod matrix;
mod rig;
mod script;

pub use matrix::{Cell, Matrix, REASONS};
pub use rig::{How, Rig, Said, run};
pub use script::{Act, Op, REVISIONS, Script};

/// Runs one script every way that its size asks for; all that is wrong, in words.
///
/// # Errors
/// A description of the first difference.
pub fn check(script: &Script) -> Result<usize, String> {
    let whole = run(script, &How::WHOLE)?;
    script.compare(&whole)?;
    let mut lines = whole.lines();
    for how in ways(script.input_len()) {
        let other = run(script, &how).map_err(|e| format!("{how:?}: {e}"))?;
        if other.out != whole.out {
            return Err(format!("{how:?} gives other output:\n{}", differ(&whole.out, &other.out)));
        }
        if other.events != whole.events {
            return Err(format!("{how:?} gives other events:\n{}\n{}", whole.events, other.events));
        }
        lines += 1;
    }
    Ok(lines)
}

/// Every byte for short inputs, 64 places for long ones; three sizes of writes; small chunks.
fn ways(len: usize) -> Vec<How> {
    let mut all = vec![How { paced: true, ..How::WHOLE }];
    for write in [1, 7, 64] {
        all.push(How { write, ..How::WHOLE });
    }
    for chunk in [1, 5, 61] {
        all.push(How { chunk, write: chunk, ..How::WHOLE });
    }
    let mut random = Random::new(0x5eed);
    let cuts: Vec<usize> =
        if len <= 4096 { (1..len).collect() } else { (0..64).map(|_| random.below(len)).collect() };
    all.extend(cuts.into_iter().map(|cut| How { cut: Some(cut), ..How::WHOLE }));
    // Pieces of any size in both directions.
    for _ in 0..4 {
        all.push(How { chunk: 1 + random.below(200), write: 1 + random.below(200), ..How::WHOLE });
    }
    all
}

fn differ(one: &[u8], other: &[u8]) -> String {
    let at = one.iter().zip(other).position(|(a, b)| a != b).unwrap_or(one.len().min(other.len()));
    let part = |bytes: &[u8]| {
        let from = at.saturating_sub(60).min(bytes.len());
        String::from_utf8_lossy(&bytes[from..bytes.len().min(at + 120)]).into_owned()
    };
    format!("from byte {at}\n  whole …{}\n  other …{}", part(one), part(other))
}

/// Small numbers that look random and are the same each time (an LCG's upper bits).
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts a sequence.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Less than `n`, which is not 0.
    pub const fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

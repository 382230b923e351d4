//! The format of the cases: what is sent, to whom, and what must come of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest message that the default build takes, for `to_frame_limit`.
pub(super) const FRAME_LIMIT: usize = 16 << 20;

/// One case, as a line of the file has it. Members that only tell where it comes from are passed over.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) side: String,
    #[serde(default = "both")]
    pub(super) era: String,
    #[serde(default)]
    send: Vec<String>,
    #[serde(default)]
    pub(super) handshake: bool,
    #[serde(default)]
    expand: BTreeMap<String, Expand>,
    #[serde(default)]
    pub(super) trigger: Option<String>,
    #[serde(default)]
    pub(super) cli: Option<String>,
    #[serde(default)]
    pub(super) child: Option<String>,
    #[serde(default)]
    pub(super) eof: bool,
    #[serde(default)]
    pub(super) keep_open: bool,
    #[serde(default)]
    pub(super) close_reader: bool,
    #[serde(default)]
    pub(super) note: Option<String>,
    #[serde(default)]
    pub(super) era_note: Option<String>,
    #[serde(default)]
    pub(super) expect: Option<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Read apart, so that an unknown key fails this case and not the file.
    #[serde(default)]
    assert: Option<Value>,
}

fn both() -> String {
    "both".into()
}

/// How a placeholder of the case's own is made.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expand {
    #[serde(default)]
    repeat: Option<String>,
    #[serde(default)]
    open: String,
    #[serde(default)]
    core: String,
    #[serde(default)]
    close: String,
    #[serde(default)]
    count: usize,
    #[serde(default)]
    to_frame_limit: Option<i64>,
    #[serde(default)]
    no_newline: bool,
}

/// What must be true in the end; a key that is not here is a failure of the case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Assert {
    pub(super) answered: Vec<Value>,
    pub(super) errors: Vec<ErrorPair>,
    pub(super) answered_or_error: Vec<Value>,
    pub(super) not_answered: Vec<Value>,
    pub(super) reply_count: Option<usize>,
    pub(super) max_replies: BTreeMap<String, usize>,
    pub(super) order: Vec<Value>,
    pub(super) first_method: Option<String>,
    pub(super) contains: Texts,
    pub(super) not_contains: Texts,
    pub(super) raw_contains: Texts,
    pub(super) valid_utf8: bool,
    pub(super) every_line_json: bool,
    pub(super) no_byte: Texts,
    pub(super) no_panic: bool,
    pub(super) within_ms: Option<u64>,
    pub(super) exit: Option<i32>,
    pub(super) expect_data_supported: Option<Value>,
    pub(super) max_requests: Option<usize>,
    pub(super) never_sent: Texts,
    pub(super) client_error: Option<bool>,
    pub(super) tap_identical_bytes: bool,
}

/// An error that must occur; without a code any code will do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorPair {
    #[serde(default)]
    pub(super) id: Value,
    #[serde(default)]
    pub(super) code: Option<i64>,
}

/// One text or several.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            One(String),
            Many(Vec<String>),
        }
        Ok(Self(match Either::deserialize(deserializer)? {
            Either::One(text) => vec![text],
            Either::Many(texts) => texts,
        }))
    }
}

/// One step of the side that the runner plays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Step {
    /// One write.
    Write(Vec<u8>),
    /// Silence of so many milliseconds.
    Wait(u64),
    /// Silence until the other side has given up.
    WaitTimeout,
    /// The peer exits with this status.
    Exit(i32),
    /// From here on a fresh peer speaks.
    Respawned,
    /// The port is closed and opened again.
    Reopen,
}

impl Case {
    /// What the case says of the result.
    pub(super) fn assert(&self) -> Result<Option<Assert>, String> {
        self.assert
            .clone()
            .map(serde_json::from_value)
            .transpose()
            .map_err(|wrong| format!("the runner does not know this assert: {wrong}"))
    }

    /// The steps, with the case's own placeholders filled in.
    pub(super) fn steps(&self) -> Result<Vec<Step>, String> {
        self.send.iter().map(|entry| self.step(entry)).collect()
    }

    /// A number that the note gives for a buffer: `rx`, `tx` or `frame limit`.
    pub(super) fn noted(&self, what: &str) -> Option<usize> {
        let note = self.note.as_ref()?.to_lowercase();
        let words: Vec<&str> =
            note.split([' ', '-', ',', ':', ';']).filter(|word| !word.is_empty()).collect();
        let unit = |at: usize| match words.get(at) {
            Some(&"kib" | &"kb") => 1024,
            Some(&"mib") => 1 << 20,
            _ => 1,
        };
        let number =
            |at: usize| words.get(at).and_then(|word| word.parse::<usize>().ok()).map(|n| n * unit(at + 1));
        if what == "frame limit" {
            let at = words.windows(2).position(|pair| pair == ["frame", "limit"])?;
            return number(at + 2);
        }
        let at = words.iter().position(|word| *word == what)?;
        (at.saturating_sub(3)..at).rev().find_map(number).or_else(|| number(at + 1))
    }

    fn step(&self, entry: &str) -> Result<Step, String> {
        if let Some(command) = entry.strip_prefix('@').and_then(|rest| rest.strip_suffix('@')) {
            match command.split_once(':').unwrap_or((command, "")) {
                ("WAIT", ms) => return Ok(Step::Wait(ms.parse().map_err(|_| format!("no time: {entry}"))?)),
                ("EXIT", n) => return Ok(Step::Exit(n.parse().map_err(|_| format!("no status: {entry}"))?)),
                ("WAIT_TIMEOUT", "") => return Ok(Step::WaitTimeout),
                ("RESPAWNED", "") => return Ok(Step::Respawned),
                ("REOPEN", "") => return Ok(Step::Reopen),
                _ => {}
            }
        }
        if let Some(coded) = entry.strip_prefix("b64:") {
            return decode(coded).map(Step::Write).ok_or_else(|| format!("no base64: {coded}"));
        }
        let (mut line, mut newline) = (entry.to_owned(), true);
        for (name, expand) in &self.expand {
            if line.contains(name.as_str()) {
                newline &= !expand.no_newline;
                let limit = self.noted("frame limit").unwrap_or(FRAME_LIMIT);
                let room = limit.saturating_sub(line.len() - name.len());
                line = line.replace(name.as_str(), &expand.text(room));
            }
        }
        if newline {
            line.push('\n');
        }
        Ok(Step::Write(line.into_bytes()))
    }
}

impl Expand {
    /// `room` is how much makes the frame as long as the limit.
    fn text(&self, room: usize) -> String {
        let Some(repeat) = &self.repeat else {
            return [self.open.repeat(self.count), self.core.clone(), self.close.repeat(self.count)].concat();
        };
        let count = match self.to_frame_limit {
            Some(more) => {
                room.saturating_add_signed(isize::try_from(more).unwrap_or(0)) / repeat.len().max(1)
            }
            None => self.count,
        };
        repeat.repeat(count)
    }
}

/// Standard base64.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.trim_end_matches('=').bytes();
    let (mut out, mut held, mut bits) = (Vec::new(), 0_u32, 0);
    for digit in digits {
        let value = ALPHABET.iter().position(|known| *known == digit)?;
        held = held << 6 | u32::try_from(value).ok()?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{Case, Step, decode};

    fn case(text: &str) -> Case {
        serde_json::from_str(text).unwrap()
    }

    fn written(case: &Case) -> Vec<Vec<u8>> {
        let bytes = |step| if let Step::Write(bytes) = step { bytes } else { Vec::new() };
        case.steps().unwrap().into_iter().map(bytes).collect()
    }

    #[test]
    fn writes_are_made() {
        let case = case(
            r#"{"id":"x","side":"server","send":["a@N@","b64:Zm9v","@DEEP@","@WAIT:5@"],
                "expand":{"@N@":{"repeat":"zy","count":2,"no_newline":true},"@DEEP@":{"open":"[","core":"1","close":"]","count":3}}}"#,
        );
        assert_eq!(written(&case), [&b"azyzy"[..], b"foo", b"[[[1]]]\n", b""]);
        assert!(matches!(case.steps().unwrap()[3], Step::Wait(5)));
        assert_eq!(decode("//4K").unwrap(), b"\xff\xfe\n");
    }

    #[test]
    fn frames_are_filled_to_the_limit() {
        let text = r#"{"id":"x","side":"server","note":"run with frame limit 100","send":["ab@F@"],"expand":{"@F@":{"repeat":"q","to_frame_limit":1}}}"#;
        assert_eq!(written(&case(text))[0].len(), 102); // 101 and the LF
    }

    #[test]
    fn notes_give_sizes() {
        let noted = |note: &str, what: &str| {
            case(&format!(r#"{{"id":"x","side":"server","note":"{note}"}}"#)).noted(what)
        };
        assert_eq!(noted("run no_std build with 4 KiB TX buffer", "tx"), Some(4096));
        assert_eq!(noted("run no_std build with 512-byte RX buffer", "rx"), Some(512));
        assert_eq!(noted("run with frame limit 65536", "frame limit"), Some(65536));
        assert_eq!(noted("over pipes as asserted", "rx"), None);
    }

    #[test]
    fn unknown_asserts_are_refused() {
        assert!(case(r#"{"id":"x","side":"server","assert":{"answred":[1]}}"#).assert().is_err());
    }
}

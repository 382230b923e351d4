//! Reading a transcript for one revision, and comparing what was said with what it expects.
//!
//! Macros: `«rev»` the revision; `«meta»` the `_meta` member of a modern request and `«,meta»` the same after a comma
//! (nothing for legacy peers); `«params»` a `params` member with nothing but it; `«type»`, `«info»`, `«cache»` what
//! modern results carry besides; `«id?»` the id of an error that answers a message without readable id;
//! `«error CODE»` an error object of any wording; `«claim VERSION»` a complete modern `_meta` naming that version;
//! `«N*text»` text N times; `«hex 0a ff»` bytes; `«cr»`, `«lf»`, `«bom»`, `«sp»`.

use std::fs;
use std::path::{Path, PathBuf};

/// The published revisions, oldest first.
pub const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// What the application does between two messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// Answers the n-th deferred call with a text.
    Answer(usize, String),
    /// Answers the n-th deferred call with an error.
    Fail(usize, i64),
    /// Tells how far the n-th deferred call is.
    Progress(usize, u64),
    /// The n-th deferred call can't be answered any more.
    Gone(usize),
    /// The message is complete (where the channel keeps messages apart).
    End,
    /// The peer hung up.
    Eof,
    /// Time passes.
    Wait(u64),
    /// The line is new.
    Reset,
    /// The list of tools changed.
    Changed,
    /// The machine must say `Closed` now.
    Closed,
    /// The machine must be blocked now.
    Blocked,
}

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Bytes in.
    In(Vec<u8>),
    /// A line out, with `…` as it stands.
    Out(Vec<u8>),
    /// An event.
    Event(String),
    /// An act.
    Act(Act),
}

/// A transcript for one revision.
#[derive(Clone, Debug)]
pub struct Script {
    /// The file's name without its ending.
    pub name: String,
    /// The first comment.
    pub title: String,
    /// The revision it was read for.
    pub revision: &'static str,
    /// Its lines, each with its number in the file.
    pub ops: Vec<(usize, Op)>,
    /// The configuration's name.
    pub config: String,
    /// Sizes of the buffers, and calls in flight.
    pub sizes: (usize, usize, usize),
    /// Are events checked?
    pub names_events: bool,
}

impl Script {
    /// The folder of the transcripts.
    #[must_use]
    pub fn folder() -> PathBuf {
        let above =
            Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("transcripts"));
        above.into_iter().find(|folder| folder.exists()).unwrap_or_default()
    }

    /// Reads `folder/name.txt`.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn read(folder: &Path, name: &str, revision: &'static str) -> Result<Self, String> {
        let mut script = Self {
            name: name.into(),
            title: String::new(),
            revision,
            ops: Vec::new(),
            config: "all".into(),
            sizes: (16 * 1024, 8 * 1024, 4),
            names_events: false,
        };
        let path = folder.join(format!("{name}.txt"));
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        for (i, line) in text.lines().enumerate() {
            script.line(folder, i + 1, line, false).map_err(|e| format!("{name}.txt:{}: {e}", i + 1))?;
        }
        if script.title.is_empty() || !script.ops.iter().any(|(_, op)| matches!(op, Op::Out(_))) {
            return Err(format!("{name}.txt: no title, or no expected line for {revision}"));
        }
        Ok(script)
    }

    fn line(&mut self, folder: &Path, number: usize, line: &str, included: bool) -> Result<(), String> {
        if let Some(comment) = line.strip_prefix("# ") {
            if self.title.is_empty() {
                self.title = comment.into();
            }
            return Ok(());
        }
        let mut line = line;
        if line.is_empty() || line == "#" {
            return Ok(());
        }
        if let Some((selector, rest)) = line.strip_prefix('[').and_then(|l| l.split_once("] ")) {
            if !selected(selector, self.revision)? {
                return Ok(());
            }
            line = rest;
        }
        let (kind, rest) = line.split_at_checked(1).ok_or("starts with no sign")?;
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        let op = match kind {
            "=" => return self.setting(rest),
            "*" => {
                let path = folder.join("parts").join(format!("{rest}.txt"));
                let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
                return text.lines().try_for_each(|line| self.line(folder, number, line, true));
            }
            ">" => {
                let (text, feed) =
                    rest.strip_prefix("~ ").map_or((rest, &b"\n"[..]), |unended| (unended, &b""[..]));
                Op::In([&self.expand(text)?, feed].concat())
            }
            "<" => Op::Out(self.expand(rest)?),
            "~" => {
                self.names_events |= !included;
                Op::Event(String::from_utf8_lossy(&self.expand(rest)?).into_owned())
            }
            "!" => Op::Act(act(rest)?),
            _ => return Err(format!("unknown sign {kind:?}")),
        };
        self.ops.push((number, op));
        Ok(())
    }

    fn setting(&mut self, text: &str) -> Result<(), String> {
        let (key, value) = text.split_once(' ').ok_or("a setting has a key and a value")?;
        let number = || value.parse::<usize>().map_err(|e| e.to_string());
        match key {
            "config" => self.config = value.into(),
            "rx" => self.sizes.0 = number()?,
            "tx" => self.sizes.1 = number()?,
            "slots" => self.sizes.2 = number()?,
            _ => return Err(format!("unknown setting {key}")),
        }
        Ok(())
    }

    /// How many bytes go in.
    #[must_use]
    pub fn input_len(&self) -> usize {
        self.input().len()
    }

    /// All bytes that go in.
    #[must_use]
    pub fn input(&self) -> Vec<u8> {
        self.ops
            .iter()
            .filter_map(|(_, op)| if let Op::In(bytes) = op { Some(&bytes[..]) } else { None })
            .collect::<Vec<_>>()
            .concat()
    }

    /// At least as much as comes out.
    #[must_use]
    pub fn output_room(&self) -> usize {
        let line = |op: &Op| if let Op::Out(line) = op { line.len() + 1024 } else { 0 };
        8192 + self.ops.iter().map(|(_, op)| line(op)).sum::<usize>()
    }

    fn is_modern(&self) -> bool {
        self.revision == REVISIONS[4]
    }

    fn expand(&self, text: &str) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('«') {
            let (name, after) = after.split_once('»').ok_or("« without »")?;
            out.extend_from_slice(before.as_bytes());
            out.extend_from_slice(&self.macro_text(name)?);
            rest = after;
        }
        out.extend_from_slice(rest.as_bytes());
        Ok(out)
    }

    fn macro_text(&self, name: &str) -> Result<Vec<u8>, String> {
        let claim = |version: &str| {
            format!(
                "\"_meta\":{{\"io.modelcontextprotocol/protocolVersion\":\"{version}\",\
                 \"io.modelcontextprotocol/clientInfo\":{{\"name\":\"c\",\"version\":\"1\"}},\
                 \"io.modelcontextprotocol/clientCapabilities\":{{}}}}"
            )
        };
        let modern = |text: String| if self.is_modern() { text } else { String::new() };
        let meta = || claim(self.revision);
        Ok(match name {
            "rev" => self.revision.into(),
            "meta" => modern(meta()),
            ",meta" => modern(format!(",{}", meta())),
            "params" => modern(format!(",\"params\":{{{}}}", meta())),
            "type" => modern("\"resultType\":\"complete\",".into()),
            "info" => modern(format!(",{}", server_info())),
            "cache" => modern(",\"ttlMs\":0,\"cacheScope\":\"private\"".into()),
            "server" => server_info(),
            // 2025-11-25 allows it to be left out, newer revisions demand it, older peers know JSON-RPC's null.
            "id?" if self.revision < REVISIONS[3] => ",\"id\":null".into(),
            "id?" => String::new(),
            "cr" => "\r".into(),
            "lf" => "\n".into(),
            "sp" => " ".into(),
            "bom" => "\u{feff}".into(),
            _ => {
                if let Some(code) = name.strip_prefix("error ") {
                    return Ok(format!("\"error\":{{\"code\":{code},\"message\":\"…\"}}").into_bytes());
                }
                if let Some(version) = name.strip_prefix("claim ") {
                    return Ok(claim(version).into_bytes());
                }
                if let Some(hex) = name.strip_prefix("hex ") {
                    return hex
                        .split(' ')
                        .map(|byte| u8::from_str_radix(byte, 16).map_err(|e| e.to_string()))
                        .collect();
                }
                let (times, text) = name.split_once('*').ok_or(format!("unknown macro {name}"))?;
                text.repeat(times.parse::<usize>().map_err(|e| format!("{times}: {e}"))?)
            }
        }
        .into_bytes())
    }

    /// Compares what was said with what is expected.
    ///
    /// # Errors
    /// The first difference, with the line of the transcript.
    pub fn compare(&self, said: &super::rig::Said) -> Result<(), String> {
        let expected: Vec<_> = self
            .ops
            .iter()
            .filter_map(|(n, op)| if let Op::Out(line) = op { Some((*n, line)) } else { None })
            .collect();
        let mut out = said.out.split(|b| *b == b'\n').collect::<Vec<_>>();
        let tail = out.pop().unwrap_or_default();
        if !tail.is_empty() {
            return Err(format!("the output ends without LF: {}", String::from_utf8_lossy(tail)));
        }
        for (i, (number, wanted)) in expected.iter().enumerate() {
            let got = out.get(i).copied();
            if !got.is_some_and(|got| fits(wanted, got)) {
                return Err(format!(
                    "{}.txt:{number}\n  expected {}\n  got      {}",
                    self.name,
                    short(wanted),
                    got.map_or("nothing".into(), short)
                ));
            }
        }
        if let Some(more) = out.get(expected.len()) {
            return Err(format!("{}.txt: not expected: {}", self.name, short(more)));
        }
        let events: Vec<_> = self
            .ops
            .iter()
            .filter_map(|(_, op)| if let Op::Event(line) = op { Some(line.as_str()) } else { None })
            .collect();
        let got: Vec<_> = said.events.lines().collect();
        if self.names_events && events != got {
            return Err(format!("{}.txt: events\n  expected {events:?}\n  got      {got:?}", self.name));
        }
        Ok(())
    }
}

fn server_info() -> String {
    "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"fixture\",\"version\":\"1.0\"}}".into()
}

fn selected(selector: &str, revision: &'static str) -> Result<bool, String> {
    let known = |name: &str| REVISIONS.contains(&name).then_some(()).ok_or(format!("no revision {name}"));
    for part in selector.split(' ') {
        let hit = match part {
            "legacy" => revision != REVISIONS[4],
            "modern" => revision == REVISIONS[4],
            _ => match part.split_once("..") {
                None => {
                    known(part)?;
                    part == revision
                }
                Some((from, to)) => {
                    let ends = [from, to];
                    ends.iter().filter(|end| !end.is_empty()).try_for_each(|end| known(end))?;
                    from <= revision && (to.is_empty() || revision <= to)
                }
            },
        };
        if hit {
            return Ok(true);
        }
    }
    Ok(false)
}

fn act(text: &str) -> Result<Act, String> {
    let mut words = text.splitn(3, ' ');
    let verb = words.next().unwrap_or_default();
    let mut call = || {
        let word = words.next().and_then(|w| w.strip_prefix('#')).ok_or("#N is missing")?;
        word.parse::<usize>().map_err(|e| e.to_string())
    };
    Ok(match verb {
        "answer" => Act::Answer(call()?, words.next().unwrap_or("ok").into()),
        "fail" => Act::Fail(call()?, number(words.next())?),
        "progress" => Act::Progress(call()?, number(words.next())?),
        "gone" => Act::Gone(call()?),
        "wait" => Act::Wait(number(words.next())?),
        "end" => Act::End,
        "eof" => Act::Eof,
        "reset" => Act::Reset,
        "changed" => Act::Changed,
        "closed" => Act::Closed,
        "blocked" => Act::Blocked,
        _ => return Err(format!("unknown act {verb}")),
    })
}

fn number<T: core::str::FromStr>(word: Option<&str>) -> Result<T, String> {
    word.and_then(|w| w.parse().ok()).ok_or_else(|| "a number is missing".into())
}

/// `…` in `wanted` is the rest of a string, one character at least.
fn fits(wanted: &[u8], got: &[u8]) -> bool {
    let dots = "…".as_bytes();
    let Some(at) = wanted.windows(dots.len()).position(|w| w == dots) else { return wanted == got };
    let Some(rest) = got.strip_prefix(&wanted[..at]) else { return false };
    let mut end = 0;
    while rest.get(end).is_some_and(|b| *b != b'"') {
        end += if rest[end] == b'\\' { 2 } else { 1 };
    }
    end > 0 && rest.get(end..).is_some_and(|rest| fits(&wanted[at + dots.len()..], rest))
}

fn short(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.len() <= 2000 {
        text.into_owned()
    } else {
        format!("{} … ({} bytes)", &text.chars().take(1500).collect::<String>(), bytes.len())
    }
}

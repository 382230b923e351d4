//! Reading captures: JSON logs, text logs, and plain files of MCP lines.

use barewire::json::{Kind, Raw};

use super::write::{VERSION, mark};
use super::{Entry, Event, Micros, Stream, What, base64};

/// A capture that was read.
#[derive(Default, Debug)]
pub(crate) struct Capture {
    /// In the order of the file.
    pub(crate) entries: Vec<Entry>,
    /// What could not be read, by line.
    pub(crate) notes: Vec<String>,
    /// Whether directions were guessed: the file had none.
    pub(crate) guessed: bool,
}

/// Reads any of the three kinds; the first line that is not blank decides which.
pub(crate) fn read(file: &[u8]) -> Result<Capture, String> {
    // Some editors put a byte order mark before everything. Before a message it is the peer's, and a finding.
    let bare = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let ours = |line: &[u8]| is_entry(line) || text_mark(line).is_some();
    let file = if bare.split(|&b| b == b'\n').next().is_some_and(ours) { bare } else { file };
    let first = file.split(|&b| b == b'\n').find(|line| !line.trim_ascii().is_empty());
    match first {
        None => Err("the capture is empty".into()),
        Some(line) if is_entry(line) => json_log(file),
        Some(line) if text_mark(line).is_some() => Ok(text_log(file)),
        Some(_) if is_binary(file) => {
            Err("a binary file, no capture: no line of it is a JSON object. `barewire tap --log FILE` writes captures".into())
        }
        Some(_) => Ok(plain(file)),
    }
}

/// Whether these are no messages at all. What a serial line says may have noise, zeros too, but then messages as well.
fn is_binary(file: &[u8]) -> bool {
    let is_object =
        |line: &[u8]| Raw::from_bytes(line.trim_ascii()).is_ok_and(|raw| raw.kind() == Kind::Object);
    file.contains(&0) && !file.split(|&b| b == b'\n').any(is_object)
}

fn is_entry(line: &[u8]) -> bool {
    Raw::from_bytes(line.trim_ascii())
        .is_ok_and(|raw| raw.get("dir").is_some() && raw.get("jsonrpc").is_none())
}

fn json_log(file: &[u8]) -> Result<Capture, String> {
    let mut capture = Capture::default();
    for (number, line) in file.split(|&b| b == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        match Raw::from_bytes(line) {
            Ok(raw) => {
                if let Some(version) = raw.get("capture").and_then(Raw::as_u64).filter(|&v| v > VERSION) {
                    return Err(format!(
                        "the capture has version {version}; this barewire reads up to {VERSION}"
                    ));
                }
                match entry(raw) {
                    Some(entry) => capture.entries.push(entry),
                    None => capture.notes.push(format!("line {}: not an entry of a capture", number + 1)),
                }
            }
            Err(error) => {
                capture.notes.push(format!("line {}: no JSON at byte {}", number + 1, error.at));
            }
        }
    }
    Ok(capture)
}

fn entry(raw: Raw<'_>) -> Option<Entry> {
    let at = raw.get("t").and_then(Raw::as_f64).map(|seconds| (seconds * 1e6).round() as Micros);
    let dir = string(raw.get("dir")?)?;
    let what = if dir == "ev" {
        What::Event(event(raw)?)
    } else {
        let stream = Stream::named(&dir)?;
        let bytes = match raw.get("text") {
            Some(text) => string(text)?.into_bytes(),
            None => base64::decode(&string(raw.get("b64")?)?)?,
        };
        What::Bytes(stream, bytes)
    };
    Some(Entry { at, what })
}

fn event(raw: Raw<'_>) -> Option<Event> {
    let name = string(raw.get("event")?)?;
    Some(match name.as_str() {
        "start" => Event::Start {
            command: raw
                .get("command")
                .map(|c| c.elements().filter_map(string).collect())
                .unwrap_or_default(),
            pid: raw.get("pid").and_then(Raw::as_u64).and_then(|pid| u32::try_from(pid).ok()),
        },
        "eof" => Event::Eof(Stream::named(&string(raw.get("which")?)?)?),
        "signal" => {
            let sig = raw.get("sig")?;
            Event::Signal(string(sig).unwrap_or_else(|| sig.as_str().to_owned()))
        }
        "exit" => {
            let rc = raw.get("rc").and_then(Raw::as_i64).and_then(|rc| i32::try_from(rc).ok());
            Event::Exit {
                code: rc.filter(|&rc| rc >= 0),
                signal: rc.filter(|&rc| rc < 0).map(i32::wrapping_neg),
            }
        }
        "lost" => Event::Lost(raw.get("reads").and_then(Raw::as_u64).unwrap_or(1)),
        _ => Event::Other(name),
    })
}

fn string(raw: Raw<'_>) -> Option<String> {
    (raw.kind() == Kind::String).then(|| raw.as_string().map(|s| s.to_string())).flatten()
}

/// The stream of a marked line, and the line; `None` for the stream of an event.
fn text_mark(line: &[u8]) -> Option<(Option<Stream>, &[u8])> {
    for stream in [Stream::C2s, Stream::S2c, Stream::Err] {
        if let Some(rest) = line.strip_prefix(mark(stream)) {
            return Some((Some(stream), rest));
        }
        // An editor may have taken the space of an empty line away.
        if line == mark(stream).trim_ascii_end() {
            return Some((Some(stream), b""));
        }
    }
    line.strip_prefix(b"--- ").map(|rest| (None, rest))
}

fn text_log(file: &[u8]) -> Capture {
    let mut capture = Capture::default();
    for (number, line) in file.split(|&b| b == b'\n').enumerate() {
        let what = match text_mark(line) {
            Some((Some(stream), bytes)) => What::Bytes(stream, [bytes, b"\n"].concat()),
            Some((None, text)) => match text_event(&String::from_utf8_lossy(text), &mut capture.entries) {
                Some(event) => What::Event(event),
                None => continue,
            },
            None if line.trim_ascii().is_empty() => continue,
            None => {
                capture.notes.push(format!("line {}: no >>>, <<<, !!! or --- before it", number + 1));
                continue;
            }
        };
        capture.entries.push(Entry { at: None, what });
    }
    capture
}

fn text_event(text: &str, before: &mut [Entry]) -> Option<Event> {
    if text.starts_with("no newline at the end") {
        if let Some(Entry { what: What::Bytes(_, bytes), .. }) = before.last_mut() {
            bytes.pop();
        }
        return None;
    }
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some(match name {
        "start" => Event::Start { command: vec![rest.to_owned()], pid: None },
        "eof" if Stream::named(rest).is_some() => Event::Eof(Stream::named(rest)?),
        "signal" => Event::Signal(rest.to_owned()),
        "exit" => {
            let number = rest.rsplit(' ').next().and_then(|n| n.parse().ok());
            let by_signal = rest.starts_with("by signal");
            Event::Exit { code: number.filter(|_| !by_signal), signal: number.filter(|_| by_signal) }
        }
        "lost" => Event::Lost(rest.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(1)),
        _ => Event::Other(text.to_owned()),
    })
}

/// A file of bare MCP lines. Who sent what is guessed from methods, and from which side has a request open.
fn plain(file: &[u8]) -> Capture {
    let mut capture = Capture { guessed: true, ..Capture::default() };
    let mut open: [Vec<Vec<u8>>; 2] = Default::default();
    for line in file.split_inclusive(|&b| b == b'\n') {
        let stream = guess(line, &mut open);
        capture.entries.push(Entry { at: None, what: What::Bytes(stream, line.to_vec()) });
    }
    capture
}

fn guess(line: &[u8], open: &mut [Vec<Vec<u8>>; 2]) -> Stream {
    let Ok(mut raw) = Raw::from_bytes(line.trim_ascii()) else {
        // Only servers print by accident.
        return Stream::S2c;
    };
    if raw.kind() == Kind::Array {
        match raw.elements().next() {
            Some(first) => raw = first,
            None => return Stream::C2s,
        }
    }
    let id = raw.get("id");
    if let Some(method) = raw.get("method").and_then(string) {
        let stream = if is_servers(&method) { Stream::S2c } else { Stream::C2s };
        if let Some(id) = id {
            open[stream.index()].push(id.as_bytes().to_vec());
        }
        return stream;
    }
    for asked in [Stream::C2s, Stream::S2c] {
        let ids = &mut open[asked.index()];
        let same = |known: &Vec<u8>| {
            Raw::from_bytes(known).is_ok_and(|known| id.is_some_and(|id| known.same_id(id)))
        };
        if let Some(at) = ids.iter().position(same) {
            ids.remove(at);
            return if asked == Stream::C2s { Stream::S2c } else { Stream::C2s };
        }
    }
    Stream::S2c
}

/// Methods that only a server sends.
fn is_servers(method: &str) -> bool {
    matches!(
        method,
        "sampling/createMessage"
            | "elicitation/create"
            | "roots/list"
            | "notifications/message"
            | "notifications/progress"
            | "notifications/tools/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated"
            | "notifications/prompts/list_changed"
            | "notifications/elicitation/complete"
            | "notifications/subscriptions/acknowledged"
            | "notifications/tasks"
            | "notifications/tasks/status"
    )
}

#[cfg(test)]
mod tests {
    use super::super::write::{Encoder, Format};
    use super::*;

    fn everything() -> Vec<Entry> {
        let bytes =
            |at, stream, bytes: &[u8]| Entry { at: Some(at), what: What::Bytes(stream, bytes.to_vec()) };
        let event = |at, event| Entry { at: Some(at), what: What::Event(event) };
        vec![
            event(0, Event::Start { command: vec!["a b".into(), "\"c\"".into()], pid: Some(7) }),
            bytes(1, Stream::C2s, b"{\"id\":1.50}\r\n"),
            bytes(20, Stream::S2c, b"\xff\xfe\n"),
            bytes(300, Stream::S2c, "caf\u{e9}\u{0} \u{7f} \u{2028}".as_bytes()),
            bytes(4_000, Stream::Err, &(0..=255).collect::<Vec<u8>>()),
            event(50_000, Event::Signal("TERM".into())),
            event(50_001, Event::Eof(Stream::C2s)),
            event(600_000, Event::Lost(3)),
            event(7_000_000, Event::Exit { code: None, signal: Some(15) }),
            event(123_456_789_012, Event::Exit { code: Some(3), signal: None }),
        ]
    }

    #[test]
    fn a_json_log_comes_back_as_it_was() {
        let mut encoder = Encoder::new(Format::Jsonl, std::time::UNIX_EPOCH);
        let mut file = Vec::new();
        for entry in everything() {
            let line = encoder.encode(&entry);
            assert_eq!(line.iter().filter(|&&b| b == b'\n').count(), 1);
            file.extend(line);
        }
        assert!(file.starts_with(b"{\"capture\":1,\"t\":0.000000,\"dir\":\"ev\",\"event\":\"start\""));
        let capture = read(&file).unwrap();
        assert_eq!(capture.entries, everything());
        assert!(capture.notes.is_empty() && !capture.guessed);
    }

    #[test]
    fn a_text_log_keeps_lines_and_directions() {
        let mut encoder = Encoder::new(Format::Text, std::time::UNIX_EPOCH);
        let mut file = Vec::new();
        for entry in everything() {
            file.extend(encoder.encode(&entry));
        }
        let capture = read(&file).unwrap();
        let of = |wanted: Stream| -> Vec<u8> {
            let each = capture.entries.iter().filter_map(|e| match &e.what {
                What::Bytes(stream, bytes) if *stream == wanted => Some(bytes.clone()),
                _ => None,
            });
            each.flatten().collect()
        };
        assert_eq!(of(Stream::C2s), b"{\"id\":1.50}\r\n");
        assert_eq!(
            of(Stream::S2c),
            "\u{0}".as_bytes().iter().fold(b"\xff\xfe\ncaf\xc3\xa9".to_vec(), |mut all, &b| {
                all.push(b);
                all.extend_from_slice(" \u{7f} \u{2028}".as_bytes());
                all
            })
        );
        assert_eq!(of(Stream::Err), (0..=255).collect::<Vec<u8>>());
    }

    #[test]
    fn a_cut_log_is_read_up_to_the_cut() {
        let capture =
            read(b"{\"capture\":1,\"t\":0,\"dir\":\"ev\",\"event\":\"start\"}\n{\"t\":0.1,\"dir\":\"c2")
                .unwrap();
        assert_eq!(capture.entries.len(), 1);
        assert_eq!(capture.notes.len(), 1);
        assert!(
            read(b"{\"capture\":9,\"dir\":\"ev\",\"event\":\"start\"}\n").unwrap_err().contains("version 9")
        );
        assert!(read(b" \n").is_err());
    }

    #[test]
    fn plain_lines_get_their_directions() {
        let lines = [
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}"#,
            r#"{"jsonrpc":"2.0","id":"x","method":"roots/list"}"#,
            r#"{"jsonrpc":"2.0","id":"x","result":{}}"#,
            "print",
        ];
        let capture = read(lines.join("\n").as_bytes()).unwrap();
        let streams = capture.entries.iter().map(|e| match &e.what {
            What::Bytes(stream, _) => stream.name(),
            What::Event(_) => "ev",
        });
        assert_eq!(streams.collect::<Vec<_>>(), ["c2s", "s2c", "c2s", "s2c", "s2c", "c2s", "s2c"]);
    }
}

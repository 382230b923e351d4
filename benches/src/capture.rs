//! Messages out of a file: plain lines, or what `barewire tap --log` wrote (docs/capture.md).

use core::fmt;

use barewire::json::{Kind, Raw};
use barewire::rpc::{Fault, Message};

/// The version of the format that is read.
const VERSION: u64 = 1;

/// The messages of a file.
#[derive(Debug, Default)]
pub struct Messages {
    /// As they stood on the wire, in order of their streams, without line feeds.
    pub lines: Vec<Vec<u8>>,
    /// Lines that are no messages, and are left out.
    pub left_out: usize,
}

/// Why there is nothing to measure in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BadCapture {
    /// There is nothing in it.
    Empty,
    /// It was written in a later version of the format.
    Newer(u64),
    /// It is a log in which no server and no client ever says anything.
    Silent,
    /// No line is a message; of the first one, why.
    NoMessage(Fault),
}

impl fmt::Display for BadCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Newer(version) => {
                write!(
                    f,
                    "the capture has version {version}, and only {VERSION} can be read: update the benches"
                )
            }
            Self::Silent => {
                f.write_str("the log has no bytes of a client or a server in it: was anything said?")
            }
            Self::NoMessage(fault) => write!(
                f,
                "no line of it is an MCP message; of the first: {fault}. Give lines of JSON-RPC, or what `barewire tap --log` wrote"
            ),
        }
    }
}
impl core::error::Error for BadCapture {}

/// Reads a file of either kind; its first line that is not blank says which it is.
///
/// # Errors
/// [`BadCapture`] where there is nothing to measure.
pub fn read(file: &[u8]) -> Result<Messages, BadCapture> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let first = lines(file).next().ok_or(BadCapture::Empty)?;
    let found = if is_entry(first) {
        entries(file)?
    } else if mark(first).is_some() {
        lines(file)
            .filter_map(mark)
            .filter_map(|(wire, line)| wire.then_some(line))
            .map(<[u8]>::to_vec)
            .collect()
    } else {
        lines(file).map(<[u8]>::to_vec).collect()
    };
    let (mut messages, mut fault) = (Messages::default(), None);
    for line in found {
        match Message::parse(&line) {
            Ok(_) => messages.lines.push(line),
            Err(invalid) => {
                fault.get_or_insert(invalid.fault);
                messages.left_out += 1;
            }
        }
    }
    match fault {
        Some(fault) if messages.lines.is_empty() => Err(BadCapture::NoMessage(fault)),
        None if messages.lines.is_empty() => Err(BadCapture::Silent),
        _ => Ok(messages),
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

fn is_entry(line: &[u8]) -> bool {
    Raw::from_bytes(line).is_ok_and(|raw| raw.get("dir").is_some() && raw.get("jsonrpc").is_none())
}

/// A line of a text log without its mark, and whether it stood on the wire.
fn mark(line: &[u8]) -> Option<(bool, &[u8])> {
    let (mark, rest) = line.split_at_checked(3)?;
    match mark {
        b">>>" | b"<<<" => Some((true, rest.trim_ascii_start())),
        b"!!!" | b"---" => Some((false, rest)),
        _ => None,
    }
}

/// What both sides wrote: entries are reads, which begin and end anywhere.
fn entries(file: &[u8]) -> Result<Vec<Vec<u8>>, BadCapture> {
    let (mut client, mut server) = (Vec::new(), Vec::new());
    for line in lines(file) {
        // A file may be cut anywhere.
        let Ok(entry) = Raw::from_bytes(line) else { continue };
        if let Some(version) = entry.get("capture").and_then(Raw::as_u64).filter(|version| *version > VERSION)
        {
            return Err(BadCapture::Newer(version));
        }
        let stream = match entry.get("dir") {
            Some(dir) if dir.is("c2s") => &mut client,
            Some(dir) if dir.is("s2c") => &mut server,
            _ => continue,
        };
        if let Some(text) = string(entry.get("text")) {
            stream.extend_from_slice(text.as_bytes());
        } else if let Some(bytes) = string(entry.get("b64")).and_then(|text| base64(&text)) {
            stream.extend_from_slice(&bytes);
        }
    }
    Ok(lines(&client).chain(lines(&server)).map(<[u8]>::to_vec).collect())
}

fn string(value: Option<Raw<'_>>) -> Option<String> {
    value.filter(|value| value.kind() == Kind::String)?.as_string().map(|text| text.to_string())
}

/// Decodes base64; `None` where it is none.
fn base64(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    (held < 6).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"{"capture":1,"t":0.0,"dir":"ev","event":"start","by":"barewire 0.1.0","command":["a"],"pid":1}
{"t":0.1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth"}
{"t":0.2,"dir":"err","text":"a log line\n"}
{"t":0.3,"dir":"c2s","text":"od\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n"}
{"t":0.4,"dir":"s2c","b64":"eyJqc29ucnBjIjoiMi4wIiwiaWQiOjEsInJlc3VsdCI6e319Cg=="}
{"t":0.5,"dir":"s2c","text":"Listening\n"}
{"t":0.6,"dir":"s2"#;

    fn texts(messages: &Messages) -> Vec<&str> {
        messages.lines.iter().map(|line| core::str::from_utf8(line).unwrap()).collect()
    }

    #[test]
    fn logs_of_tap_are_joined_again() {
        let messages = read(LOG.as_bytes()).unwrap();
        let expected = [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ];
        assert_eq!((texts(&messages), messages.left_out), (expected.to_vec(), 1));
    }

    #[test]
    fn text_logs_and_plain_lines() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let text = format!(
            "--- start a\n>>> {ping}\n!!! warming up\n<<< {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}\n"
        );
        assert_eq!(texts(&read(text.as_bytes()).unwrap()).len(), 2);
        let plain = format!("\u{feff}{ping}\r\n\n{ping}");
        assert_eq!(texts(&read(plain.as_bytes()).unwrap()), [ping, ping]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let why = |file: &str| read(file.as_bytes()).unwrap_err();
        assert_eq!(why(""), BadCapture::Empty);
        assert_eq!(why(" \n\r\n"), BadCapture::Empty);
        assert_eq!(why(r#"{"capture":2,"dir":"ev","event":"start"}"#), BadCapture::Newer(2));
        assert_eq!(why(r#"{"dir":"ev","event":"exit","rc":0}"#), BadCapture::Silent);
        assert!(matches!(why("hello\n"), BadCapture::NoMessage(_)));
        let told = why("[general]\nlevel = 3\n").to_string();
        assert!(
            told.contains("no line of it is an MCP message") && told.contains("barewire tap --log"),
            "{told}"
        );
        for text in ["A", "AA=A", "A*AA"] {
            assert_eq!(base64(text), None, "{text}");
        }
    }
}

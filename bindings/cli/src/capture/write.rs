//! Entries as the lines of a log: JSON lines, exact to byte and read, or marked text for reading and pasting.

use std::time::{SystemTime, UNIX_EPOCH};

use barewire::json::Raw;

use super::{Entry, Event, Micros, Stream, What, base64};
use crate::text;

/// The version that the first line of a JSON log carries.
pub(crate) const VERSION: u64 = 1;

/// How a log is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Format {
    /// JSON lines, one per read: exact, and what `explain` reads best.
    Jsonl,
    /// `>>>` and `<<<` before each line of the client and the server.
    Text,
}

/// Turns entries into bytes of a log.
pub(crate) struct Encoder {
    format: Format,
    /// The date of time 0.
    began: SystemTime,
    /// Unfinished lines of each stream: the text format writes whole lines only.
    partial: [Vec<u8>; 3],
}

impl Encoder {
    pub(crate) fn new(format: Format, began: SystemTime) -> Self {
        Self { format, began, partial: Default::default() }
    }

    /// The lines for one entry, each with its LF. May be empty in the text format.
    pub(crate) fn encode(&mut self, entry: &Entry) -> Vec<u8> {
        match self.format {
            Format::Jsonl => json_line(entry, self.began),
            Format::Text => self.text_lines(entry),
        }
    }

    /// What is left when no entry follows: lines that never ended.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        for stream in [Stream::C2s, Stream::S2c, Stream::Err] {
            self.close(stream, &mut out);
        }
        out
    }

    fn text_lines(&mut self, entry: &Entry) -> Vec<u8> {
        let mut out = Vec::new();
        match &entry.what {
            What::Bytes(stream, bytes) => {
                for piece in bytes.split_inclusive(|&b| b == b'\n') {
                    let partial = &mut self.partial[stream.index()];
                    partial.extend_from_slice(piece);
                    if partial.ends_with(b"\n") {
                        out.extend_from_slice(mark(*stream));
                        out.append(partial);
                    }
                }
            }
            What::Event(event) => {
                if let Event::Eof(stream) = event {
                    self.close(*stream, &mut out);
                }
                if let Event::Exit { .. } = event {
                    out.append(&mut self.finish());
                }
                out.extend_from_slice(format!("--- {}\n", event_text(event)).as_bytes());
            }
        }
        out
    }

    fn close(&mut self, stream: Stream, out: &mut Vec<u8>) {
        let partial = &mut self.partial[stream.index()];
        if !partial.is_empty() {
            out.extend_from_slice(mark(stream));
            out.append(partial);
            out.extend_from_slice(b"\n--- no newline at the end of that line\n");
        }
    }
}

/// The marks of the text format.
pub(crate) const fn mark(stream: Stream) -> &'static [u8] {
    match stream {
        Stream::C2s => b">>> ",
        Stream::S2c => b"<<< ",
        Stream::Err => b"!!! ",
    }
}

fn event_text(event: &Event) -> String {
    match event {
        Event::Start { command, .. } => format!("start {}", text::printable(&command.join(" "))),
        Event::Eof(stream) => format!("eof {}", stream.name()),
        Event::Signal(name) => format!("signal {name}"),
        Event::Exit { code: Some(code), .. } => format!("exit {code}"),
        Event::Exit { signal, .. } => format!("exit by signal {}", signal.unwrap_or(0)),
        Event::Lost(reads) => format!("lost {reads} reads"),
        Event::Other(name) => name.clone(),
    }
}

fn json_line(entry: &Entry, began: SystemTime) -> Vec<u8> {
    let mut line = text::object(|o| {
        if let What::Event(Event::Start { .. }) = entry.what {
            o.uint("capture", VERSION);
        }
        if let Some(at) = entry.at {
            let seconds = seconds(at);
            if let Some(raw) = Raw::new(&seconds) {
                o.raw("t", raw);
            }
        }
        match &entry.what {
            What::Bytes(stream, bytes) => {
                o.str("dir", stream.name());
                match core::str::from_utf8(bytes) {
                    Ok(text) => o.str("text", text),
                    Err(_) => o.str("b64", &base64::encode(bytes)),
                };
            }
            What::Event(event) => {
                o.str("dir", "ev");
                event_members(o, event, began);
            }
        }
    });
    line.push(b'\n');
    line
}

fn event_members(o: &mut barewire::json::Object<'_>, event: &Event, began: SystemTime) {
    match event {
        Event::Start { command, pid } => {
            o.str("event", "start");
            o.str("time", &utc(began));
            o.str("by", concat!("barewire ", env!("CARGO_PKG_VERSION")));
            o.array("command", |a| {
                for word in command {
                    a.str(word);
                }
            });
            if let Some(pid) = pid {
                o.uint("pid", u64::from(*pid));
            }
        }
        Event::Eof(stream) => {
            o.str("event", "eof");
            o.str("which", stream.name());
        }
        Event::Signal(name) => {
            o.str("event", "signal");
            o.str("sig", name);
        }
        Event::Exit { code, signal } => {
            o.str("event", "exit");
            if let Some(code) = code {
                o.int("rc", i64::from(*code));
            } else if let Some(signal) = signal {
                o.int("rc", -i64::from(*signal));
            }
        }
        Event::Lost(reads) => {
            o.str("event", "lost");
            o.uint("reads", *reads);
        }
        Event::Other(name) => {
            o.str("event", name);
        }
    }
}

/// Seconds with six decimals.
pub(crate) fn seconds(at: Micros) -> String {
    format!("{}.{:06}", at / 1_000_000, at % 1_000_000)
}

/// A point in time as RFC 3339 in UTC, to the microsecond.
pub(crate) fn utc(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
        second / 3_600,
        second / 60 % 60,
        second % 60,
        since.subsec_micros()
    )
}

/// Year, month and day of a number of days since 1970-01-01 (Gregorian, eras of 400 years that begin in March).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, of_year - (153 * march_month + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_787), (2026, 11, 30));
        assert_eq!(utc(UNIX_EPOCH), "1970-01-01T00:00:00.000000Z");
    }

    #[test]
    fn text_lines_are_whole() {
        let mut encoder = Encoder::new(Format::Text, UNIX_EPOCH);
        let mut log = Vec::new();
        for (stream, bytes) in [(Stream::C2s, "{\"a\""), (Stream::S2c, "x\ny"), (Stream::C2s, ":1}\n")] {
            log.extend(encoder.encode(&Entry { at: None, what: What::Bytes(stream, bytes.into()) }));
        }
        log.extend(encoder.encode(&Entry { at: None, what: What::Event(Event::Eof(Stream::S2c)) }));
        let expected = "<<< x\n>>> {\"a\":1}\n<<< y\n--- no newline at the end of that line\n--- eof s2c\n";
        assert_eq!(String::from_utf8(log).unwrap(), expected);
    }
}

//! Packets for people: one block each, in the order of time.

use barewire::json::Raw;

use super::call::brief;
use super::layout;
use super::model::{Item, Kind, Message, Packet, Row, Summary, When};
use super::rules::{Finding, Severity};
use super::texts::{T, Table, say};
use crate::capture::{Event, Micros, Stream};
use crate::far::is_target;
use crate::paint::Paint;
use crate::text::{columns, grouped, printable, shortened, span, wrapped};

/// How much is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// The first of a kind at length, then shortly.
    Normal,
    /// Always at length.
    Teach,
    /// One line each.
    Short,
}

/// What the view looks like.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) mode: Mode,
    /// Every member, and texts in full.
    pub(crate) full: bool,
    /// The line's bytes as they were sent.
    pub(crate) raw: bool,
    pub(crate) paint: Paint,
    pub(crate) width: usize,
    pub(crate) table: Table,
}

/// Shows items; remembers what it explained already.
pub(crate) struct View {
    look: Look,
    /// When the first packet or event was, for times that count from it.
    origin: Option<Micros>,
    stderr_explained: bool,
    wires: usize,
    /// We are not the client, and did not start the server.
    onlooker: bool,
}

impl View {
    pub(crate) const fn new(look: Look) -> Self {
        Self { look, origin: None, stderr_explained: false, wires: 0, onlooker: false }
    }

    /// The session is that of others.
    pub(crate) const fn of_others(mut self) -> Self {
        self.onlooker = true;
        self
    }

    /// The lines for one item, each with its LF.
    pub(crate) fn item(&mut self, item: &Item) -> String {
        match item {
            Item::Packet(packet) => self.packet(packet),
            Item::Stderr { text } => self.stderr(text),
            Item::Event { at, event } => self.event(*at, event),
        }
    }

    /// The totals, and what was never answered.
    pub(crate) fn summary(&self, summary: &Summary) -> String {
        let [to, from] = summary.packets;
        let total = if to + from == 1 { T::SummaryOne } else { T::SummaryTotal };
        let mut line = format!("── {}", self.say(total, &[&grouped(to + from)]));
        line += &format!("  ▶ {} of {} B", grouped(to), grouped(summary.bytes[0]));
        line += &format!("  ◀ {} of {} B", grouped(from), grouped(summary.bytes[1]));
        if let Some(time) = summary.span {
            line += &format!("  {}", span(time));
        }
        line += &format!("  {}", self.say(T::SummaryAnswered, &[&summary.answered, &summary.requests]));
        line += &format!("  {}", self.say(T::SummaryFindings, &[&summary.findings]));
        let mut out = self.look.paint.bold(&line) + "\n";
        for open in &summary.unanswered {
            let name = format!("#{} {} {}", open.number, if open.by_client { '▶' } else { '◀' }, open.name);
            let told = match open.open {
                Some(time) => self.say(T::StillOpen, &[&name, &span(time)]),
                None => self.say(T::StillOpenNoTime, &[&name]),
            };
            out += &format!("   {}\n", self.look.paint.yellow(&told));
            let why = match open.meanwhile {
                Some(other) => self.say(T::StillOpenElsewhere, &[&format!("#{other}")]),
                None => self.say(T::StillOpenSilent, &[]),
            };
            let cancel = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{}}}}}",
                open.id
            );
            if open.by_client {
                out += &format!("   {why}\n   {}\n", self.say(T::CancelWouldBe, &[&cancel]));
            }
            if let Some(finding) = &open.finding {
                out += &self.finding(finding);
            }
        }
        if summary.late {
            out += &format!("   {}\n", self.say(T::NotJudged, &[]));
        }
        out
    }

    fn say(&self, key: T, values: &[&dyn core::fmt::Display]) -> String {
        say(self.look.table, key, values)
    }

    fn packet(&mut self, packet: &Packet) -> String {
        let mut out = String::new();
        if let Some(at) = packet.line.at {
            self.origin.get_or_insert(at);
        }
        for (i, message) in packet.messages.iter().enumerate() {
            out += &self.header(packet, message, i);
            if self.look.mode == Mode::Short {
                continue;
            }
            let long = message.first || self.look.mode == Mode::Teach;
            let sentence = if long { &message.sentence } else { &message.brief };
            for line in wrapped(sentence, self.look.width.saturating_sub(3)) {
                out += &format!("   {line}\n");
            }
            out += &self.rows(&message.rows, long);
            if i == 0 {
                out += &self.wire(packet);
            }
            if i + 1 == packet.messages.len() {
                out += &self.state(packet, message, long);
            }
            for finding in &message.findings {
                out += &self.finding(finding);
            }
        }
        out
    }

    fn header(&self, packet: &Packet, message: &Message, place: usize) -> String {
        let paint = self.look.paint;
        let to_server = packet.line.stream == Stream::C2s;
        let number = match place {
            0 => format!("#{}", packet.number),
            n => format!("#{}.{n}", packet.number),
        };
        let mut left = format!("{number} {}", if to_server { '▶' } else { '◀' });
        if let Some(at) = packet.line.at.filter(|_| place == 0) {
            left += &format!(" {} s", self.time(at));
        }
        let what = match (&message.kind, message.answers) {
            (Kind::Result, Some(answers)) => format!("result of #{}{}", answers.number, later(answers.after)),
            (Kind::Error, Some(answers)) => format!("error to #{}{}", answers.number, later(answers.after)),
            (Kind::Batch(n), _) => format!("batch of {n}"),
            (kind, _) => kind.name().to_owned(),
        };
        left += &format!("  {what}");
        let own = matches!(message.kind, Kind::Request | Kind::Notification) || self.look.mode == Mode::Short;
        if let Some(method) = message.method.as_ref().filter(|method| own && !method.is_empty()) {
            left += &format!("  {}", printable(&shortened(method, 80)));
            if let Some(call) = &message.call {
                left += &format!("  {call}");
            }
        }
        if let Kind::Junk(_) | Kind::Nonsense = message.kind {
            let text = String::from_utf8_lossy(&packet.line.bytes);
            left += &format!("  {}", shortened(&printable(&shortened(&text, 160)), 60));
        }
        let id = match (&message.id, message.kind) {
            (Some(id), _) => format!("id {id}"),
            (None, Kind::Notification | Kind::Error | Kind::Result) => "no id".to_owned(),
            _ => String::new(),
        };
        let size = if place == 0 {
            format!("{:>9}", format!("{} B", grouped(packet.line.size())))
        } else {
            String::new()
        };
        let right = format!("{id} {size}");
        let gap = self.look.width.saturating_sub(columns(&left) + columns(&right)).max(2);
        let painted = match message.kind {
            Kind::Junk(_) | Kind::Nonsense | Kind::Error => paint.red(&left),
            _ if to_server => paint.cyan(&left),
            _ => paint.green(&left),
        };
        let mut line = format!("{}{}{}", paint.bold(&painted), " ".repeat(gap), paint.dim(&right));
        if self.look.mode == Mode::Short {
            for finding in &message.findings {
                line += &format!("  {}", self.severity(finding, &format!("BW{}", finding.rule.number)));
            }
        }
        line.trim_end().to_owned() + "\n"
    }

    fn time(&self, at: Micros) -> String {
        let since = at.saturating_sub(self.origin.unwrap_or(0));
        format!("{}.{:03}", since / 1_000_000, since % 1_000_000 / 1_000)
    }

    fn rows(&self, rows: &[Row], long: bool) -> String {
        let shown: Vec<&Row> = rows
            .iter()
            .filter(|row| match row.when {
                When::Always => true,
                When::Long => long || self.look.full,
                When::Teach => self.look.mode == Mode::Teach || self.look.full,
                When::Full => self.look.full,
            })
            // A row with a name alone only keeps the member from being shown once more.
            .filter(|row| row.list || !(row.value.is_empty() && row.gloss.is_empty()))
            .collect();
        layout::lines(&shown, self.look.width, self.look.paint)
    }

    fn wire(&mut self, packet: &Packet) -> String {
        let bytes = &packet.line.bytes;
        let mut out = String::new();
        if self.look.raw {
            out += &format!("   raw    {}\n", printable(&String::from_utf8_lossy(bytes)));
        }
        if self.wires >= 2 && self.look.mode != Mode::Teach {
            return out;
        }
        self.wires += 1;
        let mut whole = bytes.clone();
        whole.extend_from_slice(match packet.line.end {
            super::lines::End::Lf => b"\n",
            super::lines::End::CrLf => b"\r\n",
            super::lines::End::Nothing => b"",
        });
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ");
        let shown = if whole.len() > 12 {
            format!("{} … {}", hex(&whole[..6]), hex(&whole[whole.len() - 4..]))
        } else {
            hex(&whole)
        };
        let note = if self.wires == 1 { T::WireNote } else { T::WireNoteShort };
        let note = if packet.line.end == super::lines::End::Lf { self.say(note, &[]) } else { String::new() };
        let left = format!("   wire   {shown}");
        let fits = columns(&left) + 5 + columns(&note) <= self.look.width;
        let gap = if fits { "     " } else { "\n          " };
        out += format!("{left}{gap}{}", self.look.paint.dim(&note)).trim_end();
        out += "\n";
        out
    }

    fn state(&self, packet: &Packet, message: &Message, long: bool) -> String {
        let open = packet.open.iter().map(|n| format!("#{n}")).collect::<Vec<_>>().join(" ");
        let state =
            if packet.state_changed || self.look.mode == Mode::Teach { packet.state.as_str() } else { "" };
        let asks = message.kind == Kind::Request && (long || packet.open.len() > 1);
        match (state.is_empty(), open.is_empty() || !asks) {
            (true, true) => String::new(),
            (true, false) => format!("   open   {open}\n"),
            (false, true) => format!("   state  {state}\n"),
            (false, false) => {
                let left = format!("   state  {state}");
                let right = format!("open: {open}");
                let gap = self.look.width.saturating_sub(columns(&left) + columns(&right)).max(3);
                format!("{left}{}{right}\n", " ".repeat(gap))
            }
        }
    }

    fn finding(&self, finding: &Finding) -> String {
        let rule = finding.rule;
        let mut told = format!("BW{} {}  ", rule.number, rule.severity.name());
        if !finding.member.is_empty() {
            told += &format!("{} ", printable(&finding.member));
        }
        told += &format!("{}. {}.", printable(&finding.text), rule.clause);
        if let Some(refused) = rule.refused {
            told += &format!(" {}", self.say(T::RefusedBy, &[&refused]));
        }
        let mut out = String::new();
        for (i, line) in wrapped(&told, self.look.width.saturating_sub(10)).iter().enumerate() {
            let label = if i == 0 { "   lint   " } else { "          " };
            out += &format!("{label}{}\n", self.severity(finding, line));
        }
        out
    }

    fn severity(&self, finding: &Finding, text: &str) -> String {
        match finding.rule.severity {
            Severity::Error => self.look.paint.red(text),
            Severity::Warning | Severity::Note => self.look.paint.yellow(text),
        }
    }

    fn stderr(&mut self, text: &str) -> String {
        let quoted = format!("   ⚠ stderr \"{}\"", printable(text));
        let line = self.look.paint.yellow(&quoted);
        if self.look.mode == Mode::Short || core::mem::replace(&mut self.stderr_explained, true) {
            return line + "\n";
        }
        let note = self.say(T::StderrNote, &[]);
        let gap =
            if columns(&quoted) + 4 + columns(&note) > self.look.width { "\n            " } else { "    " };
        format!("{line}{gap}{}\n", self.look.paint.dim(&note))
    }

    fn event(&mut self, at: Option<Micros>, event: &Event) -> String {
        let told = match event {
            Event::Start { command, pid } if !command.is_empty() => {
                let command = printable(&command.join(" "));
                let told = match pid {
                    Some(pid) if self.onlooker => self.say(T::StartedByOthers, &[&command, pid]),
                    Some(pid) => self.say(T::Started, &[&command, pid]),
                    None if is_target(command.as_ref()) => self.say(T::Reached, &[&command]),
                    None => self.say(T::StartedBare, &[&command]),
                };
                return wrapped(&told, self.look.width).join("\n") + "\n\n";
            }
            Event::Start { .. } | Event::Eof(Stream::Err) => return String::new(),
            Event::Eof(Stream::C2s) => self.say(T::EofC2s, &[]),
            Event::Eof(Stream::S2c) => self.say(T::EofS2c, &[]),
            Event::Signal(name) => self.say(T::SignalSent, &[&printable(name)]),
            Event::Exit { code: Some(code), .. } => self.say(T::Exited, &[code]),
            Event::Exit { signal: Some(signal), .. } => self.say(T::Killed, &[signal]),
            Event::Exit { .. } => self.say(T::ExitedSomehow, &[]),
            Event::Lost(reads) => self.say(T::LostReads, &[reads]),
            Event::Other(name) => printable(name),
        };
        let time = at.map(|at| format!(" {} s", self.time(at))).unwrap_or_default();
        self.look.paint.dim(&format!("·{time}  {told}")) + "\n"
    }
}

fn later(after: Option<Micros>) -> String {
    after.map(|after| format!(", {} later", span(after))).unwrap_or_default()
}

/// A line that is not shown as a packet, in one line: for messages about it.
pub(crate) fn one_line(line: &[u8]) -> String {
    match Raw::from_bytes(line) {
        Ok(raw) => brief(raw, 160),
        Err(_) => shortened(&printable(&shortened(&String::from_utf8_lossy(line), 400)), 160),
    }
}

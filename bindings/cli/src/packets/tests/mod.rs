//! Tests of the packet model as a whole: made-up sessions in, findings and views out.

mod captures;
mod lint;
mod view;

use super::model::{Item, Packet, Summary};
use super::texts::english;
use super::tracker::Tracker;
use crate::capture::{Entry, Event, Stream, What};

/// A session of whole lines, `>` from the client and `<` from the server, a millisecond apart; `!` is stderr.
pub(super) fn entries(lines: &[&str]) -> Vec<Entry> {
    let start = Event::Start { command: vec!["server".into()], pid: Some(4711) };
    let mut entries = vec![Entry { at: Some(0), what: What::Event(start) }];
    for (i, line) in lines.iter().enumerate() {
        let (mark, text) = line.split_at(1);
        let stream = match mark {
            ">" => Stream::C2s,
            "<" => Stream::S2c,
            _ => Stream::Err,
        };
        let what = What::Bytes(stream, format!("{text}\n").into_bytes());
        entries.push(Entry { at: Some(1_000 * (i as u64 + 1)), what });
    }
    entries
}

/// What the tracker makes of entries.
pub(super) fn track(entries: &[Entry]) -> (Vec<Item>, Summary) {
    let mut tracker = Tracker::new(english);
    let mut items: Vec<Item> = entries.iter().flat_map(|entry| tracker.take(entry)).collect();
    let (rest, summary) = tracker.finish();
    items.extend(rest);
    (items, summary)
}

/// The packets of items.
pub(super) fn packets(items: &[Item]) -> Vec<&Packet> {
    items
        .iter()
        .filter_map(|item| match item {
            Item::Packet(packet) => Some(&**packet),
            _ => None,
        })
        .collect()
}

/// A whole handshake at 2025-11-25.
pub(super) const HANDSHAKE: [&str; 3] = [
    r#">{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"barewire","version":"0.1.0"}}}"#,
    r#"<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"weather","version":"0.1.0"}}}"#,
    r#">{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
];

//! Real traffic, where the captures are at hand (`../shared/captures` beside the workspace).

use std::fs;
use std::path::PathBuf;

use super::super::export;
use super::super::rules::Severity;
use super::*;
use crate::capture::read::read;

fn captures() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let files = files.filter_map(|file| Some(file.ok()?.path()));
    let logs = files.filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"));
    logs.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

#[test]
fn official_peers_break_no_must_but_one_print() {
    for (name, file) in captures() {
        let capture = read(&file).unwrap();
        assert_eq!(capture.notes, Vec::<String>::new(), "{name}");
        let (items, summary) = track(&capture.entries);
        let errors: Vec<String> = packets(&items)
            .iter()
            .flat_map(|packet| &packet.messages)
            .flat_map(|message| &message.findings)
            .filter(|finding| finding.rule.severity == Severity::Error)
            .map(|finding| format!("BW{} {}", finding.rule.number, finding.member))
            .collect();
        // The all-feature TypeScript server prints to stdout on purpose.
        let expected: &[&str] = if name.contains("ts2all") && errors.len() == 1 { &["BW101 "] } else { &[] };
        assert_eq!(errors, expected, "{name}");
        assert!(summary.answered <= summary.requests && !summary.late, "{name}");
    }
}

#[test]
fn every_line_is_a_packet_and_every_byte_is_counted() {
    for (name, file) in captures() {
        let capture = read(&file).unwrap();
        let (items, summary) = track(&capture.entries);
        for stream in [Stream::C2s, Stream::S2c] {
            let sent: Vec<u8> = capture
                .entries
                .iter()
                .filter_map(|entry| match &entry.what {
                    What::Bytes(of, bytes) if *of == stream => Some(bytes.as_slice()),
                    _ => None,
                })
                .collect::<Vec<_>>()
                .concat();
            assert_eq!(summary.bytes[stream.index()], sent.len(), "{name}");
            let lines = sent.split(|&b| b == b'\n').filter(|line| !line.is_empty()).count();
            assert_eq!(summary.packets[stream.index()], lines, "{name}");
        }
        for packet in packets(&items) {
            let line = export::packet(packet);
            let json: serde_json::Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(json["size"], packet.line.size(), "{name}");
        }
    }
}

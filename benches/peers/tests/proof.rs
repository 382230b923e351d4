//! Every peer reads and writes the same as serde_json does in its plainest way, on every corpus.

use barewire_benches::{Group, corpora, proof};
use barewire_benches_peers::rows;

fn prove(group: Group, peers: &[&str]) {
    let rows = rows();
    for peer in peers {
        assert!(
            rows.iter().any(|row| row.group == group && row.name.starts_with(peer)),
            "{peer} takes no part"
        );
    }
    for corpus in corpora::of(group) {
        for row in rows.iter().filter(|row| row.group == group) {
            if let Err(error) = proof::prove(row, &corpus) {
                panic!("{} {}: {error}", group.word(), corpus.name);
            }
        }
    }
}

#[test]
fn framing() {
    prove(Group::Framing, &["tokio_util", "rmcp"]);
}

#[test]
fn read() {
    prove(Group::Read, &["sonic-rs", "flexon", "simd-json", "jiter", "serde-json-core", "rmcp"]);
}

#[test]
fn typed() {
    prove(Group::Typed, &["sonic-rs", "flexon", "simd-json", "rmcp"]);
}

#[test]
fn write() {
    prove(Group::Write, &["sonic-rs", "simd-json", "serde-json-core", "rmcp"]);
}

#[test]
fn strings() {
    prove(Group::Escape, &["sonic-rs"]);
    prove(Group::Unescape, &["sonic-rs", "flexon", "jiter"]);
}

#[test]
fn round_trip() {
    prove(Group::RoundTrip, &["rmcp"]);
}

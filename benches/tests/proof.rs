//! Every contender reads and writes the same as serde_json does in its plainest way, on every corpus.

use barewire_benches::{Group, corpora, proof, rows};

fn prove(group: Group) {
    let rows = rows::light();
    for corpus in corpora::of(group) {
        let mut proved = 0;
        for row in rows.iter().filter(|row| row.group == group) {
            match proof::prove(row, &corpus) {
                Ok(took_part) => proved += usize::from(took_part),
                Err(error) => panic!("{} {}: {error}", group.word(), corpus.name),
            }
        }
        assert!(proved >= 2, "{} {}: nothing to compare", group.word(), corpus.name);
    }
}

#[test]
fn framing() {
    prove(Group::Framing);
}

#[test]
fn read() {
    prove(Group::Read);
}

#[test]
fn typed() {
    prove(Group::Typed);
}

#[test]
fn write() {
    prove(Group::Write);
}

#[test]
fn escape() {
    prove(Group::Escape);
}

#[test]
fn unescape() {
    prove(Group::Unescape);
}

#[test]
fn round_trip() {
    prove(Group::RoundTrip);
}

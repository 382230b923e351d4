//! For `tests/instructions`: reads each message of a corpus once, then `COUNT` of them inside `counted`, where callgrind counts.
//!
//! usage: `instructions GROUP/CORPUS COUNT [ROW]`; without a row, the first of the group

use std::hint::black_box;
use std::process::ExitCode;

use barewire_benches::{Digest, Group, corpora, measure, ours};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (cell, count, name_of_row) = match &args[..] {
        [cell, count] => (cell, count, None),
        [cell, count, row] => (cell, count, Some(row)),
        _ => return fails("usage: instructions GROUP/CORPUS COUNT [ROW]"),
    };
    let Ok(count) = count.parse() else { return fails("COUNT is a number") };
    let Some((group, name)) = cell.split_once('/') else { return fails("a cell is GROUP/CORPUS") };
    let Some(group) = Group::ALL.into_iter().find(|known| known.word() == group) else {
        return fails("there is no such group");
    };
    let Some(corpus) = corpora::of(group).into_iter().find(|corpus| corpus.name == name) else {
        return fails("there is no such corpus in the group");
    };
    let rows = ours::rows();
    let Some(mut turn) = rows
        .iter()
        .find(|row| row.group == group && name_of_row.is_none_or(|name| row.name == *name))
        .and_then(|row| measure::turn(row, &corpus))
    else {
        return fails("nobody does this");
    };
    for _ in 0..corpus.messages.len() {
        black_box(turn());
    }
    counted(&mut turn, count);
    ExitCode::SUCCESS
}

#[inline(never)]
fn counted(turn: &mut impl FnMut() -> Digest, count: usize) {
    for _ in 0..count {
        black_box(turn());
    }
}

fn fails(why: &str) -> ExitCode {
    eprintln!("instructions: {why}");
    ExitCode::from(2)
}

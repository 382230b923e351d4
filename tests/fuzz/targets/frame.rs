//! Lines are the same however the stream is cut, and are what a naive split says.
#![no_main]

use barewire::frame::{Frame, Lines};
use barewire_fuzz::Cuts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [size, data @ ..] = data else { return };
    let Some(mut cuts) = Cuts::new(data) else { return };
    let size = 8 + usize::from(*size);
    let whole = lines(cuts.input, size, |n| n);
    let split = lines(cuts.input, size, |n| cuts.to_read(n));
    assert_eq!(whole, split, "the same however it is cut");
    let input = cuts.input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(cuts.input);
    let naive = input
        .split(|b| *b == b'\n')
        .filter(|line| line.len() >= size || !line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r')));
    let naive: Vec<_> = naive.collect();
    assert_eq!(whole.len(), naive.len(), "{whole:?}\n{naive:?}");
    for (got, line) in whole.iter().zip(naive) {
        match got {
            Got::Line(got) => assert_eq!(got, line),
            Got::TooLong(n, id) => {
                assert!(line.len() + 1 > size, "{} of {size}", line.len());
                assert_eq!(*n, line.len());
                if let (Some(id), Ok(value)) = (id, serde_json::from_slice::<serde_json::Value>(line)) {
                    let id: serde_json::Value = serde_json::from_str(id).expect("an id is JSON");
                    assert_eq!(value["id"], id);
                }
            }
        }
    }
});

#[derive(PartialEq, Debug)]
enum Got {
    Line(Vec<u8>),
    TooLong(usize, Option<String>),
}

fn lines(input: &[u8], size: usize, mut piece: impl FnMut(usize) -> usize) -> Vec<Got> {
    let mut buffer = vec![0; size];
    let mut lines = Lines::new(&mut buffer);
    let (mut rest, mut all, mut over) = (input, Vec::new(), false);
    loop {
        match lines.next() {
            Frame::Line(line) => all.push(Got::Line(line.to_vec())),
            Frame::TooLong { dropped, id, .. } => {
                all.push(Got::TooLong(dropped, id.map(|id| id.as_str().into())))
            }
            Frame::More if over => return all,
            Frame::More if rest.is_empty() => {
                over = true;
                lines.end_of_input();
            }
            Frame::More => {
                let taken = lines.feed(&rest[..piece(rest.len())]);
                assert!(taken > 0, "More and takes nothing");
                rest = &rest[taken..];
            }
        }
    }
}

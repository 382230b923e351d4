//! Lines over a buffer that grows.
#![cfg(feature = "alloc")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
use barewire::frame::{Frame, Lines};

#[test]
fn a_long_line_comes_whole_and_a_longer_one_by_its_id() {
    let mut lines = Lines::growing(100_000);
    let fits = format!("{{\"id\":1,\"p\":\"{}\"}}", "x".repeat(90_000));
    let asks = format!("{{\"p\":\"{}\",\"method\":\"m\",\"id\":2}}", "x".repeat(200_000));
    let answers = format!("{{\"result\":{{\"p\":\"{}\"}},\"id\":\"3\"}}", "x".repeat(200_000));
    let input = format!("{fits}\n{asks}\n{answers}\n{{}}\n");
    let mut got = Vec::new();
    for chunk in input.as_bytes().chunks(7_001) {
        let mut rest = chunk;
        while !rest.is_empty() {
            let n = lines.feed(rest);
            assert!(n > 0, "there is room after More");
            rest = &rest[n..];
            loop {
                match lines.next() {
                    Frame::Line(line) => got.push(String::from_utf8(line.to_vec()).unwrap()),
                    Frame::TooLong { dropped, id, is_response } => {
                        got.push(format!("{dropped} {} {is_response}", id.unwrap().as_str()));
                    }
                    Frame::More => break,
                }
            }
        }
    }
    let long = |line: &str, rest: &str| format!("{} {rest}", line.len());
    assert_eq!(got, [fits, long(&asks, "2 false"), long(&answers, "\"3\" true"), "{}".into()]);
}

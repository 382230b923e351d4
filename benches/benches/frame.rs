//! Framing: bytes to lines, beside a bare search for line feeds and the standard library's buffered reader.

use std::hint::black_box;
use std::io::{BufRead, BufReader};

use barewire::frame::{Frame, Lines};
use barewire_benches::{alerts, lines, request};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn framing(c: &mut Criterion) {
    let mut group = c.benchmark_group("framing");
    for (what, input) in [("requests", lines(&request(), 1 << 20)), ("alerts_51k", lines(&alerts(), 1 << 20))]
    {
        group.throughput(Throughput::Bytes(input.len() as u64));
        for read in [64, 4096, 65_536] {
            group.bench_with_input(
                BenchmarkId::new(format!("barewire_read_{read}"), what),
                &input,
                |b, input| {
                    let mut buffer = vec![0; 128 * 1024];
                    b.iter(|| frame(&mut buffer, black_box(input), read));
                },
            );
        }
        group.bench_with_input(BenchmarkId::new("std_bufreader_65536", what), &input, |b, input| {
            b.iter(|| {
                let (mut reader, mut line, mut n) =
                    (BufReader::with_capacity(65_536, &input[..]), Vec::new(), 0);
                while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                    n += black_box(&line).len();
                    line.clear();
                }
                n
            });
        });
        group.bench_with_input(BenchmarkId::new("bare_memchr", what), &input, |b, input| {
            b.iter(|| memchr::memchr_iter(b'\n', black_box(input)).fold(0, |n, at| n ^ at));
        });
    }
    group.finish();
}

fn frame(buffer: &mut [u8], input: &[u8], read: usize) -> usize {
    let mut framer = Lines::new(buffer);
    let (mut rest, mut n) = (input, 0);
    loop {
        match framer.next() {
            Frame::Line(line) => n += black_box(line).len(),
            Frame::TooLong { .. } => unreachable!("the buffer holds every line"),
            Frame::More if rest.is_empty() => return n,
            Frame::More => {
                let taken = framer.feed(&rest[..read.min(rest.len())]);
                rest = &rest[taken..];
            }
        }
    }
}

criterion_group!(benches, framing);
criterion_main!(benches);

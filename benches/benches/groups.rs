//! All groups under criterion: for following one figure over time. Ratios for the page come from `results`.

use barewire_benches::{Group, corpora, measure, rows};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn groups(c: &mut Criterion) {
    for group in Group::ALL {
        let mut bench = c.benchmark_group(group.word());
        for corpus in corpora::of(group) {
            bench.throughput(Throughput::Bytes((corpus.bytes() / corpus.messages.len()) as u64));
            for row in rows::light().iter().filter(|row| row.group == group) {
                let Some(mut turn) = measure::turn(row, &corpus) else { continue };
                bench.bench_function(BenchmarkId::new(corpus.name, row.name), |b| b.iter(&mut turn));
            }
        }
        bench.finish();
    }
}

criterion_group! {
    name = benches;
    // One turn reads one of a thousand messages: a plot of each would say nothing.
    config = Criterion::default().without_plots();
    targets = groups
}
criterion_main!(benches);

//! Reading one message: kind, id, method, params; beside serde_json into typed envelopes.

use std::hint::black_box;

use barewire::json::{Scanner, Step};
use barewire::rpc::Message;
use barewire_benches::{alerts, modern_request, request};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// What servers with serde usually have.
#[derive(Deserialize)]
#[allow(dead_code)]
struct Typed {
    jsonrpc: String,
    id: Option<Id>,
    method: Option<String>,
    params: Option<Value>,
    result: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
#[allow(dead_code)]
enum Id {
    Number(i64),
    Text(String),
}

/// The least that serde_json can do: everything borrowed, params as they came.
#[derive(Deserialize)]
#[allow(dead_code)]
struct Borrowed<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

fn envelope(c: &mut Criterion) {
    let mut group = c.benchmark_group("envelope");
    for (what, line) in
        [("request", request()), ("modern_request", modern_request()), ("alerts_51k", alerts())]
    {
        group.throughput(Throughput::Bytes(line.len() as u64));
        let line = line.as_bytes();
        group.bench_with_input(BenchmarkId::new("barewire_message", what), line, |b, line| {
            b.iter(|| black_box(Message::parse(black_box(line))).is_ok());
        });
        group.bench_with_input(BenchmarkId::new("barewire_scanner", what), line, |b, line| {
            b.iter(|| scan(black_box(line)));
        });
        group.bench_with_input(BenchmarkId::new("serde_json_typed", what), line, |b, line| {
            b.iter(|| black_box(serde_json::from_slice::<Typed>(black_box(line))).is_ok());
        });
        group.bench_with_input(BenchmarkId::new("serde_json_borrowed", what), line, |b, line| {
            b.iter(|| black_box(serde_json::from_slice::<Borrowed<'_>>(black_box(line))).is_ok());
        });
    }
    group.finish();
}

fn scan(mut line: &[u8]) -> usize {
    let mut scanner = Scanner::new();
    loop {
        match scanner.step(line) {
            Ok((n, Step::More)) => return n,
            Ok((n, _)) => line = &line[n..],
            Err(_) => return 0,
        }
    }
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Place<'a> {
    latitude: f64,
    longitude: f64,
    unit: &'a str,
}

fn arguments(c: &mut Criterion) {
    let text = r#"{"latitude":40.7128,"longitude":-74.006,"unit":"celsius"}"#;
    let mut group = c.benchmark_group("arguments");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("barewire_serde_in_place", |b| {
        let mut copy = text.as_bytes().to_vec();
        // Without escapes nothing is changed, so it can be read again.
        b.iter(|| barewire::json::from_slice_in_place::<Place<'_>>(black_box(&mut copy)).is_ok());
    });
    group.bench_function("serde_json", |b| {
        b.iter(|| serde_json::from_slice::<Place<'_>>(black_box(text.as_bytes())).is_ok());
    });
    group.finish();
}

criterion_group!(benches, envelope, arguments);
criterion_main!(benches);

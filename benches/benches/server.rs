//! A whole server: a request in, its answer out, without any transport.

use std::hint::black_box;

use barewire::{Call, Millis, Noise, Output, Server, ServerConfig, ServerEvent, Storage, Tool};
use barewire_benches::{alerts, modern_request, request};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const SCHEMA: &str =
    r#"{"type":"object","properties":{"latitude":{"type":"number"},"longitude":{"type":"number"}}}"#;
static TOOLS: &[Tool<'static>] = &[
    Tool::new("get_forecast", "The weather of the next days.", SCHEMA),
    Tool::new("get_alerts", "Warnings for a state.", SCHEMA),
];
static CONFIG: ServerConfig<'static> = ServerConfig::new("weather", "1").tools(TOOLS).noise(Noise::Answer);

fn served(c: &mut Criterion) {
    let mut storage = Storage::<1024, 65_536, 2>::new();
    let mut server = Server::new(&CONFIG, storage.buffers());
    let text = alerts();
    serve(&mut server, br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
"#, "");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned();
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned();
    let mut group = c.benchmark_group("served");
    for (what, line) in
        [("ping", ping), ("list", list), ("call", request()), ("modern_call", modern_request())]
    {
        let line = line + "\n";
        group.throughput(Throughput::Bytes(line.len() as u64));
        group.bench_with_input(BenchmarkId::new("one", what), line.as_bytes(), |b, line| {
            b.iter(|| serve(&mut server, black_box(line), "sunny, 21 degrees"));
        });
    }
    // The answer is what counts here: 51 KB of text are escaped into it.
    group.throughput(Throughput::Bytes(text.len() as u64));
    let line = request() + "\n";
    group.bench_with_input(BenchmarkId::new("one", "call_alerts_51k"), line.as_bytes(), |b, line| {
        b.iter(|| serve(&mut server, black_box(line), &text[..50_000]));
    });
    group.finish();
}

fn serve(server: &mut Server<'_>, mut input: &[u8], text: &str) -> usize {
    let mut answered = 0;
    loop {
        match server.poll(Millis(0)) {
            Output::Send(bytes) => {
                let n = black_box(bytes).len();
                answered += n;
                server.sent(n);
            }
            Output::Event(ServerEvent::Call(Call { reply, .. })) => drop(reply.text(text).finish()),
            Output::Event(_) => {}
            _ if input.is_empty() => {
                assert!(answered > 0, "no answer");
                return answered;
            }
            _ => input = &input[server.feed(input)..],
        }
    }
}

criterion_group!(benches, served);
criterion_main!(benches);

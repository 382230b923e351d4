//! The poll form: a super-loop that never waits, its UART fed by interrupts through rings (`heapless::spsc`).
//!
//! Here two threads play the interrupts of a board and the program that talks to it, so that it runs on a desk:
//! `cargo run -p barewire-serial --example superloop`.
use barewire::{Call, Millis, Server, ServerConfig, ServerEvent, Storage, Tool};
use barewire_serial::{Checked, EXTENSIONS, Link, LinkStorage, Node, Role, SerialServer, Turn};
use heapless::spsc::{Consumer, Producer, Queue};
use std::time::{Duration, Instant};

static TOOLS: &[Tool<'static>] =
    &[Tool::new("uptime", "How long it has been running.", r#"{"type":"object"}"#)];
static CONFIG: ServerConfig<'static> =
    ServerConfig::new("board", "1.0.0").tools(TOOLS).extensions(EXTENSIONS);

/// One turn of the super-loop; other work of the firmware comes between two of them.
fn turn(node: &mut SerialServer<'_>, rx: &mut Consumer<'_, u8>, tx: &mut Producer<'_, u8>, now: Millis) {
    while let Turn::Event(event) = node.poll(now) {
        if let ServerEvent::Call(Call { reply, .. }) = event {
            let _ = reply.text_fmt(format_args!("{} ms", now.0)).finish();
        }
    }
    // Only as much as is taken for sure: the rest may wait in the ring.
    for _ in 0..node.room().min(rx.len()) {
        if let Some(byte) = rx.dequeue() {
            node.receive(&[byte]);
        }
    }
    let mut room = tx.capacity() - tx.len();
    while room > 0 {
        let output = node.output();
        let n = output.len().min(room);
        for byte in output.iter().take(n) {
            let _ = tx.enqueue(*byte);
        }
        node.sent(n);
        room -= n;
        if n == 0 {
            break;
        }
    }
}

fn main() {
    let (mut received, mut transmitted) = (Queue::<u8, 128>::new(), Queue::<u8, 128>::new());
    let (mut rx_isr, mut rx) = received.split();
    let (mut tx, mut tx_isr) = transmitted.split();
    let born = Instant::now();
    std::thread::scope(|scope| {
        // The board.
        let board = scope.spawn(move || {
            let (mut memory, mut lines) = (Storage::<512, 256, 2>::new(), LinkStorage::<256, 512>::new());
            let server = Server::new(&CONFIG, memory.buffers());
            let mut node = Node::new(server, Link::new(Role::Server, Checked::Offer, &mut lines));
            while born.elapsed() < Duration::from_secs(1) {
                turn(&mut node, &mut rx, &mut tx, Millis(born.elapsed().as_millis() as u64));
            }
        });
        // Its interrupts, and the wire.
        let questions = [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"desk","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"uptime"}}"#,
        ];
        let mut input = questions.iter().flat_map(|line| line.bytes().chain([b'\n'])).peekable();
        let mut said = Vec::new();
        while !board.is_finished() {
            if let Some(byte) = input.peek()
                && rx_isr.enqueue(*byte).is_ok()
            {
                input.next();
            }
            said.extend(std::iter::from_fn(|| tx_isr.dequeue()));
        }
        print!("{}", String::from_utf8_lossy(&said));
    });
}

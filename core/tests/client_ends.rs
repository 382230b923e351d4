//! What the end of input does to what a client has not sent.
#![allow(clippy::unwrap_used, clippy::panic)]
use barewire::{Buffers, Client, ClientConfig, ClientEvent, Era, Millis, Output, Slot};

static CONFIG: ClientConfig<'static> = ClientConfig::new("t", "1").era(Era::Legacy);

#[test]
fn nothing_is_left_to_send_after_the_end() {
    let (mut rx, mut tx, mut slots) = ([0; 512], [0; 512], [const { Slot::FREE }; 1]);
    let mut client = Client::new(&CONFIG, Buffers::new(&mut rx, &mut tx, &mut slots));
    let Output::Send(bytes) = client.poll(Millis(0)) else { panic!("nothing to send") };
    let n = bytes.len();
    client.sent(n);
    client.feed(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}}\n");
    // The confirmation waits to be sent when the server goes away.
    assert!(matches!(client.poll(Millis(0)), Output::Send(_)));
    client.end_of_input();
    assert_eq!(client.output(), b"");
    // It had opened the session, and now it is over.
    assert!(matches!(client.poll(Millis(0)), Output::Event(ClientEvent::Opened { .. })));
    assert!(matches!(client.poll(Millis(0)), Output::Closed));
    assert_eq!(client.output(), b"");
}

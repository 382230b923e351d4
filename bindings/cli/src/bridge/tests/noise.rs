//! Any bytes, from both sides, at any time: nothing panics, and the host reads nothing but whole messages.

use proptest::prelude::*;

use crate::bridge::errors::Reason;
use crate::bridge::relay::{Medium, Relay, Terms};

/// Bytes that come close to messages.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(&b"{\"jsonrpc\":\"2.0\","[..]),
        Just(&b"\"id\":1"[..]),
        Just(&b"\"id\":\"1\""[..]),
        Just(&b"\"id\":null"[..]),
        Just(&b","[..]),
        Just(&b"\"method\":\"initialize\""[..]),
        Just(&b"\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}"[..]),
        Just(&b"\"method\":\"resources/subscribe\",\"params\":{\"uri\":7}"[..]),
        Just(&b"\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{\"listChanged\":true}}}"[..]),
        Just(&b"\"result\":[]"[..]),
        Just(&b"\"error\":{\"code\":1,\"message\":\"m\"}"[..]),
        Just(&b"\"error\":null"[..]),
        Just(&b"}"[..]),
        Just(&b"}{"[..]),
        Just(&b"NaN,\""[..]),
        Just(&b"\"result\":\t\\"[..]),
        Just(&b"}\n"[..]),
        Just(&b"["[..]),
        Just(&b"]\n"[..]),
        Just(&b"\n"[..]),
        Just(&b"\xff\x00\r"[..]),
        Just(&b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["[..]),
        Just(&b"\"barewire-bridge-1\""[..]),
        Just(&b"{\"jsonrpc\":\"2.0\",\"id\":\"barewire-bridge-1\",\"result\":{\"protocolVersion\":1}}\n"[..]),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn the_host_reads_whole_messages(
        acts in prop::collection::vec((0..7u8, bytes(), 0..20_000u64), 0..60),
        medium in prop_oneof![Just(Medium::Serial), Just(Medium::Stream), Just(Medium::Command)],
    ) {
        let mut relay = Relay::new(Terms { name: "far".into(), medium, patience: 15_000 });
        let (mut now, mut connected) = (0, false);
        for (act, bytes, time) in acts {
            match act {
                0..=2 => relay.host(&bytes, now),
                3 | 4 if connected => relay.far(&bytes, now),
                5 if connected => {
                    connected = false;
                    relay.far_down(&Reason::Closed, now);
                }
                3..=5 => {
                    connected = true;
                    relay.far_up(now);
                }
                _ => {
                    now += time;
                    relay.tick(now);
                }
            }
            let said = relay.take_for_host();
            prop_assert!(said.is_empty() || said.ends_with(b"\n"));
            for line in said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let message: Result<serde_json::Value, _> = serde_json::from_slice(line);
                prop_assert!(message.is_ok_and(|message| message.is_object() || message.is_array()));
            }
            if !connected {
                prop_assert!(!relay.has_for_far());
            }
            relay.take_for_far();
            relay.take_notes();
        }
        relay.host_ended(now);
        relay.tick(now + 5_000);
        prop_assert!(relay.is_done());
    }
}

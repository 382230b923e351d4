//! Messages over packets of 244 bytes, as BLE has them. `cargo run --example packets` tests it.
use barewire_testkit::{Claims, End, Suite};
use std::io::{Error, ErrorKind::BrokenPipe};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The longest packet. Its first byte says whether more of the message follows.
const MTU: usize = 244;
const MORE: u8 = 1;

fn end(radio: SyncSender<Vec<u8>>, air: Receiver<Vec<u8>>) -> End {
    let send = move |message: &[u8]| {
        let mut parts = message.chunks(MTU - 1).peekable();
        while let Some(part) = parts.next() {
            let flag = if parts.peek().is_some() { MORE } else { 0 };
            radio.send([&[flag], part].concat()).map_err(|_| Error::from(BrokenPipe))?;
        }
        Ok(())
    };
    let receive = move || {
        let mut message = Vec::new();
        while let Ok(packet) = air.recv() {
            message.extend_from_slice(&packet[1..]);
            if packet[0] != MORE {
                return Ok(Some(message));
            }
        }
        Ok(None) // the far end has gone; half a message is none
    };
    End::messages(send, receive)
}

pub(crate) fn main() {
    let report = Suite::new(Claims::messages().half_close().noise().holds(1 << 20)).run(|| {
        let ((up, at_server), (down, at_client)) = (sync_channel(64), sync_channel(64));
        Ok((end(up, at_client), end(down, at_server)))
    });
    println!("{report}");
    report.assert_passed();
}

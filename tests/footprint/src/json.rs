//! Framing and JSON alone: lines in, one member of each read, an object written.
use crate::board;
use barewire::frame::{Frame, Lines};
use barewire::json::{Object, Raw, Writer};

static BUFFER: board::Once<[u8; 512]> = board::Once::new([0; 512]);

/// Until the input ends.
pub fn talk() {
    let mut lines = Lines::new(BUFFER.take());
    let mut out = [0; 64];
    loop {
        match lines.next() {
            Frame::Line(line) => {
                let value = Raw::from_bytes(line).ok();
                let id = value.and_then(|v| v.get("id")).and_then(Raw::as_i64);
                let mut writer = Writer::new(&mut out);
                let mut object = Object::new(&mut writer);
                object.bool("json", value.is_some()).int("id", id.unwrap_or(0));
                if object.end() {
                    board::write(writer.written());
                    board::write(b"\n");
                }
            }
            Frame::TooLong { .. } => {}
            Frame::More => match board::read(lines.space()) {
                0 => return,
                n => lines.filled(n),
            },
        }
    }
}

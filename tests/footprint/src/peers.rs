//! One `tools/call` decoded and its result encoded, by crates for JSON that need no allocator, and by ours: what they cost under the
//! same settings. Everything else that a server does is missing.
use crate::board;

static BUFFER: board::Once<[u8; 512]> = board::Once::new([0; 512]);

/// What is understood: the id, and what `set_led` is to do.
struct Call {
    id: i64,
    on: bool,
}

/// Until the input ends. Lines that are no such call are not answered.
pub fn talk() {
    let buffer = BUFFER.take();
    let mut out = [0; 128];
    loop {
        let n = board::read(buffer);
        if n == 0 {
            return;
        }
        let line = buffer.get(..n).unwrap_or_default();
        if let Some(call) = decode(line)
            && let Some(n) = encode(&call, &mut out)
        {
            board::write(out.get(..n).unwrap_or_default());
            board::write(b"\n");
        }
    }
}

#[cfg(feature = "serde-json-core")]
mod with {
    use super::Call;
    use serde::{Deserialize, Serialize};

    #[derive(Deserialize)]
    struct Request<'m> {
        id: i64,
        method: &'m str,
        params: Params<'m>,
    }

    #[derive(Deserialize)]
    struct Params<'m> {
        name: &'m str,
        arguments: SetLed,
    }

    #[derive(Deserialize)]
    struct SetLed {
        on: bool,
    }

    #[derive(Serialize)]
    struct Answer {
        jsonrpc: &'static str,
        id: i64,
        result: Outcome,
    }

    #[derive(Serialize)]
    struct Outcome {
        content: [Text; 1],
    }

    #[derive(Serialize)]
    struct Text {
        r#type: &'static str,
        text: &'static str,
    }

    pub fn decode(line: &[u8]) -> Option<Call> {
        let (request, _) = serde_json_core::from_slice::<Request<'_>>(line).ok()?;
        let Request { id, method, params: Params { name, arguments } } = request;
        (method == "tools/call" && name == "set_led").then_some(Call { id, on: arguments.on })
    }

    pub fn encode(call: &Call, out: &mut [u8]) -> Option<usize> {
        let text = if call.on { "on" } else { "off" };
        let result = Outcome { content: [Text { r#type: "text", text }] };
        serde_json_core::to_slice(&Answer { jsonrpc: "2.0", id: call.id, result }, out).ok()
    }
}

#[cfg(feature = "picojson")]
mod with {
    use super::Call;
    use picojson::{Event, PullParser, SliceParser};

    pub fn decode(line: &[u8]) -> Option<Call> {
        let mut scratch = [0; 64];
        let mut parser = SliceParser::with_buffer_from_slice(line, &mut scratch);
        let (mut depth, mut key) = (0u8, "");
        let (mut id, mut on, mut is_call, mut is_led) = (None, None, false, false);
        while let Some(event) = parser.next() {
            match event.ok()? {
                Event::StartObject | Event::StartArray => depth = depth.wrapping_add(1),
                Event::EndObject | Event::EndArray => depth = depth.wrapping_sub(1),
                Event::Key(name) => {
                    let known = [(1, "id"), (1, "method"), (2, "name"), (3, "on")];
                    key = known
                        .iter()
                        .find(|known| (known.0, known.1) == (depth, name.as_ref()))
                        .map_or("", |known| known.1);
                }
                Event::Number(number) if key == "id" => id = number.as_int(),
                Event::String(text) if key == "method" => is_call = text.as_ref() == "tools/call",
                Event::String(text) if key == "name" => is_led = text.as_ref() == "set_led",
                Event::Bool(bool) if key == "on" => on = Some(bool),
                _ => {}
            }
        }
        if is_call && is_led { Some(Call { id: id?, on: on? }) } else { None }
    }

    /// It only parses, so this is by hand.
    pub fn encode(call: &Call, out: &mut [u8]) -> Option<usize> {
        let (mut digits, mut at, mut rest) = ([0; 20], 20usize, call.id.unsigned_abs());
        while rest > 0 || at == 20 {
            at = at.wrapping_sub(1);
            *digits.get_mut(at)? = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let text = if call.on { "on" } else { "off" };
        let head = if call.id < 0 { "{\"jsonrpc\":\"2.0\",\"id\":-" } else { "{\"jsonrpc\":\"2.0\",\"id\":" };
        let middle = b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"";
        let mut len = 0usize;
        for piece in [head.as_bytes(), digits.get(at..)?, middle, text.as_bytes(), b"\"}]}}"] {
            out.get_mut(len..)?.get_mut(..piece.len())?.copy_from_slice(piece);
            len = len.wrapping_add(piece.len());
        }
        Some(len)
    }
}

#[cfg(feature = "ours")]
mod with {
    use super::Call;
    use barewire::json::{Object, Raw, Writer};

    pub fn decode(line: &[u8]) -> Option<Call> {
        let request = Raw::from_bytes(line).ok()?;
        let params = request.get("params")?;
        let known = request.get("method")?.is("tools/call") && params.get("name")?.is("set_led");
        let on = params.get("arguments")?.get("on")?.as_bool()?;
        if known { Some(Call { id: request.get("id")?.as_i64()?, on }) } else { None }
    }

    pub fn encode(call: &Call, out: &mut [u8]) -> Option<usize> {
        let mut writer = Writer::new(out);
        let mut answer = Object::new(&mut writer);
        answer.str("jsonrpc", "2.0").int("id", call.id);
        answer.object("result", |result| {
            result.array("content", |content| {
                content.object(|text| {
                    text.str("type", "text").str("text", if call.on { "on" } else { "off" });
                });
            });
        });
        answer.end().then(|| writer.written().len())
    }
}

use with::{decode, encode};

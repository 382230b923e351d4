//! rmcp, the official SDK: its model, read and written.

use barewire_benches::{Contender, Corpus, Digest, Group, Kind, Outgoing, Row, Seen, Turns, row};
use rmcp::model::{
    ClientJsonRpcMessage, ContentBlock, JsonRpcMessage, NumberOrString, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::async_rw::JsonRpcMessageCodec;
use serde::Serialize;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::Encoder;

const VERSION: &str = "3.11.0";

pub(crate) fn rows() -> Vec<Row> {
    vec![
        row(Group::Read, "rmcp", VERSION, side)
            .note("serde_json to ClientJsonRpcMessage or ServerJsonRpcMessage: the whole message into owned values, nothing raw"),
        row(Group::Typed, "rmcp", VERSION, |_| Some(Typed)).note("serde_json to ServerJsonRpcMessage; schemas as trees"),
        row(Group::Write, "rmcp", VERSION, |corpus| {
            let out = BytesMut::new();
            Some(Write { turns: Turns::of(corpus, Said::new), out })
        })
        .note("its messages by JsonRpcMessageCodec into one BytesMut"),
    ]
}

/// Whose messages are read. A real peer knows, and rmcp's types differ.
#[derive(Clone, Copy)]
enum Side {
    Client,
    Server,
}

/// `None` where both sides speak.
fn side(corpus: &Corpus) -> Option<Side> {
    let has_method = |line: &Vec<u8>| {
        let read = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line);
        read.map_or(true, |members| members.contains_key("method"))
    };
    match corpus.messages.iter().filter(|line| has_method(line)).count() {
        0 => Some(Side::Server),
        n if n == corpus.messages.len() => Some(Side::Client),
        _ => None,
    }
}

fn digest<A, B, C>(read: Result<JsonRpcMessage<A, B, C>, serde_json::Error>) -> Digest {
    let Ok(message) = read else { return Digest::REFUSED };
    let (kind, id) = match std::hint::black_box(&message) {
        JsonRpcMessage::Request(request) => (Kind::Request, Some(&request.id)),
        JsonRpcMessage::Response(response) => (Kind::Response, Some(&response.id)),
        JsonRpcMessage::Notification(_) => (Kind::Notification, None),
        JsonRpcMessage::Error(_) => return Digest { kind: Kind::Error, ..Digest::UNKNOWN },
    };
    let id = id.map_or(Seen::ABSENT, |id| {
        Seen::made(|| match id {
            NumberOrString::Number(number) => number.to_string(),
            NumberOrString::String(text) => format!("\"{text}\""),
        })
    });
    Digest { kind, id, ..Digest::UNKNOWN }
}

impl Contender for Side {
    fn read(&mut self, message: &[u8]) -> Digest {
        match self {
            Self::Client => digest(serde_json::from_slice::<ClientJsonRpcMessage>(message)),
            Self::Server => digest(serde_json::from_slice::<ServerJsonRpcMessage>(message)),
        }
    }
}

struct Typed;

impl Contender for Typed {
    fn read(&mut self, message: &[u8]) -> Digest {
        let read = serde_json::from_slice::<ServerJsonRpcMessage>(message);
        let Ok(JsonRpcMessage::Response(response)) = read else { return Digest::REFUSED };
        match std::hint::black_box(&response.result) {
            ServerResult::ListToolsResult(_) => Digest::UNKNOWN,
            ServerResult::CallToolResult(result) => {
                let mut seen = Seen::EMPTY;
                for block in &result.content {
                    match block {
                        ContentBlock::Text(text) => seen.add(text.text.as_bytes()),
                        ContentBlock::Image(image) => seen.add(image.data.as_bytes()),
                        _ => return Digest::REFUSED,
                    }
                }
                Digest::of(seen)
            }
            _ => Digest::REFUSED,
        }
    }
}

enum Said {
    Client(ClientJsonRpcMessage),
    Server(ServerJsonRpcMessage),
    /// Not in its model.
    Nothing,
}

impl Said {
    fn new(outgoing: &Outgoing) -> Self {
        let json = outgoing.json();
        match outgoing {
            Outgoing::Call { .. } => serde_json::from_str(&json).map_or(Self::Nothing, Self::Client),
            _ => serde_json::from_str(&json).map_or(Self::Nothing, Self::Server),
        }
    }
}

struct Write {
    turns: Turns<Said>,
    out: BytesMut,
}

fn encode<T: Serialize>(message: T, out: &mut BytesMut) -> Digest {
    out.clear();
    match JsonRpcMessageCodec::<T>::new().encode(message, out) {
        Ok(()) => Digest::of(Seen::written(out)),
        Err(_) => Digest::REFUSED,
    }
}

impl Contender for Write {
    fn read(&mut self, _: &[u8]) -> Digest {
        match self.turns.next() {
            Said::Client(message) => encode(message, &mut self.out),
            Said::Server(message) => encode(message, &mut self.out),
            Said::Nothing => Digest::REFUSED,
        }
    }
}

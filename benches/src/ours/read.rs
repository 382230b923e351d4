use barewire::json::{Raw, Str};
use barewire::rpc::Message;

use crate::{Contender, Digest, Kind, Seen};

pub(super) struct Parse;

impl Contender for Parse {
    #[inline]
    fn read(&mut self, message: &[u8]) -> Digest {
        let raw = |raw: Option<Raw<'_>>| Seen::maybe(raw.map(Raw::as_bytes));
        let method = |raw: Raw<'_>| Seen::maybe(raw.as_string().map(Str::raw));
        match Message::parse(message) {
            Ok(Message::Request { id, method: name, params }) => {
                Digest { kind: Kind::Request, id: raw(Some(id)), method: method(name), body: raw(params) }
            }
            Ok(Message::Notification { method: name, params }) => {
                Digest { kind: Kind::Notification, id: Seen::ABSENT, method: method(name), body: raw(params) }
            }
            Ok(Message::Response { id, result }) => Digest {
                kind: Kind::Response,
                id: raw(Some(id)),
                method: Seen::ABSENT,
                body: raw(Some(result)),
            },
            Ok(Message::Error { id, .. }) => {
                Digest { kind: Kind::Error, id: raw(id), method: Seen::ABSENT, body: Seen::UNKNOWN }
            }
            Ok(_) => Digest::UNKNOWN,
            Err(_) => Digest::REFUSED,
        }
    }
}

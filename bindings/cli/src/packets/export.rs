//! Packets for programs: one JSON object a line, stable.

use barewire::json::{Object, Raw};

use super::envelope::Envelope;
use super::lines::End;
use super::model::{Kind, Message, Packet};
use crate::capture::base64;
use crate::capture::write::seconds;
use crate::text;

/// The line for a packet, with its LF.
pub(crate) fn packet(packet: &Packet) -> Vec<u8> {
    let raw =
        Raw::from_bytes(packet.line.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&packet.line.bytes)).ok();
    let mut line = text::object(|o| {
        o.uint("packet", packet.number as u64);
        if let Some(at) = packet.line.at {
            number(o, "t", &seconds(at));
        }
        o.str("dir", packet.line.stream.name());
        let mut messages = packet.messages.iter();
        if let Some(head) = messages.next() {
            members(o, head, raw);
        }
        o.uint("size", packet.line.size() as u64);
        if packet.line.end != End::Lf {
            o.str("end", if packet.line.end == End::CrLf { "crlf" } else { "none" });
        }
        if messages.len() > 0 {
            o.array("messages", |a| {
                for (message, raw) in messages.zip(raw.into_iter().flat_map(Raw::elements)) {
                    a.object(|o| members(o, message, Some(raw)));
                }
            });
        }
        match (raw, core::str::from_utf8(&packet.line.bytes)) {
            (Some(raw), _) => o.raw("message", raw),
            (None, Ok(text)) => o.str("text", text),
            (None, Err(_)) => o.str("b64", &base64::encode(&packet.line.bytes)),
        };
    });
    line.push(b'\n');
    line
}

fn members(o: &mut Object<'_>, message: &Message, raw: Option<Raw<'_>>) {
    o.str("kind", message.kind.name());
    if let Some(method) = message.method.as_ref().filter(|method| !method.is_empty()) {
        o.str("method", method);
    }
    let is_message = !matches!(message.kind, Kind::Batch(_) | Kind::Junk(_));
    if let Some(id) = raw.filter(|_| is_message).and_then(|raw| Envelope::read(raw).id) {
        o.raw("id", id);
    }
    if let Some(answers) = message.answers {
        o.uint("answers", answers.number as u64);
        if let Some(after) = answers.after {
            number(o, "after", &seconds(after));
        }
    }
    o.str("says", &message.sentence);
    o.array("findings", |a| {
        for finding in &message.findings {
            a.object(|f| {
                f.str("rule", &format!("BW{}", finding.rule.number));
                f.str("severity", finding.rule.severity.name());
                if !finding.member.is_empty() {
                    f.str("member", &finding.member);
                }
                f.str("text", &finding.text);
                f.str("clause", finding.rule.clause);
                if let Some(refused) = finding.rule.refused {
                    f.str("refused_by", refused);
                }
            });
        }
    });
}

fn number(o: &mut Object<'_>, key: &str, digits: &str) {
    if let Some(raw) = Raw::new(digits) {
        o.raw(key, raw);
    }
}

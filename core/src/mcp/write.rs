//! Protocol values as JSON, for the revision that the peer speaks.
use super::{Content, Data, Hints, LEGACY, Tool, Version};
use crate::json::{Raw, Sink, copy, write_raw, write_str, write_str_part, write_u64};

/// All of these, in order; stops at the first that has no room.
pub(crate) fn all(sink: &mut dyn Sink, parts: &[&str]) -> bool {
    parts.iter().all(|part| sink.put(part.as_bytes()))
}

fn member(sink: &mut dyn Sink, head: &str, text: &str) -> bool {
    sink.put(head.as_bytes()) && write_str(sink, text)
}

fn optional(sink: &mut dyn Sink, head: &str, text: Option<&str>) -> bool {
    text.is_none_or(|text| member(sink, head, text))
}

fn verbatim(sink: &mut dyn Sink, head: &str, json: Option<&str>) -> bool {
    json.is_none_or(|json| sink.put(head.as_bytes()) && raw_text(sink, json))
}

/// JSON of the application, in which line breaks are white space.
fn raw_text(sink: &mut dyn Sink, json: &str) -> bool {
    write_raw(sink, Raw::trusted(json.as_bytes()))
}

/// Vendor keys among capabilities, under the name that they have in the era.
pub(crate) fn extensions(sink: &mut dyn Sink, comma: &str, json: &str, modern: bool) -> bool {
    let name = if modern { "\"extensions\":" } else { "\"experimental\":" };
    all(sink, &[comma, name]) && raw_text(sink, json)
}

/// One tool definition.
#[inline(never)]
pub(crate) fn tool(sink: &mut dyn Sink, tool: &Tool<'_>, version: Version) -> bool {
    let since = |v: Version| version.since(v);
    member(sink, "{\"name\":", tool.name)
        && (!since(Version::V2025_06_18) || optional(sink, ",\"title\":", tool.title))
        && member(sink, ",\"description\":", tool.description)
        && verbatim(sink, ",\"inputSchema\":", Some(tool.input_schema))
        && (!since(Version::V2025_06_18) || verbatim(sink, ",\"outputSchema\":", tool.output_schema))
        && (!since(Version::V2025_03_26) || hints(sink, &tool.hints))
        && (!since(Version::V2025_11_25) || verbatim(sink, ",\"icons\":", tool.icons))
        && (!LEGACY || version != Version::V2025_11_25 || execution(sink, tool.task_support))
        && (!since(Version::V2025_06_18) || verbatim(sink, ",\"_meta\":", tool.meta))
        && sink.put(b"}")
}

#[inline(never)]
fn hints(sink: &mut dyn Sink, hints: &Hints<'_>) -> bool {
    if *hints == Hints::NONE {
        return true;
    }
    let flags = [
        ("readOnlyHint", hints.read_only),
        ("destructiveHint", hints.destructive),
        ("idempotentHint", hints.idempotent),
        ("openWorldHint", hints.open_world),
    ];
    let mut first = hints.title.is_none();
    sink.put(b",\"annotations\":{")
        && optional(sink, "\"title\":", hints.title)
        && flags.iter().filter_map(|(name, flag)| flag.map(|flag| (name, flag))).all(|(name, flag)| {
            let comma = if core::mem::take(&mut first) { "" } else { "," };
            all(sink, &[comma, "\"", name, "\":", if flag { "true" } else { "false" }])
        })
        && sink.put(b"}")
}

fn execution(sink: &mut dyn Sink, support: Option<&str>) -> bool {
    support.is_none_or(|s| member(sink, ",\"execution\":{\"taskSupport\":", s) && sink.put(b"}"))
}

/// A block of text.
pub(crate) fn text(sink: &mut dyn Sink, text: &str) -> bool {
    member(sink, "{\"type\":\"text\",\"text\":", text) && sink.put(b"}")
}

/// One content block.
#[inline(never)]
pub(crate) fn content(sink: &mut dyn Sink, block: &Content<'_>, version: Version) -> bool {
    match block {
        Content::Text(words) => text(sink, words),
        Content::Image { data, mime } => binary(sink, "image", data, mime),
        Content::Audio { data, mime } if version.since(Version::V2025_03_26) => {
            binary(sink, "audio", data, mime)
        }
        Content::Audio { data, mime } => resource(sink, "attachment:audio", Some(mime), Body::Blob(data)),
        Content::Link(link) if version.since(Version::V2025_06_18) => {
            member(sink, "{\"type\":\"resource_link\",\"uri\":", link.uri)
                && member(sink, ",\"name\":", link.name)
                && optional(sink, ",\"title\":", link.title)
                && optional(sink, ",\"description\":", link.description)
                && optional(sink, ",\"mimeType\":", link.mime)
                && link.size.is_none_or(|size| sink.put(b",\"size\":") && write_u64(sink, size))
                && sink.put(b"}")
        }
        Content::Link(link) => {
            sink.put(b"{\"type\":\"text\",\"text\":\"")
                && write_str_part(sink, link.name)
                && sink.put(b": ")
                && write_str_part(sink, link.uri)
                && sink.put(b"\"}")
        }
        Content::TextResource { uri, mime, text } => resource(sink, uri, *mime, Body::Text(text)),
        Content::BlobResource { uri, mime, data } => resource(sink, uri, *mime, Body::Blob(data)),
        Content::Other { json, .. } => write_raw(sink, *json),
    }
}

fn binary(sink: &mut dyn Sink, kind: &str, bytes: &Data<'_>, mime: &str) -> bool {
    all(sink, &["{\"type\":\"", kind, "\",\"data\":\""])
        && data(sink, bytes)
        && member(sink, "\",\"mimeType\":", mime)
        && sink.put(b"}")
}

enum Body<'a> {
    Text(&'a str),
    Blob(&'a Data<'a>),
}

fn resource(sink: &mut dyn Sink, uri: &str, mime: Option<&str>, body: Body<'_>) -> bool {
    member(sink, "{\"type\":\"resource\",\"resource\":{\"uri\":", uri)
        && optional(sink, ",\"mimeType\":", mime)
        && match body {
            Body::Text(text) => member(sink, ",\"text\":", text),
            Body::Blob(bytes) => sink.put(b",\"blob\":\"") && data(sink, bytes) && sink.put(b"\""),
        }
        && sink.put(b"}}")
}

fn data(sink: &mut dyn Sink, data: &Data<'_>) -> bool {
    match data {
        Data::Base64(text) => write_str_part(sink, text),
        Data::Bytes(bytes) => base64(sink, bytes),
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Four characters of three bytes; fewer bytes are padded.
pub(crate) fn quad(three: &[u8]) -> [u8; 4] {
    let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
    let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
    let char = |shift: u32| ALPHABET.get(((bits >> shift) & 63) as usize).copied().unwrap_or(b'=');
    [
        char(18),
        char(12),
        if three.len() > 1 { char(6) } else { b'=' },
        if three.len() > 2 { char(0) } else { b'=' },
    ]
}

fn base64(sink: &mut dyn Sink, bytes: &[u8]) -> bool {
    bytes.chunks(48).all(|chunk| {
        let mut text = [0; 64];
        let mut n = 0usize;
        for (four, three) in text.chunks_exact_mut(4).zip(chunk.chunks(3)) {
            copy(four, &quad(three));
            n = n.saturating_add(4);
        }
        sink.put(text.get(..n).unwrap_or(&[]))
    })
}

/// An `Implementation` with what all revisions have.
pub(crate) fn implementation(sink: &mut dyn Sink, name: &str, version: &str) -> bool {
    member(sink, "{\"name\":", name) && member(sink, ",\"version\":", version) && sink.put(b"}")
}

/// The members of an object, without its braces, and without `reserved`; `first`: nothing stands before them.
pub(crate) fn members_but(sink: &mut dyn Sink, object: Raw<'_>, reserved: &str, mut first: bool) -> bool {
    object.members().filter(|(name, _)| !name.is(reserved)).all(|(name, value)| {
        let comma: &[u8] = if core::mem::take(&mut first) { b"\"" } else { b",\"" };
        sink.put(comma) && sink.put(name.raw()) && sink.put(b"\":") && write_raw(sink, value)
    })
}

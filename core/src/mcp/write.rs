//! Protocol values as JSON, for the revision that the peer speaks.
use super::pattern::{Slot, fill, pattern};
use super::{Content, Data, Hints, LEGACY, Tool, Version};
use crate::json::{
    Fixed, Raw, SMALL, Sink as _, copy, digits, is_plain, write_raw, write_str, write_str_part,
};
use crate::machine::tx::{Out, put_all};

/// All of these, in order; stops at the first that has no room.
pub(crate) fn all(out: &mut Out<'_>, parts: &[&str]) -> bool {
    parts.iter().all(|part| out.put(part.as_bytes()))
}

fn slot(text: Option<&str>) -> Slot<'_> {
    text.map(str::as_bytes)
}

/// What is there since `first`.
fn since(version: Version, first: Version, text: Option<&str>) -> Slot<'_> {
    if version.since(first) { slot(text) } else { None }
}

/// The same as `write_str`, in one piece where there is nothing to escape.
#[cfg_attr(not(target_os = "none"), inline)]
pub(crate) fn string(out: &mut Out<'_>, text: &str) -> bool {
    !SMALL && is_plain(text) && out.append_string(text.as_bytes()) || write_str(out, text)
}

/// One tool definition. In parts: all slots at once would be the deepest frame of a server on small processors.
pub(crate) fn tool(out: &mut Out<'_>, tool: &Tool<'_>, version: Version) -> bool {
    described(out, tool, version)
        && (!version.since(Version::V2025_03_26) || hints(out, &tool.hints))
        && others(out, tool, version)
}

#[inline(never)]
fn described(out: &mut Out<'_>, tool: &Tool<'_>, version: Version) -> bool {
    let slots = [
        Some(tool.name.as_bytes()),
        since(version, Version::V2025_06_18, tool.title),
        Some(tool.description.as_bytes()),
        Some(tool.input_schema.as_bytes()),
        since(version, Version::V2025_06_18, tool.output_schema),
    ];
    let text = pattern!(
        "{\"name\":\"@0\"<1,\"title\":\"@1\">,\"description\":\"@2\",\"inputSchema\":$3<4,\"outputSchema\":$4>"
    );
    fill(out, text, &slots, &[])
}

#[inline(never)]
fn hints(out: &mut Out<'_>, hints: &Hints<'_>) -> bool {
    let flags = [hints.read_only, hints.destructive, hints.idempotent, hints.open_world];
    if hints.title.is_none() && flags.iter().all(Option::is_none) {
        return true;
    }
    let flag = |flag: Option<bool>| slot(flag.map(|yes| if yes { "true" } else { "false" }));
    let [read_only, destructive, idempotent, open_world] = flags.map(flag);
    let slots = [slot(hints.title), read_only, destructive, idempotent, open_world];
    let text = pattern!(concat!(
        ",\"annotations\":{<0~\"title\":\"@0\"><1~\"readOnlyHint\":$1><2~\"destructiveHint\":$2>",
        "<3~\"idempotentHint\":$3><4~\"openWorldHint\":$4>}"
    ));
    fill(out, text, &slots, &[])
}

#[inline(never)]
fn others(out: &mut Out<'_>, tool: &Tool<'_>, version: Version) -> bool {
    let task = tool.task_support.filter(|_| LEGACY && version == Version::V2025_11_25);
    let slots = [
        since(version, Version::V2025_11_25, tool.icons),
        slot(task),
        since(version, Version::V2025_06_18, tool.meta),
    ];
    let text = pattern!("<0,\"icons\":$0><1,\"execution\":{\"taskSupport\":\"@1\"}><2,\"_meta\":$2>}");
    fill(out, text, &slots, &[])
}

/// A block of text.
pub(crate) fn text(out: &mut Out<'_>, text: &str) -> bool {
    if !SMALL {
        if is_plain(text) {
            return put_all!(out, b"{\"type\":\"text\",\"text\":\"", text.as_bytes(), b"\"}");
        }
        return out.put(b"{\"type\":\"text\",\"text\":") && write_str(out, text) && out.put(b"}");
    }
    fill(out, pattern!("{\"type\":\"text\",\"text\":\"@0\"}"), &[Some(text.as_bytes())], &[])
}

/// One content block.
#[inline(never)]
pub(crate) fn content(out: &mut Out<'_>, block: &Content<'_>, version: Version) -> bool {
    match block {
        Content::Text(words) => text(out, words),
        Content::Image { data, mime } => binary(out, "image", data, mime),
        Content::Audio { data, mime } if version.since(Version::V2025_03_26) => {
            binary(out, "audio", data, mime)
        }
        Content::Audio { data, mime } => resource(out, "attachment:audio", Some(mime), Body::Blob(data)),
        Content::Link(link) if version.since(Version::V2025_06_18) => {
            let mut number = [0; Fixed::ROOM];
            let slots = [
                Some(link.uri.as_bytes()),
                Some(link.name.as_bytes()),
                slot(link.title),
                slot(link.description),
                slot(link.mime),
                link.size.map(|size| digits(&mut number, size, false)),
            ];
            let text = pattern!(concat!(
                "{\"type\":\"resource_link\",\"uri\":\"@0\",\"name\":\"@1\"<2,\"title\":\"@2\">",
                "<3,\"description\":\"@3\"><4,\"mimeType\":\"@4\"><5,\"size\":$5>}"
            ));
            fill(out, text, &slots, &[])
        }
        Content::Link(link) => {
            let slots = [Some(link.name.as_bytes()), Some(link.uri.as_bytes())];
            fill(out, pattern!("{\"type\":\"text\",\"text\":\"@0: @1\"}"), &slots, &[])
        }
        Content::TextResource { uri, mime, text } => resource(out, uri, *mime, Body::Text(text)),
        Content::BlobResource { uri, mime, data } => resource(out, uri, *mime, Body::Blob(data)),
        Content::Other { json, .. } => write_raw(out, *json),
    }
}

fn binary(out: &mut Out<'_>, kind: &str, bytes: &Data<'_>, mime: &str) -> bool {
    all(out, &["{\"type\":\"", kind, "\",\"data\":\""])
        && data(out, bytes)
        && fill(out, pattern!("\",\"mimeType\":\"@0\"}"), &[Some(mime.as_bytes())], &[])
}

enum Body<'a> {
    Text(&'a str),
    Blob(&'a Data<'a>),
}

fn resource(out: &mut Out<'_>, uri: &str, mime: Option<&str>, body: Body<'_>) -> bool {
    let (words, blob) = match body {
        Body::Text(text) => (Some(text), None),
        Body::Blob(data) => (None, Some(data)),
    };
    let text = pattern!(concat!(
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"@0\"<1,\"mimeType\":\"@1\">,",
        "<2\"text\":\"@2><3\"blob\":\">"
    ));
    fill(out, text, &[Some(uri.as_bytes()), slot(mime), slot(words), blob.map(|_| &b""[..])], &[])
        && blob.is_none_or(|blob| data(out, blob))
        && out.put(b"\"}}")
}

fn data(out: &mut Out<'_>, data: &Data<'_>) -> bool {
    match data {
        Data::Base64(text) => write_str_part(out, text),
        Data::Bytes(bytes) => base64(out, bytes),
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

fn base64(out: &mut Out<'_>, bytes: &[u8]) -> bool {
    bytes.chunks(48).all(|chunk| {
        let mut text = [0; 64];
        let mut n = 0usize;
        for (four, three) in text.chunks_exact_mut(4).zip(chunk.chunks(3)) {
            copy(four, &quad(three));
            n = n.saturating_add(4);
        }
        out.put(text.get(..n).unwrap_or(&[]))
    })
}

/// Vendor keys among capabilities, under the name that they have in the era.
#[cfg(feature = "client")]
pub(crate) fn extensions(out: &mut Out<'_>, comma: &str, json: &str, modern: bool) -> bool {
    let name = if modern { "\"extensions\":" } else { "\"experimental\":" };
    all(out, &[comma, name]) && write_raw(out, Raw::trusted(json.as_bytes()))
}

/// An `Implementation` with what all revisions have.
pub(crate) fn implementation(out: &mut Out<'_>, name: &str, version: &str) -> bool {
    let slots = [Some(name.as_bytes()), Some(version.as_bytes())];
    fill(out, pattern!("{\"name\":\"@0\",\"version\":\"@1\"}"), &slots, &[])
}

/// The members of an object, without its braces, and without `reserved`; `first`: nothing stands before them.
pub(crate) fn members_but(out: &mut Out<'_>, object: Raw<'_>, reserved: &str, mut first: bool) -> bool {
    object.members().filter(|(name, _)| !name.is(reserved)).all(|(name, value)| {
        let comma: &[u8] = if core::mem::take(&mut first) { b"\"" } else { b",\"" };
        out.put(comma) && out.put(name.raw()) && out.put(b"\":") && write_raw(out, value)
    })
}

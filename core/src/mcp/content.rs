//! Content blocks.
use crate::json::Raw;

/// One content block, written by servers and read by clients.
///
/// Peers of a revision that lacks a kind get the nearest that it has: audio before 2025-03-26 travels as an embedded
/// resource, a link before 2025-06-18 as text.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content<'a> {
    /// Text for the model.
    Text(&'a str),
    /// A picture.
    Image {
        /// The bytes of the file.
        data: Data<'a>,
        /// Its media type, such as `image/png`.
        mime: &'a str,
    },
    /// Sound (since 2025-03-26).
    Audio {
        /// The bytes of the file.
        data: Data<'a>,
        /// Its media type, such as `audio/wav`.
        mime: &'a str,
    },
    /// A resource that can be read (since 2025-06-18).
    Link(Link<'a>),
    /// An embedded resource of text.
    TextResource {
        /// Names it.
        uri: &'a str,
        /// Its media type.
        mime: Option<&'a str>,
        /// All of it.
        text: &'a str,
    },
    /// An embedded resource of bytes.
    BlobResource {
        /// Names it.
        uri: &'a str,
        /// Its media type.
        mime: Option<&'a str>,
        /// All of it.
        data: Data<'a>,
    },
    /// Of a kind that this version of the crate does not know, or with members that it does not: kept whole.
    Other {
        /// The block's `type`; empty where it was spelled with escapes.
        kind: &'a str,
        /// The whole block, an object.
        json: Raw<'a>,
    },
}

/// A link to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Link<'a> {
    /// Where it is.
    pub uri: &'a str,
    /// What it is called.
    pub name: &'a str,
    /// For people.
    pub title: Option<&'a str>,
    /// For the model.
    pub description: Option<&'a str>,
    /// Its media type.
    pub mime: Option<&'a str>,
    /// Its size in bytes.
    pub size: Option<u64>,
}

impl<'a> Link<'a> {
    /// A link with nothing but what it must have.
    #[must_use]
    pub const fn new(uri: &'a str, name: &'a str) -> Self {
        Self { uri, name, title: None, description: None, mime: None, size: None }
    }
}

/// Binary data: bytes (encoded while they are written) or base64 text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data<'a> {
    /// As they are.
    Bytes(&'a [u8]),
    /// As on the wire: the standard alphabet, padded. A reader does not check it.
    Base64(&'a str),
}

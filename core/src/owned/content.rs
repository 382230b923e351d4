//! Content blocks that own their data: what tools return and what calls give back.
use super::base64::decode;
use crate::json::Raw;
use crate::mcp::{Content, Data, Link};
use alloc::{borrow::ToOwned, string::String, vec::Vec};

/// One content block, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnedContent {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// The picture.
        data: OwnedData,
        /// For example `image/png`.
        mime: String,
    },
    /// A sound; peers of 2024-11-05 do not know it.
    Audio {
        /// The sound.
        data: OwnedData,
        /// For example `audio/wav`.
        mime: String,
    },
    /// A link to a resource, which the client may read; known from 2025-06-18 on.
    Link {
        /// Where it is.
        uri: String,
        /// What it is called.
        name: String,
        /// Its name for people.
        title: Option<String>,
        /// What it holds.
        description: Option<String>,
        /// Its type.
        mime: Option<String>,
        /// Its length in bytes.
        size: Option<u64>,
    },
    /// A resource embedded as text.
    TextResource {
        /// Where it came from.
        uri: String,
        /// Its type, where told.
        mime: Option<String>,
        /// The text.
        text: String,
    },
    /// A resource embedded as bytes.
    BlobResource {
        /// Where it came from.
        uri: String,
        /// Its type, where told.
        mime: Option<String>,
        /// The bytes.
        data: OwnedData,
    },
    /// Of a kind that this version does not know, kept whole.
    Other {
        /// Its `type`.
        kind: String,
        /// The block as JSON text.
        json: String,
    },
}

impl OwnedContent {
    /// A link with nothing but what it must have.
    #[must_use]
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        let (uri, name) = (uri.into(), name.into());
        Self::Link { uri, name, title: None, description: None, mime: None, size: None }
    }

    /// The text, for a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Copies what the machine lends.
    #[must_use]
    pub fn copy(content: &Content<'_>) -> Self {
        let own = |text: Option<&str>| text.map(str::to_owned);
        match *content {
            Content::Text(text) => Self::Text(text.into()),
            Content::Image { data, mime } => Self::Image { data: OwnedData::copy(data), mime: mime.into() },
            Content::Audio { data, mime } => Self::Audio { data: OwnedData::copy(data), mime: mime.into() },
            Content::Link(link) => Self::Link {
                uri: link.uri.into(),
                name: link.name.into(),
                title: own(link.title),
                description: own(link.description),
                mime: own(link.mime),
                size: link.size,
            },
            Content::TextResource { uri, mime, text } => {
                Self::TextResource { uri: uri.into(), mime: own(mime), text: text.into() }
            }
            Content::BlobResource { uri, mime, data } => {
                Self::BlobResource { uri: uri.into(), mime: own(mime), data: OwnedData::copy(data) }
            }
            Content::Other { kind, json } => Self::Other { kind: kind.into(), json: json.as_str().into() },
        }
    }

    /// Lends it to the machine; `None` for a block that claims to be JSON and is not.
    #[must_use]
    pub fn lend(&self) -> Option<Content<'_>> {
        Some(match self {
            Self::Text(text) => Content::Text(text),
            Self::Image { data, mime } => Content::Image { data: data.lend(), mime },
            Self::Audio { data, mime } => Content::Audio { data: data.lend(), mime },
            Self::Link { uri, name, title, description, mime, size } => {
                let mut link = Link::new(uri, name);
                link.title = title.as_deref();
                link.description = description.as_deref();
                link.mime = mime.as_deref();
                link.size = *size;
                Content::Link(link)
            }
            Self::TextResource { uri, mime, text } => {
                Content::TextResource { uri, mime: mime.as_deref(), text }
            }
            Self::BlobResource { uri, mime, data } => {
                Content::BlobResource { uri, mime: mime.as_deref(), data: data.lend() }
            }
            Self::Other { kind, json } => Content::Other { kind, json: Raw::new(json)? },
        })
    }
}

/// Binary data: the bytes, or the base64 text in which they travel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedData {
    /// Encoded while it is sent.
    Bytes(Vec<u8>),
    /// As it came from the peer: not checked yet.
    Base64(String),
}

impl OwnedData {
    /// The bytes; `None` if the peer's text is not base64.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Bytes(bytes) => Some(bytes.clone()),
            Self::Base64(text) => decode(text),
        }
    }

    fn copy(data: Data<'_>) -> Self {
        match data {
            Data::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
            Data::Base64(text) => Self::Base64(text.to_owned()),
        }
    }

    fn lend(&self) -> Data<'_> {
        match self {
            Self::Bytes(bytes) => Data::Bytes(bytes),
            Self::Base64(text) => Data::Base64(text),
        }
    }
}

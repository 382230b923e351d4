use barewire::json::{Raw, from_slice_in_place};
use barewire::rpc::Message;
use serde::Deserialize;

use super::room;
use crate::{Contender, Corpus, Digest, Seen};

/// The lazy way: one pass for the envelope, one for the list.
pub(super) struct Views {
    text: Vec<u8>,
}

impl Views {
    pub(super) fn new(corpus: &Corpus) -> Self {
        Self { text: room(corpus, 0) }
    }

    fn string(&mut self, value: Raw<'_>, seen: &mut Seen) -> Option<()> {
        let body = value.as_string()?;
        // One that has an escape near its start needs no search for one all the way.
        match body.decode_into(&mut self.text) {
            Some(text) => seen.add(text.as_bytes()),
            None => return None,
        }
        Some(())
    }

    fn tool(&mut self, tool: Raw<'_>, seen: &mut Seen) -> Option<()> {
        let (mut name, mut description, mut schema) = (None, None, None);
        for (key, value) in tool.members() {
            match key.raw() {
                b"name" => name = Some(value),
                b"description" => description = Some(value),
                b"inputSchema" => schema = Some(value),
                _ => {}
            }
        }
        self.string(name?, seen)?;
        self.string(description?, seen)?;
        seen.add(schema?.as_bytes());
        Some(())
    }

    fn block(&mut self, block: Raw<'_>, seen: &mut Seen) -> Option<()> {
        for (key, value) in block.members() {
            if matches!(key.raw(), b"text" | b"data") {
                self.string(value, seen)?;
            }
        }
        Some(())
    }
}

impl Contender for Views {
    fn read(&mut self, message: &[u8]) -> Digest {
        let Ok(Message::Response { result, .. }) = Message::parse(message) else { return Digest::REFUSED };
        let mut seen = Seen::EMPTY;
        for (key, value) in result.members() {
            for element in value.elements() {
                let read = match key.raw() {
                    b"tools" => self.tool(element, &mut seen),
                    b"content" => self.block(element, &mut seen),
                    _ => Some(()),
                };
                if read.is_none() {
                    return Digest::REFUSED;
                }
            }
        }
        Digest::of(seen)
    }
}

/// The way of those who like serde.
pub(super) struct InPlace {
    copy: Vec<u8>,
}

impl InPlace {
    pub(super) fn new(corpus: &Corpus) -> Self {
        Self { copy: room(corpus, 0) }
    }
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    result: Answer<'a>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    tools: Vec<Tool<'a>>,
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(borrow, rename = "inputSchema")]
    schema: Raw<'a>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(alias = "data")]
    text: &'a str,
}

impl Contender for InPlace {
    fn read(&mut self, message: &[u8]) -> Digest {
        let copy = &mut self.copy[..message.len()];
        copy.copy_from_slice(message);
        let Ok(line) = from_slice_in_place::<Line<'_>>(copy) else { return Digest::REFUSED };
        let mut seen = Seen::EMPTY;
        for tool in &line.result.tools {
            seen.add(tool.name.as_bytes());
            seen.add(tool.description.as_bytes());
            seen.add(tool.schema.as_bytes());
        }
        line.result.content.iter().for_each(|block| seen.add(block.text.as_bytes()));
        Digest::of(seen)
    }
}

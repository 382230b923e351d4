use barewire::json::{Kind, Pull, PullValue, Raw, ScanError, Str, from_slice_in_place};
use serde::Deserialize;

use super::room;
use crate::{Contender, Corpus, Digest, Seen};

/// The lazy way: one pass, which checks, takes what is wanted and passes over the rest.
pub(super) struct Lazy {
    text: Vec<u8>,
}

impl Lazy {
    pub(super) fn new(corpus: &Corpus) -> Self {
        Self { text: room(corpus, 0) }
    }

    /// A response, checked as strictly as `rpc::Message` does; `None` where it isn't one.
    fn response(&mut self, message: &[u8]) -> Result<Option<Seen>, ScanError> {
        let mut pull = Pull::new(message);
        let mut seen = Seen::EMPTY;
        let (mut versions, mut ids, mut results) = (0, 0, 0);
        let Some(mut members) = pull.value().members()? else { return Ok(None) };
        while let Some((key, value)) = members.next()? {
            match key.raw() {
                b"jsonrpc" => {
                    versions += usize::from(value.string()?.is_some_and(|version| version.is("2.0")));
                }
                b"id" => ids += usize::from(matches!(value.raw()?.kind(), Kind::Number | Kind::String)),
                b"result" => {
                    results += 1;
                    if self.result(value, &mut seen)?.is_none() {
                        return Ok(None);
                    }
                }
                _ => return Ok(None),
            }
        }
        pull.end()?;
        Ok((versions == 1 && ids == 1 && results == 1).then_some(seen))
    }

    fn result(&mut self, result: PullValue<'_, '_>, seen: &mut Seen) -> Result<Option<()>, ScanError> {
        let Some(mut members) = result.members()? else { return Ok(None) };
        while let Some((key, value)) = members.next()? {
            let Some(mut list) = value.elements()? else { continue };
            while let Some(element) = list.next()? {
                let read = match key.raw() {
                    b"tools" => self.tool(element, seen)?,
                    b"content" => self.block(element, seen)?,
                    _ => Some(()),
                };
                if read.is_none() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(()))
    }

    fn tool(&mut self, tool: PullValue<'_, '_>, seen: &mut Seen) -> Result<Option<()>, ScanError> {
        let (mut name, mut description, mut schema) = (None, None, None);
        let Some(mut members) = tool.members()? else { return Ok(None) };
        while let Some((key, value)) = members.next()? {
            match key.raw() {
                b"name" => name = value.string()?,
                b"description" => description = value.string()?,
                b"inputSchema" => schema = Some(value.raw()?),
                _ => {}
            }
        }
        let (Some(name), Some(description), Some(schema)) = (name, description, schema) else {
            return Ok(None);
        };
        let read = self.string(name, seen).and_then(|()| self.string(description, seen));
        seen.add(schema.as_bytes());
        Ok(read)
    }

    fn block(&mut self, block: PullValue<'_, '_>, seen: &mut Seen) -> Result<Option<()>, ScanError> {
        let Some(mut members) = block.members()? else { return Ok(None) };
        while let Some((key, value)) = members.next()? {
            if matches!(key.raw(), b"text" | b"data")
                && value.string()?.and_then(|body| self.string(body, seen)).is_none()
            {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    fn string(&mut self, body: Str<'_>, seen: &mut Seen) -> Option<()> {
        let text = match body.plain() {
            Some(text) => text,
            None => body.decode_into(&mut self.text)?,
        };
        seen.add(text.as_bytes());
        Some(())
    }
}

impl Contender for Lazy {
    fn read(&mut self, message: &[u8]) -> Digest {
        match self.response(message) {
            Ok(Some(seen)) => Digest::of(seen),
            _ => Digest::REFUSED,
        }
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

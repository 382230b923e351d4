//! Framing: tokio's codec and rmcp's two ways.

use std::io::{BufRead, BufReader};

use barewire_benches::{Contender, Digest, Group, Row, Seen, row};
use rmcp::transport::async_rw::JsonRpcMessageCodec;
use serde::de::IgnoredAny;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, LinesCodec};

const READ: usize = 8 * 1024;

pub(crate) fn rows() -> Vec<Row> {
    vec![
        row(Group::Framing, "tokio_util LinesCodec", "0.7.20", |_| Some(Lines)).note("decode over a BytesMut; a String for each line"),
        row(Group::Framing, "rmcp's read_line", "3.11.0", |_| Some(ByByte::default()))
            .note("private there; the same steps by our hand: BufReader with 8 KiB, position of the byte, one Vec for all lines"),
        row(Group::Framing, "rmcp JsonRpcMessageCodec", "3.11.0", |_| Some(Codec)).note("decode to IgnoredAny: it parses what it frames"),
    ]
}

struct Lines;

impl Contender for Lines {
    fn read(&mut self, stream: &[u8]) -> Digest {
        let (mut codec, mut buffer, mut seen) =
            (LinesCodec::new(), BytesMut::with_capacity(READ), Seen::EMPTY);
        for read in stream.chunks(READ) {
            buffer.extend_from_slice(read);
            loop {
                match codec.decode(&mut buffer) {
                    Ok(Some(line)) => seen.add(line.as_bytes()),
                    Ok(None) => break,
                    Err(_) => return Digest::REFUSED,
                }
            }
        }
        Digest::of(seen)
    }
}

#[derive(Default)]
struct ByByte(Vec<u8>);

impl Contender for ByByte {
    fn read(&mut self, stream: &[u8]) -> Digest {
        let (mut reader, mut seen) = (BufReader::with_capacity(READ, stream), Seen::EMPTY);
        self.0.clear();
        while let Ok(there) = reader.fill_buf()
            && !there.is_empty()
        {
            let end = there.iter().position(|b| *b == b'\n');
            let taken = end.map_or(there.len(), |at| at + 1);
            self.0.extend_from_slice(&there[..taken]);
            reader.consume(taken);
            if end.is_some() {
                seen.add(self.0.strip_suffix(b"\n").unwrap_or(&self.0));
                self.0.clear();
            }
        }
        Digest::of(seen)
    }
}

struct Codec;

impl Contender for Codec {
    fn read(&mut self, stream: &[u8]) -> Digest {
        let (mut codec, mut buffer) =
            (JsonRpcMessageCodec::<IgnoredAny>::new(), BytesMut::with_capacity(READ));
        for read in stream.chunks(READ) {
            buffer.extend_from_slice(read);
            loop {
                match codec.decode(&mut buffer) {
                    Ok(Some(message)) => _ = std::hint::black_box(message),
                    Ok(None) => break,
                    Err(_) => return Digest::REFUSED,
                }
            }
        }
        Digest::UNKNOWN
    }
}

use barewire::json::{Object, Raw, Sink, Writer, write_bool, write_str, write_u64};

use super::room;
use crate::{Contender, Corpus, Digest, Outgoing, Seen, ToolDef, Turns};

/// Messages one after the other, and a buffer to write them into.
struct Desk<T> {
    turns: Turns<T>,
    buffer: Vec<u8>,
}

impl<T> Desk<T> {
    fn new(corpus: &Corpus, make: impl FnMut(&Outgoing) -> T) -> Self {
        Self { turns: Turns::of(corpus, make), buffer: room(corpus, 64) }
    }

    #[inline]
    fn write(&mut self, write: impl FnOnce(&T, &mut Writer<'_>) -> bool) -> Digest {
        let mut out = Writer::new(&mut self.buffer);
        let done = write(self.turns.next(), &mut out);
        if done { Digest::of(Seen::written(out.written())) } else { Digest::REFUSED }
    }
}

/// Fixed text, and between it what is not fixed.
pub(super) struct Pieces(Desk<Outgoing>);

impl Pieces {
    pub(super) fn new(corpus: &Corpus) -> Self {
        Self(Desk::new(corpus, Outgoing::clone))
    }
}

impl Contender for Pieces {
    fn read(&mut self, _: &[u8]) -> Digest {
        self.0.write(|what, out| match what {
            Outgoing::Call { id, name, arguments } => {
                let mut done = out.put(b"{\"jsonrpc\":\"2.0\",\"id\":")
                    && write_u64(out, *id)
                    && out.put(b",\"method\":\"tools/call\",\"params\":{\"name\":")
                    && write_str(out, name)
                    && out.put(b",\"arguments\":{");
                for (at, (key, value)) in arguments.iter().enumerate() {
                    done = done
                        && (at == 0 || out.put(b","))
                        && write_str(out, key)
                        && out.put(b":")
                        && write_str(out, value);
                }
                done && out.put(b"}}}")
            }
            Outgoing::Progress { token, done, total, message } => out.put(
                b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":",
            ) && write_u64(out, *token)
                && out.put(b",\"progress\":")
                && write_u64(out, *done)
                && out.put(b",\"total\":")
                && write_u64(out, *total)
                && out.put(b",\"message\":")
                && write_str(out, message)
                && out.put(b"}}"),
            Outgoing::Text { id, text } => {
                out.put(b"{\"jsonrpc\":\"2.0\",\"id\":")
                    && write_u64(out, *id)
                    && out.put(b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":")
                    && write_str(out, text)
                    && out.put(b"}],\"isError\":false}}")
            }
            Outgoing::Tools { id, tools } => {
                let mut done = out.put(b"{\"jsonrpc\":\"2.0\",\"id\":")
                    && write_u64(out, *id)
                    && out.put(b",\"result\":{\"tools\":[");
                for (at, tool) in tools.iter().enumerate() {
                    done = done
                        && out.put(if at == 0 { b"{\"name\":" } else { b",{\"name\":" })
                        && write_str(out, &tool.name)
                        && out.put(b",\"description\":")
                        && write_str(out, &tool.description)
                        && out.put(b",\"inputSchema\":")
                        && out.put(tool.schema.as_bytes())
                        && out.put(b",\"annotations\":{\"title\":")
                        && write_str(out, &tool.title)
                        && out.put(b",\"readOnlyHint\":")
                        && write_bool(out, tool.read_only)
                        && out.put(b"}}");
                }
                done && out.put(b"]}}")
            }
        })
    }
}

/// The way that needs no care for commas.
pub(super) struct Members(Desk<(Outgoing, Vec<Raw<'static>>)>);

impl Members {
    pub(super) fn new(corpus: &Corpus) -> Self {
        // Checked once, as a program has them; they stay to the end of the run.
        let schema = |tool: &ToolDef| {
            let text: &'static str = Box::leak(tool.schema.clone().into_boxed_str());
            Raw::new(text).unwrap_or(Raw::EMPTY_OBJECT)
        };
        Self(Desk::new(corpus, |outgoing| {
            let schemas = match outgoing {
                Outgoing::Tools { tools, .. } => tools.iter().map(schema).collect(),
                _ => Vec::new(),
            };
            (outgoing.clone(), schemas)
        }))
    }
}

impl Contender for Members {
    fn read(&mut self, _: &[u8]) -> Digest {
        self.0.write(|(what, schemas), out| {
            let mut message = Object::new(out);
            message.str("jsonrpc", "2.0");
            match what {
                Outgoing::Call { id, name, arguments } => {
                    message.uint("id", *id).str("method", "tools/call").object("params", |params| {
                        params.str("name", name).object("arguments", |object| {
                            for (key, value) in arguments {
                                object.str(key, value);
                            }
                        });
                    });
                }
                Outgoing::Progress { token, done, total, message: text } => {
                    message.str("method", "notifications/progress").object("params", |params| {
                        params.uint("progressToken", *token).uint("progress", *done);
                        params.uint("total", *total).str("message", text);
                    });
                }
                Outgoing::Text { id, text } => {
                    message.uint("id", *id).object("result", |result| {
                        result.array("content", |content| {
                            content.object(|block| {
                                block.str("type", "text").str("text", text);
                            });
                        });
                        result.bool("isError", false);
                    });
                }
                Outgoing::Tools { id, tools } => {
                    message.uint("id", *id).object("result", |result| {
                        result.array("tools", |list| {
                            for (tool, schema) in tools.iter().zip(schemas) {
                                list.object(|object| {
                                    object.str("name", &tool.name).str("description", &tool.description);
                                    object.raw("inputSchema", *schema);
                                    object.object("annotations", |hints| {
                                        hints.str("title", &tool.title).bool("readOnlyHint", tool.read_only);
                                    });
                                });
                            }
                        });
                    });
                }
            }
            message.end()
        })
    }
}

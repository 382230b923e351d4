//! The server of a script: what it read, and what it answers.

use serde_json::Value;

use super::script::{Answer, Kind, Script};

/// One end of a question that the server read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Question {
    /// Of which request; none of the handshake's.
    pub(super) of: Option<usize>,
    /// Its id.
    pub(super) id: u64,
    /// Its method.
    pub(super) method: String,
    /// It was answered so often.
    pub(super) answers: u8,
    /// It was given up.
    pub(super) cancelled: bool,
}

/// A server that answers when it is told to.
#[derive(Clone, Hash, Debug, Default)]
pub(super) struct Peer {
    /// All that it was asked.
    pub(super) questions: Vec<Question>,
    /// How many of our questions to the client were answered.
    pub(super) pongs: u8,
    /// All that it read, for judging what comes next.
    pub(super) read: Vec<Vec<u8>>,
}

impl Peer {
    /// Reads a line.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(super) fn read(&mut self, script: &Script, line: &[u8]) -> Result<(), String> {
        let value: Value = serde_json::from_slice(line).map_err(|e| e.to_string())?;
        self.read.push(line.to_vec());
        let id = value["id"].as_u64();
        match (value["method"].as_str(), id) {
            (Some("notifications/cancelled"), None) => {
                let id = value["params"]["requestId"].as_u64();
                let question = self.questions.iter_mut().find(|q| Some(q.id) == id);
                let question = question.ok_or("gives up what it never asked")?;
                if question.of.is_none() {
                    return Err("gives the handshake up".into());
                }
                if core::mem::replace(&mut question.cancelled, true) {
                    return Err("gives the same request up twice".into());
                }
            }
            (Some("notifications/initialized"), None) => {}
            (Some(method), Some(id)) => {
                if self.questions.iter().any(|q| q.id == id) {
                    return Err(format!("asks twice under the id {id}"));
                }
                let of = match method {
                    "tools/call" => {
                        let tag = value["params"]["arguments"]["t"].as_str().unwrap_or_default();
                        script.requests.iter().position(|r| r.tag == tag)
                    }
                    "tools/list" => script.requests.iter().position(|r| r.kind == Kind::List),
                    "other/method" => script.requests.iter().position(|r| r.kind == Kind::Other),
                    _ => None,
                };
                self.questions.push(Question { of, id, method: method.into(), answers: 0, cancelled: false });
            }
            (None, _) if value.get("result").is_some() => self.pongs += 1,
            _ => return Err("neither a request nor an answer".into()),
        }
        Ok(())
    }

    /// Which page of its list a question asks for.
    fn page(&self, at: usize) -> u8 {
        let of = self.questions[at].of;
        let before = self.questions[..at].iter().filter(|q| q.of == of).count();
        u8::try_from(before).unwrap_or(u8::MAX)
    }

    /// Does the answer to this question end the request?
    pub(super) fn is_last(&self, script: &Script, at: usize) -> bool {
        match self.questions[at].of.map(|of| script.requests[of].answer) {
            Some(Answer::Pages(more)) => self.page(at) >= more,
            _ => true,
        }
    }

    /// The answer to a question; none if it gets none.
    pub(super) fn answer(&self, script: &Script, at: usize) -> Option<String> {
        let question = &self.questions[at];
        let id = question.id;
        let modern = script.revision == "2026-07-28";
        let kind = if modern { "\"resultType\":\"complete\"," } else { "" };
        let result =
            |inside: String| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{{kind}{inside}}}}}\n");
        let error = |code: i64| {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":\"no\"}}}}\n")
        };
        let Some(of) = question.of else {
            return Some(match question.method.as_str() {
                "initialize" if !modern => result(format!(
                    "\"protocolVersion\":\"{}\",\"capabilities\":{{\"tools\":{{}}}},\"serverInfo\":{{\"name\":\"s\",\"version\":\"1\"}}",
                    script.revision
                )),
                "server/discover" if modern => {
                    result("\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}".into())
                }
                _ => error(-32601),
            });
        };
        let request = &script.requests[of];
        let tag = &request.tag;
        let tool =
            |tag: &str| format!("\"tools\":[{{\"name\":\"{tag}\",\"inputSchema\":{{\"type\":\"object\"}}}}]");
        Some(match (request.answer, request.kind) {
            (Answer::Never, _) => return None,
            (Answer::Error, _) => error(7),
            (Answer::Invalid, _) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":[]}}\n"),
            (Answer::Long, _) => result(format!("\"content\":[],\"x\":\"{}\"", "y".repeat(script.rx))),
            (Answer::Pages(more), _) if self.page(at) < more => {
                result(format!("{},\"nextCursor\":\"{}\"", tool(tag), self.page(at) + 1))
            }
            (_, Kind::List) => result(tool(tag)),
            (_, Kind::Call) => result(format!("\"content\":[{{\"type\":\"text\",\"text\":\"{tag}\"}}]")),
            (_, Kind::Other) => result(format!("\"t\":\"{tag}\"")),
        })
    }
}

//! Judging what a server wrote against a case's `assert`.

use core::time::Duration;

use serde_json::Value;

use super::case::{Assert, Texts};

/// What came of a run.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// All bytes of its standard output after the handshake.
    pub(super) output: Vec<u8>,
    /// Its standard error.
    pub(super) errors: String,
    /// Its exit status; none while it lives, or when it was killed.
    pub(super) exit: Option<i32>,
    /// How long it took to the last thing that was asked for.
    pub(super) took: Duration,
}

impl Outcome {
    /// Every message, elements of batches one by one.
    pub(super) fn messages(&self) -> Vec<Value> {
        let lines = self.output.split(|byte| *byte == b'\n');
        let parsed = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        parsed.flat_map(|value| if let Value::Array(all) = value { all } else { vec![value] }).collect()
    }

    /// Whether everything that must come has come: when to stop waiting.
    pub(super) fn complete(&self, assert: &Assert) -> bool {
        let messages = self.messages();
        let replies = messages.iter().filter(|message| is_reply(message)).count();
        must_come(assert, &messages, &self.output).is_ok()
            && replies >= assert.reply_count.unwrap_or(0).max(assert.order.len())
    }

    /// Judges everything; the first thing that is wrong is told.
    pub(super) fn judge(&self, assert: &Assert) -> Result<(), String> {
        let messages = self.messages();
        must_come(assert, &messages, &self.output)?;
        must_not_come(assert, &messages, &self.output)?;
        let replies: Vec<&Value> = messages.iter().filter(|message| is_reply(message)).collect();
        if let Some(count) = assert.reply_count.filter(|count| *count != replies.len()) {
            return Err(format!("{} replies, not {count}", replies.len()));
        }
        for (id, most) in &assert.max_replies {
            let count = replies
                .iter()
                .filter(|reply| reply["id"] == serde_json::from_str::<Value>(id).unwrap_or_default())
                .count();
            if count > *most {
                return Err(format!("{count} replies to {id}"));
            }
        }
        if !assert.order.is_empty() {
            let order: Vec<&Value> = replies.iter().map(|reply| &reply["id"]).collect();
            let wanted: Vec<&Value> = order.iter().copied().filter(|id| assert.order.contains(id)).collect();
            if !wanted.iter().copied().eq(&assert.order) {
                return Err(format!("answered in the order {order:?}"));
            }
        }
        if let Some(method) = &assert.first_method
            && messages.first().is_none_or(|message| message["method"] != **method)
        {
            return Err(format!("the first message is no {method}"));
        }
        if let Some(supported) = &assert.expect_data_supported {
            let mut wrong = replies.iter().filter(|reply| {
                reply["error"]["code"] == -32022 && reply["error"]["data"]["supported"] != *supported
            });
            let refused = replies.iter().any(|reply| reply["error"]["code"] == -32022);
            if let Some(reply) = wrong.next() {
                return Err(format!("data.supported is not {supported}: {reply}"));
            }
            if !refused {
                return Err("nothing was refused by -32022".into());
            }
        }
        self.judge_bytes(assert)?;
        self.judge_end(assert)
    }

    fn judge_bytes(&self, assert: &Assert) -> Result<(), String> {
        if assert.valid_utf8 && core::str::from_utf8(&self.output).is_err() {
            return Err("not UTF-8".into());
        }
        if assert.every_line_json {
            let lines = self.output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            for line in lines {
                serde_json::from_slice::<&serde_json::value::RawValue>(line).map_err(|wrong| {
                    format!("a line that is no JSON ({wrong}): {}", String::from_utf8_lossy(line))
                })?;
            }
        }
        for byte in &assert.no_byte.0 {
            let byte = u8::from_str_radix(byte, 16).map_err(|_| format!("no hex byte: {byte}"))?;
            if self.output.contains(&byte) {
                return Err(format!("the byte {byte:02x} was written"));
            }
        }
        Ok(())
    }

    fn judge_end(&self, assert: &Assert) -> Result<(), String> {
        if let Some(status) = assert.exit.filter(|status| self.exit != Some(*status)) {
            return Err(format!("exit status {:?}, not {status}", self.exit));
        }
        if self.errors.contains("panicked at") {
            return Err(format!("it panicked: {}", self.errors.trim()));
        }
        if let Some(most) = assert.within_ms.filter(|most| self.took.as_millis() > u128::from(*most)) {
            return Err(format!("took {} ms, more than {most}", self.took.as_millis()));
        }
        Ok(())
    }
}

/// Whether bytes hold a text, as they are or with the escapes of their strings undone.
pub(super) fn holds(output: &[u8], text: &str) -> bool {
    let plain =
        |bytes: &[u8]| text.is_empty() || bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let lines =
        || output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    plain(output) || lines().any(|line| plain(line.to_string().as_bytes()))
}

fn must_come(assert: &Assert, messages: &[Value], output: &[u8]) -> Result<(), String> {
    let result =
        |id: &Value| messages.iter().any(|m| is_reply(m) && m.get("result").is_some() && same(&m["id"], id));
    let error =
        |id: &Value| messages.iter().any(|m| is_reply(m) && m.get("error").is_some() && same(&m["id"], id));
    for id in &assert.answered {
        if !result(id) {
            return Err(format!("no result for {id}{}", told(messages, id)));
        }
    }
    for pair in &assert.errors {
        let fits = |m: &Value| {
            m.get("error").is_some()
                && same(&m["id"], &pair.id)
                && pair.code.is_none_or(|code| m["error"]["code"] == code)
        };
        if !messages.iter().any(fits) {
            let code = pair.code.map_or_else(String::new, |code| format!(" {code}"));
            return Err(format!("no error{code} for {}{}", pair.id, told(messages, &pair.id)));
        }
    }
    for id in &assert.answered_or_error {
        if !result(id) && !error(id) {
            return Err(format!("no answer to {id}"));
        }
    }
    if let Some(text) = assert.contains.0.iter().find(|text| !holds(output, text)) {
        return Err(format!("the output does not hold {text:?}"));
    }
    let raw = |text: &&String| !output.windows(text.len().max(1)).any(|window| window == text.as_bytes());
    if let Some(text) = assert.raw_contains.0.iter().find(raw) {
        return Err(format!("the bytes do not hold {text:?}"));
    }
    Ok(())
}

fn must_not_come(assert: &Assert, messages: &[Value], output: &[u8]) -> Result<(), String> {
    let answered = |id: &&Value| messages.iter().any(|m| is_reply(m) && same(&m["id"], id));
    if let Some(id) = assert.not_answered.iter().find(answered) {
        return Err(format!("{id} was answered"));
    }
    let Texts(texts) = &assert.not_contains;
    match texts.iter().find(|text| holds(output, text)) {
        Some(text) => Err(format!("the output holds {text:?}")),
        None => Ok(()),
    }
}

fn is_reply(message: &Value) -> bool {
    message.get("method").is_none() && (message.get("result").is_some() || message.get("error").is_some())
}

/// An id of null and an absent id are equal; everything else only to its own type and value.
fn same(id: &Value, other: &Value) -> bool {
    id == other || id.as_f64().is_some() && id.as_f64() == other.as_f64() && id.is_i64() == other.is_i64()
}

/// What was said to this id instead, for the message.
fn told(messages: &[Value], id: &Value) -> String {
    let mut said = messages.iter().filter(|message| is_reply(message) && same(&message["id"], id));
    said.next().map_or_else(String::new, |message| {
        let text = message.to_string();
        format!(" but {}", text.chars().take(200).collect::<String>())
    })
}

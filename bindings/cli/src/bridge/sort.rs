//! What kind of message a line is.

pub(super) mod spoilt;

use barewire::Fault;
use barewire::json::{Kind, Raw};
use barewire::rpc::Message;

/// One line, or one element of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sort<'a> {
    /// Wants an answer with the same id.
    Request { id: Raw<'a>, method: Raw<'a>, params: Option<Raw<'a>> },
    /// Is never answered.
    Notification { method: Raw<'a>, params: Option<Raw<'a>> },
    /// Answers a request; without a result it is an error.
    Answer { id: Raw<'a>, result: Option<Raw<'a>> },
    /// An error that names no request.
    Stray,
    /// An array, not empty, of nothing but messages.
    Batch(Raw<'a>),
    /// Anything else; the id is that of a request which can be refused.
    Junk { fault: Fault, id: Option<Raw<'a>> },
    /// A request whose id is neither a string nor a number: its answer would find nobody.
    Nameless,
}

/// Looks at one line. It is as lenient as a relay can be: what names a method, or an id and an outcome, is passed on
/// whatever else is wrong with it, for the peers may have agreed on that.
pub(super) fn sort(line: &[u8]) -> Sort<'_> {
    match one(line) {
        Ok(sorted) => sorted,
        Err(array) => {
            let mut elements = array.elements().map(|element| one(element.as_bytes()));
            let messages = elements.all(|element| {
                !matches!(element, Err(_) | Ok(Sort::Junk { .. } | Sort::Nameless | Sort::Batch(_)))
            });
            if messages && array.elements().next().is_some() {
                Sort::Batch(array)
            } else {
                Sort::Junk { fault: Fault::NotAMessage, id: None }
            }
        }
    }
}

/// Anything but an array, which is handed back.
fn one(line: &[u8]) -> Result<Sort<'_>, Raw<'_>> {
    Ok(match Message::parse(line) {
        Ok(Message::Request { id, method, params }) => Sort::Request { id, method, params },
        Ok(Message::Notification { method, params }) => Sort::Notification { method, params },
        Ok(Message::Response { id, result }) => Sort::Answer { id, result: Some(result) },
        Ok(Message::Error { id: Some(id), .. }) => Sort::Answer { id, result: None },
        Ok(Message::Error { id: None, .. }) => Sort::Stray,
        Ok(Message::Batch(array)) => return Err(array),
        Ok(_) => Sort::Junk { fault: Fault::NotAMessage, id: None },
        Err(invalid) if invalid.fault == Fault::NotAMessage => loosely(line),
        Err(invalid) => {
            let asks = |line| Raw::from_bytes(line).is_ok_and(|raw| raw.get("method").is_some());
            // What is nested too deep can't be read further; it is taken for the question that it most likely is.
            let refused = invalid.fault == Fault::TooDeep || asks(line);
            Sort::Junk { fault: invalid.fault, id: invalid.id.filter(|_| refused) }
        }
    })
}

/// An object with something wrong in its envelope.
fn loosely(line: &[u8]) -> Sort<'_> {
    let junk = |id| Sort::Junk { fault: Fault::NotAMessage, id };
    let Ok(object) = Raw::from_bytes(line) else { return junk(None) };
    if object.kind() != Kind::Object {
        return junk(None);
    }
    // JSON-RPC 2.0, "Request object": numbers should have no fraction; that they must not is MCP's.
    let is_id = |id: &Raw<'_>| matches!(id.kind(), Kind::String | Kind::Number);
    let id = object.get("id").filter(is_id);
    let params = object.get("params").filter(|params| !params.is_null());
    let outcome = |key| object.get(key).filter(|value| !value.is_null());
    let (result, error) = (outcome("result"), outcome("error"));
    match (object.get("method"), id, result.or(error)) {
        (Some(method), Some(id), _) if method.as_string().is_some() => Sort::Request { id, method, params },
        (Some(method), None, _) if method.as_string().is_some() && object.get("id").is_none() => {
            Sort::Notification { method, params }
        }
        (Some(method), None, _) if method.as_string().is_some() => Sort::Nameless,
        (None, Some(id), Some(_)) => Sort::Answer { id, result: result.filter(|_| error.is_none()) },
        // `"result":null`
        (None, Some(id), None) if object.get("result").is_some() => Sort::Answer { id, result: None },
        (Some(_), id, _) => junk(id),
        (None, ..) => junk(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_what_they_can_be_taken_for() {
        for (line, sorted) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, "request 1"),
            (r#"{"id":1,"method":"m"}"#, "request 1"),
            (r#"{"jsonrpc":"2.0","method":"m"}"#, "notification"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "nameless"),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, "nameless"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "request 1.5"),
            (r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#, "answer 1.5"),
            (r#"[{"jsonrpc":"2.0","id":null,"method":"m"}]"#, "junk"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "junk 1"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, "junk"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, "junk 1"),
            (r#"{"jsonrpc":"2.0","id":"1","result":{}}"#, "answer \"1\""),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#, "answer 1"),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "error 1"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#, "error 1"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#, "error 1"),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#, "stray"),
            (r#"{"id":1}"#, "junk"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","method":"m"}]"#, "batch"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"m"},7]"#, "junk"),
            ("[]", "junk"),
            ("[[]]", "junk"),
            ("[1, 2]", "junk"),
            ("7", "junk"),
            ("I (31) boot: {\"id\":1}", "junk"),
            ("{\"id\":1,\"method\":\"m\"", "junk"),
        ] {
            let found = match sort(line.as_bytes()) {
                Sort::Request { id, .. } => format!("request {}", id.as_str()),
                Sort::Notification { .. } => "notification".into(),
                Sort::Answer { id, result: Some(_) } => format!("answer {}", id.as_str()),
                Sort::Answer { id, result: None } => format!("error {}", id.as_str()),
                Sort::Stray => "stray".into(),
                Sort::Batch(_) => "batch".into(),
                Sort::Nameless => "nameless".into(),
                Sort::Junk { id: Some(id), .. } => format!("junk {}", id.as_str()),
                Sort::Junk { id: None, .. } => "junk".into(),
            };
            assert_eq!(found, sorted, "{line}");
        }
    }
}

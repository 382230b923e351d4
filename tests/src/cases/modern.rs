//! A legacy case in the modern era: the same bytes, with each request claiming the modern revision by itself.
//!
//! Only what has to change does: a request of a method that the modern era has gets its claim, the liveness check
//! (`ping`, id 900) and the handshake become `server/discover`. Escapes, key order and the borders between writes
//! stay as they are; what is not a valid request is left alone.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::case::Step;

/// What a modern request says of itself.
pub(super) const CLAIM: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"cases","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}"#;

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// A change of the bytes `from..to`.
struct Edit {
    from: usize,
    to: usize,
    text: String,
}

/// Rewrites all writes.
pub(super) fn modern(steps: &[Step]) -> Vec<Step> {
    let mut bytes = Vec::new();
    let mut borders = Vec::new();
    for step in steps {
        if let Step::Write(part) = step {
            bytes.extend_from_slice(part);
            borders.push(bytes.len());
        }
    }
    let mut edits = Vec::new();
    let mut start = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if let Ok(text) = core::str::from_utf8(line) {
            edits.extend(edit(text).map(|edit| Edit {
                from: start + edit.from,
                to: start + edit.to,
                ..edit
            }));
        }
        start += line.len();
    }
    for edit in edits.into_iter().rev() {
        bytes.splice(edit.from..edit.to, edit.text.bytes());
        for border in borders.iter_mut().filter(|border| **border >= edit.to) {
            *border = *border + edit.text.len() - (edit.to - edit.from);
        }
    }
    let mut at = 0;
    let mut borders = borders.into_iter();
    let rewrite = |step: &Step| match step {
        Step::Write(_) => {
            let end = borders.next().unwrap_or(bytes.len());
            let part = bytes[at..end].to_vec();
            at = end;
            Step::Write(part)
        }
        other => other.clone(),
    };
    steps.iter().map(rewrite).collect()
}

/// Whether a case that shakes hands by itself means the same in the modern era: its first request is `initialize`.
pub(super) fn starts_by_initialize(steps: &[Step]) -> bool {
    let writes =
        steps.iter().filter_map(|step| if let Step::Write(bytes) = step { Some(bytes) } else { None });
    let bytes: Vec<u8> = writes.flatten().copied().collect();
    let mut requests = bytes.split(|byte| *byte == b'\n').filter_map(|line| {
        let request: Request<'_> = serde_json::from_slice(line).ok()?;
        request.id.and(request.method).map(|method| method.into_owned())
    });
    let first = requests.next();
    first.as_deref() == Some("initialize")
        && requests.all(|method| method != "initialize" && method != "ping")
}

fn edit(line: &str) -> Option<Edit> {
    let request: Request<'_> = serde_json::from_str(line).ok()?;
    let method = request.method?;
    let whole = |text: String| Some(Edit { from: 0, to: line.trim_end_matches(['\r', '\n']).len(), text });
    if method == "notifications/initialized" {
        return whole(String::new());
    }
    let id = request.id?;
    if method == "initialize" || method == "ping" && id.get() == "900" {
        let id = id.get();
        return whole(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"server/discover","params":{{"_meta":{{{CLAIM}}}}}}}"#
        ));
    }
    if method == "ping" {
        return None; // gone in the modern era; without a claim it is served in both
    }
    let Some(params) = request.params else {
        let end = line.trim_end().len().checked_sub(1)?;
        return Some(Edit { from: end, to: end, text: format!(r#","params":{{"_meta":{{{CLAIM}}}}}"#) });
    };
    let meta = serde_json::from_str::<Params<'_>>(params.get()).ok()?.meta;
    let object = meta.unwrap_or(params).get();
    if !object.starts_with('{')
        || object.contains("io.modelcontextprotocol/protocolVersion") && meta.is_some()
    {
        return None;
    }
    let at = object.as_ptr() as usize - line.as_ptr() as usize + 1;
    let comma = if object[1..].trim_start().starts_with('}') { "" } else { "," };
    let text =
        if meta.is_some() { format!("{CLAIM}{comma}") } else { format!(r#""_meta":{{{CLAIM}}}{comma}"#) };
    Some(Edit { from: at, to: at, text })
}

#[cfg(test)]
mod tests {
    use super::{CLAIM, Step, modern, starts_by_initialize};

    fn steps(writes: &[&str]) -> Vec<Step> {
        writes.iter().map(|write| Step::Write(write.as_bytes().to_vec())).collect()
    }

    fn rewritten(writes: &[&str]) -> Vec<String> {
        let write = |step: Step| {
            if let Step::Write(bytes) = step { String::from_utf8(bytes).unwrap() } else { unreachable!() }
        };
        modern(&steps(writes)).into_iter().map(write).collect()
    }

    #[test]
    fn requests_get_a_claim_and_keep_their_text() {
        let given =
            ["{\"id\":1,\"method\":\"tools\\/list\"}\n", "{\"method\":\"x\",\"params\":{},\"id\":2}\n"];
        assert_eq!(
            rewritten(&given),
            [
                format!("{{\"id\":1,\"method\":\"tools\\/list\",\"params\":{{\"_meta\":{{{CLAIM}}}}}}}\n"),
                format!("{{\"method\":\"x\",\"params\":{{\"_meta\":{{{CLAIM}}}}},\"id\":2}}\n"),
            ]
        );
        let meta = "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"_meta\":{\"progressToken\":0}}}\n";
        assert!(rewritten(&[meta])[0].contains(&format!("{{{CLAIM},\"progressToken\":0}}")));
    }

    #[test]
    fn borders_of_writes_stay_where_they_were() {
        let parts = rewritten(&["{\"id\":1,\"method\":\"tools/call\",\"params\":{\"na", "me\":\"echo\"}}\n"]);
        assert!(
            parts[0].ends_with(&format!("{{{CLAIM}}},\"na")) && parts[1] == "me\":\"echo\"}}\n",
            "{parts:?}"
        );
    }

    #[test]
    fn what_is_no_request_stays() {
        for line in [
            "no json\n",
            "[1]\n",
            "{\"method\":\"x\"}\n",
            "{\"id\":5,\"method\":\"ping\"}\n",
            "{\"id\":1,\"method\":\"x\",\"params\":7}\n",
        ] {
            assert_eq!(rewritten(&[line]), [line]);
        }
        assert!(rewritten(&["{\"id\":900,\"method\":\"ping\"}\n"])[0].contains("server/discover"));
    }

    #[test]
    fn only_what_begins_by_a_handshake_is_translated() {
        assert!(starts_by_initialize(&steps(&["junk\n", "{\"id\":1,\"method\":\"initialize\"}\n"])));
        assert!(!starts_by_initialize(&steps(&["{\"id\":1,\"method\":\"tools/call\"}\n"])));
    }
}

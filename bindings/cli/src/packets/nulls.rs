//! Nulls where an optional member should have been left out (BW421).
//!
//! Only members that MCP defines are judged, in the objects that MCP defines: user data, schemas and `_meta` may hold
//! any null.

use barewire::json::{Kind, Raw};

/// Optional members of MCP's own objects whose schema does not allow null.
const OPTIONAL: &[&str] = &[
    "instructions",
    "nextCursor",
    "description",
    "title",
    "annotations",
    "isError",
    "_meta",
    "icons",
    "outputSchema",
    "execution",
    "mimeType",
    "size",
    "websiteUrl",
    "lastModified",
    "audience",
    "priority",
    "experimental",
    "logging",
    "completions",
    "prompts",
    "resources",
    "tools",
    "tasks",
    "listChanged",
    "subscribe",
    "arguments",
    "cursor",
    "progressToken",
    "total",
    "message",
    "reason",
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
    "roots",
    "sampling",
    "elicitation",
    "required",
    "capabilities",
    "clientInfo",
    "logger",
    "inputRequests",
    "requestState",
    "inputResponses",
    "extensions",
];

/// Objects inside MCP's objects that are MCP's as well.
const INNER: &[&str] = &[
    "capabilities",
    "serverInfo",
    "clientInfo",
    "tools",
    "prompts",
    "resources",
    "resourceTemplates",
    "content",
    "contents",
    "messages",
    "annotations",
    "resource",
    "arguments",
    "roots",
    "sampling",
    "elicitation",
    "logging",
    "completions",
    "tasks",
    "icons",
];

/// Places of such nulls, with `[0]` for elements of lists. `values` are null members to judge besides: those that are
/// allowed only in some revisions.
pub(super) fn places(object: Raw<'_>, path: &str, values: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    walk(object, path, values, 5, &mut found);
    found
}

fn walk(object: Raw<'_>, path: &str, values: &[&str], depth: usize, found: &mut Vec<String>) {
    for (key, value) in object.members() {
        let key = key.to_string();
        let place = format!("{path}.{key}");
        if value.is_null() {
            if OPTIONAL.contains(&key.as_str()) || values.contains(&key.as_str()) {
                found.push(place);
            }
            continue;
        }
        // `arguments` of a call are the user's; those of a prompt are a list of MCP's own objects.
        let inner = INNER.contains(&key.as_str()) && (key != "arguments" || value.kind() == Kind::Array);
        if depth == 0 || !inner {
            continue;
        }
        match value.kind() {
            Kind::Object => walk(value, &place, values, depth - 1, found),
            Kind::Array => {
                for (i, element) in value.elements().enumerate() {
                    walk(element, &format!("{place}[{i}]"), values, depth - 1, found);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_members_of_the_protocol_are_judged() {
        let result = r#"{"tools":[{"name":"a","description":null,"inputSchema":{"properties":{"x":{"default":null,
            "description":null}}},"annotations":{"title":null}}],"nextCursor":null,"_meta":{"x":null},
            "structuredContent":null,"content":[{"type":"resource","resource":{"uri":"a","mimeType":null}}]}"#;
        let result = Raw::new(result).unwrap();
        assert_eq!(
            places(result, "result", &[]),
            [
                "result.tools[0].description",
                "result.tools[0].annotations.title",
                "result.nextCursor",
                "result.content[0].resource.mimeType",
            ]
        );
        assert!(
            places(result, "result", &["structuredContent"]).contains(&"result.structuredContent".into())
        );
        let params = Raw::new(r#"{"name":"f","arguments":{"title":null},"cursor":null}"#).unwrap();
        assert_eq!(places(params, "params", &[]), ["params.cursor"]);
    }
}
